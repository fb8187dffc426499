"""Ranks: makes standings from a track's aggregates, and rebuilds or checks all of them from results and decisions."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from leaderboard.models import Counted, Decision, ProblemScore, ProblemTrack, RankedArrays, ReleaseTrack, Standing
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results.rates import bound_ms, cases_with_time, public_mean_ms
from leaderboard.standings import count, problem_sums, rankable, scores
from leaderboard.standings.board_arrays import BoardArrays, pack
from leaderboard.standings.first import note_first
from leaderboard.standings.grids import SAMPLE_COUNTS, SHOWN, KeptGrids
from leaderboard.standings.grids import read as grids_of
from leaderboard.standings.sample_times import attempted_problems, figures_of_times
from leaderboard.standings.selection import tell_selection
from leaderboard.standings.sol import sol_scores
from leaderboard.standings.standing_rows import standing_rows
from problems.models import Problem, QuestionPolicy, Release
from problems.sealing import told_problems
from problems.spec.case import Case
from problems.spec.kinds import NODE_KINDS
from problems.spec.ranking import checked_weights, weights_of_problems
from scoring.arrays import BoolArray, FloatArray, IntArray
from scoring.board import score_board
from scoring.board_input import BoardInput
from scoring.metrics import CODING, QUESTIONS, ROOFLINE, SOL_SCORE, pass_at
from scoring.throughput import PER_MS_TO_GIGA_PER_S, geometric_mean

logger = logging.getLogger("podium.ranking")
_KEPT = KeptGrids()


@dataclass(frozen=True)
class SampleCounts:
    """The part of a board's input from which pass@k follows: entrants × problems, and `voided` by problem."""

    n: IntArray
    passed: IntArray
    pending: IntArray
    skipped: BoolArray
    voided: BoolArray


def rank_touched(release: Release | None = None) -> int:
    """Rank every track, or those of one release, whose aggregates changed since its last ranking. Returns their number.

    A track that cannot be ranked keeps its standings and stores the reason. It is tried again after its next change.
    """
    return sum(map(_try, stale_places(release)))


def rank_if_stale(place: ReleaseTrack) -> int:
    """Rank the track unless another process has done so meanwhile. Returns 1 if it was ranked."""
    now_stale = _stale().filter(pk=place.pk).select_related("release", "track").first()
    return int(now_stale is not None and _try(now_stale))


def stale_places(release: Release | None = None) -> list[ReleaseTrack]:
    """The tracks to rank. That a release reveals its questions is a change of its tracks."""
    revealed = ReleaseTrack.objects.filter(
        release__question_policy=QuestionPolicy.SEALED, release__reveals_at__lte=timezone.now(),
        touched_at__lt=F("release__reveals_at"),
    )  # fmt: skip
    if keys := list(revealed.values_list("pk", flat=True)):  # nearly never: an UPDATE would take SQLite's write lock
        ReleaseTrack.objects.filter(pk__in=keys).update(touched_at=timezone.now())
    stale = _stale() if release is None else _stale().filter(release=release)
    return list(stale.select_related("release", "track"))


def _stale() -> QuerySet[ReleaseTrack]:
    return ReleaseTrack.objects.exclude(touched_at=None).filter(
        Q(ranked_at=None) | Q(touched_at__gt=F("ranked_at")),
        Q(ranking_failed_at=None) | Q(touched_at__gt=F("ranking_failed_at")),
    )


def _try(place: ReleaseTrack) -> bool:
    """Rank one track. Returns whether that succeeded. An error is logged and stored on the row."""
    try:
        rank(place)
    except (OperationalError, InterfaceError):
        logger.exception("ranking of %s failed; trying again at the next tick", place)
    except Exception as error:  # one faulty track must not stop the others
        logger.exception("%s cannot be ranked", place)
        ReleaseTrack.objects.filter(pk=place.pk).update(
            ranking_failed_at=place.touched_at, ranking_error=why_unranked(place, error)
        )
    else:
        return True
    return False


