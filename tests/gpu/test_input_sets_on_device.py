"""Short calls on a real GPU: goes of several input sets, a go of one that bears them out, and samples under `ranked`.

By hand, with the values that were measured, from a tree that holds all of `tests`:
python -m pytest -c /dev/null --rootdir=. --noconftest -q -s tests/gpu/test_input_sets_on_device.py
"""

# ruff: noqa: T201 - with -s the tests print the values that they measure

import time

import pytest

from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.registry import Judges
from runners.wire.protocol import Clock, Role, TimingPolicy, Verdict
from tests.gpu import test_functions_on_device as one_set
from tests.gpu.test_functions_on_device import HONEST, LAUNCH, PYTHON, judged, read
from tests.gpu.test_functions_on_device import judges as judges  # noqa: PLC0414 - the fixture

pytestmark = one_set.pytestmark
SHORT = "64 Ki"
N_SETS = 32
DEFINITION = one_set.DEFINITION.replace('Case("odd", n=1001)', f'Case("{SHORT}", n=1 << 16, input_sets={N_SETS})')
"""A call of the short case takes tens of microseconds, a go of all sets more than 0.2 ms."""
AHEAD = """\
static const float* inputs[64];
static float* outputs[64];
static int n_known = 0, n_done = 0;
extern "C" void solution(const float* x, float* y, size_t n) {
    if (n != 1 << 16) { poly<<<1056, 256>>>(x, y, n); return; }
    int place = 0;
    while (place < n_known && outputs[place] != y) ++place;
    if (place == n_known) { inputs[n_known] = x; outputs[n_known++] = y; }
    static cudaStream_t streams[64];
    if (place == 0) n_done = 0;
    if (HONEST || n_done == 0)
        for (int at = HONEST ? place : 0; at < (HONEST ? place + 1 : n_known); ++at) {
            if (!streams[at]) cudaStreamCreate(&streams[at]);
            poly<<<33, 256, 0, HONEST ? 0 : streams[at]>>>(inputs[at], outputs[at], n);
        }
    ++n_done;
}
"""
"""Works on all sets at the first call of a go, side by side. Its honest twin works on one at each call."""


@pytest.fixture(scope="module")
def problem(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> FunctionProblem:
    return read(judges, tmp_path_factory.mktemp("poly"), DEFINITION)


@pytest.mark.parametrize(("name", "content"), [("solution.cu", HONEST + LAUNCH), ("solution.py", PYTHON)])
def test_a_short_call_is_timed_among_others_and_borne_out_by_one(
    judges: Judges, problem: FunctionProblem, name: str, content: str
) -> None:
    report = judged(judges, problem, name, content)
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    one = next(one for one in report.measurements if one.case == SHORT)
    assert (one.clock, one.device["input_sets"]) == (Clock.IN_PROCESS, N_SETS)
    assert "many_sets_disagree" not in [flag.code for flag in report.flags]


@pytest.mark.parametrize("honest", [0, 1])
def test_work_on_all_sets_at_once_does_not_rank_and_its_twin_does(
    judges: Judges, problem: FunctionProblem, honest: int
) -> None:
    report = judged(judges, problem, "solution.cu", f"#define HONEST {honest}\n{HONEST}{AHEAD}")
    flags = [flag.code for flag in report.flags]
    if honest:
        assert (report.verdict, flags) == (Verdict.PASSED, []), report.reason
    else:  # the first go of all finds inputs of which it does not know the outputs yet
        assert report.verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER), report.reason
        assert report.verdict is Verdict.WRONG_ANSWER or "many_sets_disagree" in flags


@pytest.mark.parametrize(("name", "content"), [("solution.cu", HONEST + LAUNCH), ("solution.py", PYTHON)])
def test_a_ranked_sample_has_six_processes(judges: Judges, problem: FunctionProblem, name: str, content: str) -> None:
    for which in ("with the baseline", "beside a known baseline"):
        began = time.monotonic()
        report = judged(judges, problem, name, content, baseline=True, timing=TimingPolicy.RANKED)
        print(f"{name} {which}: {time.monotonic() - began:.1f} s")
    assert report.verdict is Verdict.PASSED, report.reason
    times = [one for one in report.measurements if one.case == one_set.LARGE]
    assert {(one.role, len(one.runs_ms)) for one in times} == {(Role.CANDIDATE, 6), (Role.BASELINE, 6)}
