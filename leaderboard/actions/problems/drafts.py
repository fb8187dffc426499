"""Make and edit draft releases: each change writes its audit entry. `user` None is the site's own shell.

All raise NotAllowed, or ReleaseRefused with the reason.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.curation.curate import check_organiser
from leaderboard.actions.curation.tracks import no_hardware, offer
from leaderboard.models import Evaluation, EvaluationState, ProblemTrack, Submission
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from leaderboard.models.submissions.evaluation import OPEN_STATES
from leaderboard.signals import evaluations_cancelled
from leaderboard.standings import scores
from problems.actions import draft_copies, draft_places, drafts
from problems.actions.drafts import DraftChange
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
def copy_problems(user: Any, release: Release, sources: Sequence[Problem]) -> list[Problem]:
    """Add copies of another release's problems, those aside that the draft cannot have. Returns the copies."""
    check_organiser(user)
    made = draft_copies.copy_problems(release, sources)
    if made:
        _offer_anew(user, *made)
        of, digest = sources[0].release.slug, release.digest[:12]
        record(user, "copy problems", release, copy_of=of, problems=[one.task_id for one in made], digest=digest)
    return made


@transaction.atomic
def change_problem(user: Any, problem: Problem, fields: Mapping[str, Any], opened_md5: str) -> DraftChange:
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
    """The audit's values of a problem. Answers and held-out files are in the hash alone."""
    fields = drafts.fields_of(problem.spec)
    metadata = fields["metadata"] | (fields["metadata"].get("podium") or {})
    told = {name: fields.get(name) for name in _TOLD} | {name: metadata.get(name) for name in _TOLD_METADATA}
    return told | {"md5": problem.record_md5}


@transaction.atomic
def leave_out(user: Any, *problems: Problem) -> None:
    """Take problems out of their draft and keep them there."""
    check_organiser(user)
    draft_places.leave_out(*problems)
    withdraw(*problems)
    ProblemTrack.objects.filter(problem__in=problems).delete()
    record(user, "leave out problem", problems[0].release, **_named(problems))


@transaction.atomic
def bring_back(user: Any, *problems: Problem) -> None:
    """Make problems that were left out a part of their draft again."""
    check_organiser(user)
    draft_places.bring_back(*problems)
    _offer_anew(user, *problems)
    record(user, "bring back problem", problems[0].release, **_named(problems))


def _named(problems: Sequence[Problem]) -> dict[str, Any]:
    names = [one.task_id for one in problems]
    return {"problem": names[0]} if len(names) == 1 else {"n": len(names), "problems": names}


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
    draft_places.move_problem(problem, places)
    record(user, "move problem", problem.release, problem=problem.task_id, places=places)


@transaction.atomic
def move_to(user: Any, place: int, *problems: Problem) -> None:
    """Move problems of one draft together, so that the first of them has this place."""
    check_organiser(user)
    release = problems[0].release
    before = draft_places.move_to(place, *problems)
    was, now = (_places(problems, order) for order in (before, draft_places.order_of(release)))
    record(user, "move problem", release, fields=list(now), was=was, now=now)


def _places(problems: Sequence[Problem], order: Sequence[int]) -> dict[str, int]:
    """The place of each problem, counted from 1, by its task_id."""
    place_of = {pk: place for place, pk in enumerate(order, 1)}
    return {one.task_id: place_of[one.pk] for one in problems}


def _offer_anew(user: Any, *problems: Problem) -> None:
    """The tracks of their release look again whether they can run them; their baselines of them are forgotten."""
    ProblemTrack.objects.filter(problem__in=problems).delete()
    release = problems[0].release
    if not release.problems.filter(kind__in=NODE_KINDS).exists():
        offer(user, release, no_hardware())
    for place in release.on_tracks.select_related("track"):
        offer(user, release, place.track)


def withdraw(*problems: Problem) -> None:
    """Cancel what nodes have still to do for the records that were."""
    rows = Evaluation.objects.filter(problem__in=problems, state__in=OPEN_STATES)
    submissions = list(Submission.objects.filter(evaluations__in=rows).distinct())
    ids = list(rows.values_list("pk", flat=True))
    evaluations_cancelled.send(Submission, evaluation_ids=ids)
    rows.update(state=EvaluationState.CANCELLED, done_at=timezone.now())
    for submission in submissions:
        scores.finish_if_done(submission)
