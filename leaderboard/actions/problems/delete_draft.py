"""Deletes a draft that was never published, with its problems and everything that verifying and trying it has left."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError, Q, QuerySet

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.errors import Conflict, Refused
from leaderboard.models import (
    Appeal,
    AuditReason,
    Clarification,
    Decision,
    Evaluation,
    Flag,
    Measurement,
    PmppRun,
    ProblemAudit,
    ProblemScore,
    ProblemTrack,
    Rejudge,
    RejudgeItem,
    Result,
    ResultCase,
    Submission,
    Trial,
    TypedDraft,
    VoidedResult,
)
from leaderboard.models.audit import record
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.models.submissions.evaluation import OPEN_STATES
from leaderboard.signals import evaluations_cancelled
from problems.actions import drafts
from problems.models import Problem, Release


def why_kept(draft: Release) -> str:
    """Returns the reason why the draft cannot be deleted, in words; empty if it can."""
    if not draft.is_draft:
        return f"{draft.slug} is {draft.state}: a release that was published is never deleted."
    if later := draft.later.first():
        return f"{later.slug} is the next revision of {draft.slug}, and names it. Delete that draft first."
    if Submission.objects.filter(release=draft).exclude(entrant__kind=EntrantKind.SYSTEM).exists():
        return f"{draft.slug} has submissions of entrants, which are kept for good."
    if _rejudged(draft).filter(is_open=True).exists():
        return f"An open rejudge holds evaluations of {draft.slug}. Apply or drop it first."
    return ""


def contents(draft: Release) -> dict[str, int]:
    """The rows that are deleted with the draft, in words, each kind with its number. A fixed number of queries."""
    evaluations = Evaluation.objects.filter(submission__release=draft)
    found: dict[str, QuerySet[Any]] = {
        "problems": Problem.with_left_out.filter(release=draft),
        "submissions of verification": Submission.objects.filter(release=draft),
        "evaluations": evaluations,
        "of them on nodes or in the queue": evaluations.filter(state__in=OPEN_STATES),
        "results": Result.objects.filter(evaluation__in=evaluations),
        "rulings on their flags": _decisions(draft),
        "trials": Trial.objects.filter(problem__release=draft),
        "drafts of solutions": TypedDraft.objects.filter(problem__release=draft),
        "clarifications": Clarification.objects.filter(problem__release=draft),
    }
    return {words: rows.count() for words, rows in found.items()}


@transaction.atomic
def delete_draft(user: Any, release: Release) -> dict[str, int]:
    """Delete it. Returns what was deleted, as `contents`. Nodes that work on it are told to stop.

    Raises NotAllowed, Conflict if it is gone or published, or Refused if something else still needs it.
    """
    check_organiser(user)
    draft = Release.objects.select_for_update().filter(pk=release.pk).first()
    if draft is None:
        raise Conflict("deleted_already", f"{release.slug} is deleted already.")
    if why := why_kept(draft):
        raise Refused("kept", why)
    counts = contents(draft)
    record(user, "delete draft", draft, title=draft.title, digest=draft.digest[:12], **_named(counts))
    try:
        _delete_runs(draft)
        drafts.delete_draft(draft)
    except ProtectedError as error:
        kept = ", ".join(sorted({str(one._meta.verbose_name_plural) for one in error.protected_objects}))
        raise Refused("kept", f"{draft.slug} cannot be deleted: there are {kept} that need it.") from error
    return counts


def _named(counts: dict[str, int]) -> dict[str, Any]:
    return {words.replace(" ", "_"): n for words, n in counts.items() if n}


def _delete_runs(draft: Release) -> None:
    """Rows that others need come last."""
    evaluations = Evaluation.objects.filter(submission__release=draft)
    open_ids = list(evaluations.filter(state__in=OPEN_STATES).values_list("pk", flat=True))
    evaluations_cancelled.send(Submission, evaluation_ids=open_ids)  # jobs first, as a claim locks them
    for rows in _around_results(draft):
        rows.delete()
    evaluations.update(current_result=None)
    results = Result.objects.filter(evaluation__in=evaluations)
    while results.filter(reused_as=None).delete()[0]:  # copies before what they are copies of
        pass
    evaluations.delete()
    Submission.objects.filter(release=draft).delete()
    ProblemTrack.objects.filter(problem__in=_problems(draft)).delete()
    Rejudge.objects.filter(release=draft).delete()
    draft.on_tracks.all().delete()


def _around_results(draft: Release) -> Iterator[QuerySet[Any]]:
    result = {"result__evaluation__submission__release": draft}
    decisions, measurements = _decisions(draft), Measurement.objects.filter(problem__in=_problems(draft))
    yield ProblemAudit.objects.filter(problem__in=_problems(draft))
    yield AuditReason.objects.filter(problem__in=_problems(draft))
    yield Clarification.objects.filter(problem__in=_problems(draft))
    yield _rejudged(draft)
    yield Appeal.objects.filter(decision__in=decisions)
    yield decisions.exclude(earlier=None)
    yield decisions
    yield VoidedResult.objects.filter(**result)
    yield Flag.objects.filter(**result)
    yield ResultCase.objects.filter(**result)
    yield ProblemScore.objects.filter(submission__release=draft)
    yield measurements.exclude(baseline=None)
    yield measurements
    yield PmppRun.objects.filter(problem__in=_problems(draft))


def _problems(draft: Release) -> QuerySet[Problem]:
    return Problem.with_left_out.filter(release=draft)


def _rejudged(draft: Release) -> QuerySet[RejudgeItem]:
    return RejudgeItem.objects.filter(live__submission__release=draft)


def _decisions(draft: Release) -> QuerySet[Decision]:
    of_flag = Q(flag__result__evaluation__submission__release=draft)
    return Decision.objects.filter(of_flag | Q(problem__in=_problems(draft)) | Q(submission__release=draft))
