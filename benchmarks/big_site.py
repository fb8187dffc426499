"""Measures every kind of page, the organisers' too, on PostgreSQL with 1,000 entrants, 600 problems and 10 samples.

The database of `PODIUM_BENCH_DATABASE_URL` (default `postgresql://postgres@127.0.0.1/podium_bench`) is made anew, and
dropped at the end. `--entrants 10,100` measures several sizes one after another. `--hardware WORDS` says on what the
measures are taken; with it each page's figures are added to docs/benchmarks/growth.csv (`--csv` names another file),
from which `python -m benchmarks.growth` draws.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from benchmarks import growth
from benchmarks.figures import BenchFigure, show
from benchmarks.packs import trivial_problem_pack
from benchmarks.site import set_up
from scoring.fast_p import THRESHOLDS

ENTRANTS, PROBLEMS, SAMPLES = 1000, 600, 10
VIEWS = 40
SITE_LIMIT_MS, ADMIN_LIMIT_MS = 100.0, 150.0
DEFAULT_URL = "postgresql://postgres@127.0.0.1/podium_bench"


@dataclass(frozen=True)
class Visit:
    """One address, as a stranger or as an organiser gets it."""

    words: str
    address: str
    is_admin: bool = False


@dataclass(frozen=True)
class Viewed:
    page: Visit
    p95_ms: float
    median_ms: float
    n_queries: int
    n_bytes: int
    first_ms: float
    """Milliseconds of the first view, which finds nothing cached."""


def run(n_entrants: int = ENTRANTS, csv: Path | None = None, hardware: str = "") -> list[BenchFigure]:
    with _site():
        started = time.perf_counter()
        pages = _filled(n_entrants)
        filled_s = time.perf_counter() - started
        gc.collect()
        gc.freeze()  # a server process has not filled a database before: its collector has less to look through
        viewed = [_view(page) for page in pages]
        n_evaluations = n_entrants * PROBLEMS * SAMPLES
    for one in sorted(viewed, key=lambda one: -one.p95_ms):
        print(
            f"      {one.page.words}: p95 {one.p95_ms:.1f} ms, median {one.median_ms:.1f} ms, {one.n_queries} queries,"
            f" {one.n_bytes / 1e3:.0f} kB, first view {one.first_ms:.0f} ms"
        )
    if csv is not None:
        growth.append(csv, hardware, (_row(n_entrants, one) for one in viewed))
    return [BenchFigure(f"{n_evaluations:,} evaluations: filled in", filled_s, "s", None, "max"), *_worst(viewed)]


def _row(n_entrants: int, one: Viewed) -> dict[str, object]:
    size = {"entrants": n_entrants, "problems": PROBLEMS, "samples": SAMPLES}
    times = {"p95_ms": f"{one.p95_ms:.2f}", "median_ms": f"{one.median_ms:.2f}"}
    return {
        **size, "page": one.page.words, "is_admin": one.page.is_admin, **times, "queries": one.n_queries,
        "bytes": one.n_bytes,
    }  # fmt: skip


def _worst(viewed: Sequence[Viewed]) -> Iterator[BenchFigure]:
    for is_admin, limit_ms in ((False, SITE_LIMIT_MS), (True, ADMIN_LIMIT_MS)):
        worst = max((one for one in viewed if one.page.is_admin == is_admin), key=lambda one: one.p95_ms)
        kind = "organisers' page" if is_admin else "page"
        yield BenchFigure(f"slowest {kind} ({worst.page.words}): p95", worst.p95_ms, "ms", limit_ms, "max")


def _why_no_server() -> str:
    """Returns the reason why no PostgreSQL is there to measure on; "" if one is."""
    import psycopg

    try:
        psycopg.connect(_server(), connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"{_server()} does not answer: {str(error).splitlines()[0]}"
    return ""


def _url() -> str:
    return os.environ.get("PODIUM_BENCH_DATABASE_URL", DEFAULT_URL)


def _server() -> str:
    """The address of the server's own database."""
    return urlunsplit(urlsplit(_url())._replace(path="/postgres"))


