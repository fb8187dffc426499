"""Arrays and scalars of all kinds on their way through the judge, and what is written outside of them."""

import pytest

from problems.spec.record import ProblemRecord
from runners.wire.job import JobPurpose
from runners.wire.protocol import Verdict
from tests.agent.functions.table import SCALE, Table, on_each_sandbox, problem

pytestmark = pytest.mark.rest

DTYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SCALARS = {
    "float64": ("double", 2.5), "float32": ("float", -0.5), "int8": ("int8_t", -3), "int16": ("int16_t", -300),
    "int32": ("int32_t", -70000), "int64": ("int64_t", -(1 << 40)), "uint8": ("uint8_t", 200),
    "uint16": ("uint16_t", 60000), "uint32": ("uint32_t", 1 << 31), "uint64": ("uint64_t", 1 << 63),
    "size_t": ("size_t", 1 << 33), "bool": ("bool", True),
}  # fmt: skip


def passes(table: Table, record: ProblemRecord, solution: str) -> None:
    report = table.judge(record, solution, purpose=JobPurpose.TRIAL).report
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")


@on_each_sandbox
def test_arrays_of_every_type_arrive_and_come_back(table: Table) -> None:
    names = [f"x_{one}" for one in [*DTYPES, "bool"]]
    arrays = "".join(
        f'Array("{name}", "{name[2:]}", "in", (3, "n")), Array("y{name[1:]}", "{name[2:]}", "out", ("n", 3)), '
        for name in names
    )
    record = problem(f"""
class Turn(FunctionProblem):
    parameters = ({arrays})
    accuracy = Exact("copies")
    cases = (Case("five", n=5),)

    def inputs(self, case, rng):
        names = {names!r}
        return {{name: rng.integers(0, 2, (3, case.n)).astype(name[2:]) for name in names}}

    def reference(self, case, **given):
        return tuple(np.ascontiguousarray(one.T) for one in given.values())
""")
    passes(table, record, "def solution(*all):\n    for x, y in zip(all[::2], all[1::2]):\n        y[:] = x.T\n")


@on_each_sandbox
def test_scalars_of_every_type_arrive_in_both_languages(table: Table) -> None:
    declared = ", ".join(f'Scalar("s_{name}", "{name}")' for name in SCALARS)
    values = {f"s_{name}": value for name, (_, value) in SCALARS.items()}
    record = problem(f"""
class Sum(FunctionProblem):
    parameters = (Array("x", "float64", "in", (1,)), Array("y", "float64", "out", ({len(SCALARS)},)), {declared})
    accuracy = Exact("each scalar and a whole number")
    cases = (Case("all"),)

    def inputs(self, case, rng):
        return {{"x": rng.integers(0, 4, 1).astype(np.float64), **{values!r}}}

    def reference(self, case, x, **scalars):
        return x[0] + np.array([float(one) for one in scalars.values()])
""")
    passes(table, record, "def solution(x, y, *scalars):\n    y[:] = x[0] + [float(one) for one in scalars]\n")
    parameters = ", ".join(f"{c} s{index}" for index, (c, _) in enumerate(SCALARS.values()))
    lines = "".join(f"y[{index}] = x[0] + static_cast<double>(s{index}); " for index in range(len(SCALARS)))
    head = f'#include <cstddef>\n#include <cstdint>\nextern "C" void solution(const double* x, double* y, {parameters})'
    passes(table, record, f"{head} {{ {lines} }}\n")


IN_PLACE = """
class InPlace(FunctionProblem):
    parameters = (
        Array("values", "int32", "inout", ("n",)), Array("sum", "int64", "out", (1,)),
        Array("empty", "float32", "out", (0, 4)), Array("nothing", "float32", "in", (0,)), Scalar("n", "size_t"),
    )
    accuracy = Exact("whole numbers")
    cases = (Case("one", n=1), Case("many", n=3000))

    def inputs(self, case, rng):
        return {"values": rng.integers(-99, 99, case.n, np.int32), "nothing": np.empty(0, np.float32)}

    def reference(self, case, values, nothing):
        return values + np.int32(1), np.array([values.sum(dtype=np.int64)]), np.empty((0, 4), np.float32)
"""
IN_PLACE_CPP = """
#include <cstddef>
#include <cstdint>
extern "C" void solution(int32_t* values, int64_t* sum, float* empty, const float* nothing, size_t n) {
    *sum = 0;
    for (size_t i = 0; i < n; ++i) *sum += values[i]++;
}
"""
IN_PLACE_PYTHON = """
def solution(values, sum, empty, nothing, n):
    assert empty.shape == (0, 4) and nothing.shape == (0,)
    sum[0] = values.sum(dtype="int64")
    values += 1
"""


@pytest.mark.parametrize("solution", [IN_PLACE_CPP, IN_PLACE_PYTHON], ids=["cpp", "python"])
def test_arrays_changed_in_place_and_empty_arrays_are_checked_with_several_outputs(table: Table, solution: str) -> None:
    passes(table, problem(IN_PLACE), solution)


@pytest.mark.parametrize(("place", "name"), [("y[-1]", "before"), ("y[n]", "after")])
def test_a_write_outside_of_an_output_is_wrong(table: Table, place: str, name: str) -> None:
    solution = f"""
#include <cstddef>
extern "C" void solution(const float* x, float* y, size_t n) {{
    for (size_t i = 0; i < n; ++i) y[i] = 3 * x[i];
    {place} = 1;
}}
"""
    report = table.judge(problem(SCALE), solution, purpose=JobPurpose.TRIAL).report
    assert (report.verdict, report.reason) == (Verdict.WRONG_ANSWER, "Case few: wrote outside of `y`")
