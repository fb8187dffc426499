"""The board of problems in other platforms' forms: results of the committed problems and solutions, judged on a GPU."""

from pathlib import Path

import pytest

from demo.entrants import DemoEntrant, load_entrants
from demo.packs import adapted, problems_of
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.formats.set_solutions import converted
from problems.spec.digests import grading_digest
from problems.spec.function.problem import FunctionProblem
from problems.spec.profile import Profile

BOARD = Path(__file__).parents[2] / "examples" / "problem-sets" / "board"
ENTRANTS = load_entrants(BOARD / "entrants")


def rows_of(entrant: str) -> list[GradedRow]:
    return [one.row for one in read_graded_rows(BOARD / "results" / f"{entrant}.jsonl.gz")]


def test_it_has_two_problems_of_each_form_with_a_known_bad_solution() -> None:
    problems = [record.problem for record in problems_of(BOARD).records]
    assert len(problems) == 8
    assert all(problem.podium.known_bad for problem in problems)
    assert {entrant.slug for entrant in ENTRANTS} == {"demo-set-faithful", "demo-set-hasty"}


def _without_adapter(content: str) -> str:
    """What the solution's author wrote, and what it was adapted to: an adapter may change after it was measured."""
    places = [content.find(f"\n{name} = ") for name in ("SOLUTION", "SOURCES")]
    return content[max(*places, 0) :]


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda one: one.slug)
def test_its_results_are_of_these_problems_and_solutions(entrant: DemoEntrant) -> None:
    pack = problems_of(BOARD)
    known = {record.problem.task_id: record.problem for record in pack.records}
    samples = {one.task_id: one.files[0].content for one in adapted(entrant, pack)}
    samples |= {path.parent.name: path.read_text("utf-8") for path in entrant.folder.glob("*/solution.py")}
    rows = rows_of(entrant.slug)
    assert {row.task_id for row in rows} == known.keys()
    for row in rows:
        problem = known[row.task_id]
        assert row.stated_grading_digest(Profile.PODIUM) == grading_digest(problem, problem.withheld)
        assert row.index is not None
        (measured,) = row.answer["files"]
        assert _without_adapter(measured["content"]) == _without_adapter(samples[row.task_id])
        assert row.verdict == entrant.expected[row.task_id, row.index]
        assert (row.podium or {})["provenance"]["gpu"]


@pytest.mark.parametrize(("form", "solutions"), [("flashinfer", 2), ("sol-execbench", 1), ("kernelbench", 1)])
def test_the_solutions_in_cuda_are_of_its_problems(form: str, solutions: int) -> None:
    problems = [record.problem for record in problems_of(BOARD).records]
    functions = {one.task_id: one for one in problems if isinstance(one, FunctionProblem)}
    found = converted(form, BOARD.parent / "cuda-solutions" / form, functions)
    assert [one.refused for one in found] == [""] * solutions