@contextmanager
def _site() -> Iterator[None]:
    """A database of the benchmark's own on the server that the URL names."""
    import psycopg

    url, server = _url(), _server()
    name = urlsplit(url).path.lstrip("/")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
            os.environ.update(
                DATABASE_URL=url,
                PODIUM_VAR_DIR=folder,
                PODIUM_SITE_URL="http://127.0.0.1",
                DJANGO_SETTINGS_MODULE="leaderboard.settings",
            )
            set_up()
            yield
    finally:
        from django.db import connections

        connections.close_all()
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _view(page: Visit) -> Viewed:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"Host": "localhost"})
    if page.is_admin:
        client.force_login(User.objects.get(is_superuser=True))
    first_ms, _ = _get(client, page)  # it also compiles the templates
    with CaptureQueriesContext(connection) as queries:
        _, n_bytes = _get(client, page)
    n_queries = len(queries)  # the next request forgets them
    times_ms = [_get(client, page)[0] for _ in range(VIEWS)]
    p95_ms, median_ms = statistics.quantiles(times_ms, n=20)[-1], statistics.median(times_ms)
    return Viewed(page, p95_ms, median_ms, n_queries, n_bytes, first_ms)


def _get(client: Any, page: Visit) -> tuple[float, int]:
    """Milliseconds of one view, and the bytes of its answer."""
    started = time.perf_counter()
    answer = client.get(page.address)
    content = answer.getvalue()
    elapsed_ms = (time.perf_counter() - started) * 1000
    if answer.status_code != 200:
        raise RuntimeError(f"{page.address} answered {answer.status_code}")
    return elapsed_ms, len(content)


def _filled(n_entrants: int) -> list[Visit]:
    """Fill the database; returns the pages to view."""
    from django.contrib.auth.models import User
    from django.db import connection, transaction

    from benchmarks import rows
    from leaderboard.models import Evaluation, ReleaseTrack
    from leaderboard.standings import rank, scores

    person = User.objects.create_superuser("organiser")
    track = rows.cpu_track()
    release = rows.published_release(trivial_problem_pack(PROBLEMS), person, track)
    enter_submissions(n_entrants, person, release, track)
    fast = json.dumps([0] * len(THRESHOLDS))
    facts: dict[str, Any] = {"release": release.pk, "track": track.pk, "samples": SAMPLES, "fast": fast}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # no check of a foreign key for each row
        for statement in _STATEMENTS:
            cursor.execute(statement, facts)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    scores.touch(release.pk, track.pk)
    rank.rank(ReleaseTrack.objects.select_related("release", "track").get(release=release))
    evaluation = Evaluation.objects.select_related("submission__entrant", "problem").order_by("pk").first()
    assert evaluation is not None
    return _pages(release, evaluation)


def enter_submissions(n_entrants: int, person: Any, release: Any, track: Any) -> None:
    from django.utils import timezone

    from leaderboard.models import Chosen, Counted, Entrant, Submission

    entrants = Entrant.objects.bulk_create(
        Entrant(slug=f"entrant-{n}", name=f"Entrant {n}", owner=person, organisation=f"Organisation {n % 40}")
        for n in range(n_entrants)
    )
    fields: dict[str, Any] = {"release": release, "is_full": True, "digest": "", "n_samples_per_problem": SAMPLES}
    fields |= {"state": "done", "asks_to_count": True, "finished_at": timezone.now()}
    made = Submission.objects.bulk_create(
        Submission(entrant=one, name=one.slug, identity=one.slug, submitted_by=person, **fields) for one in entrants
    )
    Submission.tracks.through.objects.bulk_create(
        Submission.tracks.through(submission_id=one.pk, track_id=track.pk) for one in made
    )
    Chosen.objects.bulk_create(Chosen(submission=one, track=track) for one in made)
    Counted.objects.bulk_create(
        Counted(entrant_id=one.entrant_id, release=release, track=track, submission=one) for one in made
    )


