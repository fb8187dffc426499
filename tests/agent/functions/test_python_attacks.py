"""Ways to cheat a judge of function problems in Python, each with an honest twin that uses the same means.

The sources are in `attacks`; their first lines say what they try. Most reach for what lies in their own process, where
nothing decides their verdict.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from problems.spec.record import ProblemRecord
from runners.agent.judges.function.inside.match import LEAST_POISON
from runners.wire.job import JobPurpose
from runners.wire.protocol import Verdict
from tests.agent.functions.table import Table, on_each_sandbox, problem, some_in_docker
from tests.agent.functions.test_attacks import SETTLE, SOURCES, Fails
from tests.sandbox.boxes import processes_named


@pytest.fixture(scope="module")
def root() -> ProblemRecord:
    return problem(SETTLE.format(n=20_000), time_limit_seconds=30)


def source_of(name: str, *, honest: bool = False) -> str:
    """The text of an attack, or of its honest twin."""
    text = (SOURCES / f"{name}.py").read_text()
    assert "\nHONEST = False\n" in text
    return text.replace("\nHONEST = False\n", "\nHONEST = True\n") if honest else text


def wrong(name: str, words: str = "20000 of 20000 elements are wrong") -> Fails:
    return Fails(name, Verdict.WRONG_ANSWER, words)


CLIPPED = """
class Clipped(FunctionProblem):
    parameters = (Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"))
    accuracy = Tolerance(rtol=1e-5, atol=1e-5, reason="one rounding")
    cases = (Case("one", n=5000),)

    def inputs(self, case, rng):
        return {"x": rng.standard_normal(case.n, dtype=np.float32)}

    def reference(self, case, x):
        return np.maximum(x, 0)
"""
MASK = CLIPPED.replace('Array("y", "float32"', 'Array("y", "bool"').replace("np.maximum(x, 0)", "x > -1")
LEFT = "8765.4321"
"""In the command line of every process that `left_daemon` leaves."""
EMPTY = "def solution(x, y, n):\n    pass\n"
HARMLESS = ["left_daemon", "planted_files", "special_files"]
"""They do their work, and try to leave something for the next sample."""
FAST = [
    wrong("numpy_patch"),
    wrong("stub_replaced"),
    Fails("exit_of_its_own", Verdict.TEST_FAILED, "exit status 0 in case one before it had answered"),
    wrong("frame_walk"),
    wrong("reopened_input", r"of 20000 elements are wrong.*got 0\.5"),
    wrong("lazy_output"),
    wrong("nan_output", r"got (nan|-?inf)"),
    wrong("few_wrong", "20 of 20000"),
    wrong("first_calls_only", "of 20000"),
    wrong("fingerprint_memo", "of 20000"),
    wrong("forked_answer", "of 20000"),
    wrong("answers_ahead", "of 20000"),
]
REST = [
    wrong("late_hooks"),
    wrong("forged_errors"),
    Fails("interrupt_of_its_own", Verdict.TEST_FAILED, "before it had answered"),
    Fails("error_as_verdict", Verdict.TEST_FAILED, "The solution failed in case one: "),
    wrong("memory_scan"),
    wrong("process_theft"),
    wrong("seed_guess"),
    wrong("class_import"),
    wrong("shrunk_output"),
    wrong("array_subclass"),
    wrong("alias_output"),
    wrong("mean_output", "of 20000"),
    wrong("easy_data", "of 20000"),
    wrong("decoy_thread", "of 20000"),
    wrong("half_precision", "of 20000"),
    wrong("sampled_shortcut", "of 20000"),
    wrong("output_flood"),
    wrong("group_signals"),
    Fails("memory_hoard", Verdict.MEMORY_EXCEEDED, "more memory than it may in case one"),
]
FAILING = {one.name: one for one in (*FAST, *REST)}
IN_DOCKER = (
    "exit_of_its_own",
    "reopened_input",
    "forked_answer",
    "interrupt_of_its_own",
    "process_theft",
    "class_import",
    "output_flood",
    "group_signals",
    "memory_hoard",
)
"""Processes, signals, mounts, outputs and memory. What the others do stays within their own process."""


@some_in_docker(FAILING, IN_DOCKER, rest=[one.name for one in REST])
def test_an_attack_in_python_fails(table: Table, root: ProblemRecord, name: str) -> None:
    tried, report = FAILING[name], table.judge(root, source_of(name)).report
    assert report.verdict is tried.verdict, report.reason
    assert re.search(tried.words, report.reason), report.reason
    assert not report.measurements


@pytest.mark.rest
@some_in_docker(FAILING, IN_DOCKER)
def test_the_honest_twin_of_an_attack_in_python_passes(table: Table, root: ProblemRecord, name: str) -> None:
    report = table.judge(root, source_of(name, honest=True)).report
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")


@pytest.mark.rest
@pytest.mark.parametrize(("definition", "name"), [(MASK, "unwritten_true"), (CLIPPED, "unwritten_zeros")])
def test_elements_that_are_not_written_are_wrong(table: Table, definition: str, name: str) -> None:
    record = problem(definition)
    report = table.judge(record, source_of(name), purpose=JobPurpose.TRIAL).report
    assert (report.verdict, report.cases[0].verdict) == (Verdict.WRONG_ANSWER, Verdict.WRONG_ANSWER)
    assert re.search(r"expected [01], got", report.reason), report.reason
    report = table.judge(record, source_of(name, honest=True), purpose=JobPurpose.TRIAL).report
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_no_poison_is_near_0(dtype: str) -> None:
    values = np.repeat(np.arange(LEAST_POISON, 256, dtype=np.uint8), 8).view(dtype)
    assert (np.isnan(values) | (values <= -2)).all()


@pytest.mark.rest
@on_each_sandbox
@pytest.mark.parametrize("name", HARMLESS)
def test_an_attack_on_the_next_sample_leaves_nothing(table: Table, root: ProblemRecord, name: str) -> None:
    for honest in (False, True):
        table.judge(root, EMPTY, purpose=JobPurpose.TRIAL)
        before = workspaces(table)
        report = table.judge(root, source_of(name, honest=honest)).report
        assert (report.verdict, report.reason) == (Verdict.PASSED, "")
        assert workspaces(table) == before
        assert processes_named(LEFT) == []
        report = table.judge(root, EMPTY, purpose=JobPurpose.TRIAL).report
        assert (report.verdict, "20000 of 20000" in report.reason) == (Verdict.WRONG_ANSWER, True)


def workspaces(table: Table) -> set[Path]:
    return set(table.environment.workspaces._room.iterdir())
