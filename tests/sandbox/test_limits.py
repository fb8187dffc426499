"""Every bound holds, and the outcome says which one was met."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from runners.agent.sandbox import Limits, Outcome, watch
from runners.agent.sandbox.bubblewrap import BubblewrapSandbox
from runners.agent.sandbox.cages import MemoryLimit, TreeCage, UsageReading
from runners.agent.sandbox.docker import ContainerCage
from runners.agent.sandbox.supervisor import SupervisorReport
from runners.agent.sandbox.unconfined import UnconfinedSandbox
from runners.wire.protocol import Witness
from tests.requirements import requires
from tests.sandbox.boxes import LIMITS, MIB, NAP_SECONDS, Run, processes_named, runner

SUPERVISOR_LINGERS_SECONDS = 2.0
"""As in supervisor.cpp."""


def test_a_command_that_works_says_so(run: Run) -> None:
    began = time.monotonic()
    outcome = run("echo out; echo err >&2; cd /; sleep 0.05")
    assert (outcome.exit_code, outcome.signal, outcome.succeeded) == (0, None, True)
    assert (outcome.stdout, outcome.stderr) == ("out\n", "err\n")
    assert 50 <= outcome.wall_ms <= 1e3 * (time.monotonic() - began)
    assert outcome.peak_memory_bytes > 100_000


def test_exit_codes_and_signals_come_through(run: Run) -> None:
    assert run("exit 7").exit_code == 7
    outcome = run("kill -SEGV $$")
    assert (outcome.exit_code, outcome.signal) == (None, 11)


def test_wall_time_ends_a_command_and_its_children(run: Run) -> None:
    began = time.monotonic()
    outcome = run(f"sleep {NAP_SECONDS} & sleep {NAP_SECONDS}", replace(LIMITS, wall_seconds=0.3))
    assert outcome.timed_out
    assert not outcome.succeeded
    assert 300 <= outcome.wall_ms <= 1e3 * (time.monotonic() - began)
    assert processes_named(NAP_SECONDS) == []


def test_a_command_that_ignores_signals_is_ended_all_the_same(run: Run) -> None:
    outcome = run("trap '' TERM INT HUP; while :; do :; done", replace(LIMITS, wall_seconds=0.3))
    assert outcome.timed_out


BOMB = 'python3 -c \'x = bytearray(1 << 30); x[::4096] = b"x" * (1 << 18); print("alive")\''


def test_a_memory_bomb_is_told_apart(run: Run) -> None:
    outcome = run(BOMB)
    assert outcome.memory_exceeded
    assert not outcome.succeeded
    assert "alive" not in outcome.stdout
    assert outcome.peak_memory_bytes > 100 * MIB


def test_hiding_a_memory_kill_does_not_help(run: Run) -> None:
    outcome = run(f"{BOMB} || exit 0")
    assert outcome.memory_exceeded
    assert not outcome.succeeded


@pytest.mark.rest
def test_many_small_processes_add_up_to_a_memory_bomb(run: Run) -> None:
    one = "python3 -c 'x = b\"x\" * (60 << 20); import time; time.sleep(3)'"
    assert run(" & ".join([one] * 6) + " & wait").memory_exceeded


def test_memory_is_bounded_by_watching_where_there_are_no_groups(cache, workspace, recwarn) -> None:
    sandbox = UnconfinedSandbox(cache, MemoryLimit("watcher", lambda limits: TreeCage(limits.memory_bytes)))
    outcome = runner(sandbox, workspace)("python3 -c 'x = []\nwhile True: x.append(b\"x\" * (4 << 20))'")
    assert sandbox.memory_limit_by == "watcher"
    assert outcome.memory_exceeded
    assert not outcome.succeeded


@pytest.fixture
def watched(cache, workspace) -> Run:
    """Runs a command in bubblewrap on a machine without control groups."""
    limit = MemoryLimit("watcher", lambda limits: TreeCage(limits.memory_bytes))
    return runner(BubblewrapSandbox(cache, limit), workspace)


HOARDING = f"""
import os, sys, time
for path in sys.argv[1:]:
    with open(path, "wb") as file:
        if "gone" in path:
            os.unlink(path)
        for _ in range(60):
            file.write(b"x" * {MIB})
        if "gone" in path:
            time.sleep(60)
