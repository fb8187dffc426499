"""The clock of functions on a real GPU: what it is for honest solutions of many kinds, and what attacks on it gain.

By hand, with the values that were measured:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_hand_off_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import time

import pytest

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.registry import Judges
from runners.wire.protocol import MeasurementReport, Report, Role, TimingPolicy, Verdict
from tests.gpu import test_functions_on_device as functions
from tests.gpu.hand_off_sources import ATTACKS, DEFINITION, DELAYS_US, ON_DEVICE, ON_HOST, STEPS, attack
from tests.gpu.test_functions_on_device import judged, read
from tests.gpu.test_functions_on_device import judges as judges  # noqa: PLC0414 - the fixture

pytestmark = functions.pytestmark
MOST_GAIN, MOST_GAIN_MS = 0.02, 0.001
REPEATS = 6
MOST_SPREAD, MOST_SPREAD_MS = 0.005, 0.001
LEAST_RATE = 6.0
"""Samples a minute in CUDA, with the process that looks for drift of the baseline."""


@pytest.fixture(scope="module")
def problem(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> FunctionProblem:
    return read(judges, tmp_path_factory.mktemp("chain"), DEFINITION)


def timed(report: Report) -> dict[str, MeasurementReport]:
    found = {one.case: one for one in report.measurements if one.role is Role.CANDIDATE}
    for case, one in found.items():
        interval = (one.ci_low_ms, one.ci_high_ms)
        print(f"  {case}: {one.median_ms:.5f} ms, {interval}, {one.device}")
    return found


@pytest.fixture(scope="module")
def honest_ms(judges: Judges, problem: FunctionProblem) -> dict[str, float]:
    """Times of the attacks' plain work under `ranked`, by case."""
    report = judged(judges, problem, "solution.cu", attack("word_before.cu", honest=True), timing=TimingPolicy.RANKED)
    assert (report.verdict, report.reason, report.flags) == (Verdict.PASSED, "", [])
    return {case: one.median_ms for case, one in timed(report).items()}


@pytest.mark.parametrize("kind", list(ON_DEVICE))
def test_honest_work_that_is_queued_has_the_device_s_time(judges: Judges, problem: FunctionProblem, kind: str) -> None:
    report = judged(judges, problem, *ON_DEVICE[kind])
    assert (report.verdict, report.reason, report.flags) == (Verdict.PASSED, "", [])
    assert {case: one.device["clock_by"] for case, one in timed(report).items()} == {
        str(steps): "device" for steps in STEPS
    }


@pytest.mark.parametrize("kind", list(ON_HOST))
def test_honest_work_that_needs_the_host_has_the_host_s_time(
    judges: Judges, problem: FunctionProblem, kind: str, honest_ms: dict[str, float]
) -> None:
    report = judged(judges, problem, *ON_HOST[kind])
    assert (report.verdict, report.reason, report.flags) == (Verdict.PASSED, "", [])
    seen = timed(report)
    assert {case: one.device["clock_by"] for case, one in seen.items()} == {str(steps): "host" for steps in STEPS}
    if not kind.startswith("torch"):
        published_ms = {case: one.median_ms for case, one in seen.items()}
        assert all(one_ms >= 0.98 * honest_ms[case] for case, one_ms in published_ms.items()), (published_ms, honest_ms)


@pytest.mark.parametrize(
    ("file", "delay_us"),
    [(file, 100) for file in sorted(ATTACKS)] + [("ahead_and_mend.cu", delay) for delay in DELAYS_US],
)
def test_an_attack_on_the_words_gains_nothing(
    judges: Judges, problem: FunctionProblem, file: str, delay_us: int, honest_ms: dict[str, float]
) -> None:
    content = attack(file, delay_us=delay_us)
    report = judged(judges, problem, "solution.cu", content, timing=TimingPolicy.RANKED)
    seen = timed(report)
    if report.verdict is not Verdict.PASSED or report.flags:
        assert report.verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER), report.reason
        return
    gains = {case: honest_ms[case] - one.median_ms for case, one in seen.items()}
    print({case: f"{ms * 1e3:.2f} µs" for case, ms in gains.items()})
    assert all(ms < max(MOST_GAIN_MS, MOST_GAIN * honest_ms[case]) for case, ms in gains.items()), ATTACKS[file]
    assert len({len(calls) for one in seen.values() for calls in one.calls_ms}) == 1


def test_published_times_of_the_same_code_agree(judges: Judges, problem: FunctionProblem) -> None:
    name, content = ON_DEVICE["default stream"]
    judged(judges, problem, name, content, baseline=True, timing=TimingPolicy.RANKED)  # builds and times the baseline
    began = time.monotonic()
    reports = [
        judged(judges, problem, name, content, baseline=True, timing=TimingPolicy.RANKED) for _ in range(REPEATS)
    ]
    rate = 60 * REPEATS / (time.monotonic() - began)
    print(f"{rate:.1f} samples a minute")
    for steps in STEPS:
        times = [timed(report)[str(steps)].median_ms for report in reports]
        print(f"{steps} steps: spread {(max(times) - min(times)) * 1e3:.2f} µs of {min(times):.4f} ms")
        assert max(times) - min(times) <= max(MOST_SPREAD_MS, MOST_SPREAD * min(times))
    assert rate >= LEAST_RATE
