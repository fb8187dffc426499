"""Measures the acceptance of 5,660 samples by the REST API, from the request's first byte to its answer."""

import sys
import time
from datetime import timedelta
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import large_problem_pack, large_solution_pack
from benchmarks.site import temporary_site

PROBLEMS, SAMPLES = 566, 10
LIMIT_S = 10.0


def run() -> list[BenchFigure]:
    solutions = large_solution_pack(PROBLEMS, SAMPLES)
    with temporary_site():
        fields, secret = _order()
        seconds, status = _submit(fields, secret, solutions)
    if status != 201:
        raise RuntimeError(f"the site answered {status} to the pack; nothing was measured")
    return [BenchFigure(f"acceptance of a {PROBLEMS * SAMPLES:,}-sample pack", seconds, "s", LIMIT_S, "max")]


def _order() -> tuple[dict[str, str], str]:
    """The request's form fields besides its file, and the token that it is sent with."""
    from django.utils import timezone

    from benchmarks import rows
    from leaderboard.models import ApiToken

    person, track = rows.organiser(), rows.cpu_track()
    release = rows.published_release(large_problem_pack(PROBLEMS), person, track)
    entrant = rows.entrant(person)
    _, secret = ApiToken.issue(person, "bench", ["read", "submit"], timezone.now() + timedelta(hours=1))
    return {"release": release.slug, "entrant": entrant.slug, "tracks": track.slug}, secret


def _submit(fields: dict[str, Any], secret: str, pack: bytes) -> tuple[float, int]:
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client

    file = SimpleUploadedFile("bench-solutions.tar.gz", pack, "application/gzip")
    client = Client(headers={"Authorization": f"Bearer {secret}", "Host": "localhost"})
    started = time.perf_counter()
    answer = client.post("/api/v1/submissions", fields | {"file": file})
    return time.perf_counter() - started, answer.status_code


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