def why_unranked(place: ReleaseTrack, error: Exception) -> str:
    """The faults of the release in words; if it has none, the error itself."""
    return " ".join(rankable.faults(place.release)) or f"Ranking failed: {type(error).__name__}: {error}"[:1000]


def rank(place: ReleaseTrack) -> int:
    """Compute and store the standings of one release on one track. Returns their number.

    They are as of `place.touched_at`, which was read before. A change whose transaction commits later sets a later
    `touched_at` and is ranked next time.
    """
    as_of = place.touched_at or timezone.now()
    count.settle_place(place)
    board = load_of(place, _counted(place), kept=_KEPT)
    rows = tell_selection(place, standings_of(board))
    packed = pack(board)
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
        note_first(place, rows)
        RankedArrays.objects.update_or_create(place=place, defaults={"content": packed, "made_at": timezone.now()})
        problem_sums.store(board)
        ReleaseTrack.objects.filter(pk=place.pk).update(ranked_at=as_of, ranking_error="", ranking_failed_at=None)
    return len(rows)


_KEY_FIELDS = frozenset({"id", "release", "track", "entrant"})


def compute(place: ReleaseTrack) -> list[Standing]:
    """The computed standings, without storing them."""
    return standings_of(load(place))


def standings_of(board: BoardArrays) -> list[Standing]:
    """The ranked rows of a board, not stored. Raises MetricMissing if it lacks what the primary metric needs."""
    if not board.counted:
        return []
    found = score_board(board.input)
    rows = standing_rows(board.release, board.track_id, board.counted, board.groups, board.input, found, board.shown)
    if waits_for_questions(board.release):
        for row in rows:
            row.primary_value = row.primary_low = row.primary_high = None
    return rows


def waits_for_questions(release: Release) -> bool:
    """Whether nobody is ranked yet, because questions alone rank and are sealed."""
    return release.questions_are_sealed and (
        release.primary_metric == QUESTIONS.name or not told_problems(release).exists()
    )


def load(place: ReleaseTrack, entrant_ids: Collection[int] | None = None) -> BoardArrays:
    """Read the aggregates of counted submissions, of all entrants or some, into arrays. A fixed number of queries."""
    return load_of(place, _counted(place, entrant_ids))


def _counted(place: ReleaseTrack, entrant_ids: Collection[int] | None = None) -> list[Counted]:
    rows = Counted.objects.filter(release=place.release, track_id=place.track_id)
    if entrant_ids is not None:
        rows = rows.filter(entrant__in=entrant_ids)
    return list(rows.select_related("entrant", "submission").order_by("entrant_id"))


def load_samples(place: ReleaseTrack, entrant_ids: Sequence[int]) -> SampleCounts:
    """Read the counts of samples of these entrants, in this order; zeros for one that does not count. Four queries."""
    counted = Counted.objects.filter(release=place.release, track_id=place.track_id, entrant__in=entrant_ids)
    submission_of = dict(counted.values_list("entrant_id", "submission_id"))
    problem_ids = list(told_problems(place.release).order_by("position").values_list("pk", flat=True))
    submission_ids = [submission_of.get(pk, 0) for pk in entrant_ids]  # no submission has the id 0
    grids = grids_of(submission_ids, place.track_id, problem_ids, names=SAMPLE_COUNTS)
    return SampleCounts(**_sample_fields(grids), voided=_voided(place.release, problem_ids, None))


