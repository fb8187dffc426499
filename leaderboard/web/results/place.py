"""The place of a sample among the other models of its problem and track, and after its model's own earlier ones."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Min

from leaderboard import visibility
from leaderboard.models import Evaluation
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.web.problems.problem_ranking import By, counted_figure


@dataclass(frozen=True)
class SamplePlace:
    """Other models are compared by their best sample; only results that the user may see count, baselines do not."""

    by: By
    """The figure that is compared: the one that the release's scores are made from."""
    n_models: int
    """Other models with such a figure."""
    n_slower: int
    earlier: float | None
    """The best of the model's earlier submissions: its speedup, or its time in ms."""
    change: float | None
    """Share by which this sample is faster than the earlier one."""

    @property
    def share(self) -> float:
        """The share of the other models that are slower."""
        return self.n_slower / self.n_models

    @property
    def slowdown(self) -> float:
        return -(self.change or 0.0)

    @property
    def times_as_fast(self) -> float:
        return 1 + (self.change or 0.0)


def place_of(user: Any, found: Evaluation, speedup: float | None, time_ms: float | None) -> SamplePlace | None:
    """The place; None without the figure that the release counts. Makes two queries."""
    submission = found.submission
    by = counted_figure(submission.release)
    own, field, best_of = (time_ms, "best_ms", Min) if by is By.TIME else (speedup, "best_speedup", Max)
    if not own:
        return None
    timed = visibility.visible_scores(user, submission.release).filter(
        problem=found.problem_id, track=found.track_id, **{f"{field}__isnull": False}
    )
    others = timed.exclude(submission__entrant=submission.entrant_id)
    others = others.exclude(submission__entrant__kind=EntrantKind.BASELINE).order_by()
    best = list(others.values("submission__entrant").annotate(best=best_of(field)).values_list("best", flat=True))
    earlier = timed.filter(submission__entrant=submission.entrant_id, submission__lt=submission.pk)
    earlier_best = earlier.aggregate(best=best_of(field))["best"]
    change = _gain(by, own, earlier_best) if earlier_best else None
    return SamplePlace(by, len(best), sum(_gain(by, own, one) > 0 for one in best), earlier_best, change)


def _gain(by: By, own: float, other: float) -> float:
    """Share by which a sample is faster than another: 0.5 if it takes two thirds of the time."""
    return other / own - 1 if by is By.TIME else own / other - 1
