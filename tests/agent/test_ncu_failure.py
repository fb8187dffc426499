"""The profiler ncu where ncu itself fails: whose failure it is, and in what words it is told.

The words are those of ncu 2025.3.1 on an H200; the stand-in says them.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from runners.agent.profilers.base import Reading
from runners.agent.profilers.ncu import Ncu
from runners.agent.profilers.ncu_failure import Ends, own_failure
from runners.agent.sandbox.policy import Outcome, Sandbox
from runners.wire.protocol import Profiler, TimingPolicy, Verdict
from tests.agent.machine import Machine, shell_problem
from tests.agent.ncu_stand_in import REGION, problem, under_ncu

WIDE = "terminate called after throwing an instance of 'std::range_error'\n  what():  wstring_convert::from_bytes\n"
"""The output of ncu 2025.3.1 on an H200, with names of NVTX ranges that are not UTF-8."""
ABORT = f"cat >&2 <<'.'\n{WIDE}.\nkill -ABRT $$\n"
SEGFAULT = "kill -SEGV $$\n"
THROWS_UNDER_NCU = f"""[ ! -e under-ncu ] || {{ rm under-ncu; cat >&2 <<'.'
{WIDE}.
kill -ABRT $$; }}"""
"""A benchmark in whose process ncu does, and which is none the worse without it."""


Run = Callable[..., tuple[Outcome, Reading]]


@pytest.fixture
def run(installed: Path, notes: Path, box: Sandbox) -> Run:
    return partial(under_ncu, box, notes)


def blamed(reading: Reading) -> str:
    """The error, once it is one of the profiler's and of nobody else's."""
    error = reading.error or ""
    assert "the profiler ncu 2025.3.1 failed by itself" in error
    assert "Give all NVTX ranges names of plain ASCII characters" in error
    assert "time with the profiler cupti" in error
    assert (reading.time_ms, reading.by_timer, len(error) < 1000) == (None, True, True)
    return error


def blame(run: Run, shell: str = "echo printed") -> tuple[Outcome, str]:
    outcome, reading = run(shell)
    return outcome, blamed(reading)


@pytest.mark.parametrize(
    ("crash", "signal", "words"),
    [(ABORT, 6, "'std::range_error'; what(): wstring_convert::from_bytes. "), (SEGFAULT, 11, "It said nothing. ")],
)
@pytest.mark.parametrize("shell", ["echo printed", "echo printed; exit 7"])
def test_a_crash_of_ncus_after_the_benchmark_is_its_own(
    run: Run, installed: Path, crash: str, signal: int, words: str, shell: str, notes: Path
) -> None:
    (installed / "times.after").write_text(crash)
    outcome, error = blame(run, shell)
    assert f"by itself: it was killed by signal {signal}. " in error
    assert words in error
    assert outcome.stdout == "printed\n"
    assert not (notes / "throughputs.log").exists()


def test_a_crash_of_ncus_before_the_benchmarks_end_is_its_own(run: Run, installed: Path) -> None:
    (installed / "times.before").write_text(ABORT)
    outcome, error = blame(run)
    assert (outcome.exit_code, outcome.stdout) == (134, "")
    assert "it was killed by signal 6 before the benchmark had ended. It said last: terminate called" in error


def test_a_crash_in_the_benchmarks_process_is_ncus_where_it_ends_well_without_it(run: Run, installed: Path) -> None:
    (installed / "times.before").write_text("touch under-ncu\n")
    outcome, error = blame(run, THROWS_UNDER_NCU)
    assert outcome.exit_code == 134
    assert "under ncu (status 134), and it ended well without ncu. It said last: terminate" in error


def test_a_benchmark_that_crashes_without_ncu_too_is_not_excused(run: Run) -> None:
    outcome, reading = run(ABORT)
    assert (outcome.exit_code, "wstring_convert" in outcome.stderr) == (134, True)
    assert not reading.by_timer


def test_a_crash_that_the_benchmark_hides_leaves_no_time(run: Run, installed: Path) -> None:
    (installed / "times.before").write_text("touch under-ncu\n")
    outcome, error = blame(run, f"sh -c {shlex.quote(THROWS_UNDER_NCU)} | cat; echo printed")
    assert outcome.exit_code == 0
    assert "it threw an exception inside of the benchmark" in error


def test_an_exception_that_ncu_tells_of_itself_is_its_own(run: Run, installed: Path) -> None:
    told = "==ERROR== Failed to start the profiler: wstring_convert::from_bytes"
    (installed / "times.after").write_text(f'echo "{told}" >> "$log"; exit 1\n')
    outcome, error = blame(run)
    assert outcome.exit_code == 0
    assert "it threw an exception. It said last: Failed to start the profiler: wstring_convert::from_bytes. " in error
    name = '"1","2","p","127.0.0.1","2 ""<default domain>:wstring_convert:none:none:none:none:none:none"""'
    (installed / "times.after").write_text(f"echo '{name}' >> \"$log\"; exit 0\n")
    assert "failed by itself" not in (run("echo printed")[1].error or ""), "the name of a range"