def load_of(
    place: ReleaseTrack,
    counted: Sequence[Counted],
    instead: Sequence[ProblemScore] = (),
    before: datetime | None = None,
    kept: KeptGrids | None = None,
) -> BoardArrays:
    """The same of these submissions, in the order of their entrants, without sealed questions.

    `instead` replaces stored aggregates. Problems that were voided later than `before` count. `kept` has the aggregates
    of the last ranking.
    """
    release, track_id = place.release, place.track_id
    problems = list(told_problems(release).order_by("position").only("release", "group", "kind", "cases"))
    problem_ids = [one.pk for one in problems]
    submission_ids = [one.submission_id for one in counted]
    grids = (
        kept.read(place, submission_ids, problem_ids)
        if kept is not None
        else grids_of(submission_ids, track_id, problem_ids, instead)
    )
    peaks, groups = place.track.peaks, [one.group for one in problems]
    baselines_ms = _baselines_ms(release, track_id)
    own_cases = [cases_with_time(one.public_cases, baselines_ms.get(one.pk, {})) for one in problems]
    sol_score, at_bound = sol_scores(
        problems, baselines_ms, peaks, submission_ids, track_id, grids["n_samples"], instead
    )
    skipped = _sample_fields(grids)["skipped"]
    attempted = attempted_problems(submission_ids, problem_ids, grids["n_samples"], skipped)
    figures = {
        ROOFLINE.name: _roofline(own_cases, peaks, grids["best_ms"]),
        SOL_SCORE.name: sol_score,
        **figures_of_times(submission_ids, track_id, problem_ids, baselines_ms, attempted, instead),
    }
    given: dict[str, Any] = {
        "has_rankable_baseline": np.array([pk in baselines_ms for pk in problem_ids], dtype=np.bool_),
        "figures": {name: values for name, values in figures.items() if values is not None},
        "at_bound": at_bound,
        **_gflops(own_cases, grids["best_ms"], [baselines_ms.get(one.pk, {}) for one in problems]),
        **_kinds(release, problems),
    }
    board_input = _board_input(place, counted, problem_ids, grids, given, before)
    shown = {name: grids[name] for name in SHOWN}
    return BoardArrays(release, track_id, counted, problem_ids, groups, board_input, shown, grids["best_speedup"])


def _kinds(release: Release, problems: Sequence[Problem]) -> dict[str, FloatArray | BoolArray | None]:
    """The fields `questions` and `weights` of BoardInput. Weights belong to coding problems, and questions have 0."""
    questions = np.array([one.kind not in NODE_KINDS for one in problems], dtype=np.bool_)
    by_group = checked_weights(release.weights)
    weights = np.zeros(len(problems))
    if by_group:
        weights[~questions] = weights_of_problems(by_group, [one.group for one in problems if one.kind in NODE_KINDS])
    told = bool(by_group) or bool(questions.any()) or release.questions_are_sealed
    told = told or release.primary_metric == CODING.name
    return {"questions": questions if told else None, "weights": weights if by_group else None}


def _baselines_ms(release: Release, track_id: int) -> dict[int, dict[str, float]]:
    """The baseline's time by case, of each problem whose baseline ranks on the track."""
    ranked = ProblemTrack.objects.filter(track_id=track_id, problem__release=release, has_rankable_baseline=True)
    return dict(ranked.values_list("problem_id", "baseline_cases_ms"))


def _sample_fields(grids: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "n": grids["n_samples"],
        "passed": grids["n_passed"],
        "pending": grids["n_pending"] + grids["n_unresolved"],
        "skipped": (grids["n_skipped"] > 0) & (grids["n_skipped"] == grids["n_samples"]),
    }


def _voided(release: Release, problem_ids: Sequence[int], before: datetime | None) -> BoolArray:
    decided = Decision.objects.errata(before).filter(problem__release=release)
    voided = set(decided.values_list("problem_id", flat=True))
    return np.array([pk in voided for pk in problem_ids], dtype=np.bool_)


def _board_input(
    place: ReleaseTrack, counted: Sequence[Counted], problem_ids: Sequence[int], grids: Mapping[str, Any],
    given: Mapping[str, Any], before: datetime | None,
) -> BoardInput:  # fmt: skip
    """`given` holds the fields that are not counts or sums: what baselines, work, peaks and weights give."""
    release, waits = place.release, waits_for_questions(place.release)
    return BoardInput(
        **_sample_fields(grids),
        ln_speedup_sum=grids["ln_speedup_sum"],
        traffic_ln_sum=grids["traffic_ln_sum"] if release.case_weights else None,
        correct_ln_sum=grids["correct_ln_sum"],
        correct_count=grids["n_timed"],
        fast_counts=grids["fast_counts"],
        voided=_voided(release, problem_ids, before),
        rankable=np.array([one.entrant.kind != EntrantKind.BASELINE and not waits for one in counted], dtype=np.bool_),
        release_digest=release.digest,
        primary=pass_at(1).name if waits else release.primary_metric,
        ks=tuple(sorted({1, *release.offered_ks}) if waits else release.offered_ks),
        time_pending=grids["n_time_flagged"],
        **_held_out(grids),
        rules=release.rules,
        shared_ln_sd=place.shared_ln_sd,
        draws=settings.BOOTSTRAP_DRAWS,
        **given,
    )


