"""Measures, for each board, the noise that nodes and days put into all times alike, from its baselines' own times."""

import math

import numpy as np
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from leaderboard.models import Measurement, ReleaseTrack
from problems.models import ReleaseState
from runners.wire.protocol import Role
from scoring.shared_noise import shared_sd

MOST_TIMES = 20_000
"""The newest times of baselines that one measuring reads."""
CHANGED = 0.1
"""A board is ranked again where its noise changed by more than this share, and by more than `LEAST_CHANGE`."""
LEAST_CHANGE = 0.0005


def measure_shared_noise() -> int:
    """Measure every board that still takes results. Returns the number whose noise changed."""
    places = ReleaseTrack.objects.exclude(touched_at=None).exclude(release__state=ReleaseState.FROZEN)
    return sum(_measure(place) for place in places.order_by("pk"))


def _measure(place: ReleaseTrack) -> bool:
    found = measured(place)
    if abs(found - place.shared_ln_sd) <= max(LEAST_CHANGE, CHANGED * place.shared_ln_sd):
        return False
    return bool(ReleaseTrack.objects.filter(pk=place.pk).update(shared_ln_sd=found, touched_at=timezone.now()))


def measured(place: ReleaseTrack) -> float:
    """The standard deviation in ln time; 0 if too few nodes and days timed the same baselines. One query."""
    rows = Measurement.objects.filter(
        problem__release=place.release_id, track=place.track_id, role=Role.BASELINE, is_primary=True, ranks=True
    ).annotate(node=KeyTextTransform("node", "provenance"))
    newest = rows.order_by("-id").values_list("problem_id", "case", "median_ms", "node", "measured_at")[:MOST_TIMES]
    items: dict[tuple[int, str], int] = {}
    groups: dict[tuple[str, str], int] = {}
    times = [
        (
            math.log(median_ms),
            items.setdefault((problem_id, case), len(items)),
            groups.setdefault((node or "", measured_at.date().isoformat()), len(groups)),
        )
        for problem_id, case, median_ms, node, measured_at in newest
    ]
    if not times:
        return 0.0
    ln_times, of_item, of_group = zip(*times, strict=True)
    return shared_sd(np.array(ln_times), np.array(of_item), np.array(of_group))
