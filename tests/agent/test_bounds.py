"""A profiled time that does not fit what is seen from outside is flagged; honest ones, faster or slower, are not."""

from dataclasses import replace
from typing import Any

import pytest

from problems.spec.command.problem import CommandProblem
from problems.spec.command.timing_mode import GpuTimingMode, KernelsTimingMode, RegionTimingMode
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.command.findings import below_floor, bound_ms
from runners.agent.judges.command.outside_bounds import INTERPRETED_START_NOISE_MS, Observed, findings
from runners.agent.profilers.facts import ProfileFacts, RangeFacts
from runners.wire.protocol import Peaks
from tests.agent.machine import shell_problem

REGION = RegionTimingMode(type="region", include=["bench_region"], time_type="kernel")
BY_WALL = RegionTimingMode(type="region", include=["bench_region"], time_type="wall_clock")
KERNELS = KernelsTimingMode(type="kernels")
RANGE = RangeFacts(
    instances=20, unclosed=0, wall_ms=220.0, kernel_ms=200.0, launches=20, memcpy_ms=0.0, memset_ms=0.0,
    busy_ms=200.0, late_ms=0.0, foreign_launches=0,
)  # fmt: skip
FACTS = ProfileFacts(
    processes=1, unfinished=0, dropped_records=0, kernel_ms=230.0, launches=23, memcpy_ms=5.0, memset_ms=1.0,
    busy_ms=236.0, outside_ms=30.0, outside_launches=3, kernels={"solve": 23}, ranges={"bench_region": RANGE},
)  # fmt: skip
DEVICE = DeviceRecord(100, 900.0, busy_ms=240.0, busy_resolution_ms=40.0)
REFERENCE = Observed(200.0, 900.0, FACTS, DEVICE)


def scaled(factor: float, **changes: Any) -> Observed:
    """An honest run `factor` times as long on the device as the reference."""
    faster = replace(
        RANGE, wall_ms=20 + 200 * factor, kernel_ms=200 * factor, busy_ms=200 * factor, **changes.pop("range", {})
    )
    facts = replace(
        FACTS, kernel_ms=230 * factor, busy_ms=6 + 230 * factor, outside_ms=30 * factor, ranges={"bench_region": faster}
    )
    run = Observed(200.0 * factor, 664 + 236 * factor, facts, replace(DEVICE, busy_ms=10 + 230 * factor))
    return replace(run, **changes)


def codes(candidate: Observed, mode: Any = REGION, **more: Any) -> set[str]:
    return {finding.code for finding in findings(mode, candidate, REFERENCE, **more)}


@pytest.mark.parametrize("factor", [0.01, 0.3, 0.9, 1.0, 1.1, 5.0])
@pytest.mark.parametrize("mode", [REGION, BY_WALL, KERNELS, GpuTimingMode(type="gpu")])
def test_an_honest_run_is_never_flagged_however_fast_or_slow(factor: float, mode: Any) -> None:
    honest = scaled(factor)
    assert codes(honest, mode, plain_wall_ms=honest.wall_ms - 20) == set()


def test_fused_kernels_and_a_graph_are_honest() -> None:
    launches = {"launches": 20}
    theirs = replace(FACTS, kernels={"a": 100, "b": 100}, ranges={"bench_region": replace(RANGE, launches=200)})
    assert findings(REGION, scaled(0.5, range=launches), replace(REFERENCE, facts=theirs)) == []


def with_range(candidate: Observed, **changes: Any) -> Observed:
    assert candidate.facts
    mine = replace(candidate.facts.ranges["bench_region"], **changes)
    return replace(candidate, facts=replace(candidate.facts, ranges={"bench_region": mine}))


def with_facts(candidate: Observed, **changes: Any) -> Observed:
    assert candidate.facts
    return replace(candidate, facts=replace(candidate.facts, **changes))


def test_doing_nothing_in_the_range_is_flagged() -> None:
    idle = with_facts(with_range(scaled(0.01), launches=0, kernel_ms=0.0), memcpy_ms=0.0, memset_ms=0.0)
    assert "no_device_work" in codes(idle)


def test_answering_from_memory_after_the_first_call_is_flagged() -> None:
    assert "idle_ranges" in codes(with_range(scaled(0.05), launches=1))


def test_far_fewer_launches_in_one_long_range_are_flagged_unless_the_work_is_checked() -> None:
    theirs = replace(FACTS, kernels={"solve": 100}, ranges={"bench_region": replace(RANGE, instances=1, launches=100)})
    own = with_range(scaled(0.01), instances=1, launches=1)
    known = replace(REFERENCE, facts=theirs)
    assert "few_launches" in {one.code for one in findings(REGION, own, known)}
    assert "few_launches" not in {one.code for one in findings(REGION, own, known, work_checked=True)}


