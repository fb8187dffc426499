"""Computes the (submission, problem) aggregates from current results and decisions."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import uuid4

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from leaderboard.models import (
    Decision,
    Evaluation,
    EvaluationState,
    Flag,
    Measurement,
    ProblemScore,
    ReleaseTrack,
    Result,
    Submission,
    SubmissionState,
    Track,
)
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.standings.absent import AbsentSamples, absent_samples
from leaderboard.standings.reference_noise.noise import noisy_results
from problems.models import Release
from problems.spec.case import is_held_out
from problems.spec.kinds import NODE_KINDS
from problems.spec.ranking import is_provisional
from runners.wire.protocol import FlagScope, Role, Verdict, Witness
from scoring.fast_p import THRESHOLDS
from scoring.rules import RULES
from scoring.sample import TimedCase, by_traffic, ratio_arm
from scoring.throughput import geometric_mean

_PENDING = frozenset({EvaluationState.QUEUED, EvaluationState.LEASED, EvaluationState.CANCELLED})

_Ruling = tuple[str, str | None]
"""The scope of a flag and its latest ruling (None: undecided)."""
_Times = Mapping[str, float | None]
"""The median of each case of a result; None if it may not rank."""


@dataclass
class _Timed:
    """The times of one result, and what the rules count of it."""

    times_ms: dict[str, float | None] = field(default_factory=dict)
    """Figures of the cases that are not held out."""
    cases: list[tuple[str, TimedCase]] = field(default_factory=list)
    ln_ratios: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})
    """ln of baseline ÷ candidate of the cases that rank: of held-out ones (True) and of the others."""
    ranks: bool = False
    is_noisy: bool = False
    """Whether its node did not time references at 1 × on that day. Its times wait as flagged ones do."""


@dataclass
class _Tally:
    n_samples: int = 0
    n_passed: int = 0
    n_unwitnessed: int = 0
    n_provisional: int = 0
    n_skipped: int = 0
    n_pending: int = 0
    n_unresolved: int = 0
    n_time_flagged: int = 0
    n_open_flags: int = 0
    n_upheld_flags: int = 0
    ln_speedup_sum: float = 0.0
    traffic_ln_sum: float = 0.0
    correct_ln_sum: float = 0.0
    n_timed: int = 0
    ln_held_out_sum: float = 0.0
    ln_public_sum: float = 0.0
    n_held_out: int = 0
    fast_counts: list[int] = field(default_factory=lambda: [0] * len(THRESHOLDS))
    times_ms: list[_Times] = field(default_factory=list)
    best_speedup: float | None = None
    best_speedup_ms: float | None = None
    best_speedup_evaluation_id: int | None = None
    best_ms: float | None = None
    best_evaluation_id: int | None = None
    last_result_at: datetime | None = None


def hold(submission_id: int) -> None:
    """Lock the submission until the transaction ends. Call this before ending evaluations or recomputing aggregates.
    Otherwise two concurrent transactions would miss each other's changes, and neither would find the submission done.

    Locks are taken in the order entrant, submission, job, attempt, evaluation.
    """
    list(Submission.objects.select_for_update(no_key=True).filter(pk=submission_id).values_list("pk"))


def hold_all(submissions: QuerySet[Submission]) -> None:
    """Lock several submissions, in the order of their ids."""
    chosen = Submission.objects.filter(pk__in=submissions.order_by().values("pk")).order_by("pk")
    list(chosen.select_for_update(no_key=True).values_list("pk"))


def touch(release_id: int, track_id: int) -> None:
    """Mark the track's ranking as stale. The site worker ranks it within seconds."""
    ReleaseTrack.objects.filter(release_id=release_id, track_id=track_id).update(touched_at=timezone.now())


def touch_release(release: Release) -> None:
    """Mark the ranking as stale on each of the release's tracks that has submissions."""
    ReleaseTrack.objects.filter(release=release).exclude(touched_at=None).update(touched_at=timezone.now())


def rescore(submission: Submission, track: Track, problem_ids: Sequence[int] | None = None) -> None:
    """Recompute and store the aggregates of these problems (None: all)."""
    rows = computed(submission, track, problem_ids)
    ProblemScore.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["submission", "track", "problem"],
        update_fields=[name.removesuffix("_id") for name in _Tally.__dataclass_fields__],
        batch_size=500,
    )
    Submission.objects.filter(pk=submission.pk).update(scored_mark=uuid4())
    touch(submission.release_id, track.pk)


