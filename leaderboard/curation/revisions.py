"""Decisions of a release's last revision that the organiser must keep or drop before the next one is published."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef

from leaderboard.models import Counted, Decision, EvaluationState, Measurement, RevisionAnswer, Track
from leaderboard.rows.reuse import holding, times_other_cases
from problems.models import Problem, Release
from problems.spec.kinds import Kind
from runners.wire.protocol import JUDGE_VERSIONS

_PLACE = "flag__result__evaluation"


@dataclass(frozen=True)
class Question:
    """A decision that cannot be carried over without asking, with its answer if it has one."""

    decision: Decision
    about: str
    why: str
    answer: RevisionAnswer | None


def questions(release: Release) -> list[Question]:
    """Errata first, then rulings on flags of counted submissions. A fixed number of queries.

    Decisions about problems that the new revision does not have, or tracks it is not offered on, ask nothing.
    """
    if release.previous is None:
        return []
    answers = {one.decision_id: one for one in RevisionAnswer.objects.filter(release=release)}
    same = holding(release, release.previous)
    by_task = {one.task_id: one for one in release.problems.defer("record").select_related("release")}
    found = [*_errata(release.previous, by_task, same), *_rulings(release, by_task, same)]
    return [Question(decision, about, why, answers.get(decision.pk)) for decision, about, why in found]


def unanswered(release: Release) -> list[Question]:
    return [one for one in questions(release) if one.answer is None]


_GRADED_OTHERWISE = "the problem is graded otherwise now"
_Asked = tuple[Decision, str, str]


def _errata(previous: Release, by_task: Mapping[str, Problem], same: Mapping[int, Problem]) -> Iterator[_Asked]:
    rows = Decision.objects.errata().filter(problem__release=previous).select_related("problem", "decided_by")
    for one in rows.order_by("problem__position", "pk"):
        new = by_task.get(one.problem.task_id) if one.problem else None
        if new and new.pk not in same:
            yield one, f"Problem {new.task_id} is voided", _GRADED_OTHERWISE


def _rulings(release: Release, by_task: Mapping[str, Problem], same: Mapping[int, Problem]) -> Iterator[_Asked]:
    tracks = set(Track.objects.filter(on_releases__release=release).values_list("pk", flat=True))
    differing = times_other_cases({pk: old.pk for pk, old in same.items()})
    for one in _rulings_of(release.previous):
        assert one.flag is not None
        found = one.flag.result.evaluation
        new = by_task.get(found.problem.task_id)
        why = _why_not_reused(one, new, same) if new and found.track_id in tracks else ""
        if not why and new and getattr(one, "is_timed", False) and (new.pk, found.track_id) in differing:
            why = "it will be timed again, over the cases of the new revision"
        if why:
            place = f"{found.problem.task_id}, sample {found.sample.index + 1} of {found.submission.entrant}"
            ruling = one.get_kind_display().removeprefix("Flag ")
            yield one, f"Flag {one.flag.code} is {ruling} on {place} ({found.track.slug})", why


def _rulings_of(previous: Release | None) -> list[Decision]:
    """The latest rulings on flags of the current results of counted submissions, oldest first."""
    counted = set(Counted.objects.filter(release=previous).values_list("submission_id", "track_id"))
    rows = Decision.objects.latest_on_flags().filter(**{f"{_PLACE}__submission__in": {one for one, _ in counted}})
    related = ("problem__release", "track", "sample", "submission__entrant")
    rows = rows.filter(**{f"{_PLACE}__current_result": F("flag__result")})
    rows = rows.annotate(is_timed=Exists(Measurement.objects.filter(result=OuterRef("flag__result"))))
    rows = rows.select_related("decided_by", *(f"{_PLACE}__{name}" for name in related))
    return [
        one for one in rows.defer(f"{_PLACE}__problem__record").order_by("pk")
        if one.flag and (one.flag.result.evaluation.submission_id, one.flag.result.evaluation.track_id) in counted
    ]  # fmt: skip


def _why_not_reused(decision: Decision, new: Problem, same: Mapping[int, Problem]) -> str:
    """Returns the reason why the ruling's result will not be reused for the new revision, in words; empty if it
    will."""
    assert decision.flag is not None
    result, found = decision.flag.result, decision.flag.result.evaluation
    if new.pk not in same:
        return _GRADED_OTHERWISE
    if found.state != EvaluationState.DONE or found.judge_version != JUDGE_VERSIONS[Kind(new.kind)]:
        return "it will be judged again, by another version of the judge"
    if getattr(decision, "is_timed", False) and result.is_provisional_under(new.release.timing_policy):
        return "it will be timed again, under the timing policy of the new revision"
    return ""
