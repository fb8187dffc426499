"""A time, and what the timed part wrote, beside the problem's compulsory traffic: cheats are flagged, twins are not."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.agent.judges.command import findings, traffic
from runners.agent.judges.command.counting import Counted
from runners.agent.profilers.facts import ProfileFacts
from runners.wire.protocol import Peaks
from tests.agent.traffic_cases import (
    BY_WALL,
    EMPTY,
    FACTS,
    FIRST_ONLY,
    GPU,
    KERNELS,
    LIBRARY,
    MB,
    N_CALLS,
    NAIVE,
    PEAKS,
    RANGE,
    REGION,
    checked,
    problem,
    timed,
)


def codes(*arguments: Any, **more: Any) -> list[str]:
    return [one.code for one in checked(*arguments, **more).findings]


@pytest.mark.parametrize("mode", [REGION, BY_WALL, KERNELS, GPU])
def test_a_library_call_beside_a_naive_reference_is_not_flagged(mode: dict[str, Any]) -> None:
    found = checked(LIBRARY, mode=mode)
    assert found.findings == []
    assert found.facts["writes_checked"] == "yes"
    assert (found.facts["l2_written_bytes"], found.facts["output_bytes"]) == (1e9, 100 * MB)
    assert (found.facts["uploaded_bytes"], found.facts["downloaded_bytes"]) == (200 * MB, 100 * MB)
    assert found.baseline_facts["l2_read_bytes"] == 90_000 * MB


@pytest.mark.parametrize("mode", [REGION, BY_WALL, KERNELS, GPU])
def test_empty_kernels_are_flagged_by_the_copies_alone(mode: dict[str, Any]) -> None:
    (finding,) = checked(EMPTY, mode=mode).findings
    assert finding.code == "outputs_not_written"
    assert "0.00032 MB to the L2 cache; the problem shows by its copies 100 MB" in finding.detail


def test_working_in_the_first_call_only_is_flagged_by_declared_outputs() -> None:
    assert codes(FIRST_ONLY) == []  # one call's outputs are all that the copies show
    assert codes(FIRST_ONLY, output_bytes=N_CALLS * 100 * MB) == ["outputs_not_written"]
    assert codes(LIBRARY, output_bytes=N_CALLS * 100 * MB) == []


def test_outputs_that_never_reach_the_dram_count_as_written() -> None:
    assert codes(replace(LIBRARY, dram_written_bytes=0.0)) == []


def test_without_counters_nothing_is_flagged_and_the_fact_says_so() -> None:
    found = checked(None, reference=None)
    assert (found.findings, found.facts) == ([], {"writes_checked": "no: no counters"})


def test_a_harness_that_copies_nothing_and_declares_nothing_is_not_checked() -> None:
    quiet = replace(FACTS, ranges={"bench_region": replace(RANGE, uploaded_before_bytes=0, downloaded_after_bytes=0)})
    found = checked(EMPTY, timed(reference=quiet))
    assert found.findings == []
    assert "declares no `output_bytes`" in str(found.facts["writes_checked"])
    assert codes(EMPTY, timed(reference=quiet), output_bytes=100 * MB) == ["outputs_not_written"]


def test_a_declaration_that_the_reference_does_not_keep_flags_nobody() -> None:
    found = checked(EMPTY, output_bytes=1e12)
    assert found.findings == []
    assert "the reference itself writes 9000 MB of 1e+06 MB" in str(found.facts["writes_checked"])


def test_copies_beyond_what_the_reference_moves_bound_nothing() -> None:
    """As where the harness also tests with other data: nobody must write more than the reference."""
    small = replace(NAIVE, l2_written_bytes=1.0 * MB, l2_read_bytes=1.0 * MB)
    assert codes(replace(LIBRARY, l2_written_bytes=1.0 * MB), reference=small) == []
    assert codes(EMPTY, reference=small) == ["outputs_not_written"]


def test_a_time_below_a_fourth_of_the_bandwidths_is_flagged_by_copies() -> None:
    # 300 MB at 4000 GB/s take 0.075 ms
    assert codes(LIBRARY, timed(0.0187)) == ["below_bandwidth"]
    assert codes(LIBRARY, timed(0.0188)) == []


def test_a_declared_time_bound_replaces_that_of_the_copies() -> None:
    assert codes(LIBRARY, timed(0.0187), bytes=1e6) == []


def test_declared_bytes_bound_a_time_wherever_they_may_lie() -> None:
    assert findings.below_bandwidth(problem(bytes=8e9), 0.49, PEAKS) is not None
    assert findings.below_bandwidth(problem(bytes=8e9), 0.51, PEAKS) is None
    assert findings.below_bandwidth(problem(bytes=8e9, working_set_bytes=20 << 20), 0.01, PEAKS) is None
    assert findings.below_bandwidth(problem(bytes=8e9, working_set_bytes=20 << 20, l2_flushed=True), 0.01, PEAKS)
    assert findings.below_bandwidth(problem(), 0.01, PEAKS) is None
    assert findings.below_bandwidth(problem(bytes=8e9), 0.01, Peaks()) is None


def with_range(**changes: Any) -> ProfileFacts:
    return replace(FACTS, ranges={"bench_region": replace(RANGE, **changes)})


def test_copies_and_fills_in_the_range_count_where_their_time_does() -> None:
    copying = timed(facts=with_range(copied_bytes=60 * MB, filled_bytes=40 * MB))
    assert codes(EMPTY, copying, mode=BY_WALL) == []
    assert codes(EMPTY, copying, mode=REGION) == ["outputs_not_written"]


def test_fills_that_the_reference_makes_in_the_range_count_for_everybody() -> None:
    filling = with_range(filled_bytes=100 * MB)
    assert codes(EMPTY, timed(facts=filling, reference=filling)) == []


def test_copies_on_the_device_count_in_mode_gpu_beyond_the_harness_own() -> None:
    copying = replace(FACTS, copied_bytes=400 * MB)
    assert codes(EMPTY, timed(facts=copying), mode=GPU) == []
    assert codes(EMPTY, timed(facts=copying, reference=copying), mode=GPU) == ["outputs_not_written"]
    assert codes(EMPTY, timed(facts=copying), mode=KERNELS) == ["outputs_not_written"]


def test_working_only_while_counters_watch_is_flagged() -> None:
    idle = timed(0.02, facts=with_range(kernel_ms=0.02))
    assert codes(replace(LIBRARY, kernel_ms=0.15), idle) == []  # a launch is honestly longer by up to 0.01 ms
    assert codes(replace(LIBRARY, kernel_ms=1.0), idle) == ["slower_counted"]


def test_failing_only_while_counters_watch_is_flagged() -> None:
    found = checked(None)
    assert [one.code for one in found.findings] == ["fails_counted"]
    assert "it failed" in found.findings[0].detail
    assert found.facts["writes_checked"] == "no: it failed"


def test_a_long_reason_is_cut() -> None:
    bounds = traffic.bounds_of(problem(), timed(), Counted(NAIVE))
    found = traffic.check(bounds, timed(), Counted(why_not="x" * 5000), Counted(NAIVE), PEAKS)
    assert len(str(found.facts["writes_checked"])) == traffic.LONGEST_REASON


@given(
    st.sampled_from([REGION, BY_WALL, KERNELS, GPU]),
    st.floats(1.0, 1e4),
    st.floats(1.0, 1e4),
    st.floats(0.075, 100.0),
)
def test_whoever_writes_the_outputs_once_and_is_no_faster_than_the_memory_is_never_flagged(
    mode: dict[str, Any], own_factor: float, reference_factor: float, time_ms: float
) -> None:
    """For any solution and any reference, of which each may move as much as it likes beside what it must."""
    own = replace(LIBRARY, l2_written_bytes=own_factor * 100 * MB)
    reference = replace(NAIVE, l2_written_bytes=reference_factor * 100 * MB, l2_read_bytes=reference_factor * 200 * MB)
    assert codes(own, timed(time_ms), reference=reference, mode=mode) == []
