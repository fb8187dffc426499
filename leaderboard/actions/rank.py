"""Rank: turn a track's aggregates into standings; coalesced by the site worker, and rebuilt or checked from nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.actions import scores
from leaderboard.actions.standing_rows import standing_rows
from leaderboard.models import Counted, Decision, ProblemScore, ProblemTrack, ReleaseTrack, Standing
from leaderboard.models.decision import DecisionKind
from leaderboard.models.entrant import EntrantKind
from leaderboard.work import Ceilings, Work, least_ms
from problems.models import Release
from scoring.arrays import FloatArray
from scoring.board import BoardScores, score_board
from scoring.board_input import BoardInput
from scoring.fast_p import THRESHOLDS
from scoring.throughput import gflops

_COUNTS = ("n_samples", "n_passed", "n_pending", "n_unresolved", "n_skipped", "n_time_flagged", "n_timed")
_SUMS = ("ln_speedup_sum", "correct_ln_sum", "best_ms")


@dataclass(frozen=True)
class Board:
    """The arrays of one release and track, with what their axes stand for."""

    release: Release
    track_id: int
    counted: Sequence[Counted]
    problem_ids: Sequence[int]
    groups: Sequence[str]
    input: BoardInput


def rank_touched() -> int:
    """Rank every track whose aggregates changed since it was last ranked; returns how many were."""
    stale = ReleaseTrack.objects.filter(Q(ranked_at=None) | Q(touched_at__gt=F("ranked_at"))).exclude(touched_at=None)
    places = list(stale.select_related("release", "track"))
    for place in places:
        rank(place)
    return len(places)


def rank(place: ReleaseTrack) -> int:
    """Compute and store the standings of one release on one track; returns how many.

    They are as of `place.touched_at` as it was read before: a change that was being made meanwhile, however long its
    transaction takes to commit, leaves a later one and is ranked next time.
    """
    as_of = place.touched_at or timezone.now()
    rows = compute(place)
    with transaction.atomic():
        kept = [row.entrant_id for row in rows]
        Standing.objects.filter(release=place.release, track=place.track).exclude(entrant_id__in=kept).delete()
        Standing.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["release", "track", "entrant"],
            update_fields=[f.name for f in Standing._meta.concrete_fields if f.name not in _KEY_FIELDS],
            batch_size=200,
        )
        ReleaseTrack.objects.filter(pk=place.pk).update(ranked_at=as_of)
    return len(rows)


_KEY_FIELDS = frozenset({"id", "release", "track", "entrant"})


def compute(place: ReleaseTrack) -> list[Standing]:
    """The standings as they should be, not stored."""
    board = load(place)
    if not board.counted:
        return []
    return standing_rows(board.release, board.track_id, board.counted, board.groups, board.input, _scored(board))


def _scored(board: Board) -> BoardScores:
    return score_board(board.input)


def load(place: ReleaseTrack) -> Board:
    """Read the aggregates of every counted submission into arrays, in three queries."""
    release, track_id = place.release, place.track_id
    counted = list(
        Counted.objects.filter(release=release, track_id=track_id)
        .select_related("entrant", "submission")
        .order_by("entrant_id")
    )
    problems = list(release.problems.order_by("position").only("group", "flops", "bytes", "flops_dtype"))
    problem_ids = [one.pk for one in problems]
    grids = _grids([one.submission_id for one in counted], track_id, problem_ids)
    rates = _rates([Work.of(one) for one in problems], place.track.peaks, grids["best_ms"])
    board_input = _board_input(release, track_id, counted, problem_ids, grids, rates)
    return Board(release, track_id, counted, problem_ids, [one.group for one in problems], board_input)


def _grids(submission_ids: Sequence[int], track_id: int, problem_ids: Sequence[int]) -> dict[str, Any]:
    """Entrants × problems arrays of every stored count and sum; zero (NaN for times) where there is no row."""
    shape = (len(submission_ids), len(problem_ids))
    grids: dict[str, Any] = {name: np.zeros(shape, dtype=np.int64) for name in _COUNTS}
    grids |= {name: np.zeros(shape) for name in _SUMS}
    grids["best_ms"][:] = np.nan
    grids["fast_counts"] = np.zeros((*shape, len(THRESHOLDS)), dtype=np.int64)
    row_of = {pk: n for n, pk in enumerate(submission_ids)}
    column_of = {pk: n for n, pk in enumerate(problem_ids)}
    stored = ProblemScore.objects.filter(submission_id__in=submission_ids, track_id=track_id)
    names = (*_COUNTS, *_SUMS, "fast_counts")
    for submission_id, problem_id, *values in stored.values_list("submission_id", "problem_id", *names).iterator(5000):
        place = row_of[submission_id], column_of[problem_id]
        for name, value in zip(names, values, strict=True):
            if value is not None:
                grids[name][place] = value
    return grids


def _board_input(
    release: Release, track_id: int, counted: Sequence[Counted], problem_ids: Sequence[int], grids: dict[str, Any],
    rates: Mapping[str, FloatArray | None],
) -> BoardInput:  # fmt: skip
    with_baseline = set(
        ProblemTrack.objects.filter(
            track_id=track_id, problem__release=release, has_rankable_baseline=True
        ).values_list("problem_id", flat=True)
    )
    decided = Decision.objects.filter(kind=DecisionKind.PROBLEM_VOIDED, problem__release=release)
    voided = set(decided.values_list("problem_id", flat=True))
    return BoardInput(
        n=grids["n_samples"],
        passed=grids["n_passed"],
        pending=grids["n_pending"] + grids["n_unresolved"],
        skipped=(grids["n_skipped"] > 0) & (grids["n_skipped"] == grids["n_samples"]),
        ln_speedup_sum=grids["ln_speedup_sum"],
        correct_ln_sum=grids["correct_ln_sum"],
        correct_count=grids["n_timed"],
        fast_counts=grids["fast_counts"],
        has_rankable_baseline=np.array([pk in with_baseline for pk in problem_ids], dtype=np.bool_),
        voided=np.array([pk in voided for pk in problem_ids], dtype=np.bool_),
        rankable=np.array([one.entrant.kind != EntrantKind.BASELINE for one in counted], dtype=np.bool_),
        release_digest=release.digest,
        primary=release.primary_metric,
        ks=tuple(release.ks or [1]),
        time_pending=grids["n_time_flagged"],
        gflops=rates["gflops"],
        roofline=rates["roofline"],
        draws=settings.BOOTSTRAP_DRAWS,
    )


def _rates(works: Sequence[Work], peaks: Mapping[str, Any], best_ms: FloatArray) -> dict[str, FloatArray | None]:
    """GFLOPS and share of the roofline of each entrant's fastest ranking sample; None where no problem has any.

    A share is 0 where the entrant has no ranking time, NaN where the problem declares no work or a peak is not known.
    """
    flops = np.array([work.flops or np.nan for work in works], dtype=float)
    bounds = [least_ms(work, Ceilings.of(peaks, work.dtype)) for work in works]
    least = np.array([np.nan if bound is None else bound for bound in bounds], dtype=float)
    share = np.where(np.isnan(least), np.nan, np.where(np.isnan(best_ms), 0.0, least / best_ms))
    return {
        "gflops": None if np.isnan(flops).all() else gflops(flops, best_ms),
        "roofline": None if np.isnan(least).all() else share,
    }


def rebuild(check: bool = False) -> list[str]:
    """Recompute every aggregate and standing from results and decisions.

    With `check` nothing is stored. Returns one line per row whose stored value differs from the recomputed one.
    """
    differences: list[str] = []
    for place in ReleaseTrack.objects.select_related("release", "track").order_by("pk"):
        differences += _compare_scores(place, store=not check)
        differences += _compare_standings(place)
        if not check:
            rank(place)
    return differences


def _compare_scores(place: ReleaseTrack, store: bool) -> list[str]:
    lines = []
    for submission in place.release.submissions.filter(tracks=place.track):
        fresh = {row.problem_id: row for row in scores.computed(submission, place.track)}
        stored = {row.problem_id: row for row in submission.problem_scores.filter(track=place.track)}
        for problem_id in sorted(fresh.keys() | stored.keys()):
            if _values(fresh.get(problem_id)) != _values(stored.get(problem_id)):
                lines.append(
                    f"submission {submission.pk}, problem {problem_id} on {place.track.slug}: aggregate differs"
                )
        if store:
            scores.rescore(submission, place.track)
    return lines


def _compare_standings(place: ReleaseTrack) -> list[str]:
    fresh = {row.entrant_id: row for row in compute(place)}
    stored = {row.entrant_id: row for row in Standing.objects.filter(release=place.release, track=place.track)}
    return [
        f"{place.release.slug} on {place.track.slug}, entrant {entrant_id}: standing differs"
        for entrant_id in sorted(fresh.keys() | stored.keys())
        if _values(fresh.get(entrant_id)) != _values(stored.get(entrant_id))
    ]


def _values(row: ProblemScore | Standing | None) -> dict[str, Any] | None:
    if row is None:
        return None
    skip = {"id", "updated_at"}
    return {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields if f.name not in skip}
