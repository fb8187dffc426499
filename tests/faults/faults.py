"""The faults: each breaks one thing, leaves it broken for a while, and mends what does not mend itself."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from runners.agent.sandbox.supervisor import PROGRAM
from tests.faults.site import LEASE_SECONDS, NODES, SMALL_DISK, Site

OUTAGE_SECONDS = LEASE_SECONDS + 2.0
"""Long enough for leases to expire."""
RECOVERY_SECONDS = LEASE_SECONDS + 10.0
"""The most that the work of a killed node may wait for another node."""
STOP_SECONDS = 12.0
"""Longer than a lease, and than the time that any sample is given."""
CHUNK = b"\0" * (1 << 20)

Fault = Callable[[Site], None]


def kill_site(site: Site) -> None:
    """kill −9 of the web server with all its workers."""
    site.kill("site")
    time.sleep(OUTAGE_SECONDS)
    site.start_site()
    site.wait_until_site_answers()


def kill_worker(site: Site) -> None:
    """kill −9 of the site's worker: nobody ranks, sweeps or fills the queue."""
    site.kill("worker")
    time.sleep(OUTAGE_SECONDS)
    site.start_worker()


def kill_node(site: Site) -> None:
    """kill −9 of an agent that stays away until the other node must have taken its work over."""
    site.wait_for_command("node")
    site.kill_agent("node")
    time.sleep(RECOVERY_SECONDS)
    site.start_node("node")


def kill_and_restart_node(site: Site) -> None:
    """kill −9 of an agent that is started again at once."""
    site.wait_for_command(SMALL_DISK)
    site.kill_agent(SMALL_DISK)
    site.start_node(SMALL_DISK)


def stop_agent(site: Site) -> None:
    """SIGSTOP and SIGCONT of an agent while a command of its goes on."""
    site.wait_for_command("node")
    site.signal_agent("node", signal.SIGSTOP)
    time.sleep(STOP_SECONDS)
    site.signal_agent("node", signal.SIGCONT)


def kill_supervisors(site: Site) -> None:
    """kill −9 of what watches the commands that run."""
    site.wait_for_command("node")
    for supervisor in site.commands("node", PROGRAM):
        with suppress(ProcessLookupError):
            os.kill(supervisor, signal.SIGKILL)


def lose_messages(site: Site) -> None:
    """The broker forgets all messages."""
    site.purge()


def crash_broker(site: Site) -> None:
    """kill −9 of RabbitMQ."""
    assert site.rabbitmq
    site.rabbitmq.crash()
    time.sleep(OUTAGE_SECONDS)
    site.rabbitmq.start()


def crash_database(site: Site) -> None:
    """PostgreSQL ends without a checkpoint."""
    assert site.postgres
    site.postgres.crash()
    time.sleep(OUTAGE_SECONDS)
    site.postgres.start()
    site.wait_until_site_answers()


def fill_disk(site: Site) -> None:
    """No space is left in one node's folder."""
    filler = site.folder / SMALL_DISK / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(CHUNK):
            pass
    time.sleep(OUTAGE_SECONDS)
    filler.unlink()


def corrupt_caches(site: Site) -> None:
    """Each kept build of both nodes has another end, is cut short, or is a folder."""
    entries = [path for node in NODES for path in (site.folder / node / "node/builds").glob("*/*") if path.is_file()]
    assert entries, "nothing is cached"
    for entry, damage in zip(entries, cycle((_another_end, _cut, _a_folder)), strict=False):
        damage(entry)


def _another_end(entry: Path) -> None:
    data = entry.read_bytes()
    swapped = data.replace(b'"exit_code": 0', b'"exit_code": 1', 1)
    entry.write_bytes(swapped if swapped != data else data.replace(b'"exit_code": 2', b'"exit_code": 0', 1))


def _cut(entry: Path) -> None:
    data = entry.read_bytes()
    entry.write_bytes(data[: len(data) // 2])


def _a_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


EVERYWHERE: Sequence[Fault] = (
    kill_site, kill_worker, kill_node, kill_and_restart_node, stop_agent, kill_supervisors, fill_disk, corrupt_caches,
    lose_messages,
)  # fmt: skip
OF_SERVERS: Sequence[Fault] = (crash_broker, crash_database)