def rescore_places(places: Iterable[tuple[int, int, int]]) -> None:
    """Rescore these (submission, track, problem) ids. The caller holds the submissions."""
    problems: dict[tuple[int, int], set[int]] = {}
    for submission_id, track_id, problem_id in places:
        problems.setdefault((submission_id, track_id), set()).add(problem_id)
    tracks = Track.objects.in_bulk({track_id for _, track_id in problems})
    submissions = Submission.objects.select_related("release").in_bulk({one for one, _ in problems})
    for (submission_id, track_id), ids in sorted(problems.items()):
        rescore(submissions[submission_id], tracks[track_id], sorted(ids))


def timed_places(release: Release) -> list[tuple[int, int, int]]:
    """The (submission, track, problem) ids of aggregates whose sums depend on the rules or on weights of cases."""
    rows = ProblemScore.objects.filter(submission__release=release, n_timed__gt=0)
    return list(rows.order_by("submission", "track", "problem").values_list("submission", "track", "problem"))


def computed(
    submission: Submission, track: Track, problem_ids: Sequence[int] | None = None, before: datetime | None = None
) -> list[ProblemScore]:
    """The computed aggregates, without storing them; with `before` from the results and rulings made until then."""
    evaluations = Evaluation.objects.live().filter(submission=submission, track=track)
    if problem_ids is not None:
        evaluations = evaluations.filter(problem_id__in=problem_ids)
    facts = list(_facts(evaluations)) if before is None else _facts_then(evaluations, before)
    results = Result.objects.filter(current_of__in=evaluations)
    if before is not None or any(row["second_result"] for row in facts):
        results = Result.objects.filter(pk__in=_results_of(facts))
    tallies: dict[int, _Tally] = {}
    noisy = noisy_results(submission.release_id, track.pk, results)
    timed, flags, promised = _timed(results, noisy), _flags(results, before), submission.release.timing_policy
    weights = _case_weights(submission.release)
    for row in facts:
        by = _timed_by(row) | {"case_weights": weights.get(row["problem_id"], {})}
        result = by["current_result"]
        provisional = result in timed and is_provisional(by["timing_policy"] or "", promised)
        tally = tallies.setdefault(row["problem_id"], _Tally())
        _add(tally, by, timed.get(result, _Timed()), _flags_of(row, flags), provisional=provisional)
    for one in _absent(submission, track, problem_ids, tallies):
        _add_absent(tallies.setdefault(one.problem_id, _Tally()), one)
    return [
        ProblemScore(submission=submission, track=track, problem_id=problem_id, **tally.__dict__)
        for problem_id, tally in sorted(tallies.items())
    ]


def _case_weights(release: Release) -> Mapping[int, Mapping[str, float]]:
    """The declared weights of cases by problem. Makes a query if there are any."""
    if not release.case_weights:
        return {}
    rows = release.problems.filter(task_id__in=release.case_weights).values_list("pk", "task_id")
    return {pk: release.case_weights[task_id] for pk, task_id in rows}


def _facts(evaluations: QuerySet[Evaluation]) -> Iterable[dict[str, Any]]:
    """One row per evaluation with the inputs of scoring, in a fixed order. Makes one query."""
    annotated = evaluations.annotate(
        timing_policy=KeyTextTransform("timing_policy", "current_result__provenance"),
        second_policy=KeyTextTransform("timing_policy", "second_result__provenance"),
    )
    rows: Iterable[Any] = annotated.order_by("problem_id", "pk").values(
        "pk", "problem_id", "state", "current_result__verdict", "current_result__witness",
        "current_result__speedup", "current_result", "current_result__created_at", "problem__kind", "timing_policy",
        "submission__release__rules",
        "second_result", "second_result__speedup", "second_result__created_at", "second_policy",
    )  # fmt: skip
    return rows