def test_leaving_the_range_is_flagged() -> None:
    left = with_facts(with_range(scaled(1.0), kernel_ms=1.0, wall_ms=30.0), outside_ms=229.0)
    assert "work_outside" in codes(replace(left, time_ms=1.0))
    assert "other_ranges" in codes(with_range(scaled(0.5), instances=40))
    assert "open_range" in codes(with_range(scaled(0.5), unclosed=1))


def test_work_that_outlasts_a_range_timed_by_the_wall_is_flagged() -> None:
    late = with_range(scaled(0.3), wall_ms=30.0, late_ms=55.0)
    assert "late_work" in codes(replace(late, time_ms=30.0), BY_WALL)
    assert "late_work" not in codes(late, REGION)


def test_computing_on_the_host_is_flagged() -> None:
    assert "slower_by_the_clock" in codes(with_range(scaled(0.01), wall_ms=2000.0))
    slow = replace(scaled(0.01), wall_ms=2700.0)
    assert "saving_not_seen" in codes(slow)


def test_a_program_that_compiles_as_it_starts_may_start_slowly() -> None:
    slow = replace(scaled(0.01), wall_ms=2700.0)
    assert codes(slow, start_noise_ms=INTERPRETED_START_NOISE_MS) == set()


def test_a_forged_profile_is_flagged_where_the_device_was_busier_than_it_says() -> None:
    forged = replace(scaled(0.01), device=DEVICE)
    assert "unrecorded_work" in codes(forged)
    assert "saving_not_seen" in codes(replace(forged, wall_ms=1150.0))


def test_behaving_only_under_the_profiler_is_flagged() -> None:
    assert "slower_unwatched" in codes(scaled(0.2), plain_wall_ms=1400.0)


def test_ending_early_or_working_in_other_processes_is_flagged() -> None:
    assert "cut_short" in codes(with_facts(scaled(0.5), unfinished=1))
    assert "other_processes" in codes(with_facts(scaled(0.5), processes=2))
    assert "dropped_records" in codes(with_facts(scaled(0.5), dropped_records=3))


def test_a_harness_that_is_odd_is_odd_for_both() -> None:
    odd = {"unfinished": 1, "processes": 2}
    known = replace(REFERENCE, facts=replace(FACTS, **odd))  # type: ignore[arg-type]
    assert findings(REGION, with_facts(scaled(0.5), **odd), known) == []


def test_a_time_without_a_profile_is_held_to_nothing() -> None:
    assert findings(REGION, Observed(1.0, 1.0), REFERENCE) == []


PEAKS = Peaks(gbps=4000.0, gflops={"fp32": 50_000.0, "bf16": 800_000.0}, l2_bytes=60 << 20)


def declared(**podium: Any) -> CommandProblem:
    return shell_problem(metadata={"podium": podium})


def floor_ms(**podium: Any) -> float | None:
    problem = declared(**podium)
    return bound_ms(problem, problem.podium.case, PEAKS)


def test_the_floor_is_the_larger_of_flops_and_bytes() -> None:
    assert floor_ms(flops=5e10) == pytest.approx(1.0)
    assert floor_ms(flops=5e10, flops_dtype="bf16") == pytest.approx(0.0625)
    assert floor_ms(flops=5e10, bytes=8e9, l2_flushed=True) == pytest.approx(2.0)


def test_memory_bounds_only_what_the_cache_cannot_hold() -> None:
    assert floor_ms(bytes=8e9) is None
    assert floor_ms(bytes=8e9, working_set_bytes=100 << 20) is None
    assert floor_ms(bytes=8e9, working_set_bytes=200 << 20) == pytest.approx(2.0)


def test_a_time_that_no_device_could_reach_is_flagged_and_one_near_the_bound_is_not() -> None:
    problem = declared(flops=5e10)
    flagged = below_floor(problem, problem.podium.case, 0.89, PEAKS)
    assert flagged is not None
    assert flagged.code == "below_roofline"
    assert below_floor(problem, problem.podium.case, 0.91, PEAKS) is None
    assert below_floor(problem, problem.podium.case, 0.1, Peaks()) is None


# ---- beside others -------------------------------------------------------------------------------------------------


def crowded(run: Observed, cpu_ms: float = 800.0, **changes: Any) -> Observed:
    return replace(run, among_others=True, cpu_ms=cpu_ms, **changes)


def crowd_codes(candidate: Observed, **more: Any) -> set[str]:
    return {finding.code for finding in findings(REGION, candidate, crowded(REFERENCE), **more)}


@pytest.mark.parametrize("factor", [0.01, 0.9, 0.96, 0.999, 1.0, 5.0])
@pytest.mark.parametrize(("cpu_ms", "wall_ms"), [(400.0, 300.0), (1300.0, 9000.0)])
def test_beside_others_a_slow_clock_on_the_wall_is_honest(factor: float, cpu_ms: float, wall_ms: float) -> None:
    assert crowd_codes(crowded(scaled(factor), cpu_ms, wall_ms=wall_ms)) == set()


