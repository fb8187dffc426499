"""Two boards with a figure in every column, the same in each run: aggregates drawn with a seed, then ranked."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from leaderboard.models import Chosen, Entrant, ProblemScore, ProblemTrack, Submission, Track
from leaderboard.models.entrants.entrant import EntrantKind
from problems.actions import releases as release_actions
from problems.models import Problem, Release
from problems.spec.case import Case
from problems.spec.kinds import SITE_KINDS
from scoring.fast_p import THRESHOLDS
from scoring.throughput import geometric_mean
from tests import factories, mixed, packs

PEAKS = {"gbps": 1000.0, "gflops": {"fp32": 1000.0, "tf32": 4000.0}}
CASES = [Case(name="1k", flops=4e9, bytes=1e6, fastest_dtype="tf32"), Case(name="1m", flops=4e6, bytes=2e9)]
BASELINE_MS = {"1k": 5.0, "1m": 4.0}
SAMPLES, FIRST_ID = 4, 700_000
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = ("Reference", "Cobalt Max", "Heron 4.5", "Lark 4", "Nothing passed", "Not judged yet", "Quarry V3.1")
MIXED = [
    *(mixed.coding(f"code/{n}", f"ch{2 + n % 3}") for n in range(8)),
    *(mixed.question(f"ask/{n}", f"ch{2 + n % 2}") for n in range(3)),
]
WEIGHTS = {"ch2": 0.5, "ch3": 1.25, "ch4": 1.5}


def mixed_board() -> tuple[Release, Track]:
    """Ranked by pass@1: code with weights and times, and questions."""
    pack = packs.problem_pack(MIXED, "seeded-mixed", ks=[1, 3], title="Mixed", weights=WEIGHTS)
    return _board(release_actions.import_release(pack).release, "seeded-mixed-gpu", 0)


def timed_board() -> tuple[Release, Track]:
    """Ranked by sol_score: code alone, one problem of which has a baseline at its bound."""
    problems = [mixed.coding(f"code/{n}", f"ch{2 + n % 2}") for n in range(7)]
    pack = packs.problem_pack(problems, "seeded-timed", ks=[1, 4], title="Timed", primary_metric="sol_score")
    return _board(release_actions.import_release(pack).release, "seeded-timed-gpu", 100)


def speedup_board() -> tuple[Release, Track]:
    """The same problems and entrants, ranked by speedup."""
    problems = [mixed.coding(f"code/{n}", f"ch{2 + n % 2}") for n in range(7)]
    pack = packs.problem_pack(problems, "seeded-speed", ks=[1, 4], title="Speed", primary_metric="speedup")
    return _board(release_actions.import_release(pack).release, "seeded-speed-gpu", 200)


def _board(made: Release, slug: str, first: int) -> tuple[Release, Track]:
    made.is_public, made.question_policy = True, "practice"
    made.save()
    coding = made.problems.exclude(kind__in=SITE_KINDS)
    coding.update(cases=[case.model_dump(mode="json") for case in CASES], has_benchmark=True, has_baseline=True)
    track = factories.TrackFactory(slug=slug, peaks=PEAKS)
    release_actions.publish(made)
    factories.track_actions.offer(None, made, track)
    for problem in coding:
        at_bound = problem.task_id == "code/5"
        row, _ = ProblemTrack.objects.get_or_create(problem=problem, track=track)
        row.has_rankable_baseline = problem.task_id != "code/0"
        row.baseline_cases_ms = {"1k": 1.0, "1m": 2.0} if at_bound else BASELINE_MS
        row.save()
    drawn = random.Random(5)
    for place, name in enumerate(NAMES):
        _entrant(made, track, FIRST_ID + first + place, name, place, drawn)
    factories.rank(made, track)
    return made, track


def _entrant(made: Release, track: Track, pk: int, name: str, place: int, drawn: random.Random) -> None:
    entrant = Entrant.objects.create(
        pk=pk, slug=f"seeded-{pk}", name=name, organisation=f"Lab {place % 3}", is_verified=place % 2 == 1,
        open_weights=place % 3 == 1, kind=EntrantKind.BASELINE if name == "Reference" else EntrantKind.MODEL,
    )  # fmt: skip
    at = START + timedelta(days=3 * place)
    stored = Submission.objects.create(
        pk=pk, entrant=entrant, release=made, is_full=True, name="pack", digest="0" * 64, identity=f"{pk:064d}",
        state="done", n_samples_per_problem=SAMPLES, created_at=at, finished_at=at + timedelta(hours=5),
        usd_per_sample=0.01 * 3**place if place % 3 else None, tokens_per_sample=1000.0 * place or None,
    )  # fmt: skip
    stored.tracks.add(track)
    Chosen.objects.create(submission=stored, track=track, at=at)
    skill = {"Nothing passed": 0.0, "Cobalt Max": 0.9}.get(name, 0.35 + 0.1 * place)
    for problem in made.problems.order_by("position"):
        ProblemScore.objects.create(
            submission=stored, track=track, problem=problem, **_aggregates(problem, name, skill, drawn)
        )


def _aggregates(problem: Problem, name: str, skill: float, drawn: random.Random) -> dict[str, Any]:
    passed = sum(drawn.random() < skill for _ in range(SAMPLES))
    fields: dict[str, Any] = {"n_samples": SAMPLES, "n_passed": passed, "fast_counts": [passed] + [0] * 8}
    if name == "Not judged yet" and problem.position == 1:
        fields |= {"n_pending": 1}
    if problem.kind in SITE_KINDS:
        return fields
    times = [
        {case: ms * drawn.uniform(0.3, 1.4) for case, ms in BASELINE_MS.items()} for _ in range(max(0, passed - 1))
    ]
    lns = [drawn.gauss(0.4, 0.6) for _ in times]
    fields |= {
        "times_ms": times, "n_timed": len(times), "correct_ln_sum": sum(lns),
        "ln_speedup_sum": sum(max(0.0, ln) for ln in lns), "n_unwitnessed": passed // 4,
        "fast_counts": [passed, *(sum(ln > 0.2 * n for ln in lns) for n in range(1, len(THRESHOLDS)))],
    }  # fmt: skip
    if times:
        own = [geometric_mean(one.values()) or 0.0 for one in times]
        fields |= {"best_ms": min(own), "n_held_out": 1, "ln_held_out_sum": lns[0] - 0.1, "ln_public_sum": lns[0]}
    return fields
