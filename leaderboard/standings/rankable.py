"""Checks whether a release can be ranked by its primary metric, before it is published."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from leaderboard.models import ProblemTrack, ReleaseTrack, Track
from leaderboard.results.rates import bound_ms, speed_of_light_ms
from problems.actions.releases import ReleaseRefused, check_fields
from problems.models import RANKING_FIELDS, Problem, Release
from problems.spec.case import Case
from problems.spec.kinds import NODE_KINDS
from scoring.metrics import Metric, Need, metric_named


@dataclass(frozen=True)
class _Place:
    """A release on one of its tracks, or on any track (None). `timed` are the problems whose times can rank there."""

    release: Release
    track: Track | None
    timed: Sequence[Problem]

    @property
    def words(self) -> str:
        return f"{self.release.slug} on {self.track.slug}" if self.track else self.release.slug


def faults(release: Release) -> list[str]:
    """The reasons why the release cannot be ranked on all of its tracks, one sentence each; empty if it can."""
    tracks = Track.objects.filter(on_releases__release=release).order_by("slug")
    places: list[Track | None] = [*tracks] or [None]
    return _value_faults(release) or [fault for track in places for fault in _lacking(release, track)]


def ranking_error(release: Release, track_slug: str) -> str:
    """The reason why the track's last ranking failed; empty if it succeeded."""
    place = ReleaseTrack.objects.filter(release=release, track__slug=track_slug)
    return place.values_list("ranking_error", flat=True).first() or ""


def faults_on(release: Release, track: Track) -> list[str]:
    """The reasons for one track, on which the release need not be offered yet."""
    return _value_faults(release) or _lacking(release, track)


def _value_faults(release: Release) -> list[str]:
    """Invalid ranking values of the release, independent of tracks."""
    try:
        check_fields(release, RANKING_FIELDS, release.slug)
    except ReleaseRefused as refused:
        return [str(refused)]
    return _kind_faults(release) or _weight_faults(release)


def _lacking(release: Release, track: Track | None) -> list[str]:
    metric = metric_named(release.primary_metric)
    if Need.TIMES not in metric.needs:
        return []
    place = _Place(release, track, list(_timed(release, track)))
    return [
        f"{place.words} cannot be ranked by {metric.name}: it needs {need}. {_MENDING[need]}"
        for need in metric.sorted_needs
        if not _HAS[need](place)
    ][:1]


def _timed(release: Release, track: Track | None) -> Iterator[Problem]:
    """The problems whose times can rank on the track. Skipped problems are left out."""
    skipped = set(
        ProblemTrack.objects.filter(track=track, problem__release=release)
        .exclude(skip_reason="")
        .values_list("problem_id", flat=True)
    )
    devices = [True, False] if track is None else [track.device == "gpu"]
    for problem in release.problems.filter(has_benchmark=True, has_baseline=True).select_related("release"):
        if problem.pk not in skipped and any(problem.spec.times_rank(with_gpu=one) for one in devices):
            yield problem


def _all_cases(place: _Place, holds: Callable[[Case], bool]) -> bool:
    """Whether `holds` is true of all cases of some timed problem: a problem's figures are means over its cases."""
    return any(all(map(holds, problem.public_cases)) for problem in place.timed if problem.public_cases)


def _has_peaks(place: _Place, bound: Callable[[Case, Mapping[str, Any]], float | None]) -> bool:
    track = place.track
    return track is None or _all_cases(place, lambda case: bound(case, track.peaks) is not None)


_HAS: dict[Need, Callable[[_Place], bool]] = {
    Need.TIMES: lambda place: bool(place.timed),
    Need.FLOPS: lambda place: _all_cases(place, lambda case: bool(case.flops)),
    Need.WORK: lambda place: _all_cases(place, lambda case: case.is_declared),
    Need.CASE_WEIGHTS: lambda place: bool(place.release.case_weights),
    Need.PEAKS: lambda place: _has_peaks(place, bound_ms),
    Need.FASTEST_PEAKS: lambda place: _has_peaks(place, speed_of_light_ms),
}
_MEASURE_PEAKS = "Start a node on the track, which measures them, or enter them on the track's page in the admin."
_MENDING = {
    Need.TIMES: "Give a problem `benchmark_command`, `baseline_solution` and a `timing_mode` other than custom, or"
    " choose another primary metric.",
    Need.FLOPS: "Declare `flops` in the `podium` metadata of a problem, or choose another primary metric.",
    Need.WORK: "Declare `flops` or `bytes` in the `podium` metadata of a problem, or choose another primary metric.",
    Need.CASE_WEIGHTS: "Declare `case_weights` in the pack's metadata or in the admin, or choose another primary"
    " metric.",
    Need.PEAKS: _MEASURE_PEAKS,
    Need.FASTEST_PEAKS: _MEASURE_PEAKS,
}


def _kind_faults(release: Release) -> list[str]:
    """No problem of the kinds that the primary metric is about."""
    metric, coding = metric_named(release.primary_metric), Q(kind__in=NODE_KINDS)
    about = [(Need.CODING, coding), (Need.QUESTIONS, ~coding)]
    return [
        f"{release.slug} cannot be ranked by {metric.name}: it needs {need}. Choose another primary metric."
        for need, kinds in about
        if need in metric.needs and not release.problems.filter(kinds).exists()
    ]


def _weight_faults(release: Release) -> list[str]:
    """Groups of coding problems without a weight, in a release that has weights or ranks by them, and the reverse."""
    metric: Metric = metric_named(release.primary_metric)
    if not release.weights and Need.WEIGHTS not in metric.needs:
        return []
    coding = release.problems.filter(kind__in=NODE_KINDS)
    groups = set(coding.order_by().values_list("group", flat=True).distinct())
    missing, unknown = sorted(groups - release.weights.keys()), sorted(release.weights.keys() - groups)
    lines = [(missing, "no weight for"), (unknown, "a weight, but no coding problem, for")]
    return [
        f"{release.slug} has {words} the groups {', '.join(names)}. Mend `weights` in the pack or in the admin."
        for names, words in lines
        if names
    ]