def _facts_then(evaluations: QuerySet[Evaluation], before: datetime) -> list[dict[str, Any]]:
    """The same of each evaluation's newest result until then. Makes two queries."""
    made = Result.objects.filter(evaluation__in=evaluations, created_at__lt=before)
    seconds = evaluations.filter(second_result__created_at__lt=before)
    second_policy = KeyTextTransform("timing_policy", "second_result__provenance")
    names = ("second_result", "second_result__speedup", "second_result__created_at", "second_policy")
    second_of = {row["pk"]: row for row in seconds.annotate(second_policy=second_policy).values("pk", *names)}
    rows = made.annotate(timing_policy=KeyTextTransform("timing_policy", "provenance")).values(
        "pk", "evaluation_id", "evaluation__problem_id", "verdict", "witness", "speedup", "created_at",
        "evaluation__problem__kind", "timing_policy", "evaluation__submission__release__rules",
    )  # fmt: skip
    newest = {row["evaluation_id"]: row for row in rows.order_by("pk")}
    facts = [
        {
            "pk": pk,
            "problem_id": row["evaluation__problem_id"],
            "state": EvaluationState.DONE,
            "problem__kind": row["evaluation__problem__kind"],
            "timing_policy": row["timing_policy"],
            "submission__release__rules": row["evaluation__submission__release__rules"],
            "current_result": row["pk"],
            **second_of.get(pk, dict.fromkeys(names)),
            **{f"current_result__{name}": row[name] for name in ("verdict", "witness", "speedup", "created_at")},
        }
        for pk, row in newest.items()
    ]
    return sorted(facts, key=lambda row: (row["problem_id"], row["pk"]))


def _results_of(facts: Iterable[Mapping[str, Any]]) -> set[int]:
    return {pk for row in facts for pk in (row["current_result"], row["second_result"]) if pk}


