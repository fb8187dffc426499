"""Cases whose calls are too short to be timed: goes of several input sets, and goes of one that bear them out."""

from typing import Any

import pytest

from problems.spec.function.manifest import ManifestCase
from problems.spec.input_sets import WRONG_SETS
from problems.spec.record import ProblemRecord
from runners.agent.ground.errors import UnusableProblem
from runners.agent.judges.function.inside.orders import CaseReply
from runners.agent.judges.function.sets import is_borne_out, why_wrong
from runners.agent.judges.report import Finished
from runners.wire.job import JobPurpose, Sides
from runners.wire.protocol import Audience, Clock, Verdict
from tests.agent.functions.table import SCALE, SCALE_CPP, SCALE_PYTHON, Table, problem, shown
from tests.agent.functions.test_attacks import SOURCES
from tests.agent.functions.test_setup import CPP, PYTHON, REMEMBERS, WEIGHTED

pytestmark = pytest.mark.rest

SPIN_CPP = """
#include <cstddef>
#include <time.h>
static long now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}
extern "C" void solution(const float* x, float* y, size_t n) {
    const long until = now_ns() + SPIN_NS;
    for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i];
    while (now_ns() < until) {}
}
"""
SPIN_PYTHON = """
import time


def solution(x, y, n):
    until = time.perf_counter_ns() + SPIN_NS
    y[:] = 3 * x
    while time.perf_counter_ns() < until:
        pass
"""
ROOT = """
class Root(FunctionProblem):
    parameters = (Array("x", "float32", "in", (1,)), Array("y", "float32", "out", (1,)))
    accuracy = Tolerance(rtol=1e-4, atol=1e-5, reason="rounds that converge")
    cases = (Case("one", input_sets=8),)

    def inputs(self, case, rng):
        return {"x": rng.random(1, dtype=np.float32) * np.float32(0.75) + np.float32(0.25)}

    def reference(self, case, x):
        return np.sqrt(x)
"""
ROUNDS = 150_000
"""Each waits for the one before: more than 0.2 ms on any machine."""
WRONG_IN_SEVENTH = """
#include <cstddef>
static float* outputs[16];
static int known = 0;
extern "C" void solution(const float* x, float* y, size_t n) {
    int place = 0;
    while (place < known && outputs[place] != y) ++place;
    if (place == known) outputs[known++] = y;
    for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i] + (place == 6);
}
"""
TRIES_ON_A_BUSY_MACHINE = 4


def scale(n_sets: int, n: int = 64, **changes: Any) -> ProblemRecord:
    cases = f'cases = (Case("one", n={n}, input_sets={n_sets}),)'
    return problem(SCALE.replace('cases = (Case("few", n=7), Case("many", n=5000))', cases), **changes)


def judged(table: Table, record: ProblemRecord, solution: str, **changes: Any) -> Finished:
    return table.judge(record, solution, sides=Sides.SOLUTION, **changes)


@pytest.mark.parametrize("solution", [SPIN_CPP, SPIN_PYTHON], ids=["cpp", "python"])
def test_a_short_call_is_timed_among_others_in_its_process(table: Table, solution: str) -> None:
    """A cost that other programs lengthened while it was calibrated is too much, so each try has its own checker."""
    found = []
    for mark in range(TRIES_ON_A_BUSY_MACHINE):
        record = scale(16, prompt=f"{mark}")
        done = judged(table, record, solution.replace("SPIN_NS", "20000"))
        assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
        found += done.report.measurements
        assert all((one.clock, one.device["input_sets"]) == (Clock.IN_PROCESS, 16) for one in found)
        if any(0.01 < min(one.calls_ms[0]) < 0.04 for one in found):
            return
    raise AssertionError([sorted(one.calls_ms[0]) for one in found])


def test_one_input_set_stays_outside(table: Table) -> None:
    (one,) = judged(table, scale(1, n=500_000), SCALE_CPP).report.measurements
    assert one.clock is Clock.OUTSIDE
    assert "input_sets" not in one.device


def of_roots(table: Table, *, honest: bool, mark: int = 0) -> tuple[bool, list[str]]:
    """Whether a call among several sets is twice as fast as with one, and the flags. Each mark has its own checker."""
    head = f"#define HONEST {int(honest)}\n#define ROUNDS {ROUNDS}\n"
    done = judged(table, problem(f"# {mark}\n{ROOT}"), head + (SOURCES / "sets_ahead.cpp").read_text())
    assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
    times = done.report.measurements  # none if it is shorter than can be known
    has_gained = all(one.median_ms < float(one.device["one_set_ms"]) / 2 for one in times)
    return has_gained, [flag.code for flag in done.report.flags]


@pytest.mark.rest
def test_work_on_all_sets_at_once_is_flagged_if_it_gains(table: Table) -> None:
    """Other work on the machine may take the gain away."""
    tries = [of_roots(table, honest=False, mark=mark) for mark in range(TRIES_ON_A_BUSY_MACHINE)]
    gains = [flags for has_gained, flags in tries if has_gained]
    assert not gains or ["many_sets_disagree"] in gains, tries


def test_the_honest_twin_is_not_flagged(table: Table) -> None:
    assert of_roots(table, honest=True)[1] == []


