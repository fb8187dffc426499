"""Measures trivial evaluations end to end on this machine: site under gunicorn, folder broker, one node."""

import os
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import trivial_problem_pack, trivial_solution_pack
from benchmarks.site import set_up
from demo.client import Client
from demo.environment import prepare
from demo.services import Services

PROBLEMS, SAMPLES = 60, 5
LIMIT_PER_S = 10.0
PORT = 8941


def run() -> list[BenchFigure]:
    """A small submission first, so that every process is warm; then the measured one, from its upload to done."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        os.environ["PODIUM_VAR_DIR"] = folder
        os.environ["PODIUM_SANDBOX"] = "bubblewrap"  # the figure is promised for this sandbox
        prepare(PORT)
        order = _seed()
        with Services(Path(folder) / "log", PORT) as services:
            services.wait_until_ready()
            client = Client(os.environ["PODIUM_SITE_URL"], order["token"])
            _graded(client, services, order, trivial_solution_pack(PROBLEMS, 1, "warm-up"))
            seconds = _graded(client, services, order, trivial_solution_pack(PROBLEMS, SAMPLES, "measured"))
    per_s = PROBLEMS * SAMPLES / seconds
    return [BenchFigure("trivial evaluations through site, folder broker and node", per_s, "/s", LIMIT_PER_S, "min")]


def _graded(client: Client, services: Services, order: dict[str, Any], pack: bytes) -> float:
    """Seconds from the upload until the submission is done."""
    started = time.perf_counter()
    submission = client.submit(order["release"], order["track"], order["entrant"], pack)
    while True:
        services.check()
        progress = client.progress(submission)
        if progress["done"] == progress["total"]:
            break
        time.sleep(0.1)
    elapsed = time.perf_counter() - started
    if set(progress["verdicts"]) != {"passed"}:
        raise RuntimeError(f"the measured samples came to {progress['verdicts']}")
    return elapsed


def _seed() -> dict[str, str]:
    """Rows for one release, entrant and node; sets the node's token in the environment."""
    set_up()
    from django.utils import timezone

    from benchmarks import rows
    from leaderboard.models import ApiToken

    person, track = rows.organiser(), rows.cpu_track()
    release = rows.published_release(trivial_problem_pack(PROBLEMS), person, track)
    entrant = rows.entrant(person)
    _, token = ApiToken.issue(person, "bench", ["read", "submit"], timezone.now() + timedelta(hours=1))
    os.environ["PODIUM_NODE_TOKEN"] = rows.node_token(track)
    return {"release": release.slug, "entrant": entrant.slug, "track": track.slug, "token": token}


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
