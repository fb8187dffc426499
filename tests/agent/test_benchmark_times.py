"""Benchmarks: which processes run, what clock counts, what a failure or a forged time comes to."""

from itertools import islice
from typing import Any

import pytest

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.judges.command.timing import blocks
from runners.agent.profilers import timer_for
from runners.wire.job import Sides
from runners.wire.protocol import Clock, FlagScope, Profiler, Role, TimingPolicy, Verdict
from tests.agent.machine import Machine, shell_problem

B, C = Role.BASELINE, Role.CANDIDATE
PRINT = "echo COMPUTE_EVAL_TIME_MS: {}"


def custom(**changes: Any) -> Any:
    fields = {
        "test_command": "true",
        "benchmark_command": "sh solution.sh",
        "timing_mode": {"type": "custom"},
        "baseline": {"solution.sh": PRINT.format(12)},
    }
    return shell_problem(**fields | changes)


def timed_by_clock(**changes: Any) -> Any:
    return custom(timing_mode={"type": "process"}, baseline={"solution.sh": "sleep 0.12"}, **changes)


def roles(finished: Any) -> dict[Role, Any]:
    return {one.role: one for one in finished.report.measurements}


def test_processes_take_turns_so_that_drift_meets_both_alike() -> None:
    assert list(islice(blocks(), 3)) == [(B, C), (C, B), (B, C)]


@pytest.mark.parametrize(("printed", "expected"), [("6.0", 2.0), ("24.0", 0.5)])
def test_speedup_is_baseline_by_candidate(machine: Machine, printed: str, expected: float) -> None:
    finished = machine.judge(custom(), {"solution.sh": PRINT.format(printed)})
    assert finished.report.verdict == Verdict.PASSED
    assert finished.report.speedup == expected
    assert (finished.texts.solution_ms, finished.texts.baseline_ms) == (float(printed), 12.0)


@pytest.mark.parametrize("script", [PRINT.format("0.0"), "echo nothing", PRINT.format("1e3")])
def test_a_time_of_zero_or_none_gives_no_speedup(machine: Machine, script: str) -> None:
    finished = machine.judge(custom(), {"solution.sh": script})
    assert finished.report.verdict == Verdict.PASSED
    assert finished.report.speedup is None
    assert C not in roles(finished)
    assert finished.texts.benchmark_error is None
    assert finished.texts.baseline_ms == 12.0


def test_a_number_that_is_none_is_told_as_an_error(machine: Machine) -> None:
    finished = machine.judge(custom(), {"solution.sh": PRINT.format("1.2.3")})
    assert finished.texts.benchmark_error.startswith("Failed to extract timing from benchmark output:")
    assert finished.report.verdict == Verdict.PASSED


def test_a_failing_benchmark_leaves_the_verdict_and_flags_the_time(machine: Machine) -> None:
    finished = machine.judge(custom(), {"solution.sh": "echo words; exit 3"})
    assert finished.report.verdict == Verdict.PASSED
    assert [(flag.code, flag.scope) for flag in finished.report.flags] == [("benchmark_failed", FlagScope.TIME)]
    assert finished.texts.solution_ms is None
    assert finished.texts.benchmark_error == "Benchmark failed. Exit code 3, timeout=False.\nOutput: words\n\n"


@pytest.mark.rest
def test_a_benchmark_out_of_time_leaves_the_verdict_too(machine: Machine) -> None:
    finished = machine.judge(custom(timeout_seconds=2.0), {"solution.sh": "sleep 20"})
    assert finished.report.verdict == Verdict.PASSED
    assert finished.texts.benchmark_error.endswith("[TIMEOUT EXPIRED after 2.0 seconds]")


def test_a_failing_baseline_benchmark_is_told_and_gives_no_speedup(machine: Machine) -> None:
    problem = custom(baseline={"solution.sh": "exit 5"})
    finished = machine.judge(problem, {"solution.sh": PRINT.format(6)})
    assert finished.texts.baseline_error.startswith("Benchmark failed. Exit code 5")
    assert finished.report.speedup is None


def test_a_baseline_that_fails_its_test_is_no_baseline(machine: Machine) -> None:
    problem = custom(test_command="grep -q 6 solution.sh", baseline={"solution.sh": PRINT.format(12)})
    finished = machine.judge(problem, {"solution.sh": PRINT.format(6)})
    assert finished.texts.solution_ms == 6.0
    assert (finished.texts.baseline_ms, finished.texts.baseline_error) == (None, None)
    assert finished.report.speedup is None