@pytest.mark.parametrize(("honest", "verdict"), [(False, Verdict.WRONG_ANSWER), (True, Verdict.PASSED)])
def test_goes_of_one_set_cannot_be_made_to_seem_short(table: Table, honest: bool, verdict: Verdict) -> None:
    solution = (SOURCES / "early_singles.py").read_text().replace("HONEST = False", f"HONEST = {honest}")
    done = judged(table, scale(4, n=5000), solution)
    assert done.report.verdict is verdict, done.report.reason


def test_an_error_in_one_set_alone_is_found_and_named(table: Table) -> None:
    done = judged(table, scale(16), WRONG_IN_SEVENTH)
    assert done.report.verdict is Verdict.WRONG_ANSWER
    assert done.report.reason.startswith("Case one: in input set 7 of 16, ")
    assert not done.report.measurements


@pytest.mark.parametrize(
    ("solution", "verdict"),
    [(CPP, Verdict.PASSED), (PYTHON, Verdict.PASSED), (REMEMBERS, Verdict.WRONG_ANSWER)],
    ids=["cpp", "python", "remembers"],
)
def test_what_setup_prepares_serves_all_sets_and_an_answer_serves_one(
    table: Table, solution: str, verdict: Verdict
) -> None:
    many = WEIGHTED.replace("n=16", "n=16, input_sets=4").replace("n=5000", "n=5000, input_sets=3")
    assert judged(table, problem(many), solution).report.verdict is verdict


IN_PLACE = """
class InPlace(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("state", "float32", "inout", ("n",), role="weight"),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-6, atol=0, reason="one sum")
    cases = (Case("one", n=64, input_sets=4),)

    def inputs(self, case, rng):
        x, state = rng.random((2, case.n), dtype=np.float32)
        return {"x": x, "state": state}

    def reference(self, case, x, state):
        return state + x
"""
IN_PLACE_PYTHON = """
places = []


def solution(x, state, n):
    address = state.ctypes.data
    if address not in places:
        places.append(address)
    if places.index(address) < N_RIGHT:
        state += x
"""


@pytest.mark.parametrize(("n_right", "verdict"), [(4, Verdict.PASSED), (1, Verdict.WRONG_ANSWER)])
def test_a_weight_that_is_written_is_each_sets_own(table: Table, n_right: int, verdict: Verdict) -> None:
    done = judged(table, problem(IN_PLACE), IN_PLACE_PYTHON.replace("N_RIGHT", str(n_right)))
    assert done.report.verdict is verdict, done.report.reason


def test_a_run_of_own_sizes_has_one_set(table: Table) -> None:
    done = judged(table, scale(16), SCALE_PYTHON, purpose=JobPurpose.SAMPLE, sizes={"n": 5})
    assert done.report.verdict is Verdict.PASSED
    assert shown(done.report.cases[0])["n_calls"] == 3


def test_sets_that_take_more_than_half_of_the_memory_are_refused(table: Table) -> None:
    with pytest.raises(UnusableProblem, match="the 8 input sets of case one need 320000000 bytes, more than half"):
        judged(table, scale(8, n=2_000_000), SCALE_CPP)


def test_verifying_tells_that_a_long_call_needs_no_sets(table: Table) -> None:
    slow = SPIN_CPP.replace("SPIN_NS", "400000")
    (case,) = judged(table, scale(2), slow, purpose=JobPurpose.VERIFY).report.cases
    (field,) = [one for one in case.fields if one.name == WRONG_SETS]
    assert field.audience is Audience.ORGANISER
    assert field.value.startswith("one call takes 0.")
    assert field.value.endswith("which is long enough: leave `input_sets` out")


def reply(many_us: float, n_sets: int, one_us: float, spread_us: float = 2.0) -> CaseReply:
    goes_ns = [round(many_us * 1e3 * n_sets + 90_000)] * 5
    plain = CaseReply(0, 5, goes_ns, [1000] * 5, 90_000.0, False, 1.0, 1.0)
    return plain._replace(one_set_ns=one_us * 1e3, one_set_spread_ns=spread_us * 1e3)


@pytest.mark.parametrize(
    ("many_us", "n_sets", "one_us", "words"),
    [
        (20, 16, 21, ""),
        (250, 2, 260, "one call takes 0.26 ms, which is long enough: leave `input_sets` out"),
        (20, 4, 21, "a go of 4 sets takes 0.08 ms, less than 0.2 ms: use 10 or more"),
        (2, 64, 3, "a go of 64 sets takes 0.128 ms, less than 0.2 ms: make the case larger"),
        (20, 16, 40, "a call takes 0.02 ms among 16 sets and 0.04 ms with one"),
    ],
)
def test_the_reference_justifies_a_number_of_sets(many_us: float, n_sets: int, one_us: float, words: str) -> None:
    assert why_wrong(ManifestCase(name="one", input_sets=n_sets), [reply(many_us, n_sets, one_us)]) == words


def test_a_spread_that_goes_of_one_set_had_when_calibrated_is_allowed_for() -> None:
    assert not is_borne_out([reply(20, 16, 40)], 16)
    assert is_borne_out([reply(20, 16, 40, spread_us=12)], 16)


def test_the_process_with_the_least_time_of_one_set_bears_out_all() -> None:
    assert is_borne_out([reply(20, 16, 90), reply(20, 16, 22)], 16)
