"""Which processes a node has below it, and which of them, or of its sandboxes, are still there."""

import os
import re
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runners.agent.sandbox.processes import read, started_at, tree_of

WORK_PREFIX = "podium-fleet-"


@dataclass(frozen=True)
class Process:
    """`started` tells it from a later one with the same number."""

    pid: int
    started: str
    command: str

    @classmethod
    def of(cls, pid: int) -> "Process":
        command = read(Path(f"/proc/{pid}/cmdline")).replace("\0", " ").strip()
        return cls(pid, started_at(pid), command[:80])

    def __str__(self) -> str:
        return f"{self.pid} {self.command}"

    @property
    def is_there(self) -> bool:
        """Zombies have ended."""
        state = read(Path(f"/proc/{self.pid}/stat")).rpartition(")")[2].split()[:1]
        return bool(state) and state != ["Z"] and started_at(self.pid) == self.started


def below(pid: int) -> set[Process]:
    return {Process.of(one) for one in tree_of(pid) if one != pid}


def still_there(processes: Iterable[Process]) -> list[Process]:
    return sorted((one for one in processes if one.is_there), key=lambda one: one.pid)


def in_sandboxes_of(work: Path) -> list[Process]:
    """Programs of other mount namespaces, whoever's children they are by now, that see folders of `work`.

    They are found by its name, for a mount shows no more of its path than its own file system has; and what is found is
    killed, so that no other folder on the machine may have that name.
    """
    if not work.name.startswith(WORK_PREFIX):
        raise ValueError(f"{work.name} may be a folder of others: begin it with {WORK_PREFIX} and something unique")
    own_namespace = _namespace("self")
    name = re.compile(rf"/{re.escape(work.name)}[/ ]")
    return [
        Process.of(int(entry.name))
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and _namespace(entry.name) not in ("", own_namespace)
        and name.search(read(entry / "mountinfo"))
    ]


def on_gpus() -> str:
    """The report of `nvidia-smi` on the processes that compute on the GPUs, and that may be of another pid
    namespace."""
    command = ["nvidia-smi", "--query-compute-apps=pid,process_name", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return "; ".join(done.stdout.splitlines()) or done.stderr.strip() or "none"


def end(processes: Iterable[Process]) -> None:
    for one in still_there(processes):
        with suppress(OSError):
            os.kill(one.pid, signal.SIGKILL)


def _namespace(pid: str) -> str:
    """ "" where the process has ended or is not ours to look at."""
    try:
        return str(Path(f"/proc/{pid}/ns/mnt").readlink())
    except OSError:
        return ""
