"""The cases that are timed for everybody on a problem's track: they are fixed once, and a result keeps to them."""

from collections.abc import Collection

from django.db.models import OuterRef, QuerySet, Subquery

from leaderboard.models import Evaluation, ProblemTrack
from leaderboard.models.entrants.entrant import REFERENCE
from leaderboard.rows.measurements import RANKING_CLOCKS
from leaderboard.rows.origin import Origin
from problems.spec.no_time import NO_TIME
from runners.wire.protocol import Purpose, Report, Role


def with_fixed(rows: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    """The rows with `fixed_cases`, which `for_work` reads without a query of its own."""
    place = ProblemTrack.objects.filter(problem=OuterRef("problem"), track=OuterRef("track"))
    return rows.annotate(fixed_cases=Subquery(place.values("timed_cases")[:1]))


def for_work(evaluation: Evaluation) -> list[str] | None:
    """The cases that a node is told to time; None if its baseline shall show them: verifying a draft decides anew.

    The evaluation is a row of `with_fixed`.
    """
    found: list[str] | None = getattr(evaluation, "fixed_cases", None)
    return None if _decides_anew(evaluation) else found


def settled(evaluation: Evaluation, report: Report, origin: Origin) -> list[str] | None:
    """The cases that are timed; None if they are not fixed, or if the report has no times.

    A report whose baseline ranks fixes them if they are not.
    Later reports change nothing; only the reference of a draft fixes them anew. Of two reports at the same time the
    guarded UPDATE lets one decide.
    """
    if not report.measurements:
        return None
    known, decides = _fixed(evaluation), _decides_anew(evaluation)
    if (known is not None and not decides) or not origin.vouched or evaluation.purpose != Purpose.LIVE:
        return known
    baselines = [one for one in report.measurements if one.role == Role.BASELINE and one.is_primary]
    if not baselines or any(one.clock not in RANKING_CLOCKS for one in baselines):
        return known
    place = _place(evaluation)
    changed = place if decides else place.filter(timed_cases__isnull=True)
    changed.update(timed_cases=sorted({one.case for one in baselines}))
    return _fixed(evaluation)


def within(report: Report, cases: Collection[str] | None) -> Report:
    """The report without measurements of other cases than these."""
    if cases is None:
        return report
    return report.model_copy(update={"measurements": [one for one in report.measurements if one.case in cases]})


def without_time(report: Report, cases: Collection[str] | None) -> list[str]:
    """Which of these cases have no time for the solution's own reasons."""
    told = [case.name for case in report.cases if any(field.name == NO_TIME for field in case.fields)]
    return [name for name in told if cases is None or name in cases]


def copy_fixed(old: Evaluation, new: Evaluation) -> None:
    """Fix the cases on the new evaluation's problem as on the old one's, unless they are fixed there."""
    if (cases := _fixed(old)) is not None:
        _place(new).filter(timed_cases__isnull=True).update(timed_cases=cases)


def _decides_anew(evaluation: Evaluation) -> bool:
    submission = evaluation.submission
    return submission.release.is_draft and submission.entrant.slug == REFERENCE


def _place(evaluation: Evaluation) -> QuerySet[ProblemTrack]:
    return ProblemTrack.objects.filter(problem_id=evaluation.problem_id, track_id=evaluation.track_id)


def _fixed(evaluation: Evaluation) -> list[str] | None:
    found: list[str] | None = _place(evaluation).values_list("timed_cases", flat=True).first()
    return found
