"""Make and edit draft releases: each change writes its audit entry. `user` None is the site's own shell.

All raise NotAllowed, or ReleaseRefused with the reason.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.curate import check_organiser
from leaderboard.actions.tracks import no_hardware, offer
from leaderboard.models import Evaluation, EvaluationState, ProblemTrack, Submission
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.models.evaluation import OPEN_STATES
from leaderboard.signals import evaluations_cancelled
from leaderboard.standings import scores
from problems.actions import drafts
from problems.actions.drafts import Change
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS


@transaction.atomic
def new_draft(user: Any, name: str, title: str) -> Release:
    """Make an empty draft."""
    check_organiser(user)
    made = drafts.new_draft(name, title)
    record(user, "add", made)
    return made


@transaction.atomic
def next_revision(user: Any, source: Release) -> Release:
    """Make a draft with the problems of a release, offered on the same tracks."""
    check_organiser(user)
    made = drafts.next_revision(source)
    record(user, "next revision", made, source=source.slug)
    for place in source.on_tracks.select_related("track"):
        offer(user, made, place.track)
    return made


@transaction.atomic
def add_problem(user: Any, release: Release, fields: Mapping[str, Any]) -> Problem:
    """Add a problem from its record's fields."""
    check_organiser(user)
    row = drafts.add_problem(release, fields)
    _offer_anew(user, row)
    record(user, "add problem", release, problem=row.task_id, md5=row.record_md5)
    return row


@transaction.atomic
def copy_problem(user: Any, source: Problem, release: Release) -> Problem:
    """Add a copy of another release's problem."""
    check_organiser(user)
    row = drafts.copy_problem(source, release)
    _offer_anew(user, row)
    record(user, "add problem", release, problem=row.task_id, md5=row.record_md5, copy_of=source.release.slug)
    return row


@transaction.atomic
def change_problem(user: Any, problem: Problem, fields: Mapping[str, Any], opened_md5: str) -> Change:
    """Replace a problem's record. If results depend on what changed, the problem is unverified again."""
    check_organiser(user)
    before = told(problem)
    change = drafts.change_problem(problem, fields, opened_md5)
    if change.regraded:
        withdraw(change.problem)
        _offer_anew(user, change.problem)
    if change.changed:
        facts: dict[str, Any] = {"problem": change.problem.task_id, "regraded": change.regraded}
        record(user, "change problem", problem.release, **facts, **edit_detail(before, told(change.problem)))
    return change


_TOLD = (
    "task_id", "group", "date", "prompt", "type", "build_command", "test_command", "benchmark_command",
    "timeout_seconds", "time_limit_seconds", "min_cuda_toolkit", "compute_capability", "requires_datacenter_gpu",
)  # fmt: skip
_TOLD_METADATA = ("difficulty", "tags", "do_not_release", "title", "timing_mode", "limits", "flops", "bytes")


def told(problem: Problem) -> dict[str, Any]:
    """What the audit says of a problem: the values of some fields. Answers and held-out files are in the hash alone."""
    fields = drafts.fields_of(problem.spec)
    metadata = fields["metadata"] | (fields["metadata"].get("podium") or {})
    told = {name: fields.get(name) for name in _TOLD} | {name: metadata.get(name) for name in _TOLD_METADATA}
    return told | {"md5": problem.record_md5}


@transaction.atomic
def leave_out(user: Any, problem: Problem) -> None:
    """Take a problem out of its draft and keep it there."""
    check_organiser(user)
    drafts.leave_out(problem)
    withdraw(problem)
    ProblemTrack.objects.filter(problem=problem).delete()
    record(user, "leave out problem", problem.release, problem=problem.task_id)


@transaction.atomic
def bring_back(user: Any, problem: Problem) -> None:
    """Make a problem that was left out a part of its draft again."""
    check_organiser(user)
    drafts.bring_back(problem)
    _offer_anew(user, problem)
    record(user, "bring back problem", problem.release, problem=problem.task_id)


@transaction.atomic
def delete_problem(user: Any, problem: Problem) -> None:
    """Delete a problem that is left out and was never run."""
    check_organiser(user)
    release, task_id, md5 = problem.release, problem.task_id, problem.record_md5
    drafts.delete_problem(problem)
    record(user, "delete problem", release, problem=task_id, md5=md5)


@transaction.atomic
def move_problem(user: Any, problem: Problem, places: int) -> None:
    """Move a problem down by `places`, or up."""
    check_organiser(user)
    drafts.move_problem(problem, places)
    record(user, "move problem", problem.release, problem=problem.task_id, places=places)


def _offer_anew(user: Any, problem: Problem) -> None:
    """The tracks of its release look again whether they can run it; their baseline of it is forgotten."""
    ProblemTrack.objects.filter(problem=problem).delete()
    release = problem.release
    if not release.problems.filter(kind__in=NODE_KINDS).exists():
        offer(user, release, no_hardware())
    for place in release.on_tracks.select_related("track"):
        offer(user, release, place.track)


def withdraw(problem: Problem) -> None:
    """Cancel what nodes have still to do for the record that was."""
    rows = Evaluation.objects.filter(problem=problem, state__in=OPEN_STATES)
    submissions = list(Submission.objects.filter(evaluations__in=rows).distinct())
    ids = list(rows.values_list("pk", flat=True))
    evaluations_cancelled.send(Submission, evaluation_ids=ids)
    rows.update(state=EvaluationState.CANCELLED, done_at=timezone.now())
    for submission in submissions:
        scores.finish_if_done(submission)
