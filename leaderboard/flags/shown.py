"""Flags with their latest rulings, and what each does to a rank, in words that agree with the standings."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from leaderboard.flags.rules import FlagRule, rule_of
from leaderboard.models import Appeal, Counted, Decision, Evaluation, Flag, ProblemTrack
from leaderboard.models.curation.decision import DecisionKind
from runners.wire.protocol import FlagScope, Verdict
from scoring.metrics import Need, UnknownMetric, metric_named

_EVALUATION = "result__evaluation"


def with_rulings(flags: QuerySet[Flag]) -> QuerySet[Flag]:
    """Annotated with `ruling`, the latest decision's kind (None: undecided), its id `ruled_by`, and `is_appealed`."""
    latest = Decision.objects.filter(flag=OuterRef("pk")).order_by("-id")
    annotated = flags.annotate(ruling=Subquery(latest.values("kind")[:1]), ruled_by=Subquery(latest.values("pk")[:1]))
    return annotated.annotate(is_appealed=Exists(Appeal.objects.filter(decision=OuterRef("ruled_by"))))


def with_effects(flags: QuerySet[Flag]) -> QuerySet[Flag]:
    """Also annotated with what `shown` reads, and with all related rows that pages name. One query."""
    place = {"problem": OuterRef(f"{_EVALUATION}__problem"), "track": OuterRef(f"{_EVALUATION}__track")}
    counted = Counted.objects.filter(submission=OuterRef(f"{_EVALUATION}__submission"), track=place["track"])
    void = Decision.objects.errata().filter(problem=place["problem"])
    return (
        with_rulings(flags)
        .annotate(
            is_timed=Exists(ProblemTrack.objects.filter(**place, has_rankable_baseline=True)),
            is_counted=Exists(counted),
            is_void=Exists(void),
        )
        .select_related(
            f"{_EVALUATION}__submission__entrant",
            f"{_EVALUATION}__submission__release",
            f"{_EVALUATION}__problem",
            f"{_EVALUATION}__track",
            f"{_EVALUATION}__sample",
        )
        .defer(f"{_EVALUATION}__problem__record", "result__steps", "result__provenance")
    )


def undecided() -> Q:
    """Flags without a decision. As a set of ids, which costs less than a subquery for each flag of a long list."""
    return ~Q(pk__in=Decision.objects.filter(flag__isnull=False).values("flag_id"))


def ruled(kind: DecisionKind) -> Q:
    """Flags whose latest ruling is of this kind, as a set of ids too."""
    later = Decision.objects.filter(flag=OuterRef("flag"), pk__gt=OuterRef("pk"))
    return Q(pk__in=Decision.objects.filter(~Exists(later), kind=kind).values("flag_id"))


def appealed() -> Q:
    """Flags whose latest ruling is appealed. Makes one query at once: open appeals are few."""
    answered = Decision.objects.filter(flag=OuterRef("decision__flag"), pk__gt=OuterRef("decision"))
    return Q(pk__in=list(Appeal.objects.exclude(Exists(answered)).values_list("decision__flag_id", flat=True)))


def current() -> Q:
    """Flags of current results, and of second ones, also while a later rejudge uses their shadow evaluations."""
    second = Evaluation.objects.filter(second_result=OuterRef("result_id"))
    return Q(Exists(Evaluation.objects.filter(current_result=OuterRef("result_id")))) | Q(Exists(second))


@dataclass(frozen=True)
class ShownFlag:
    """One flag as lists show it. `tone` is a class of the style sheet."""

    flag: Flag
    rule: FlagRule | None
    label: str
    tone: str
    effect: str
    if_upheld: str
    if_dismissed: str
    """The effect that it would have by such a ruling."""
    keeps_time: str = ""
    """Whether the flag keeps the result's time from ranking: "flagged", "flag upheld", or "" if it does not."""


def shown_in_order(ids: Sequence[int]) -> list[ShownFlag]:
    """The flags of one page. Their effects are read for these alone. One query."""
    rows = with_effects(Flag.objects.filter(pk__in=ids)).in_bulk()
    return [shown(rows[pk]) for pk in ids]


def shown(flag: Flag) -> ShownFlag:
    """`flag` comes from `with_effects`."""
    label, tone = _label(flag)
    rulings = (getattr(flag, "ruling", None), DecisionKind.FLAG_UPHELD, DecisionKind.FLAG_DISMISSED)
    now, if_upheld, if_dismissed = (_effect(flag, ruling) for ruling in rulings)
    return ShownFlag(flag, rule_of(flag.code), label, tone, now, if_upheld, if_dismissed, _keeps_time(flag))


def _label(flag: Flag) -> tuple[str, str]:
    ruling = getattr(flag, "ruling", None)
    if ruling is None:
        return "undecided", "warn"
    if ruling == DecisionKind.FLAG_DISMISSED:
        return "dismissed", "dim"
    return ("upheld, appealed", "warn") if getattr(flag, "is_appealed", False) else ("upheld", "bad")


def _why_without_effect(flag: Flag, ruling: str | None) -> str:
    if getattr(flag, "is_void", False):
        return "the problem is voided and counts for nobody"
    if flag.result.verdict != Verdict.PASSED:
        return "the sample did not pass"
    if flag.scope == FlagScope.TIME and flag.result.evaluation.second_result_id:
        return "the time of the second measurement counts"
    return "the flag is dismissed" if ruling == DecisionKind.FLAG_DISMISSED else ""


def _keeps_time(flag: Flag) -> str:
    ruling = getattr(flag, "ruling", None)
    if _why_without_effect(flag, ruling):
        return ""
    return "flag upheld" if ruling == DecisionKind.FLAG_UPHELD else "flagged"


def _effect(flag: Flag, ruling: str | None) -> str:
    """The flag's effect on a standing by this ruling; None: undecided."""
    if why := _why_without_effect(flag, ruling):
        return f"None: {why}."
    upheld = DecisionKind.FLAG_UPHELD
    if flag.scope == FlagScope.VERDICT:
        return "The pass does not count." if ruling == upheld else "The pass does not count yet." + _waits(flag)
    if ruling == upheld:
        return "The pass counts. Its time does not rank."
    return "The pass counts. Its time does not rank yet." + (_waits(flag) if _needs_times(flag) else "")


def _waits(flag: Flag) -> str:
    return " The standing is incomplete until a decision." if getattr(flag, "is_counted", False) else ""


def _needs_times(flag: Flag) -> bool:
    """Whether an undecided time makes the standing incomplete, as scoring.board has it."""
    try:
        metric = metric_named(flag.result.evaluation.submission.release.primary_metric)
    except UnknownMetric:
        return False
    return Need.TIMES in metric.needs and bool(getattr(flag, "is_timed", False))