def _held_out(grids: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of held-out cases; None where nothing was timed in one."""
    known = grids["n_held_out"].any()
    fields = {"held_out_ln_sum": "ln_held_out_sum", "public_ln_sum": "ln_public_sum", "held_out_count": "n_held_out"}
    return {name: grids[of] if known else None for name, of in fields.items()}


def _gflops(
    cases: Sequence[Sequence[Case]], best_ms: FloatArray, baselines_ms: Sequence[Mapping[str, float]]
) -> dict[str, FloatArray | None]:
    """The fields `gflops`, of each entrant's fastest ranking sample (None if no problem has any), and
    `baseline_gflops` of BoardInput: geometric means over a problem's cases, whose times `baselines_ms` holds."""
    flops = _known(geometric_mean(one.flops for one in of_problem) for of_problem in cases)
    baseline_ms = _known(map(public_mean_ms, baselines_ms))
    return {
        "baseline_gflops": flops / baseline_ms * PER_MS_TO_GIGA_PER_S,
        "gflops": None if np.isnan(flops).all() else flops / best_ms * PER_MS_TO_GIGA_PER_S,
    }


def _roofline(cases: Sequence[Sequence[Case]], peaks: Mapping[str, Any], best_ms: FloatArray) -> FloatArray | None:
    """The share of the roofline of each entrant's fastest ranking sample, E × P; None if no problem has any.

    A share is 0 if the entrant has no ranking time, and NaN if the problem declares no work or a peak is unknown.
    """
    least = _known(geometric_mean(bound_ms(one, peaks) for one in of_problem) for of_problem in cases)
    share = np.where(np.isnan(least), np.nan, np.where(np.isnan(best_ms), 0.0, least / best_ms))
    return None if np.isnan(least).all() else share


def _known(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def rebuild(check: bool = False) -> list[str]:
    """Recompute every aggregate and standing from results and decisions.

    With `check`, nothing is stored. Returns one line per row whose stored value differs from the recomputed one.
    """
    differences: list[str] = []
    for place in ReleaseTrack.objects.select_related("release", "track").order_by("pk"):
        differences += _compare_scores(place, store=not check)
        differences += [
            f"{place.release.slug} on {place.track.slug}, entrant {entrant_id}: counts another than the chosen"
            for entrant_id in count.differing(place)
        ]
        try:
            differences += differing_standings(place)
        except ValueError as error:
            differences.append(
                f"{place.release.slug} on {place.track.slug} cannot be ranked: {why_unranked(place, error)}"
            )
        if not check:
            _try(place)
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


def differing_standings(place: ReleaseTrack) -> list[str]:
    """A line for each standing, and each sum of a problem, that differs from the recomputed one."""
    board = load(place)
    fresh = {row.entrant_id: row for row in tell_selection(place, standings_of(board))}
    stored = {row.entrant_id: row for row in Standing.objects.filter(release=place.release, track=place.track)}
    return [
        f"{place.release.slug} on {place.track.slug}, entrant {entrant_id}: standing differs"
        for entrant_id in sorted(fresh.keys() | stored.keys())
        if _values(fresh.get(entrant_id)) != _values(stored.get(entrant_id))
    ] + [
        f"{place.release.slug} on {place.track.slug}, problem {problem_id}: problem sums differ"
        for problem_id in problem_sums.differing(board)
    ]


def _values(row: ProblemScore | Standing | None) -> dict[str, Any] | None:
    if row is None:
        return None
    skip = {"id", "updated_at"}
    return {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields if f.name not in skip}
