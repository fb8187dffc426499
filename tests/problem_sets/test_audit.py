"""Mutants of references, and what an audit counts."""

import ast
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from podium.problems.audit import report, running
from podium.problems.audit.judging import Audited, Judged
from podium.problems.audit.report import AuditOrder, audit_pack
from podium.problems.audit.running import AuditedProblem
from podium.problems.sandboxed import MissingTorch
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.mutants.mutant import Mutant, distinct
from problems.formats.mutants.of_commands import c_edits, python_edits
from problems.formats.mutants.of_functions import reduced
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import SourceFile
from runners.agent.ground.errors import UnusableProblem
from runners.wire.mutant_outcomes import MutantOutcome
from tests.examples.digests import EXAMPLES, RELEASES, STORED

PACK = next(EXAMPLES.glob("problem-sets/board/*-problems.tar.gz"))
AUDITS = sorted(EXAMPLES.glob("**/audit.json"))

CUDA = """\
#include <cuda_runtime.h>

__global__ void scale(float* x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2;
}

int blocks(int n) { return (n + 255) / 256; }

void run(float* x, int n) {
    scale<<<blocks(n), 256>>>(x, n);
}
"""
PYTHON = """\
import numpy as np


@kernel
def scale(x):
    pass


def run(x, n):
    scale[(n, 1)](x)
    for i in range(n):
        x[i] += 1
    return x
"""
DEFINITION = """\
class Problem(FunctionProblem):
    def inputs(self, case, rng):
        return {"x": rng.random(3) + 1}

    def reference(self, case, x):
        y = np.exp(x) * 2
        y -= y.max()
        return -y
"""


def test_each_part_of_cuda_is_changed_in_turn() -> None:
    made = [(kind, place) for kind, place, _ in c_edits(CUDA)]
    assert made == [
        ("body emptied", "line 3: scale"),
        ("loop halved", "line 4"),
        ("body emptied", "line 7: blocks"),
        ("body emptied", "line 9: run"),
        ("first result kept", "line 9: run"),
        ("outputs zeroed", "line 10"),
        ("launch removed", "line 10"),
        ("grid halved", "line 10"),
    ]


def test_the_changes_of_cuda_are_where_they_say() -> None:
    texts = {(kind, place): text for kind, place, text in c_edits(CUDA)}
    assert "scale(float* x, int n) { }" in texts["body emptied", "line 3: scale"]
    assert "int blocks(int n) { return {}; }" in texts["body emptied", "line 7: blocks"]
    assert "<<<" not in texts["launch removed", "line 10"]
    assert "(grid.z + 1) / 2); }(blocks(n)), 256>>>" in texts["grid halved", "line 10"]
    assert "    { scale<<<blocks(n), 256>>>(x, n); podium_audit_zero(x, n); }\n" in texts["outputs zeroed", "line 10"]
    assert "i < ((n) / 2)" in texts["loop halved", "line 4"]
    assert "if (podium_was_called) return;" in texts["first result kept", "line 9: run"]


def test_a_grid_of_one_block_is_not_halved() -> None:
    assert "grid halved" not in [kind for kind, _, _ in c_edits(CUDA.replace("blocks(n),", "1,"))]
    assert "grid halved" not in [kind for kind, _, _ in python_edits(PYTHON.replace("(n, 1)", "(1, 1)"))]


def test_each_part_of_python_is_changed_and_still_parses() -> None:
    made = list(python_edits(PYTHON))
    kinds = [kind for kind, _, _ in made]
    assert kinds == [
        "body emptied",
        "body emptied",
        "launch removed",
        "grid halved",
        "outputs zeroed",
        "loop halved",
        "first result kept",
    ]
    for _, _, text in made:
        ast.parse(text)
    assert "scale[tuple(-(-n // 2) for n in (n, 1))](x)" in made[3][2]
    assert "    scale[(n, 1)](x)\n    [one.zero_() for one in (x,) if hasattr(one, 'zero_')]\n" in made[4][2]
    assert "range(((n) // 2))" in made[5][2]


def test_one_operation_of_a_reference_is_left_out_at_a_time() -> None:
    bodies = [text.partition("def reference")[2] for _, text in reduced(DEFINITION)]
    assert [body.split("\n", 1)[1].replace("        ", "").split("\n")[:3] for body in bodies] == [
        ["y = np.exp(x)", "y -= y.max()", "return -y"],
        ["y = x * 2", "y -= y.max()", "return -y"],
        ["y = np.exp(x) * 2", "pass", "return -y"],
        ["y = np.exp(x) * 2", "y -= y", "return -y"],
        ["y = np.exp(x) * 2", "y -= y.max()", "return y"],
    ]
    assert all("rng.random(3) + 1" in text for _, text in reduced(DEFINITION))


