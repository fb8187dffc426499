"""The function judge's verdicts on right and wrong solutions, and on those that end before their time."""

import re
from typing import Any

import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.report import Finished
from runners.wire.job import JobPurpose
from runners.wire.protocol import Audience, Verdict
from tests.agent.functions.table import (
    SCALE,
    SCALE_CPP,
    SCALE_PYTHON,
    Table,
    on_each_sandbox,
    problem,
    shown,
    some_in_docker,
)

SIGNATURE = 'extern "C" void solution(const float* x, float* y, size_t n)'


def cpp(body: str, head: str = "") -> str:
    return f"#include <cstddef>\n#include <cstdlib>\n#include <unistd.h>\n{head}\n{SIGNATURE} {{ {body} }}\n"


@pytest.fixture(scope="module")
def scale() -> ProblemRecord:
    return problem(SCALE, time_limit_seconds=1)


def tried(table: Table, record: ProblemRecord, solution: str, **changes: Any) -> Finished:
    """One checked call of each case: the verdict needs no more."""
    return table.judge(record, solution, **{"purpose": JobPurpose.TRIAL, **changes})


@on_each_sandbox
@pytest.mark.parametrize("solution", [SCALE_CPP, SCALE_PYTHON], ids=["cpp", "python"])
def test_a_right_solution_passes_and_is_timed(table: Table, solution: str) -> None:
    large = problem(SCALE.replace("n=5000", "n=1_000_000"))
    done = table.judge(large, solution)
    assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
    assert [(case.name, case.verdict) for case in done.report.cases] == [
        ("few", Verdict.PASSED), ("many", Verdict.PASSED),
    ]  # fmt: skip
    many = next(one for one in done.report.measurements if one.case == "many")
    assert many.median_ms > 0.02
    assert 3 <= len(many.calls_ms[0]) <= 20
    assert all(one.case != "few" or one.median_ms >= 0.02 for one in done.report.measurements), "less is not known"


@pytest.mark.parametrize(("content", "least", "most"), [("3 * x", 0, 0), ("3 * x + 1e-6", 0.5e-6, 2e-6)])
def test_a_run_before_a_submission_tells_how_far_a_right_answer_is_off(
    table: Table, scale: ProblemRecord, content: str, least: float, most: float
) -> None:
    done = tried(table, scale, f"def solution(x, y, n):\n    y[:] = {content}\n", purpose=JobPurpose.SAMPLE)
    assert done.report.verdict is Verdict.PASSED
    assert least <= shown(done.report.cases[0])["largest_difference"] <= most
    whole = tried(table, scale, f"def solution(x, y, n):\n    y[:] = {content}\n")
    assert "largest_difference" not in shown(whole.report.cases[0])


def test_a_wrong_answer_shows_where_it_is_wrong_and_never_an_input(table: Table, scale: ProblemRecord) -> None:
    done = tried(table, scale, "def solution(x, y, n):\n    y[:] = 3 * x\n    y[4] += 0.5\n    y[6] += 1\n")
    assert done.report.verdict is Verdict.WRONG_ANSWER
    assert done.report.reason.startswith("Case few: ")
    case = done.report.cases[0]
    facts = shown(case)
    assert facts["shapes"] == "x 7, y 7"
    assert (facts["n_wrong"], facts["n_total"]) == (2, 7)
    assert float(facts["largest_difference"]) == pytest.approx(1, rel=1e-3)
    assert float(facts["mean_difference"]) == pytest.approx(1.5 / 7, rel=1e-3)
    places = facts["first_wrong"].split("; ")
    assert [place.split(" is ")[0] for place in places] == ["y[4]", "y[6]"]
    public = {field.name for field in case.fields if field.audience is Audience.PUBLIC}
    assert public == {"n_calls"}


def test_the_words_on_a_wrong_answer_hold_no_input(table: Table) -> None:
    """A single input that both outputs depend on but neither shows."""
    hidden = problem(
        """
class Sign(FunctionProblem):
    parameters = (Array("x", "float64", "in", (1,)), Array("y", "int32", "out", (2,)))
    accuracy = Exact("signs")
    cases = (Case("one"),)

    def inputs(self, case, rng):
        return {"x": np.array([0.123456789])}

    def reference(self, case, x):
        return np.array([1, 1], np.int32)
"""
    )
    done = tried(table, hidden, "def solution(x, y):\n    y[:] = 7\n")
    assert done.report.verdict is Verdict.WRONG_ANSWER
    assert "12345" not in done.report.model_dump_json()