def test_the_clock_of_process_timing_stands_outside_and_ignores_what_is_printed(machine: Machine) -> None:
    finished = machine.judge(timed_by_clock(), {"solution.sh": f"{PRINT.format(0.001)}; sleep 0.2"})
    own, baseline = roles(finished)[C], roles(finished)[B]
    assert own.clock is Clock.OUTSIDE
    assert own.median_ms >= 200
    assert baseline.median_ms >= 120
    assert finished.report.speedup == pytest.approx(baseline.median_ms / own.median_ms)


def test_a_printed_time_says_that_its_clock_is_its_own(machine: Machine) -> None:
    finished = machine.judge(custom(), {"solution.sh": PRINT.format(0.001)})
    assert roles(finished)[C].clock is Clock.SELF


def test_quick_timing_shares_a_baseline_between_samples(machine: Machine) -> None:
    problem = timed_by_clock(tests={"unique": "a"})
    first, second = (machine.judge(problem, {"solution.sh": f"sleep 0.01 # {n}"}) for n in range(2))
    assert roles(first)[B].shared
    assert roles(first)[B] == roles(second)[B]
    assert len(roles(first)[C].runs_ms) == 1


def test_ranked_timing_runs_six_fresh_processes_of_each_and_gives_intervals(machine: Machine) -> None:
    problem = custom(benchmark_command="test ! -e left && touch left && sh solution.sh")
    finished = machine.judge(problem, {"solution.sh": PRINT.format(6)}, timing_policy=TimingPolicy.RANKED)
    own, baseline = roles(finished)[C], roles(finished)[B]
    assert own.runs_ms == [6.0] * 6
    assert baseline.runs_ms == [12.0] * 6
    assert (own.ci_low_ms, own.ci_high_ms) == (6.0, 6.0)
    assert not baseline.shared


def test_quick_timing_claims_no_interval(machine: Machine) -> None:
    own = roles(machine.judge(custom(), {"solution.sh": PRINT.format(6)}))[C]
    assert (own.ci_low_ms, own.ci_high_ms) == (None, None)


def test_without_need_of_a_baseline_none_is_run(machine: Machine) -> None:
    finished = machine.judge(custom(), {"solution.sh": PRINT.format(6)}, sides=Sides.SOLUTION)
    assert set(roles(finished)) == {C}


def test_modes_that_were_not_asked_for_are_not_timed(machine: Machine) -> None:
    finished = machine.judge(timed_by_clock(), {"solution.sh": "true"}, timed_modes=frozenset({"custom"}))
    assert finished.report.measurements == []
    assert [step.name for step in finished.report.steps] == ["build", "test"]


def test_kernel_times_without_a_profiler_are_none_and_with_one_that_is_missing_an_error() -> None:
    problem = custom(timing_mode={"type": "kernels"})
    assert timer_for(problem, frozenset(), Profiler.NONE) is None
    with pytest.raises(ProfilerUnavailable, match="--profile none"):
        timer_for(problem, frozenset(), Profiler.CUPTI)


@pytest.mark.parametrize("printed", ["9" * 400, "0." + "0" * 320 + "1", "9" * 300])
def test_a_printed_number_that_is_no_time_is_not_a_fault_of_the_node(machine: Machine, printed: str) -> None:
    report = machine.judge(custom(), {"solution.sh": PRINT.format(printed)}).report
    assert report.verdict == "passed"
    assert [one.role for one in report.measurements] == [B]
    assert report.speedup is None


# ---- printed times -------------------------------------------------------------------------------------------------


def flagged(machine: Machine, problem: Any, script: str) -> list[tuple[str, FlagScope]]:
    report = machine.judge(problem, {"solution.sh": script}).report
    assert {one.clock for one in report.measurements} == {Clock.SELF}
    return [(flag.code, flag.scope) for flag in report.flags if flag.code != "busy_host"]


@pytest.mark.rest
def test_a_printed_saving_that_the_whole_run_does_not_show_is_flagged(machine: Machine) -> None:
    slow = custom(baseline={"solution.sh": f"sleep 1; {PRINT.format(1000)}"})
    assert flagged(machine, slow, f"sleep 1; {PRINT.format(0.001)}") == [("saving_not_seen", FlagScope.TIME)]
    assert flagged(machine, slow, PRINT.format(0.001)) == []
    assert flagged(machine, slow, f"sleep 1.1; {PRINT.format(1100)}") == []


def test_a_printed_time_longer_than_the_run_is_flagged(machine: Machine) -> None:
    honest = custom(baseline={"solution.sh": f"sleep 0.02; {PRINT.format(10)}"})
    assert flagged(machine, honest, PRINT.format(1e6)) == [("longer_than_the_run", FlagScope.TIME)]
    odd = custom(baseline={"solution.sh": PRINT.format(2e5)})
    assert flagged(machine, odd, PRINT.format(1e6)) == [], "the reference's own time is as odd"
