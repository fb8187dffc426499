"""Where a sample's speedup stands: among the other models of its problem and track, and after its model's own ones."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from leaderboard import visibility
from leaderboard.models import Evaluation


@dataclass(frozen=True)
class Place:
    """Speedups of other models are their best; only results that the user may see count."""

    n_models: int
    """Other models with a speedup."""
    n_slower: int
    earlier_speedup: float | None
    """The best of the model's earlier submissions."""
    change: float | None
    """Share by which this speedup differs from the earlier one."""

    @property
    def share(self) -> float:
        """Of the other models, those that are slower."""
        return self.n_slower / self.n_models

    @property
    def slowdown(self) -> float:
        return -(self.change or 0.0)


def place_of(user: Any, found: Evaluation, speedup: float | None) -> Place | None:
    """None without a speedup. Makes two queries."""
    if not speedup:
        return None
    submission = found.submission
    timed = visibility.visible_scores(user, submission.release).filter(
        problem=found.problem_id, track=found.track_id, best_speedup__isnull=False
    )
    others = timed.exclude(submission__entrant=submission.entrant_id).order_by()
    best = list(others.values("submission__entrant").annotate(best=Max("best_speedup")).values_list("best", flat=True))
    own = timed.filter(submission__entrant=submission.entrant_id, submission__lt=submission.pk)
    earlier = own.aggregate(best=Max("best_speedup"))["best"]
    change = speedup / earlier - 1 if earlier else None
    return Place(len(best), sum(one < speedup for one in best), earlier, change)
