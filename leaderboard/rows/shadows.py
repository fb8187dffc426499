"""Shadow evaluations' results: each is compared with the live result, and the last one makes its rejudge ready.

The result of a round becomes the live evaluation's second result, or a flag for a person if it failed.
"""

import math

from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.models import Evaluation, Flag, Measurement, Rejudge, RejudgeItem, RejudgeState, Result, Submission
from leaderboard.models.curation.rejudge import Change
from leaderboard.models.submissions.evaluation import OPEN_STATES
from runners.wire.protocol import FlagScope, Role, Verdict

TIME_TOLERANCE = 0.03
"""A median that moved by more than this share is another time, whatever its interval."""
FAILED_AGAIN = "failed_second_run"
"""Code of the flag of a pass whose second measurement failed."""
NOT_JUDGED = (Verdict.PLATFORM_ERROR, Verdict.SKIPPED)
"""Verdicts that say nothing of the contestant."""


def note_shadow_result(shadow: Evaluation, result: Result) -> bool:
    """Note the result on the open rejudge of this evaluation. The caller holds the submission.

    Returns whether the score of its problem changes, which happens in rounds alone.
    """
    items = RejudgeItem.objects.filter(shadow=shadow, is_open=True)
    item = items.select_related("before", "live", "rejudge").first()
    if item is None:
        return False
    hold(item.rejudge_id)
    change, ratio = compared(item.before, result)
    RejudgeItem.objects.filter(pk=item.pk).update(
        after=result, after_verdict=result.verdict, change=change, time_ratio=ratio
    )
    finish_if_judged(item.rejudge_id)
    return item.rejudge.is_round and _note_second(item, result)


def _note_second(item: RejudgeItem, result: Result) -> bool:
    """Put the result beside the first one, or flag the first one. Its verdict stays either way."""
    if result.verdict in NOT_JUDGED:
        return False
    if result.passed:
        return bool(Evaluation.objects.filter(pk=item.live_id).update(second_result=result))
    words = f"Measured anew in {item.rejudge} it ended as {result.verdict} (evaluation {item.shadow_id})."
    Flag.objects.create(
        result_id=item.live.current_result_id or item.before_id, code=FAILED_AGAIN, scope=FlagScope.VERDICT,
        detail=f"{words} {result.reason}".strip(),
    )  # fmt: skip
    return True


def hold(rejudge_id: int) -> None:
    """Lock the rejudge until the transaction ends, so that one of two simultaneous results finds it complete."""
    list(Rejudge.objects.select_for_update(no_key=True).filter(pk=rejudge_id).values_list("pk"))


def note_cancelled(submission: Submission) -> None:
    """Make those rejudges ready whose last open evaluations were the submission's, which have just been cancelled."""
    items = RejudgeItem.objects.filter(shadow__submission=submission, is_open=True)
    for rejudge_id in sorted(set(items.values_list("rejudge_id", flat=True))):
        hold(rejudge_id)
        finish_if_judged(rejudge_id)


def finish_if_judged(rejudge_id: int) -> None:
    """Make the rejudge ready if it waits for nothing more. A verification without a failure is dropped at once.

    A round that is ready holds its evaluations no longer.
    """
    items = RejudgeItem.objects.filter(rejudge=rejudge_id)
    if items.filter(after=None, shadow__state__in=OPEN_STATES).exists():
        return
    running = Rejudge.objects.filter(pk=rejudge_id, state=RejudgeState.RUNNING)
    failed = failed_again(items).exists()
    if not failed and running.filter(is_verification=True).update(state=RejudgeState.DROPPED, ended_at=timezone.now()):
        items.update(is_open=False)
    elif running.update(state=RejudgeState.READY):
        items.filter(rejudge__is_round=True).update(is_open=False)


def failed_again(items: QuerySet[RejudgeItem]) -> QuerySet[RejudgeItem]:
    """Evaluations that passed before and were then judged otherwise."""
    passed = items.filter(before_verdict=Verdict.PASSED, after__isnull=False)
    return passed.exclude(after_verdict=Verdict.PASSED)


def compared(before: Result, after: Result) -> tuple[Change, float | None]:
    """The change, and the new over the old time of the case that moved most (None without common cases)."""
    if before.verdict != after.verdict:
        return Change.VERDICT, None
    old, new = _times(before), _times(after)
    pairs = [(old[case], new[case]) for case in sorted(old.keys() & new.keys())]
    if not pairs:
        return Change.SAME, None
    furthest = max(pairs, key=lambda pair: abs(math.log(_ratio(*pair))))
    moved = any(_moved(*pair) for pair in pairs)
    return (Change.TIME if moved else Change.SAME), _ratio(*furthest)


def _times(result: Result) -> dict[str, Measurement]:
    rows = Measurement.objects.filter(result=result, role=Role.CANDIDATE, median_ms__gt=0)
    return {one.case: one for one in rows}


def _ratio(old: Measurement, new: Measurement) -> float:
    return new.median_ms / old.median_ms


def _moved(old: Measurement, new: Measurement) -> bool:
    """Whether the medians are more than TIME_TOLERANCE apart, or their intervals are disjoint."""
    if abs(_ratio(old, new) - 1) > TIME_TOLERANCE:
        return True
    if None in (old.ci_low_ms, old.ci_high_ms, new.ci_low_ms, new.ci_high_ms):
        return False
    return bool(new.ci_low_ms > old.ci_high_ms or old.ci_low_ms > new.ci_high_ms)  # type: ignore[operator]
