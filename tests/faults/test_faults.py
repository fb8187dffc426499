"""1,000 evaluations on two nodes while everything fails that can fail: nothing is lost, doubled or judged wrongly."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.faults import services
from tests.faults.faults import EVERYWHERE, OF_SERVERS, RECOVERY_SECONDS, Fault
from tests.faults.leftovers import leftovers
from tests.faults.site import Site, on_postgresql_and_rabbitmq, on_sqlite_and_folder
from tests.faults.verdicts import N_PROBLEMS, N_SAMPLES, complaints, problems, solutions, takeovers
from tests.patience import until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(os.geteuid() != 0, reason="root mounts a small disk and runs PostgreSQL as its own user"),
]
needs_servers = pytest.mark.skipif(
    services.POSTGRES is None or not services.RABBITMQ.exists(), reason="needs PostgreSQL's and RabbitMQ's programs"
)
N = N_PROBLEMS * N_SAMPLES
PATIENCE_SECONDS = 900.0
LEAVE_SECONDS = 10.0
Say = Callable[[str], None]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not one of pytest's: PostgreSQL's user may not enter those."""
    made = Path(tempfile.mkdtemp(prefix="podium-faults-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Prints a line at once."""

    def printed(line: str) -> None:
        with capsys.disabled():
            print(line, flush=True)  # noqa: T201 - a person watches

    return printed


def test_sqlite_and_a_folder_broker_outlast_all_faults(folder: Path, say: Say) -> None:
    outlast(on_sqlite_and_folder(folder), EVERYWHERE, say)


@needs_servers
def test_postgresql_and_rabbitmq_outlast_all_faults(folder: Path, say: Say) -> None:
    outlast(on_postgresql_and_rabbitmq(folder), [*EVERYWHERE, *OF_SERVERS], say)


def outlast(opened: AbstractContextManager[Site], faults: Sequence[Fault], say: Say) -> None:
    """Strike with each fault while evaluations run, and fail with all that is wrong at the end."""
    with opened as site:
        began = time.monotonic()
        run(site, faults, say)
        until(lambda: not site.wrong_standings() and site.n_ready == 0)
        wrong = [*site.wrong_standings(), *(["left over: messages"] if site.n_ready else [])]
        ledger = site.ledger()
        say(f"{N} evaluations in {time.monotonic() - began:.0f} s, {len(ledger['attempts'])} attempts")
        site.stop()
        until(lambda: not leftovers(site.folder, site.agents), LEAVE_SECONDS)
        wrong += [f"left over: {one}" for one in leftovers(site.folder, site.agents)]
    wrong += [*complaints(ledger), *slow_takeovers(site, ledger, say)]
    assert not wrong, "\n".join([*wrong, site.logs()])


def run(site: Site, faults: Sequence[Fault], say: Say) -> None:
    site.start(problems())
    site.start_node("node-2")
    site.submission = site.submit(solutions())
    began = time.monotonic()
    say(f"\n{'fault':<24}{'at':>8}{'broken for':>14}{'next result after':>21}{'done':>10}")
    for number, fault in enumerate(faults, 1):
        wait_for_results(site, N * number // (len(faults) + 1))
        struck = time.monotonic()
        fault(site)
        mended, n_done = time.monotonic(), site.n_done()
        assert n_done < N, "no work was left for this fault"
        wait_for_results(site, n_done + 1)
        times = f"{struck - began:>6.0f} s{mended - struck:>12.1f} s{time.monotonic() - mended:>19.1f} s"
        say(f"{fault.__name__:<24}{times}{n_done:>10}")
    wait_for_results(site, N)
    site.wait_for(site.submission)


def wait_for_results(site: Site, n: int) -> None:
    site.wait_until(lambda: site.n_done() >= n, f"{n} of {N} evaluations are done", PATIENCE_SECONDS)


def slow_takeovers(site: Site, ledger: dict[str, object], say: Say) -> Iterator[str]:
    for node, at in site.deaths:
        waits = takeovers(ledger, node, at)
        longest = max(waits, default=0.0)
        say(f"{node} was killed with {len(waits)} leases; the last was taken over after {longest:.1f} s")
        if longest > RECOVERY_SECONDS:
            yield f"slow: work of {node} waited {longest:.1f} s, more than {RECOVERY_SECONDS:.0f} s"
