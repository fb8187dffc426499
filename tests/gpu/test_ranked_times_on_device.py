"""Ranked times of functions on a real GPU: how they agree, and what forged device events can gain.

By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_ranked_times_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import time

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.registry import Judges
from runners.wire.protocol import MeasurementReport, Role, TimingPolicy, Verdict
from tests.gpu import test_functions_on_device as functions
from tests.gpu.attack_sources import attack
from tests.gpu.test_functions_on_device import HONEST, LARGE, LAUNCH, judged
from tests.gpu.test_functions_on_device import judges as judges  # noqa: PLC0414 - the fixture
from tests.gpu.test_functions_on_device import problem as problem  # noqa: PLC0414 - the fixture

pytestmark = functions.pytestmark
REPEATS = 6
MOST_SPREAD = 0.01
LEAST_RATE = 6.0
"""Samples a minute in CUDA, with the baseline's drift check and the process that tells kernel spans."""


def ranked(judges: Judges, problem: FunctionProblem, content: str, *, baseline: bool = False) -> MeasurementReport:
    report = judged(judges, problem, "solution.cu", content, baseline=baseline, timing=TimingPolicy.RANKED)
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    one = next(one for one in report.measurements if (one.case, one.role) == (LARGE, Role.CANDIDATE))
    print(one.median_ms, (one.ci_low_ms, one.ci_high_ms), one.runs_ms, one.device, [flag.code for flag in report.flags])
    return one


def test_published_times_of_the_same_code_agree(judges: Judges, problem: FunctionProblem) -> None:
    ranked(judges, problem, HONEST + LAUNCH, baseline=True)  # builds, starts the checker and times the baseline
    began = time.monotonic()
    times = [ranked(judges, problem, HONEST + LAUNCH, baseline=True).median_ms for _ in range(REPEATS)]
    rate = 60 * REPEATS / (time.monotonic() - began)
    print(f"{rate:.1f} samples a minute, spread {(max(times) - min(times)) / min(times):.4f}")
    assert max(times) <= (1 + MOST_SPREAD) * min(times)
    assert rate >= LEAST_RATE


def test_forged_events_gain_no_more_than_the_published_interval(judges: Judges, problem: FunctionProblem) -> None:
    true_ms = ranked(judges, problem, attack("forged_events.cu", honest=True)).median_ms
    forged = ranked(judges, problem, attack("forged_events.cu"))
    assert forged.ci_low_ms is not None
    assert forged.device["device_events_ms"] < 0.95 * true_ms, "the events are forged"
    assert forged.median_ms >= max(forged.ci_low_ms, 0.98 * true_ms)
