"""A site with sealed questions: two entrants sent code and replies, which are right or wrong as a test wants it."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from pytest import MonkeyPatch

from leaderboard.models import Entrant, Evaluation, Submission, Track
from leaderboard.settle import questions
from problems.models import Release
from runners.fleet.models import Node
from runners.wire.protocol import Verdict
from tests import factories, mixed, packs, question_site
from tests.factories import Cast
from tests.strangers import Place

ASKED = [
    mixed.coding("code/1", "ch2"), mixed.coding("code/2", "ch3"), mixed.coding("code/3", "ch3"),
    mixed.question("ask/1", "ch2"), mixed.question("ask/2", "ch3"), mixed.question("ask/3", "ch11"),
]  # fmt: skip


def in_a_month() -> datetime:
    return timezone.now() + timedelta(days=30)


def sealed_release(**metadata: Any) -> Release:
    return mixed.release(ASKED, policy="", reveals_at=in_a_month(), **metadata)


def settle_as(monkeypatch: MonkeyPatch, verdict: Verdict) -> None:
    """Settle what is queued with this verdict, whatever the replies say."""
    reason = "" if verdict == Verdict.PASSED else "The answer is not B."
    monkeypatch.setattr(questions, "_outcome", lambda *_: questions._Outcome(verdict, reason, "B"))
    questions.settle_questions()


def sent(
    entrant: Entrant, made: Release, track: Track, letter: str = "B", script: str = "exit 0", *, counted: bool = True
) -> Submission:
    """Code that passes and a reply to each question; queued."""
    lines = [
        question_site.reply(one.task_id, f"Final: {letter}")
        if one.kind == "choice"
        else packs.solution(one.task_id, script)
        for one in made.problems.order_by("position")
    ]
    return question_site.submitted(entrant, made, track, *lines, counted=counted)


def reveal(made: Release) -> None:
    """As if the time had come."""
    Release.objects.filter(pk=made.pk).update(reveals_at=timezone.now())
    made.refresh_from_db()


class SealedPlace(Place):
    """Both entrants have sent the same, the owner's solved one more coding problem; all is judged and ranked."""

    rival: Submission

    @classmethod
    def settled(cls, monkeypatch: MonkeyPatch, verdict: Verdict) -> "SealedPlace":
        cast = Cast.make()
        Entrant.objects.update(publishes_code=True)
        made = sealed_release()
        track = factories.offer(made)
        stored, rival = sent(cast.entrant, made, track), sent(cast.strangers_entrant, made, track)
        settle_as(monkeypatch, verdict)
        factories.judge(stored)
        factories.judge(rival, lambda one: factories.report(_lost(one)))
        factories.rank(made, track)
        place = cls(cast, made, stored)
        place.rival = rival
        Node.objects.update(last_seen_at=timezone.now() - timedelta(days=9))  # it stays offline meanwhile
        return place

    def turn_to(self, kind: str) -> "SealedPlace":
        """The same place, whose problem and evaluation are the first of this kind."""
        self.problem = self.release.problems.filter(kind=kind).order_by("position")[0]
        self.evaluation = self.stored.evaluations.get(problem=self.problem)
        return self


def _lost(evaluation: Evaluation) -> Verdict:
    return Verdict.TEST_FAILED if evaluation.problem.task_id == "code/1" else Verdict.PASSED