@pytest.mark.parametrize("factor", [3, 2])
def test_a_sample_run_shows_one_call_of_the_smallest_case(table: Table, factor: int) -> None:
    large_first = problem(
        SCALE.replace('Case("few", n=7), Case("many", n=5000)', 'Case("many", n=5000), Case("few", n=7)')
    )
    done = tried(
        table,
        large_first,
        f"def solution(x, y, n):\n    print('seen', n)\n    y[:] = {factor} * x\n",
        purpose=JobPurpose.SAMPLE,
    )
    assert done.report.verdict is (Verdict.PASSED if factor == 3 else Verdict.WRONG_ANSWER)
    (case,) = done.report.cases
    facts = shown(case)
    assert case.name == "few"
    assert facts["sample_inputs"].endswith("\nn = 7")
    x, expected, own = (
        [float(one) for one in re.search(r"\[(.*)\]", facts[f"sample_{name}"])[1].split(", ")]
        for name in ("inputs", "expected", "output")
    )
    assert len(x) == 7
    assert expected == pytest.approx([3 * one for one in x])
    assert own == pytest.approx([factor * one for one in x])
    assert all(field.audience is Audience.TEAM for field in case.fields if field.name.startswith("sample_"))
    assert "seen 7" in done.report.steps[-1].log.text


def test_a_long_array_is_shown_by_its_first_elements(table: Table) -> None:
    done = tried(table, problem(SCALE.replace("n=7", "n=70")), SCALE_PYTHON, purpose=JobPurpose.SAMPLE)
    assert shown(done.report.cases[0])["sample_output"].count(",") == 12
    assert shown(done.report.cases[0])["sample_output"].endswith(", …]")


def test_an_output_that_is_not_written_is_wrong(table: Table, scale: ProblemRecord) -> None:
    done = tried(table, scale, "def solution(x, y, n):\n    y[:-1] = 3 * x[:-1]\n")
    assert done.report.verdict is Verdict.WRONG_ANSWER
    assert shown(done.report.cases[0])["n_wrong"] == 1


ENDS = {
    "segfault": (cpp("*(volatile int*)nullptr = 1;"), Verdict.TEST_FAILED, r"signal 11|SIGSEGV"),
    "abort": (cpp("abort();"), Verdict.TEST_FAILED, r"signal 6|SIGABRT"),
    "exit in a call": (cpp("_exit(0);"), Verdict.TEST_FAILED, "before it had answered"),
    "exit at the start": (
        cpp("", "static int before = (_exit(0), 0);"), Verdict.TEST_FAILED, "exit status 0 while it was loaded",
    ),
    "const_cast write": (cpp("const_cast<float*>(x)[0] = 0;"), Verdict.TEST_FAILED, r"signal 11|SIGSEGV"),
    "no C++": (cpp("this is not C++"), Verdict.BUILD_FAILED, "The build"),
    "endless": (
        "def solution(x, y, n):\n    while True: pass\n", Verdict.TIMED_OUT,
        "did not answer in case few; all calls of one process may take",
    ),
    "raises": ("def solution(x, y, n):\n    y[:] = x.missing\n", Verdict.TEST_FAILED, "no attribute 'missing'"),
    "raises at import": ("import nothing_such\n", Verdict.TEST_FAILED, "loaded: .*nothing_such"),
    "no solution": ("def solve(x, y, n):\n    pass\n", Verdict.TEST_FAILED, "no attribute 'solution'"),
    "exit in Python": ("import os\ndef solution(x, y, n):\n    os._exit(0)\n", Verdict.TEST_FAILED, "before it had"),
    "sys.exit": ("import sys\ndef solution(x, y, n):\n    sys.exit(0)\n", Verdict.TEST_FAILED, "before it had"),
    "closes its channel and lives on": (
        "import os, time\ndef solution(x, y, n):\n    os.closerange(3, 200)\n    time.sleep(60)\n",
        Verdict.TEST_FAILED, "The solution closed its channel in case few before it had answered",
    ),
    "a file over the limit": (
        cpp('FILE* f = fopen("big", "w"); fseek(f, 1L << 40, SEEK_SET); fputc(1, f); fflush(f);', "#include <cstdio>"),
        Verdict.TEST_FAILED, "wrote a larger file than allowed",
    ),
    "read-only": ("def solution(x, y, n):\n    x[0] = 0\n", Verdict.TEST_FAILED, "read-only"),
}  # fmt: skip


