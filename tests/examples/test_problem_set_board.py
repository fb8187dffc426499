"""The board of problems in other platforms' forms: results of the committed problems and solutions, judged on a CPU."""

from pathlib import Path

import pytest

from demo.entrants import DemoEntrant, load_entrants, sample_folder
from demo.packs import problems_of
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.spec.digests import grading_digest
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


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda one: one.slug)
def test_its_results_are_of_these_problems_and_solutions(entrant: DemoEntrant) -> None:
    known = {record.problem.task_id: record.problem for record in problems_of(BOARD).records}
    rows = rows_of(entrant.slug)
    assert {row.task_id for row in rows} == known.keys()
    for row in rows:
        problem = known[row.task_id]
        assert row.stated_grading_digest(Profile.PODIUM) == grading_digest(problem, problem.withheld)
        folder = sample_folder(entrant.folder / row.task_id, row.index)
        assert {file["path"]: file["content"] for file in row.answer["files"]} == {
            "solution.py": (folder / "solution.py").read_text("utf-8")
        }
        assert row.verdict == entrant.expected[row.task_id, row.index]
        assert (row.podium or {})["provenance"]["cpu_model"]
