"""Releases that mix coding problems and questions, with weights, and submissions that solve a part of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaderboard.actions.submit import submit
from leaderboard.catalogue import catalogue_of
from leaderboard.models import Entrant, Submission, Track
from leaderboard.rows.submissions import SubmissionMetadata
from problems.actions import releases as release_actions
from problems.formats.submission import read_submission
from problems.models import Problem, Release
from runners.wire.protocol import Verdict
from tests import factories, packs

WEIGHTS = {"ch2": 0.5, "ch3": 1.25}
Solves = Callable[[Problem], bool]


def question(task_id: str, group: str) -> dict[str, Any]:
    """A choice whose answer is B."""
    return {
        "kind": "choice", "type": "choice", "schema_version": 1, "task_id": task_id, "date": "", "metadata": {},
        "prompt": "How many?", "group": group, "choices": ["one", "two", "three"], "answer": "B", "grading": "lenient",
    }  # fmt: skip


def coding(task_id: str, group: str) -> dict[str, Any]:
    return packs.problem(task_id, group=group)


EACH_KIND = [
    coding("code/1", "ch2"), coding("code/2", "ch3"), coding("code/3", "ch3"),
    question("ask/1", "ch2"), question("ask/2", "ch3"), question("ask/3", "ch11"),
]  # fmt: skip


def release(
    problems: Sequence[dict[str, Any]] = EACH_KIND, weights: Mapping[str, float] = WEIGHTS, **metadata: Any
) -> Release:
    """Published and public."""
    pack = packs.problem_pack(problems, **{"ks": [1], "title": "Chapters", "weights": dict(weights), **metadata})
    made = release_actions.import_release(pack).release
    made.is_public = True
    made.save()
    release_actions.publish(made)
    return made


def submission(entrant: Entrant, made: Release, track: Track, solves: Solves) -> Submission:
    """One sample a problem, judged and ranked."""
    problems = list(made.problems.order_by("position"))
    lines = [_answer(problem, solves(problem)) for problem in problems]
    draft = read_submission(packs.solution_pack(lines, made.datapack_release), "s.tar.gz", catalogue_of(made))
    stored = submit(entrant.owner, SubmissionMetadata(entrant=entrant, release=made, tracks=[track]), draft).submission
    factories.judge(stored, lambda evaluation: factories.report(_verdict(evaluation.problem, solves), speedup=None))
    factories.rank(made, track)
    return stored


def _answer(problem: Problem, right: bool) -> dict[str, Any]:
    if problem.kind == "choice":
        return packs.solution(problem.task_id, f"Final: {'B' if right else 'A'}", "answer.txt")
    return packs.solution(problem.task_id, f"exit {int(not right)}")


def _verdict(problem: Problem, solves: Solves) -> Verdict:
    if solves(problem):
        return Verdict.PASSED
    return Verdict.WRONG_ANSWER if problem.kind == "choice" else Verdict.TEST_FAILED
