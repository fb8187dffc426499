"""Keeps what a user has typed into a problem's editor. Bounded in size and number; visible to that user alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import TypedDraft
from leaderboard.visibility import may_see_statement
from problems.models import Problem
from problems.spec.kinds import SITE_KINDS
from problems.spec.solution import SourceFile

MAX_DRAFT_BYTES = 256 * 1024
"""Limit of one draft's bytes, all languages together."""
MAX_DRAFTS = 100
"""Per user. A further one replaces the one that was saved longest ago."""


def keep_typed_draft(user: Any, problem: Problem, language: str, files: Sequence[SourceFile]) -> TypedDraft | None:
    """Store the files as the user's draft in this language; starter code itself removes the draft of the language.

    Returns the draft, None if nothing is left of it. Raises NotAllowed or Refused, and then stores nothing.
    """
    _check(user, problem, language)
    starter = problem.spec.starters[language]
    with transaction.atomic():
        _hold(user)
        found = typed_draft_of(user, problem)
        typed: dict[str, Any] = dict(found.files) if found else {}
        typed.pop(language, None)
        if files and list(files) != list(starter):
            typed[language] = [file.model_dump() for file in files]
        if not typed:
            TypedDraft.objects.filter(user_id=user.pk, problem=problem).delete()
            return None
        _check_content(typed)
        fields = {"language": language, "files": typed, "saved_at": timezone.now()}
        kept, is_new = TypedDraft.objects.update_or_create(user_id=user.pk, problem=problem, defaults=fields)
        if is_new:
            _make_room(user)
    return kept


def typed_draft_of(user: Any, problem: Problem) -> TypedDraft | None:
    """The user's own draft. One query."""
    return TypedDraft.objects.filter(user_id=user.pk, problem=problem).first()


def discard_typed_draft(user: Any, problem: Problem, language: str) -> None:
    """Delete the user's draft in this language. Raises what `keep_typed_draft` raises."""
    _check(user, problem, language)
    keep_typed_draft(user, problem, language, problem.spec.starters[language])


def _check(user: Any, problem: Problem, language: str) -> None:
    if not may_see_statement(user, problem):
        raise NotAllowed("statement_private", f"You may not read {problem.task_id}, so no draft for it is kept.")
    if problem.kind in SITE_KINDS:
        raise Refused("nothing_to_type", f"{problem.task_id} is a question: there is no draft of its answer.")
    if language not in problem.spec.starters:
        raise Refused("unknown_language", f"{problem.task_id} is not written in {language!r}.")


def _check_content(typed: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    if any("\0" in text for files in typed.values() for file in files for text in file.values()):
        raise Refused("draft_holds_nul", "The draft holds a NUL character, which cannot be kept. It is not saved.")
    size = len(json.dumps(typed, ensure_ascii=False).encode())
    if size > MAX_DRAFT_BYTES:
        raise Refused(
            "draft_too_large",
            f"The draft has {size // 1024} KiB; {MAX_DRAFT_BYTES // 1024} KiB are kept, all languages together. "
            "It is not saved. Submitting and running it still work.",
        )


def _hold(user: Any) -> None:
    """Lock the user until the transaction ends, so that simultaneous saves keep each other's languages."""
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def _make_room(user: Any) -> None:
    rows = TypedDraft.objects.filter(user_id=user.pk)
    newest = list(rows.order_by("-saved_at", "-id").values_list("pk", flat=True)[:MAX_DRAFTS])
    rows.exclude(pk__in=newest).delete()