@some_in_docker(ENDS, ("segfault", "exit at the start", "const_cast write", "no C++", "endless", "raises"))
def test_a_solution_that_ends_before_its_time_gets_a_verdict_with_words(
    table: Table, scale: ProblemRecord, name: str
) -> None:
    solution, verdict, words = ENDS[name]
    done = tried(table, scale, solution)
    assert done.report.verdict is verdict
    assert re.search(words, done.report.reason, re.DOTALL), done.report.reason


@pytest.mark.parametrize("n", [1, 123, 5000])
def test_a_run_of_own_sizes_is_one_call_of_them(table: Table, scale: ProblemRecord, n: int) -> None:
    solution = "def solution(x, y, n):\n    print('seen', n, len(x))\n    y[:] = 3 * x\n"
    done = tried(table, scale, solution, purpose=JobPurpose.SAMPLE, sizes={"n": n})
    assert (done.report.verdict, done.report.reason) == (Verdict.PASSED, "")
    (case,) = done.report.cases
    assert case.name == f"n = {n}"
    assert shown(case)["sample_inputs"].endswith(f"\nn = {n}")
    assert f"seen {n} {n}" in done.report.steps[-1].log.text


def test_a_wrong_answer_at_own_sizes_names_them(table: Table, scale: ProblemRecord) -> None:
    done = tried(
        table, scale, "def solution(x, y, n):\n    y[:8] = 3 * x[:8]\n", purpose=JobPurpose.SAMPLE, sizes={"n": 9}
    )
    assert done.report.verdict is Verdict.WRONG_ANSWER
    assert done.report.reason.startswith("Case n = 9: ")
    assert (shown(done.report.cases[0])["n_wrong"], shown(done.report.cases[0])["n_total"]) == (1, 9)


def test_a_solution_that_crashes_at_own_sizes_failed_there(table: Table, scale: ProblemRecord) -> None:
    done = tried(table, scale, cpp("abort();"), purpose=JobPurpose.SAMPLE, sizes={"n": 9})
    assert done.report.verdict is Verdict.TEST_FAILED
    assert "in case n = 9" in done.report.reason
    assert [case.name for case in done.report.cases] == ["n = 9"]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"n": 0}, "`n` is 0; choose 1 to 5000."),
        ({"n": 5001}, "`n` is 5001; choose 1 to 5000."),
        ({"m": 3}, "`m` is not a size of this problem. Its sizes are: n."),
    ],
)
def test_sizes_outside_of_the_cases_are_refused_in_words(
    table: Table, scale: ProblemRecord, sizes: dict[str, int], words: str
) -> None:
    done = tried(table, scale, SCALE_PYTHON, purpose=JobPurpose.SAMPLE, sizes=sizes)
    assert (done.report.verdict, done.report.reason) == (Verdict.INVALID, f"It was not run. {words}")
    assert done.report.cases == []


WIDE = SCALE.replace('"x", "float32", "in", ("n",)', '"x", "float32", "in", ("n", "m")').replace(
    '"y", "float32", "out", ("n",)', '"y", "float32", "out", ("n", "m")'
).replace('Scalar("n", "size_t"))', 'Scalar("n", "size_t"), Scalar("m", "size_t"))').replace(
    'Case("few", n=7), Case("many", n=5000)', 'Case("tall", n=4000, m=2), Case("wide", n=2, m=4000)'
).replace("case.n, dtype", "(case.n, case.m), dtype")  # fmt: skip


def test_own_sizes_need_no_more_memory_than_the_largest_case(table: Table) -> None:
    wide = problem(WIDE)
    solution = "def solution(x, y, n, m):\n    y[:] = 3 * x\n"
    done = tried(table, wide, solution, purpose=JobPurpose.SAMPLE, sizes={"n": 4000, "m": 3})
    assert done.report.verdict is Verdict.INVALID
    assert "these sizes need 96000 bytes of arrays; the largest case has 64000." in done.report.reason
    assert (
        tried(table, wide, solution, purpose=JobPurpose.SAMPLE, sizes={"n": 80, "m": 100}).report.verdict
        is Verdict.PASSED
    )


def test_what_the_class_says_of_own_sizes_stays_hidden(table: Table) -> None:
    strict = problem(SCALE.replace("        return {", "        assert case.n != 9, 'secret words'\n        return {"))
    done = tried(table, strict, SCALE_PYTHON, purpose=JobPurpose.SAMPLE, sizes={"n": 9})
    assert (done.report.verdict, done.report.reason) == (
        Verdict.INVALID, "It was not run. The problem's class has no data of these sizes."
    )  # fmt: skip
    assert "secret" not in done.report.model_dump_json()
    assert tried(table, strict, SCALE_PYTHON).report.verdict is Verdict.PASSED, "the same checker goes on"