def _timed_by(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the facts of the result whose times count: the second, if there is one. The verdict is the first's.

    Without a first result that counts (its node was revoked), the second counts for nothing.
    """
    if not row["second_result"] or not row["current_result"]:
        return row
    return row | {
        "current_result": row["second_result"],
        "current_result__speedup": row["second_result__speedup"],
        "current_result__created_at": max(row["current_result__created_at"], row["second_result__created_at"]),
        "timing_policy": row["second_policy"],
    }


def _flags_of(row: Mapping[str, Any], flags: Mapping[int, Sequence[_Ruling]]) -> Sequence[_Ruling]:
    """Those of the verdict are the first result's; those of the time are of the result whose times count."""
    first = flags.get(row["current_result"], [])
    if not row["second_result"]:
        return first
    of_time = [one for one in flags.get(row["second_result"], []) if one[0] == FlagScope.TIME]
    return [*(one for one in first if one[0] != FlagScope.TIME), *of_time]


def _flags(results: QuerySet[Result], before: datetime | None) -> dict[int, list[_Ruling]]:
    """The flags of each flagged result id. Makes one query. As conditions of `_facts` they would be the larger part of
    the time of a rescore."""
    rulings, raised = Decision.objects.filter(flag=OuterRef("pk")), Flag.objects.filter(result__in=results)
    if before is not None:
        rulings, raised = rulings.filter(at__lt=before), raised.filter(created_at__lt=before)
    rows = raised.annotate(ruling=Subquery(rulings.order_by("-id").values("kind")[:1])).order_by()
    flags: dict[int, list[_Ruling]] = {}
    for result_id, scope, ruling in rows.values_list("result_id", "scope", "ruling"):
        flags.setdefault(result_id, []).append((scope, ruling))
    return flags


def _timed(results: QuerySet[Result], noisy: Set[int]) -> Mapping[int, _Timed]:
    """The times of each result by its id. Makes one query."""
    rows = Measurement.objects.filter(result__in=results, role=Role.CANDIDATE).order_by("id")
    found: dict[int, _Timed] = {}
    for result_id, case, median_ms, high_ms, ranks, baseline_ms, baseline_low_ms in rows.values_list(
        "result_id", "case", "median_ms", "ci_high_ms", "ranks", "baseline__median_ms", "baseline__ci_low_ms"
    ):
        timed = found.setdefault(result_id or 0, _Timed(is_noisy=result_id in noisy))
        timed.ranks |= ranks
        if not is_held_out(case):
            timed.times_ms[case] = median_ms if ranks else None
        if baseline_ms is not None:
            if ranks:
                timed.ln_ratios[is_held_out(case)].append(math.log(baseline_ms / median_ms))
            arm = ratio_arm(baseline_ms, baseline_low_ms, median_ms, high_ms)
            timed.cases.append((case, TimedCase(baseline_ms / median_ms, arm, ranks)))
    return found


def _add(tally: _Tally, row: Mapping[str, Any], timed: _Timed, flags: Sequence[_Ruling], *, provisional: bool) -> None:
    tally.n_samples += 1
    tally.n_open_flags += sum(ruling is None for _, ruling in flags)
    tally.n_upheld_flags += sum(ruling == DecisionKind.FLAG_UPHELD for _, ruling in flags)
    if made_at := row["current_result__created_at"]:
        tally.last_result_at = max(made_at, tally.last_result_at or made_at)
    verdict = row["current_result__verdict"]
    if verdict is None:
        tally.n_pending += row["state"] in _PENDING
    elif verdict == Verdict.SKIPPED:
        tally.n_skipped += 1
    elif verdict == Verdict.PLATFORM_ERROR or (verdict == Verdict.PASSED and (FlagScope.VERDICT, None) in flags):
        tally.n_unresolved += 1
    elif verdict == Verdict.PASSED and (FlagScope.VERDICT, DecisionKind.FLAG_UPHELD) not in flags:
        _add_pass(tally, row, timed, flags)
        tally.n_provisional += provisional


def _absent(
    submission: Submission, track: Track, problem_ids: Sequence[int] | None, tallies: Mapping[int, _Tally]
) -> Iterable[AbsentSamples]:
    """The absent samples of the problems. If every sample is tallied, as usual, there are none and no query is made."""
    most = submission.n_samples_per_problem
    if problem_ids is not None and all(pk in tallies and tallies[pk].n_samples >= most for pk in problem_ids):
        return ()
    return absent_samples(submission, [track], problem_ids)


def _add_absent(tally: _Tally, absent: AbsentSamples) -> None:
    tally.n_samples += absent.n
    tally.n_skipped += absent.n if absent.skip_reason else 0


def _add_pass(tally: _Tally, row: Mapping[str, Any], timed: _Timed, flags: Sequence[_Ruling]) -> None:
    times_ms: _Times = timed.times_ms
    is_open = timed.is_noisy or (FlagScope.TIME, None) in flags
    tally.n_passed += 1
    tally.n_unwitnessed += row["problem__kind"] in NODE_KINDS and row["current_result__witness"] != Witness.SEEN
    tally.n_time_flagged += is_open
    tally.fast_counts[0] += 1  # the first threshold is 0: every pass counts
    speedup = row["current_result__speedup"]
    if speedup is None or not timed.ranks or is_open or (FlagScope.TIME, DecisionKind.FLAG_UPHELD) in flags:
        return
    tally.n_timed += 1
    counted, weights = RULES[row["submission__release__rules"]].counted, row["case_weights"]
    tally.ln_speedup_sum += (plain := counted(speedup, [one for _, one in timed.cases]))
    tally.traffic_ln_sum += counted(*by_traffic(speedup, timed.cases, weights)) if weights else plain
    tally.correct_ln_sum += math.log(speedup)
    for place, threshold in enumerate(THRESHOLDS[1:], start=1):
        tally.fast_counts[place] += speedup > threshold
    if all(timed.ln_ratios.values()):
        tally.n_held_out += 1
        tally.ln_held_out_sum += fmean(timed.ln_ratios[True])
        tally.ln_public_sum += fmean(timed.ln_ratios[False])
    tally.times_ms.append(times_ms)
    time_ms = geometric_mean(times_ms.values())
    if tally.best_speedup is None or speedup > tally.best_speedup:
        tally.best_speedup, tally.best_speedup_ms, tally.best_speedup_evaluation_id = speedup, time_ms, row["pk"]
    if time_ms is not None and (tally.best_ms is None or time_ms < tally.best_ms):
        tally.best_ms, tally.best_evaluation_id = time_ms, row["pk"]


def finish_if_done(submission: Submission) -> bool:
    """Move the submission to `done` if none of its evaluations is queued or running. Returns whether it did."""
    if submission.has_open_work():
        return False
    moved = Submission.objects.filter(pk=submission.pk, state=SubmissionState.ACCEPTED)
    return bool(moved.update(state=SubmissionState.DONE, finished_at=timezone.now()))
