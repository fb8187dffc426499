"""Measures the list of a draft's problems and the copy page, of 200 and of 600 problems, as an organiser gets them."""

import io
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import large_problem_pack
from benchmarks.site import temporary_site

SIZES, VIEWS = (200, 600), 10
LIMIT_MS = 500.0
"""Limit of the median view, on two cores."""


def run() -> list[BenchFigure]:
    with temporary_site():
        client, target = _organiser_and_draft()
        return [figure for n in SIZES for figure in _figures(client, target, n)]


def _organiser_and_draft() -> tuple[Any, Any]:
    """Signed in; and an empty draft to copy into."""
    from django.contrib.auth.models import User
    from django.test import Client

    from leaderboard.actions.problems import drafts

    client = Client(headers={"Host": "localhost"})
    client.force_login(User.objects.create_superuser("organiser"))
    return client, drafts.new_draft(None, "target-1", "Target")


def _figures(client: Any, target: Any, n: int) -> Iterator[BenchFigure]:
    from django.urls import reverse

    draft = _draft(n)
    listed = reverse("admin:problems_release_draft", args=[draft.pk])
    copied = reverse("admin:problems_release_draft_copy", args=[target.pk], query={"from": draft.slug})
    for words, address in {
        "list of a draft": listed,
        "list of a draft, searched": f"{listed}?q=bench",
        "list of a draft, filtered by tests and reference": f"{listed}?tests=yes&reference=yes",
        "copy page": copied,
    }.items():
        median_ms = statistics.median([_get_ms(client, address) for _ in range(VIEWS)])
        yield BenchFigure(f"{words}, {n} problems: median", median_ms, "ms", LIMIT_MS, "max")


def _draft(n: int) -> Any:
    from benchmarks.rows import cpu_track
    from leaderboard.actions.curation.tracks import offer
    from problems.actions import releases
    from problems.formats.compute_eval.packs import read_problem_pack

    draft = releases.import_release(read_problem_pack(io.BytesIO(large_problem_pack(n))), f"large-{n}").release
    offer(None, draft, cpu_track(slug=f"cpu-{n}"))
    return draft


def _get_ms(client: Any, address: str) -> float:
    started = time.perf_counter()
    answer = client.get(address)
    elapsed_ms = (time.perf_counter() - started) * 1000
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")
    return elapsed_ms


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
