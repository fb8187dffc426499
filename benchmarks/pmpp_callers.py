"""Measures the site's pages while 100 callers wait on PMPP's routes."""

import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import requests

from benchmarks.figures import BenchFigure, show
from benchmarks.packs import trivial_problem_pack
from benchmarks.site import set_up
from demo.environment import pmpp_port, prepare
from demo.services import Services

CALLERS, VIEWS = 100, 200
HELD_SECONDS = 45
PROBLEMS = 60
LIMIT_MS = 100.0
PORT = 8951


@dataclass
class Views:
    """Times of views in ms, and the processor time that the site's and the routes' processes took meanwhile, in s."""

    times_ms: list[float] = field(default_factory=list)
    site_s: float = 0.0
    routes_s: float = 0.0
    elapsed_s: float = 0.0

    @property
    def p95_ms(self) -> float:
        return statistics.quantiles(self.times_ms, n=20)[-1]

    @property
    def page_ms(self) -> float:
        """The site's processor time for a page, which other work on the machine hardly changes."""
        return self.site_s * 1000 / len(self.times_ms)


def run() -> list[BenchFigure]:
    """The track has no node, so every call is held until just before its own limit."""
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        os.environ["PODIUM_VAR_DIR"] = folder
        os.environ["PODIUM_SANDBOX"] = "bubblewrap"
        prepare(PORT)
        pages, token = _seed()
        with Services(Path(folder) / "log", PORT) as services:
            services.wait_until_ready()
            routes = f"http://127.0.0.1:{pmpp_port(PORT)}/compat/pmpp/{token}"
            _wait_for(services, f"{routes}/health")
            alone, beside = Views(), Views()
            _view(pages, len(pages) * 5, Views())  # templates are compiled by the first views
            _view(pages, VIEWS, alone)
            _view_beside_callers(pages, routes, beside)
            _view(pages, VIEWS, alone)  # before and after: other work on the machine comes and goes
    return _figures(alone, beside)


def _figures(alone: Views, beside: Views) -> list[BenchFigure]:
    wait = f"while {CALLERS} callers wait"
    return [
        BenchFigure("pages while nobody waits: p95", alone.p95_ms, "ms", None, "max"),
        BenchFigure(f"pages {wait}: median", statistics.median(beside.times_ms), "ms", None, "max"),
        BenchFigure(f"pages {wait}: p95", beside.p95_ms, "ms", LIMIT_MS, "max"),
        BenchFigure("processor time of a page while nobody waits", alone.page_ms, "ms", None, "max"),
        BenchFigure(f"processor time of a page {wait}", beside.page_ms, "ms", None, "max"),
        BenchFigure(f"processor {wait}", 100 * beside.routes_s / beside.elapsed_s, "% of a core", None, "max"),
    ]


def _view_beside_callers(pages: list[str], routes: str, views: Views) -> None:
    """View while all callers wait; raises RuntimeError if one did not wait to its end."""
    with ThreadPoolExecutor(CALLERS) as pool:
        calls = [pool.submit(_call, routes, n) for n in range(CALLERS)]
        while _n_runs() < CALLERS:
            time.sleep(0.1)
        _view(pages, VIEWS, views)
        if any(call.done() for call in calls):
            raise RuntimeError("a caller was answered while pages were measured; hold callers longer")
        _check(calls)


def _check(calls: list[Future[Any]]) -> None:
    for call in calls:
        said = call.result()
        if said["success"] or not str(said["error"]).startswith("Not graded"):
            raise RuntimeError(f"a caller was answered {said}")


def _n_runs() -> int:
    from leaderboard.models import PmppRun

    return PmppRun.objects.count()


def _call(routes: str, n: int) -> Any:
    said = {
        "task_dir": "0", "student_file": "x.cu", "code": f"// {n}", "student_targets": ["test_student"],
        "timeout_sec": HELD_SECONDS,
    }  # fmt: skip
    answer = requests.post(f"{routes}/evaluate", json=said, timeout=HELD_SECONDS + 10)
    answer.raise_for_status()
    return answer.json()


def _view(pages: list[str], n: int, views: Views) -> None:
    """Add n views, page by page, as one visitor gets them over one connection."""
    session, began = requests.Session(), time.perf_counter()
    site, routes = _processor_s("leaderboard.wsgi"), _processor_s("leaderboard/pmpp")
    for number in range(n):
        started = time.perf_counter()
        session.get(pages[number % len(pages)], timeout=30).raise_for_status()
        views.times_ms.append((time.perf_counter() - started) * 1000)
    views.elapsed_s += time.perf_counter() - began
    views.site_s += _processor_s("leaderboard.wsgi") - site
    views.routes_s += _processor_s("leaderboard/pmpp") - routes


def _processor_s(argument: str) -> float:
    """Processor seconds of this benchmark's processes with the argument."""
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended since, or is not ours
            words = (process / "cmdline").read_text().split("\0")
            if not any(word.startswith(argument) for word in words):
                continue
            if f"PODIUM_VAR_DIR={os.environ['PODIUM_VAR_DIR']}" in (process / "environ").read_text().split("\0"):
                user, system = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
                total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return total


def _wait_for(services: Services, address: str) -> None:
    for _ in range(300):
        services.check()
        try:
            if requests.get(address, timeout=5).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.2)
    raise RuntimeError("the process of PMPP's routes did not answer within 60 s")


def _seed() -> tuple[list[str], str]:
    """The addresses of pages, and a token; sets the node's token in the environment."""
    set_up()
    from django.utils import timezone

    from benchmarks import rows
    from leaderboard.actions.intake.pmpp_runs import NewToken, issue_token

    person, track = rows.organiser(), rows.cpu_track()
    release = rows.published_release(trivial_problem_pack(PROBLEMS), person, track)
    entrant = rows.entrant(person)
    expires_at = timezone.now() + timedelta(hours=1)
    _, token = issue_token(person, NewToken(entrant, release, track, "bench", 1000, expires_at))
    os.environ["PODIUM_NODE_TOKEN"] = rows.node_token(rows.cpu_track(slug="another"))
    problem = release.problems.order_by("position").first()
    paths = ["", "releases/", f"releases/{release.slug}/", f"releases/{release.slug}/problems/", "nodes/"]
    paths += [f"releases/{release.slug}/problems/{problem.slug}/"] if problem else []
    return [f"{os.environ['PODIUM_SITE_URL']}/{path}" for path in paths], token


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
