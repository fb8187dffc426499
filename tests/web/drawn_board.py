"""A board whose figures are awkward to draw: zeros, missing values, a speedup of thousands, long names, many groups."""

import math
import random
from datetime import timedelta

from django.utils import timezone

from leaderboard.models import Counted, Entrant, ProblemScore, Standing, Submission, Track
from leaderboard.models.boards.estimates import Triple
from problems.models import Release
from scoring.fast_p import THRESHOLDS
from tests import factories
from tests.estimates import estimates

NAMES = (
    "Cobalt Max", "Nothing passed", "Tern Next 80B A3B Thinking (2026-09, high effort)", "Never timed", "Faster by far",
    "Lark 4", "Heron 4.5", "Basalt Pro 2.5", "Quarry V3.2", "Quarry V3.1", "Heron Mini 4.5", "Lark 4 mini",
)  # fmt: skip
GROUPS = ("memory", "reductions", "matrix multiplication and its relatives", "scans", "sorting", "ch7", "ch10")
N_PROBLEMS = 30


def drawn_board(n: int) -> tuple[Release, Track]:
    """A release with n entrants' standings, and the aggregates of their problems."""
    made = factories.release(N_PROBLEMS, ks=[1, 2, 4, 8], weights={"strings": 1.0, "sums": 2.0})
    track, owner = factories.offer(made), factories.UserFactory()
    drawn = random.Random(3)
    for place in range(n):
        name = NAMES[place % len(NAMES)]
        entrant = factories.EntrantFactory(name=name, slug=f"entrant-{place}", owner=owner)
        _result(made, track, entrant, place, drawn)
    return made, track


def with_past(made: Release, track: Track) -> Entrant:
    """The board's first entrant, with five earlier submissions there and a result on a second release."""
    entrant = made.standings.get(rank=1).entrant
    newer = factories.release(N_PROBLEMS, "test-2", ks=[1])
    _result(newer, factories.offer(newer), entrant, 5, random.Random(4))
    for n in range(5):
        stored = Submission.objects.create(
            entrant=entrant, release=made, is_full=True, name="pack", digest="0" * 64, identity=f"{n:a>64}",
            state="done", n_samples_per_problem=8, created_at=timezone.now() - timedelta(days=9 + 20 * n),
        )  # fmt: skip
        ProblemScore.objects.bulk_create(
            ProblemScore(
                submission=stored, track=track, problem=problem, n_samples=8, n_passed=6 - n, fast_counts=[0] * 9
            )
            for problem in made.problems.all()
        )
    return entrant


def _result(made: Release, track: Track, entrant: Entrant, place: int, drawn: random.Random) -> None:
    share = {"Nothing passed": 0.0, "Cobalt Max": 1.0}.get(entrant.name, 0.95 - 0.07 * place)
    speedup = {"Nothing passed": 1.0, "Never timed": None, "Faster by far": 2500.0}.get(entrant.name, 1 + 2 * share)
    curve = [share * 0.8**n for n in range(len(THRESHOLDS))]
    stored = Submission.objects.create(
        entrant=entrant, release=made, is_full=True, name="pack", digest="0" * 64, state="done",
        identity=f"{made.slug:0>60}{place:04d}", n_samples_per_problem=8,
        created_at=timezone.now() - timedelta(days=7 * place),
        usd_per_sample=None if place % 5 == 4 else 10.0 ** (place % 4 - 3),
    )  # fmt: skip
    stored.tracks.add(track)
    Counted.objects.create(entrant=entrant, release=made, track=track, submission=stored)
    Standing.objects.create(
        release=made, track=track, entrant=entrant, submission=stored, rank=place + 1, primary_value=share,
        rank_low=place + 1, rank_high=place + 2,
        estimates=estimates(
            {
                **{f"pass@{k}": _of_k(share, k) for k in (1, 2, 4, 8)},
                "speedup": (speedup, speedup and max(1.0, speedup * 0.8), speedup and speedup * 1.3),
                "coding": (share, max(0.0, share - 0.1), min(1.0, share + 0.08)),
                "weighted": (share**1.5, max(0.0, share**1.5 - 0.1), min(1.0, share**1.5 + 0.1)),
                "fast_1": curve[THRESHOLDS.index(1.0)],
            },
        ),
        fast_p=curve,
        n_solved=int(share * N_PROBLEMS), n_problems=N_PROBLEMS, n_samples=8 * N_PROBLEMS,
        groups={
            group: {"solved": 1, "problems": 4, "pass_at_1": None if n == place else share * drawn.random()}
            for n, group in enumerate(GROUPS)
        },
    )  # fmt: skip
    if speedup:
        ProblemScore.objects.bulk_create(
            ProblemScore(
                submission=stored, track=track, problem=problem, n_samples=8, n_timed=4, fast_counts=[0] * 9,
                n_passed=round(8 * share * drawn.random()),
                correct_ln_sum=4 * (math.log(speedup) + drawn.gauss(0, 0.8)),
            )
            for problem in made.problems.all()
        )  # fmt: skip


def _of_k(share: float, k: int) -> Triple:
    value = 1 - (1 - share) ** k
    return value, max(0.0, value - 0.1), min(1.0, value + 0.05)
