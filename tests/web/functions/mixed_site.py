"""A release with a function problem among others, and its pages."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from leaderboard.models import Evaluation, Submission, Track
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from tests import factories, function_site
from tests.factories import Cast
from tests.function_site import LARGE, SMALL
from tests.markup import markup


@dataclass(frozen=True)
class FunctionSite:
    """A release of mixed kinds; alpha has a right and a wrong sample, the stranger's model a right one."""

    release: Release
    track: Track
    own: Submission
    problem: Problem

    @property
    def page(self) -> str:
        return reverse("problem", args=[self.release.slug, self.problem.slug])

    def evaluation(self, index: int = 0) -> Evaluation:
        return self.own.evaluations.get(problem=self.problem, sample__index=index)


def make_function_site(cast: Cast) -> FunctionSite:
    factories.worker_at_work()
    made = function_site.mixed_release()
    track = factories.offer(made)
    own = function_site.judged(cast.entrant, made, track, function_site.report(), function_site.wrong_report())
    other = function_site.report({SMALL: 0.002, LARGE: 3.0})
    function_site.judged(cast.strangers_entrant, made, track, other)
    return FunctionSite(made, track, own, made.problems.get(kind=Kind.FUNCTION))


def text_of(client: Any, path: str, **asked: str) -> str:
    answer = client.get(path, asked)
    assert answer.status_code == 200
    return markup(answer)
