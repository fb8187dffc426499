"""Conformance case 25: the table of ComputeEval's ncu mode, with its stand-in for the DRAM's throughput."""

from pathlib import Path

import pytest

from problems.formats.compute_eval.timing import PerformanceMetrics, extract_time_ms
from problems.spec.command.timing_mode import GpuTimingMode, KernelsTimingMode, RegionTimingMode
from runners.agent.profilers.ncu_csv import metrics_of, read_launches

TABLE = Path(__file__).parent.parent / "agent" / "data" / "ncu-compute-eval.csv"


@pytest.fixture(scope="module")
def metrics() -> PerformanceMetrics:
    launches = read_launches(TABLE.read_text())
    return metrics_of(launches, launches, wall_ms=900.0)


def test_times_add_up_over_launches_and_ranges(metrics: PerformanceMetrics) -> None:
    assert extract_time_ms(KernelsTimingMode(), metrics) == 4.0
    assert extract_time_ms(RegionTimingMode(include=["bench_region"]), metrics) == 2.0
    assert extract_time_ms(GpuTimingMode(), metrics) == 4.0
    assert metrics.summary.application_duration_ms == 900.0


def test_throughputs_are_means_over_a_kernels_launches(metrics: PerformanceMetrics) -> None:
    found = {one.name: (one.invocations, one.sm_throughput_avg, one.dram_throughput_avg) for one in metrics.kernels}
    assert found == {"scale(float *, int)": (2, 60.0, 30.0), "check(const float *)": (1, 10.0, 5.0)}


def test_a_samples_throughputs_are_means_over_its_kernels(metrics: PerformanceMetrics) -> None:
    assert (metrics.sm_throughput_pct, metrics.dram_throughput_pct) == (35.0, 17.5)
