"""Measures the ranking of a large board after one result: processor time of the worker and of PostgreSQL.

    python -m benchmarks.fleet_ranking --entrants 300 --problems 600

PODIUM_BENCH_DATABASE_URL is that of benchmarks.fleet_load. The aggregates are made up; their ranking is the site's own.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import fleet_site
from benchmarks.big_site import enter_submissions
from benchmarks.figures import BenchFigure, show
from benchmarks.packs import trivial_problem_pack
from scoring.fast_p import THRESHOLDS

SECONDS_LIMIT = 0.6
TIMES = 5
_SCORES = """INSERT INTO leaderboard_problemscore (submission_id, track_id, problem_id, n_samples, n_passed,
       n_unwitnessed, n_provisional, n_skipped, n_pending, n_unresolved, n_time_flagged, ln_speedup_sum, correct_ln_sum,
       n_timed, ln_held_out_sum, ln_public_sum, n_held_out, fast_counts, times_ms, n_open_flags, n_upheld_flags)
   SELECT s.id, %s, p.id, 10, (s.id * 7 + p.id * 3) %% 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          array_to_json(array_fill(0, ARRAY[%s]))::jsonb, '[]', 0, 0
   FROM leaderboard_submission s, problems_problem p"""


def run(n_entrants: int, n_problems: int, database: str) -> list[BenchFigure]:
    """The first ranking, then one after each of some changes."""
    from django.db import connection

    from benchmarks import rows
    from leaderboard.models import ProblemScore, ReleaseTrack
    from leaderboard.standings import rank, scores

    person, track = rows.organiser(), rows.cpu_track()
    release = rows.published_release(trivial_problem_pack(n_problems), person, track)
    enter_submissions(n_entrants, person, release, track)
    with connection.cursor() as cursor:
        cursor.execute(_SCORES, [track.pk, len(THRESHOLDS)])
        cursor.execute("UPDATE leaderboard_submission SET scored_mark = gen_random_uuid()")
        cursor.execute("ANALYZE")
    spent = fleet_site.own_and_backends(database)
    first, later = 0.0, []
    for n in range(TIMES + 1):
        changed: Any = ProblemScore.objects.order_by("pk")[n]
        scores.rescore(changed.submission, track, [changed.problem_id])
        before, began = spent(), time.perf_counter()
        rank.rank(ReleaseTrack.objects.select_related("release", "track").get(release=release))
        took = spent() - before
        print(f"      ranked in {time.perf_counter() - began:.2f} s")
        if n:
            later.append(took)
        else:
            first = took
    differences = rank.differing_standings(ReleaseTrack.objects.select_related("release", "track").get())
    size = f"{n_entrants} entrants × {n_problems} problems"
    return [
        BenchFigure(f"{size}: first ranking, processor time", first, "s", None, "max"),
        BenchFigure(f"{size}: ranking after one result", min(later), "s", SECONDS_LIMIT, "max"),
        BenchFigure("standings that differ from recomputed ones", len(differences), "", 0, "max"),
    ]


def main(words: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(prog="benchmarks.fleet_ranking", description=__doc__)
    reader.add_argument("--entrants", type=int, default=300)
    reader.add_argument("--problems", type=int, default=600)
    asked = reader.parse_args(words)
    os.environ.setdefault("PODIUM_SERVES", "worker")
    with fleet_site.site() as (_, database):
        return 0 if show(run(asked.entrants, asked.problems, database)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
