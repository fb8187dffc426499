"""Releases that mix coding problems and questions, with weights, and submissions that solve a part of them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from leaderboard.models import Entrant, Submission, Track
from leaderboard.settle.questions import settle_questions
from problems.actions import releases as release_actions
from problems.models import Problem, Release
from runners.wire.protocol import Report, Verdict
from tests import factories, packs, question_site

WEIGHTS = {"ch2": 0.5, "ch3": 1.25}
Solves = Callable[[Problem], bool]


def question(task_id: str, group: str) -> dict[str, Any]:
    return question_site.choice(task_id, group=group)


def coding(task_id: str, group: str) -> dict[str, Any]:
    return packs.problem(task_id, group=group)


EACH_KIND = [
    coding("code/1", "ch2"), coding("code/2", "ch3"), coding("code/3", "ch3"),
    question("ask/1", "ch2"), question("ask/2", "ch3"), question("ask/3", "ch11"),
]  # fmt: skip


def release(
    problems: Sequence[dict[str, Any]] = EACH_KIND, weights: Mapping[str, float] = WEIGHTS, policy: str = "practice",
    reveals_at: datetime | None = None, **metadata: Any,
) -> Release:  # fmt: skip
    """Published and public."""
    pack = packs.problem_pack(problems, **{"ks": [1], "title": "Chapters", "weights": dict(weights), **metadata})
    made = release_actions.import_release(pack).release
    made.is_public, made.question_policy, made.reveals_at = True, policy, reveals_at
    made.save()
    release_actions.publish(made)
    return made


def submission(entrant: Entrant, made: Release, track: Track, solves: Solves) -> Submission:
    """One sample a problem: replies settled by the site, the rest judged as by a node; then ranked."""
    lines = [_answer(problem, solves(problem)) for problem in made.problems.order_by("position")]
    stored = question_site.submitted(entrant, made, track, *lines)
    settle_questions()
    factories.judge(stored, lambda evaluation: _report(solves(evaluation.problem)))
    factories.rank(made, track)
    return stored


def _answer(problem: Problem, right: bool) -> dict[str, Any]:
    if problem.kind == "choice":
        return question_site.reply(problem.task_id, f"Final: {'B' if right else 'A'}")
    return packs.solution(problem.task_id, f"exit {int(not right)}")


def _report(right: bool) -> Report:
    return factories.report(Verdict.PASSED if right else Verdict.TEST_FAILED, speedup=None)
