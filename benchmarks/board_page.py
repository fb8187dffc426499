"""Measures the first page of a board with 1,000 entrants: its queries, and its time as a stranger gets it."""

import random
import statistics
import sys
import time
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import trivial_problem_pack
from benchmarks.site import temporary_site

ENTRANTS, PROBLEMS, VIEWS = 1000, 566, 60
QUERIES_LIMIT, P95_LIMIT_MS = 12, 60.0


def run() -> list[BenchFigure]:
    with temporary_site():
        address = _board()
        n_queries, times_ms = _view(address)
    p95_ms = statistics.quantiles(times_ms, n=20)[-1]
    size = f"first board page of {ENTRANTS:,} entrants"
    return [
        BenchFigure(f"{size}: queries", n_queries, "", QUERIES_LIMIT, "max"),
        BenchFigure(f"{size}: p95", p95_ms, "ms", P95_LIMIT_MS, "max"),
        BenchFigure(f"{size}: median", statistics.median(times_ms), "ms", None, "max"),
    ]


def _view(address: str) -> tuple[int, list[float]]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"Host": "localhost"})
    _get(client, address)  # templates are compiled by the first view
    with CaptureQueriesContext(connection) as queries:
        _get(client, address)
    return len(queries), [_get(client, address) for _ in range(VIEWS)]


def _get(client: Any, address: str) -> float:
    """Milliseconds of one view."""
    started = time.perf_counter()
    answer = client.get(address)
    elapsed_ms = (time.perf_counter() - started) * 1000
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")
    return elapsed_ms


def _board() -> str:
    """Fill a board with figures drawn at random; returns its address."""
    from benchmarks import rows
    from leaderboard.models import Entrant, Standing, Submission

    person, track = rows.organiser(), rows.cpu_track()
    release = rows.published_release(trivial_problem_pack(PROBLEMS), person, track)
    entrants = Entrant.objects.bulk_create(
        Entrant(slug=f"entrant-{n}", name=f"Entrant {n}", owner=person, organisation=f"Organisation {n % 40}")
        for n in range(ENTRANTS)
    )
    submissions = Submission.objects.bulk_create(
        Submission(
            entrant=one,
            release=release,
            is_full=True,
            name=one.slug,
            digest="",
            identity=one.slug,
            n_samples_per_problem=10,
            state="done",
        )
        for one in entrants
    )
    draw = random.Random(1)
    Standing.objects.bulk_create(
        _standing(rank, submission, track, draw) for rank, submission in enumerate(submissions, 1)
    )
    return f"/releases/{release.slug}/"


def _standing(rank: int, submission: Any, track: Any, draw: random.Random) -> Any:
    from leaderboard.models import Standing

    share, speedup = 1 - rank / (ENTRANTS + 1), draw.uniform(1, 3)
    interval = {"value": share, "low": share - 0.02, "high": share + 0.02}
    times = {"value": speedup, "low": speedup * 0.95, "high": speedup * 1.05, "problems": PROBLEMS}
    estimates = {
        "pass@1": interval, "speedup": times, "correct_speedup": {"value": speedup, "problems": PROBLEMS},
        "fast_1": {"value": share / 4},
    }  # fmt: skip
    return Standing(
        release=submission.release, track=track, entrant=submission.entrant, submission=submission,
        rank=rank, rank_low=max(1, rank - 3), rank_high=rank + 3, primary_value=share,
        estimates=estimates, n_solved=int(share * PROBLEMS), n_problems=PROBLEMS, n_samples=PROBLEMS * 10,
        fast_p=[share / n for n in range(1, 10)],
        groups={"cuda-kernels": {"solved": int(share * PROBLEMS), "problems": PROBLEMS, "pass_at_1": share}},
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