_STATEMENTS = (
    """INSERT INTO leaderboard_sample (submission_id, problem_id, index, solution_sha256, solution_bytes,
           invalid_reason, language)
       SELECT s.id, p.id, n, repeat('0', 64), 1000, '', ''
       FROM leaderboard_submission s, problems_problem p, generate_series(0, %(samples)s - 1) n
       WHERE s.release_id = %(release)s AND p.release_id = %(release)s""",
    """INSERT INTO leaderboard_evaluation (id, sample_id, track_id, judge_version, purpose, submission_id, problem_id,
           state, current_result_id, queued_at, done_at)
       SELECT id, id, %(track)s, 'command/3', 'live', submission_id, problem_id, 'done', id, now(), now()
       FROM leaderboard_sample""",
    """INSERT INTO leaderboard_result (id, evaluation_id, origin, report_digest, verdict, reason, witness, speedup,
           steps, provenance, created_at)
       SELECT id, id, 'fleet', '', CASE WHEN id %% 3 = 0 THEN 'test_failed' ELSE 'passed' END, '', 'seen', NULL,
              '[{"name": "build", "exit_code": 0, "wall_ms": 812.5}, {"name": "test", "exit_code": 0}]',
              '{"node": "bench", "judge_version": "command/3", "gpu": ""}', now()
       FROM leaderboard_evaluation""",
    """INSERT INTO leaderboard_flag (result_id, code, scope, detail, created_at)
       SELECT id, 'other_ranges', 'time', 'A timed range was entered twice.', now()
       FROM leaderboard_result WHERE verdict = 'passed' AND id %% 10007 = 0""",
    """INSERT INTO leaderboard_problemscore (submission_id, track_id, problem_id, n_samples, n_passed, n_unwitnessed,
           n_provisional, n_skipped, n_pending, n_unresolved, n_time_flagged, ln_speedup_sum, correct_ln_sum, n_timed,
           fast_counts, times_ms, n_open_flags, n_upheld_flags)
       SELECT e.submission_id, e.track_id, e.problem_id, count(*), count(*) FILTER (WHERE r.verdict = 'passed'),
              0, 0, 0, 0, 0, 0, 0, 0, 0, %(fast)s, '[]', 0, 0
       FROM leaderboard_evaluation e JOIN leaderboard_result r ON r.id = e.current_result_id
       GROUP BY e.submission_id, e.track_id, e.problem_id""",
    """UPDATE leaderboard_problemscore s SET n_open_flags = flagged.n, n_time_flagged = flagged.n
       FROM (SELECT e.submission_id, e.problem_id, count(*) n FROM leaderboard_flag f
             JOIN leaderboard_evaluation e ON e.current_result_id = f.result_id
             GROUP BY e.submission_id, e.problem_id) flagged
       WHERE s.submission_id = flagged.submission_id AND s.problem_id = flagged.problem_id""",
    """INSERT INTO leaderboard_auditentry (actor_name, action, target, reason, detail, at)
       SELECT 'system', 'import', 'release ' || n, '', '{}', now() FROM generate_series(1, 20000) n""",
)
"""Every sample has one evaluation and one result, with the sample's id."""