def test_beside_others_work_moved_to_the_host_is_seen_by_its_processor_time() -> None:
    assert "host_work" in crowd_codes(crowded(scaled(0.1), cpu_ms=2500.0))
    assert "host_work" not in crowd_codes(crowded(scaled(1.1), cpu_ms=2500.0)), "nothing is claimed to be saved"
    alone = replace(scaled(0.1), cpu_ms=2500.0)
    assert "host_work" not in codes(alone), "the clock on the wall tells more then"


def test_beside_others_ranges_may_be_late_by_a_little_and_not_by_much() -> None:
    assert crowd_codes(crowded(with_range(scaled(0.5), wall_ms=500.0))) == set()
    assert "slower_by_the_clock" in crowd_codes(crowded(with_range(scaled(0.5), wall_ms=950.0)))


def lengthy(kernel_ms: float, range_ms: float, cpu_ms: float) -> Observed:
    """Its ranges last so long that how late they may be by a fixed time hardly matters."""
    run = replace(REFERENCE, time_ms=kernel_ms, wall_ms=range_ms + 700, cpu_ms=cpu_ms)
    return with_facts(with_range(run, kernel_ms=kernel_ms, wall_ms=range_ms), kernel_ms=kernel_ms + 30)


def lengthy_codes(among_others: tuple[bool, bool], range_ms: float, cpu_ms: float) -> set[str]:
    """The findings on a candidate that claims a hundredth of the time; it or its reference was among others."""
    own, reference = lengthy(20.0, range_ms, cpu_ms), lengthy(2000.0, 2200.0, 2500.0)
    own, reference = replace(own, among_others=among_others[0]), replace(reference, among_others=among_others[1])
    return {finding.code for finding in findings(REGION, own, reference)}


@pytest.mark.parametrize("among_others", [(True, True), (True, False), (False, True)])
def test_beside_others_long_ranges_may_last_up_to_three_times_as_long(among_others: tuple[bool, bool]) -> None:
    assert lengthy_codes(among_others, 2.1 * 2200, 2500.0) == set()
    assert "slower_by_the_clock" in lengthy_codes(among_others, 3.2 * 2200, 2500.0)


def test_alone_they_may_last_half_as_long_again() -> None:
    assert "slower_by_the_clock" not in lengthy_codes((False, False), 1.4 * 2200, 2500.0)
    assert "slower_by_the_clock" in lengthy_codes((False, False), 1.6 * 2200, 2500.0)


def test_computing_in_the_range_on_the_host_is_seen_by_processor_time_beside_others_and_by_the_clock_alone() -> None:
    range_ms = 2.5 * 2200
    computed = {"range_ms": range_ms, "cpu_ms": 300 + range_ms}
    assert lengthy_codes((True, True), **computed) == {"host_work"}
    assert "slower_by_the_clock" in lengthy_codes((False, False), **computed)


def test_beside_others_kernels_around_the_timed_ones_may_vary_more() -> None:
    some = with_facts(scaled(0.999), kernel_ms=232.8)
    assert "work_outside" in codes(some)
    assert crowd_codes(crowded(some)) == set()
    assert "work_outside" in crowd_codes(crowded(with_facts(scaled(0.5), kernel_ms=200.0)))


@pytest.mark.parametrize(("factor", "is_asked"), [(0.96, True), (0.98, False), (0.999, False)])
def test_beside_others_a_saving_within_the_noise_is_not_held_to_the_clock(factor: float, is_asked: bool) -> None:
    late = with_range(scaled(factor), wall_ms=950.0)
    assert crowd_codes(crowded(late)) == ({"slower_by_the_clock"} if is_asked else set())
    beside_before = {one.code for one in findings(REGION, late, crowded(REFERENCE))}
    assert beside_before == ({"slower_by_the_clock"} if is_asked else set()), "the reference's time is as uncertain"
    assert ("slower_by_the_clock" in codes(late)) == (factor < 0.99), "alone, times differ by less"
    computed = crowded(late, cpu_ms=2500.0)
    assert "host_work" in crowd_codes(computed), "nor is the least saving to be had by computing on the host"


@pytest.mark.parametrize(("outside_ms", "is_flagged"), [(0.53, False), (0.55, True), (180.0, True)])
def test_beside_others_work_outside_may_grow_by_the_noise_of_what_is_timed(outside_ms: float, is_flagged: bool) -> None:
    """The figures of a program on an H200 that was the reference's own code."""
    theirs = replace(FACTS, kernel_ms=17.87, ranges={"bench_region": replace(RANGE, kernel_ms=17.87)})
    own = replace(FACTS, kernel_ms=17.64 + outside_ms, ranges={"bench_region": replace(RANGE, kernel_ms=17.64)})
    reference = crowded(replace(REFERENCE, time_ms=17.87, facts=theirs))
    candidate = crowded(replace(REFERENCE, time_ms=17.64, facts=own))
    found = {one.code for one in findings(REGION, candidate, reference)}
    assert found == ({"work_outside"} if is_flagged else set())
