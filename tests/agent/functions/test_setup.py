"""`setup`: called once for each case of a process, with weights, structure and scalars; timed, and not ranked."""

from collections import defaultdict
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.function import judge as function_judge
from runners.agent.judges.function import plans
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.orders import CallSample
from runners.agent.judges.report import Finished
from runners.wire.job import Sides
from runners.wire.protocol import TimingPolicy, Verdict
from tests.agent.functions.table import Table, problem, shown

WEIGHTED = """\
class Weighted(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("n",)),
        Array("weight", "float32", "in", ("n",), role="weight"),
        Array("order", "int32", "in", ("n",), role="structure"),
        Array("y", "float32", "out", ("n",)),
        Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-6, atol=0, reason="one product")
    cases = (Case("few", n=16), Case("many", n=5000))

    def inputs(self, case, rng):
        values = rng.random((2, case.n), dtype=np.float32)
        return {"x": values[0], "weight": values[1], "order": rng.permutation(case.n).astype(np.int32)}

    def reference(self, case, x, weight, order):
        return x * weight[order]
"""
CPP = """\
#include <cstddef>
#include <cstdint>
#include <unistd.h>
static float gathered[5000];
extern "C" void setup(const float* weight, const int32_t* order, size_t n) {
    usleep(30000);
    for (size_t i = 0; i < n; ++i) gathered[i] = weight[order[i]];
}
extern "C" void solution(const float* x, const float*, const int32_t*, float* y, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] = x[i] * gathered[i];
}
"""
PYTHON = """\
import time


def setup(weight, order, n):
    global gathered
    time.sleep(0.03)
    gathered = weight[order]


def solution(x, weight, order, y, n):
    y[...] = x * gathered
"""
WITHOUT = {
    "cpp": CPP.replace('extern "C" void setup', "static void other"),
    "python": PYTHON.replace("def setup", "def other").replace("x * gathered", "x * weight[order]"),
}
REMEMBERS = CPP.replace("y[i] = x[i] * gathered[i]", "y[i] = first[i]").replace(
    'extern "C" void solution(const float* x, const float*, const int32_t*, float* y, size_t n) {',
    'static float first[5000];\nstatic size_t known = 0;\n'
    'extern "C" void solution(const float* x, const float*, const int32_t*, float* y, size_t n) {\n'
    "    if (known != n) for (size_t i = 0; i < n; ++i) first[i] = x[i] * gathered[i];\n    known = n;\n",
)  # fmt: skip

TELLS = """\
from hashlib import sha256


def tell(n, **arrays):
    for name, array in arrays.items():
        print(n, name, sha256(array.tobytes()).hexdigest())


def setup(weight, order, n):
    tell(n, weight=weight, order=order)


def solution(x, weight, order, y, n):
    tell(n, x=x, weight=weight, order=order)
    y[...] = x * weight[order]
"""
"""Prints a digest of each array that it is given."""


@pytest.fixture(scope="module")
def weighted() -> ProblemRecord:
    return problem(WEIGHTED)


def judged(table: Table, record: ProblemRecord, solution: str) -> Finished:
    return table.judge(record, solution, sides=Sides.SOLUTION)


@pytest.mark.parametrize("solution", [CPP, PYTHON], ids=["cpp", "python"])
def test_what_is_prepared_serves_every_call_of_its_case(table: Table, weighted: ProblemRecord, solution: str) -> None:
    done = judged(table, weighted, solution)
    assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
    few, many = done.report.cases
    assert all(30 <= shown(case)["setup_ms"] < 3000 for case in (few, many))
    assert all(one.median_ms < 20 for one in done.report.measurements), "its time is not the solution's"


def test_a_python_solution_needs_none(table: Table, weighted: ProblemRecord) -> None:
    done = judged(table, weighted, WITHOUT["python"])
    assert done.report.verdict is Verdict.PASSED
    assert shown(done.report.cases[0])["setup_ms"] < 30


def test_without_its_setup_the_other_is_wrong(table: Table, weighted: ProblemRecord) -> None:
    assert judged(table, weighted, WITHOUT["cpp"]).report.verdict is Verdict.WRONG_ANSWER


def test_an_answer_that_is_remembered_is_wrong(table: Table, weighted: ProblemRecord) -> None:
    """Weights and structure stay the same in a process; the data does not."""
    assert judged(table, weighted, REMEMBERS).report.verdict is Verdict.WRONG_ANSWER


def test_weights_and_structure_stay_in_a_process_and_differ_from_those_of_the_next(
    table: Table, weighted: ProblemRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("least_calls", 3), ("most_calls", 3)):
        monkeypatch.setitem(plans.RANKED, name, value)
    monkeypatch.setattr(function_judge, "RANKED_PROCESSES", 3)
    processes: list[dict[tuple[str, str], list[str]]] = []
    plain = function_judge.contest

    def heard(*given: Any, **named: Any) -> Contest:
        seen = plain(*given, **named)
        if isinstance(given[4], CallSample):
            processes.append(digests_of(seen.outcome.stdout))
        return seen

    monkeypatch.setattr(function_judge, "contest", heard)
    done = table.judge(weighted, TELLS, sides=Sides.SOLUTION, timing_policy=TimingPolicy.RANKED)
    assert (done.report.verdict, len(processes)) == (Verdict.PASSED, 3), done.report.reason
    for n in ("16", "5000"):
        for name in ("weight", "order"):
            each = [set(told[n, name]) for told in processes]
            assert [len(one) for one in each] == [1, 1, 1], "in `setup` and all calls the same"
            assert len(set.union(*each)) == 3, "in each process others"
        data = [digest for told in processes for digest in told[n, "x"]]
        assert len(set(data)) == len(data) >= 3 * 3, "in each call others"


def digests_of(printed: str) -> dict[tuple[str, str], list[str]]:
    """The output of TELLS, by length and array."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in printed.splitlines():
        n, name, digest = line.split()
        found[n, name].append(digest)
    return found


@pytest.mark.parametrize(
    ("body", "verdict", "words"),
    [
        ("_exit(3);", Verdict.TEST_FAILED, "exit status 3 in case few"),
        ("for (;;) usleep(1000);", Verdict.TIMED_OUT, "did not answer in case few"),
        ("const_cast<float*>(weight)[0] = 7;", Verdict.TEST_FAILED, "in case few"),
    ],
    ids=["exits", "hangs", "writes a weight"],
)
def test_a_setup_that_fails_is_the_solutions_fault(table: Table, body: str, verdict: Verdict, words: str) -> None:
    brief = problem(WEIGHTED, time_limit_seconds=1)
    done = judged(table, brief, CPP.replace("usleep(30000);", body))
    assert done.report.verdict is verdict
    assert words in done.report.reason


def test_a_problem_of_data_alone_calls_no_setup(table: Table) -> None:
    plain = problem(WEIGHTED.replace(', role="weight"', "").replace(', role="structure"', ""))
    done = judged(table, plain, WITHOUT["python"].replace("def other", "def setup"))
    assert done.report.verdict is Verdict.PASSED
    assert "setup_ms" not in shown(done.report.cases[0])