def _pages(release: Any, evaluation: Any) -> list[Visit]:
    from django.urls import reverse
    from django.utils import timezone

    slug, submission = release.slug, evaluation.submission
    public: Sequence[tuple[str, str, Sequence[Any]]] = [
        ("home", "home", []),
        ("releases", "releases", []),
        ("board", "board", [slug]),
        ("charts", "charts", [slug]),
        ("chart pass@k", "chart", [slug, "pass-at-k"]),
        ("chart of speedups", "chart", [slug, "speedups"]),
        ("chart of history", "chart", [slug, "history"]),
        ("chart of differences", "chart", [slug, "differences"]),
        ("history of an entrant", "entrant_chart", [submission.entrant.slug, "history"]),
        ("problems", "problems", [slug]),
        ("problem", "problem", [slug, evaluation.problem.slug]),
        ("submissions of a release", "release_submissions", [slug]),
        ("about a release", "release_about", [slug]),
        ("changelog", "changelog", [slug]),
        ("coverage", "coverage", [slug]),
        ("framed board", "framed_board", [slug]),
        ("social card", "card", [slug]),
        ("badge", "badge", [slug, evaluation.track.slug, submission.entrant.slug]),
        ("feed of a release", "release_feed", [slug]),
        ("feed of the site", "site_feed", []),
        ("site map of problems", "sitemap_section", ["problems"]),
        ("site map of entrants", "sitemap_section", ["entrants"]),
        ("board as CSV", "board_csv", [slug]),
        ("board as JSON", "board_json", [slug]),
        ("entrant", "entrant", [submission.entrant.slug]),
        ("submission", "submission", [submission.pk]),
        ("samples of a submission", "submission_samples", [submission.pk]),
        ("evaluation", "evaluation", [evaluation.pk]),
        ("nodes", "nodes", []),
        ("about", "about", []),
    ]
    pages = [Visit(words, reverse(name, args=args)) for words, name, args in public]
    today, board = f"{timezone.now():%Y-%m-%d}", reverse("board", args=[slug])
    pages += [
        Visit("board by a column", f"{board}?sort=-solved"),
        Visit("board over a group", f"{board}?groups=cccl"),
        Visit("board over two groups and a difficulty", f"{board}?groups=cccl&groups=cublas&difficulty=hard"),
        Visit("board at a date", f"{board}?as_of={today}"),
        Visit("board over a group as JSON", reverse("board_json", args=[slug]) + "?groups=cccl"),
        Visit("row of a board", reverse("board_row", args=[slug, submission.entrant.slug])),
        Visit("problems by solved rate", reverse("problems", args=[slug]) + "?sort=-solved&difficulty=hard"),
        Visit("runtimes of a problem", reverse("runtimes", args=[slug, evaluation.problem.slug])),
    ]
    pages.append(Visit("failures of a release", reverse("release_failures", args=[slug]), is_admin=True))
    pages.append(Visit("failures of a submission", reverse("submission_failures", args=[submission.pk]), is_admin=True))
    return pages + [Visit(words, address, is_admin=True) for words, address in _admin_pages(release, reverse)]


def _admin_pages(release: Any, reverse: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """The organisers' home, the list of every table that has one, and the page of the release."""
    from django.contrib import admin

    yield "admin: home", reverse("admin:index")
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        yield f"admin: list of {model._meta.verbose_name_plural}", reverse(f"admin:{name}_changelist")
    yield "admin: release", reverse("admin:problems_release_change", args=[release.pk])


def _sizes(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entrants", type=_sizes, action="extend", help=f"how many, as 30,100; default {ENTRANTS}")
    parser.add_argument("--hardware", default="", help="what the figures are measured on; adds them to the file")
    parser.add_argument("--csv", type=Path, default=growth.CSV, help="the file that figures are added to")
    options = parser.parse_args()
    sizes = options.entrants or [ENTRANTS]
    if why := _why_no_server():
        print(f"      not measured: {why}")
        return 0
    if len(sizes) == 1:
        return 0 if show(run(sizes[0], options.csv if options.hardware else None, options.hardware)) else 1
    kept = ["--hardware", options.hardware, "--csv", str(options.csv)]
    command = [sys.executable, "-m", "benchmarks.big_site", *kept]  # a process for each: Django is set up once
    codes = [subprocess.run([*command, "--entrants", str(size)], check=False).returncode for size in sizes]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