time.sleep(60)
"""
ROOMY = replace(LIMITS, memory_bytes=100 * MIB, workspace_bytes=256 * MIB)


@requires("bubblewrap")
@pytest.mark.parametrize("paths", ["/tmp/one /dev/shm/two", "/tmp/gone & python3 hoard.py /dev/shm/gone"])
def test_the_watcher_counts_files_that_lie_in_memory(watched: Run, workspace, paths: str) -> None:
    (workspace / "hoard.py").write_text(HOARDING)
    outcome = watched(f"python3 hoard.py {paths}", ROOMY)
    assert outcome.memory_exceeded
    assert not outcome.timed_out
    assert outcome.peak_memory_bytes > ROOMY.memory_bytes


MAPPING = f"""
import mmap, os, sys, time
file = os.open("/dev/shm/shared", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 60 * {MIB})
shown = mmap.mmap(file, 60 * {MIB})
shown[::4096] = b"x" * 15 * 1024
open(f"ready{{sys.argv[1]}}", "w").close()
while not os.path.exists("ready1") or not os.path.exists("ready2"):
    time.sleep(0.01)
time.sleep(0.6)
"""


@requires("bubblewrap")
def test_the_watcher_counts_a_file_once_that_several_processes_map(watched: Run, workspace) -> None:
    (workspace / "map.py").write_text(MAPPING)
    outcome = watched("python3 map.py 1 & python3 map.py 2; wait", ROOMY)
    assert outcome.succeeded, outcome


def test_a_cage_that_goes_with_its_command_is_read_before(cache, workspace, recwarn) -> None:
    cages: list[TreeCage] = []

    def vanishing(limits: Limits) -> TreeCage:
        cages.append(TreeCage(limits.memory_bytes, vanishes=True))
        return cages[-1]

    run = runner(UnconfinedSandbox(cache, MemoryLimit("trial", vanishing)), workspace)
    took_seconds = []
    for _ in range(5):
        began = time.monotonic()
        outcome = run("echo out; exit 3")
        took_seconds.append(time.monotonic() - began)
        assert (outcome.exit_code, outcome.stdout) == (3, "out\n")
        assert cages[-1].close().peak_bytes > 0
    assert min(took_seconds) < SUPERVISOR_LINGERS_SECONDS, "it waits for the agent no longer than it must"


def test_a_fork_bomb_burns_out(run: Run) -> None:
    outcome = run(f"bomb() {{ bomb | bomb & sleep {NAP_SECONDS}; }}; bomb", replace(LIMITS, wall_seconds=0.5))
    assert outcome.timed_out or not outcome.succeeded or outcome.stderr
    assert processes_named(NAP_SECONDS) == []


def test_a_command_that_is_stopped_by_its_limit_keeps_its_own_output_alone(run: Run) -> None:
    outcome = run(f"echo out; sleep {NAP_SECONDS}", replace(LIMITS, wall_seconds=0.5))
    assert (outcome.timed_out, outcome.stdout) == (True, "out\n")


def test_processes_are_counted(run: Run) -> None:
    start_many = "import subprocess\nfor n in range(200): subprocess.Popen(['sleep', '20'])"
    outcome = run(f'python3 -c "{start_many}"', replace(LIMITS, processes=32))
    assert "Resource temporarily unavailable" in outcome.stderr


def test_output_is_kept_to_its_limit(run: Run) -> None:
    outcome = run("head -c 20000000 /dev/zero | tr '\\0' x; echo end >&2")
    assert outcome.exit_code == 0
    assert outcome.truncated
    assert len(outcome.stdout) == LIMITS.output_bytes
    assert outcome.stderr == "end\n"


def test_output_that_is_not_text_is_decoded_with_replacement(run: Run) -> None:
    assert run("printf 'a\\377b'").stdout == "a\ufffdb"


def test_output_just_at_the_limit_is_not_called_cut(run: Run) -> None:
    outcome = run(f"head -c {LIMITS.output_bytes} /dev/zero | tr '\\0' x")
    assert not outcome.truncated
    assert len(outcome.stdout) == LIMITS.output_bytes


def test_a_file_grows_to_its_limit_only(run: Run, workspace) -> None:
    run("head -c 200000000 /dev/zero > big")
    assert (workspace / "big").stat().st_size == LIMITS.file_bytes


def test_the_workspace_grows_to_about_its_limit_only(run: Run) -> None:
    outcome = run("for i in $(seq 100); do head -c 30000000 /dev/zero > f$i; sleep 0.1; done; echo end")
    assert not outcome.succeeded
    assert "workspace" in outcome.stderr


@pytest.mark.parametrize("name", [pytest.param("bubblewrap", marks=requires("bubblewrap")), "unconfined"])
def test_files_without_a_name_count(opened, workspace, name: str) -> None:
    grow = 'for i in $(seq 10 30); do eval "exec $i>f"; rm f; head -c 30000000 /dev/zero >&$i; sleep 0.1; done'
    outcome = runner(opened(name), workspace)(f"{grow}; echo end")
    assert not outcome.succeeded
    assert "workspace" in outcome.stderr


def test_scratch_space_is_bounded(confined: Run) -> None:
    outcome = confined("for i in 1 2 3 4; do head -c 60000000 /dev/zero > /tmp/f$i || echo full; done")
    assert "full" in outcome.stdout or outcome.memory_exceeded


def test_the_live_tail_shows_output_but_never_the_report(run: Run) -> None:
    seen: list[bytes] = []
    run("echo one; sleep 0.1; echo two >&2", on_output=seen.append)
    assert b"".join(seen).split() == [b"one", b"two"]


def test_cancelling_ends_a_command_at_once(run: Run) -> None:
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    outcome = run(f"sleep {NAP_SECONDS}", cancelled=cancelled)
    assert outcome.cancelled
    assert not outcome.timed_out
    assert processes_named(NAP_SECONDS) == []


def test_a_command_that_never_reads_gets_no_input(run: Run) -> None:
    assert run("cat; read line || echo empty").stdout == "empty\n"


def test_a_command_may_make_its_pipe_non_blocking(run: Run) -> None:
    code = "import os; os.set_blocking(1, False)\nfor _ in range(300):\n"
    code += " try: os.write(1, b'x' * 4096)\n except OSError: pass"
    assert run(f'python3 -c "{code}"; exit 4').exit_code == 4


def test_slots_run_side_by_side(run: Run) -> None:
    """Each goes on until all three have spoken."""
    spoke: set[int] = set()
    all_spoke = threading.Event()

    def hear(slot: int) -> None:
        spoke.add(slot)
        if len(spoke) == 3:
            all_spoke.set()

    def run_in(slot: int) -> Outcome:
        shell = f"echo {slot}; sleep {NAP_SECONDS}"
        return run(shell, slot=slot, cancelled=all_spoke, on_output=lambda _: hear(slot))

    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(run_in, range(3)))
    assert [(outcome.stdout, outcome.cancelled) for outcome in outcomes] == [(f"{slot}\n", True) for slot in range(3)]


@pytest.mark.parametrize("length", [10, 100_000])
def test_long_commands_and_environments_arrive_whole(run: Run, length: int) -> None:
    assert run('echo "$LONG" | wc -c', environment={"LONG": "x" * length}).stdout.strip() == str(length + 1)


def test_a_nice_command_says_so(run: Run) -> None:
    assert run("nice", niceness=7).stdout.strip() == str(os.nice(0) + 7)
    assert run("nice").stdout.strip() == str(os.nice(0))


@pytest.mark.parametrize(("was_killed", "exceeded", "n_looks"), [(True, True, 3), (False, False, 1)])
def test_an_engine_that_hears_late_of_the_memory_is_asked_again_if_something_was_killed(
    was_killed: bool, exceeded: bool, n_looks: int
) -> None:
    looks: list[str] = []

    def inspect_container(container: str) -> dict[str, Any]:
        looks.append(container)
        return {"State": {"OOMKilled": len(looks) >= 3}}

    cage = ContainerCage(SimpleNamespace(inspect_container=inspect_container), "c")
    assert cage.close(was_killed=was_killed) == UsageReading(exceeded, 0)
    assert looks == ["c"] * n_looks


@pytest.mark.parametrize(
    ("changes", "was_killed"),
    [
        ({"signal": 9}, True), ({"exit_code": 137}, True), ({"exit_code": 1}, False), ({"signal": 11}, False),
        ({"signal": 9, "timed_out": True}, False), ({"signal": 9, "cancelled": True}, False),
    ],
)  # fmt: skip
def test_only_an_end_that_the_supervisor_did_not_make_may_be_for_memory(
    changes: dict[str, Any], was_killed: bool
) -> None:
    fields = {
        "exit_code": None, "signal": None, "timed_out": False, "cancelled": False, "wall_ms": 1.0, "cpu_ms": 1.0,
        "stalled_ms": 0.0, "lost_ms": 0.0, "timed_ms": 0.0, "others_ms": 0.0, "steal_ms": 0.0, "max_rss_bytes": 1,
        "witness": Witness.SEEN, "witness_detail": "",
    }  # fmt: skip
    assert watch._was_killed(SupervisorReport(**(fields | changes))) is was_killed
