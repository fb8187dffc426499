"""Clarifications: ask about a problem, answer publicly or privately, or make an erratum of what was reported."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaderboard.actions.curation.decide import void_problem
from leaderboard.errors import NotAllowed, Refused, TooMuch
from leaderboard.models import Clarification, Decision
from leaderboard.models.audit import record
from leaderboard.models.curation.clarification import CLARIFICATION_CHARACTERS, ClarificationKind
from leaderboard.visibility import is_organiser, may_see_statement
from problems.models import Problem

DAILY_CLARIFICATIONS = 10
"""The most that one account may ask within 24 hours. Organisers have no bound."""


@transaction.atomic
def ask(user: Any, problem: Problem, kind: str, text: str) -> Clarification:
    """Keep a question or a report of a fault. Raises NotAllowed, Refused or TooMuch."""
    if not user.is_authenticated or not may_see_statement(user, problem):
        raise NotAllowed("not_your_problem", "Only somebody signed in who may read the problem may ask about it.")
    if kind not in ClarificationKind.values:
        raise Refused("kind_needed", "Say whether it is a question or a fault.")
    words = _checked(text, "Say what you ask, or what is wrong and how you saw it.")
    User.objects.select_for_update().get(pk=user.pk)  # two requests at once count one after the other
    day = timezone.now() - timedelta(days=1)
    if not is_organiser(user) and user.clarifications.filter(asked_at__gt=day).count() >= DAILY_CLARIFICATIONS:
        words = (
            f"You have asked {DAILY_CLARIFICATIONS} times within 24 hours, the most an account may. Ask again tomorrow."
        )
        raise TooMuch("asked_too_often", words)
    made = Clarification.objects.create(problem=problem, kind=kind, text=words, asked_by=user)
    record(user, "ask", problem, words, clarification=made.pk, kind=kind, release=problem.release.slug)
    return made


@transaction.atomic
def answer(user: Any, asked: Clarification, words: str, *, public_text: str | None) -> None:
    """Answer it: publicly under `public_text`, which may be empty, or privately if that is None.

    A later answer takes the place of an earlier one; the audit keeps both. Raises NotAllowed or Refused.
    """
    _check_organiser(user)
    asked.answer = _checked(words, "Write the answer.")
    asked.is_public = public_text is not None
    asked.public_text = _bounded((public_text or "").strip())
    asked.answered_by, asked.answered_at = user, timezone.now()
    asked.save(update_fields=["answer", "is_public", "public_text", "answered_by", "answered_at"])
    record(user, "answer", asked.problem, asked.answer, clarification=asked.pk, public=asked.is_public)


@transaction.atomic
def make_erratum(user: Any, asked: Clarification, public_reason: str) -> Decision:
    """Void the problem; the reason is the public answer. Raises NotAllowed, Refused or Conflict."""
    _check_organiser(user)
    reason = _checked(public_reason, "An erratum needs a public reason.")
    asked.erratum = void_problem(user, asked.problem, reason)
    asked.save(update_fields=["erratum"])
    answer(user, asked, reason, public_text="")
    return asked.erratum


def _check_organiser(user: Any) -> None:
    if not is_organiser(user):
        raise NotAllowed("organisers_only", "Only an organiser answers clarifications.")


def _checked(text: str, if_empty: str) -> str:
    words = text.replace("\0", "").strip()
    if not words:
        raise Refused("words_needed", if_empty)
    return _bounded(words)


def _bounded(words: str) -> str:
    if len(words) > CLARIFICATION_CHARACTERS:
        found = f"The text has {len(words)} characters; at most {CLARIFICATION_CHARACTERS} are kept. Shorten it."
        raise Refused("text_too_long", found)
    return words