def test_an_end_of_ncus_that_is_not_well_leaves_no_time(run: Run, installed: Path) -> None:
    (installed / "times.after").write_text("exit 3\n")
    assert "it ended with status 3 although the benchmark had ended well" in blame(run)[1]


def test_what_ncu_says_of_its_failure_is_told_better_than_its_status(run: Run, installed: Path) -> None:
    (installed / "times.after").write_text('echo "==ERROR== Failed to profile kernel" > "$log"; exit 3\n')
    _, reading = run("echo printed")
    assert (reading.error, reading.time_ms) == (
        "Benchmark profiling failed: ncu reported: Failed to profile kernel",
        None,
    )
    (installed / "times.after").write_text('echo "==WARNING== No kernels were profiled." > "$log"; exit 3\n')
    assert "inside an NVTX range 'bench_region'" in (run("echo printed")[1].error or "")


def test_a_crash_in_the_second_run_leaves_the_times(run: Run, installed: Path) -> None:
    (installed / "throughputs.after").write_text(ABORT)
    outcome, reading = run("echo printed")
    assert (outcome.exit_code, reading.error, reading.time_ms) == (0, None, pytest.approx(0.157248))


def test_last_words_are_the_last_ones_and_few() -> None:
    log = "".join(f"==ERROR== {number} {'x' * 300}\n" for number in range(9))
    words = own_failure("2025.3.1", Ends(0, 139, None), log, "printed by the benchmark\n").partition("said last: ")[2]
    assert (words[:3], "; 8 x" in words, words.count("x" * 198), "printed" in words) == ("7 x", True, 2, False)


@pytest.mark.parametrize("limit", ["timed_out", "memory_exceeded"])
def test_limits_that_the_benchmark_ran_into_are_not_ncus(installed: Path, notes: Path, limit: str) -> None:
    (notes / "ended").write_text("134\n")
    ended = Outcome(134, None, False, False, False, "", "", False, 10.0, 1.0, 1, "unavailable")  # type: ignore[arg-type]
    assert Ncu(problem()).own_failure(notes, ended)
    assert not Ncu(problem()).own_failure(notes, replace(ended, **{limit: True}))  # type: ignore[arg-type]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("policy", TimingPolicy)
def test_a_node_keeps_the_verdict_blames_ncu_and_tries_no_more(
    installed: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, when: str, policy: TimingPolicy
) -> None:
    (installed / f"times.{when}").write_text(ABORT)
    attach, attached = Ncu.attach, []
    monkeypatch.setattr(Ncu, "attach", lambda *words: attached.append(words) or attach(*words))
    timed = shell_problem(
        test_command="true", benchmark_command="sh solution.sh", timing_mode=REGION, baseline_solution=None
    )
    finished = machine.judge(timed, {"solution.sh": ""}, profiler=Profiler.NCU, timing_policy=policy)
    assert (finished.report.verdict, finished.report.measurements) == (Verdict.PASSED, [])
    assert "ncu 2025.3.1 failed by itself" in (finished.texts.benchmark_error or "")
    assert [(flag.code, flag.detail) for flag in finished.report.flags] == [
        ("benchmark_failed", "The profiler ncu 2025.3.1 failed by itself.")
    ]
    assert len(attached) == 1
