"""A function's time that is shorter than the device allows is flagged."""

import pytest

from problems.spec.function.problem import as_function
from runners.agent.judges.function.results import too_short
from runners.wire.protocol import Clock, MeasurementReport, Peaks, Role
from tests.agent.functions.table import SCALE, problem

WORK = SCALE + "\n    def flops(self, case):\n        return 4e9\n\n    def bytes(self, case):\n        return 200e6\n"
PEAKS = Peaks(gbps=4000.0, gflops={"fp32": 50_000.0}, l2_bytes=50_000_000)
"""The work takes 0.08 ms, its bytes 0.05 ms."""


def flagged(time_ms: float, peaks: Peaks = PEAKS, definition: str = WORK) -> list[str]:
    record = as_function(problem(definition))
    timed = MeasurementReport(
        role=Role.CANDIDATE, case="many", median_ms=time_ms, runs_ms=[time_ms], clock=Clock.OUTSIDE
    )
    return [one.detail for one in too_short(record, [timed], peaks)]


def test_less_than_the_work_needs_is_flagged() -> None:
    assert flagged(0.073) == []
    assert flagged(0.071) == [
        "In case many 0.071 ms is less than 0.9 × the 0.08 ms that the device needs at its peaks."
    ]


@pytest.mark.parametrize(("l2_bytes", "is_flagged"), [(99_000_000, True), (101_000_000, False), (0, False)])
def test_bytes_count_if_no_two_caches_hold_them(l2_bytes: int, is_flagged: bool) -> None:
    only_bytes = PEAKS.model_copy(update={"gflops": {}, "l2_bytes": l2_bytes})
    assert bool(flagged(0.04, only_bytes)) is is_flagged


def test_without_declared_work_or_peaks_nothing_is_flagged() -> None:
    assert flagged(1e-3, Peaks()) == []
    assert flagged(1e-3, definition=SCALE) == []