def mutant(kind: str, content: str) -> Mutant:
    return Mutant(kind, "", (SourceFile(path="solution.py", content=content),))


def test_equal_mutants_count_once_and_kinds_take_turns() -> None:
    made = [mutant("a", "1"), mutant("a", "2"), mutant("a", "3"), mutant("b", "1"), mutant("b", "4")]
    assert [(one.kind, one.files[0].content) for one in distinct(made, 3)] == [("a", "1"), ("b", "4"), ("a", "2")]


def audited(*outcomes: MutantOutcome) -> Audited:
    rows = [Judged(mutant("zeros", str(number)), outcome, "") for number, outcome in enumerate(outcomes)]
    return Audited(problem=None, rows=rows)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcomes", "rate", "state"),
    [
        (("killed", "killed", "survived", "killed"), 0.75, "survivors"),
        (("killed", "not_run"), 1.0, "passed"),
        (("not_run", "not_run"), None, "not_audited"),
        ((), None, "not_audited"),
    ],
)
def test_a_mutant_counts_only_if_it_ran(outcomes: tuple[MutantOutcome, ...], rate: float | None, state: str) -> None:
    found = audited(*outcomes)
    assert (found.kill_rate, found.state) == (rate, state)


def test_an_audit_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def judged_until(last: int) -> Callable[..., Iterator[Audited]]:
        def made(problems: Sequence[AuditedProblem], *_: object) -> Iterator[Audited]:
            asked.append([one.task_id for one in problems])
            yield from (Audited(one, audited("killed", "survived").rows) for one in problems[:last])
            if last < len(problems):
                raise KeyboardInterrupt

        return made

    def order(most: int = 7, explained: Path | None = None) -> AuditOrder:
        return AuditOrder(PACK, "unconfined", 1, most, [], explained, tmp_path / "audit.json")

    monkeypatch.setattr(report, "audited", judged_until(3))
    with pytest.raises(KeyboardInterrupt):
        audit_pack(order())
    monkeypatch.setattr(report, "audited", judged_until(8))
    whole = audit_pack(order())
    assert [one["task_id"] for one in whole.rows] == asked[0]
    assert asked[1] == asked[0][3:]
    assert (whole.built, whole.killed) == (16, 8)
    reasons = tmp_path / "reasons.json"
    reasons.write_text(json.dumps({asked[0][0]: {"zeros": "they are right"}}))
    explained = audit_pack(order(explained=reasons)).rows
    assert [row["mutants"][1]["explained"] for row in explained[:2]] == ["they are right", ""]
    assert asked[2] == []
    written = json.loads((tmp_path / "audit.json").read_text())
    assert written["problems"] == list(explained)
    with pytest.raises(PackRefused, match="its `most_mutants` differs"):
        audit_pack(order(most=8))
    assert json.loads((tmp_path / "audit.json").read_text()) == written


def test_torch_that_is_missing_leaves_its_problems_unaudited_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    class Judges:
        def judge(self, *_: object) -> None:
            raise UnusableProblem("no torch here")

    def missing(*_: object, **_options: object) -> None:
        raise MissingTorch("bubblewrap")

    monkeypatch.setattr(running, "call_each", missing)
    problems = [one.problem for one in read_problem_pack(PACK).records if isinstance(one.problem, FunctionProblem)]
    judges: Any = Judges()
    rows = list(running.audited(problems, judges, judges, 1, 3, lambda *_: None))
    assert [(row.state, "no torch here" in row.why_not) for row in rows] == [("not_audited", True)] * 8


@pytest.mark.parametrize("release", RELEASES)
def test_every_example_release_was_audited_as_it_is(release: str) -> None:
    found = json.loads((EXAMPLES / release / "audit.json").read_text(encoding="utf-8"))
    assert found["problems_sha256"] == json.loads(STORED.read_text(encoding="utf-8"))[release]["problems.jsonl"]


def test_the_demo_board_was_audited_as_it_is() -> None:
    found = json.loads((PACK.parent / "audit.json").read_text(encoding="utf-8"))
    assert found["problems_sha256"] == read_problem_pack(PACK).digest


@pytest.mark.parametrize("path", AUDITS, ids=lambda path: path.parent.name)
def test_an_examples_audit_kills_nearly_all_and_explains_the_rest(path: Path) -> None:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["kill_rate"] >= 0.98
    survivors = [row for one in found["problems"] for row in one["mutants"] if row["outcome"] == "survived"]
    assert [row for row in survivors if not row["explained"]] == []
    assert found["killed"] == found["built"] - len(survivors)
    assert all(one["state"] != "passed" or one["built"] for one in found["problems"])
