"""Measures what a second node costs in builds: one pack with references, judged by one node and by two.

    python -m benchmarks.fleet_builds --problems 12 --samples 2

Each node is a real one, with a state folder of its own. PODIUM_BENCH_DATABASE_URL and PODIUM_BENCH_BROKER_URL are those
of benchmarks.fleet_load.
"""

import argparse
import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks import fleet_site
from benchmarks.figures import BenchFigure, show
from benchmarks.fleet_site import BROKER_URL, PORT, command_seconds
from benchmarks.packs import timed_problem_pack, timed_solution_pack

RATIO_LIMIT = 1.1
STOP_SECONDS, SETTLE_SECONDS, QUIET_SECONDS = 30.0, 3.0, 8.0


class BuiltRelease:
    """A release that is offered on a track for one node, and on one for two."""

    def __init__(self, n_problems: int, n_samples: int) -> None:
        from benchmarks import rows
        from leaderboard.actions.curation.tracks import offer

        self.person, self._rows = rows.organiser(), rows
        self.tracks = {n: rows.cpu_track(slug=f"cpu-{n}-nodes") for n in (1, 2)}
        self.release = rows.published_release(timed_problem_pack(n_problems), self.person, self.tracks[1])
        offer(self.person, self.release, self.tracks[2])
        self.solutions = timed_solution_pack(n_problems, n_samples)

    def judged_by(self, n_nodes: int, folder: Path) -> float:
        """Processor seconds, for each result, of the commands of that many fresh nodes for one submission.

        On a busy machine the other node measures a disturbed time again, which is a further result of the sample.
        """
        from leaderboard.models import Result
        from runners.fleet.models import SharedBuild
        from runners.fleet.nodes.enrol import add_node

        SharedBuild.objects.all().delete()
        track = self.tracks[n_nodes]
        names = [f"node-{n_nodes}-{n}" for n in range(n_nodes)]
        tokens = {name: add_node(None, name, [track])[1] for name in names}
        with _nodes(tokens, folder) as running:
            _wait_until_online(n_nodes, running, folder)
            began = sum(command_seconds(one.pid) for one in running)
            submission = self._submit(track, f"Judged-by-{n_nodes}")
            _wait_until_quiet(track, running, folder)
            seconds = sum(command_seconds(one.pid) for one in running) - began
        verdicts = set(submission.evaluations.values_list("current_result__verdict", flat=True))
        if verdicts != {"passed"}:
            raise RuntimeError(f"the samples came to {verdicts}")
        return seconds / Result.objects.filter(evaluation__submission=submission).count()

    def _submit(self, track: Any, name: str) -> Any:
        from leaderboard.actions.intake.submit import submit
        from leaderboard.intake.catalogue import catalogue_of
        from leaderboard.rows.submissions import SubmissionMetadata
        from problems.formats.submission import read_submission

        entrant = self._rows.entrant(self.person, name)
        draft = read_submission(
            io.BytesIO(self.solutions), "internal-bench-solutions.tar.gz", catalogue_of(self.release)
        )
        return submit(self.person, SubmissionMetadata(entrant, self.release, [track]), draft).submission


def _wait_until_online(n: int, running: "Sequence[subprocess.Popen[bytes]]", folder: Path) -> None:
    """A node starts for seconds, which are left out."""
    from runners.fleet.models import Node

    while Node.objects.filter(slug__startswith=f"node-{n}-", last_seen_at__isnull=False).count() < n:
        _check(running, folder)
        time.sleep(0.2)
    time.sleep(SETTLE_SECONDS)


def _wait_until_quiet(track: Any, running: "Sequence[subprocess.Popen[bytes]]", folder: Path) -> None:
    """Until there is no open job, and the site's sweep has made none since."""
    from runners.fleet.models import Job, JobState

    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < QUIET_SECONDS:
        _check(running, folder)
        if Job.objects.filter(track=track, state__in=[JobState.QUEUED, JobState.LEASED]).exists():
            quiet_since = time.monotonic()
        time.sleep(0.2)


def _check(running: "Sequence[subprocess.Popen[bytes]]", folder: Path) -> None:
    if any(one.poll() is not None for one in running):
        raise RuntimeError((folder / "nodes.log").read_text()[-3000:])


@contextmanager
def _nodes(tokens: dict[str, str], folder: Path) -> "Iterator[list[subprocess.Popen[bytes]]]":
    with (folder / "nodes.log").open("ab") as log:
        running = [
            subprocess.Popen(
                [str(Path(sys.executable).parent / "podium"), "node"], stdout=log, stderr=log,
                env={
                    **os.environ, "PODIUM_NODE_TOKEN": token, "PODIUM_SANDBOX": "bubblewrap", "PODIUM_NODE_SLOTS": "1",
                    "PODIUM_VAR_DIR": str(folder / name), "PODIUM_SITE_URL": f"http://127.0.0.1:{PORT}",
                    "PODIUM_BROKER_URL": BROKER_URL,
                },
            )
            for name, token in tokens.items()
        ]  # fmt: skip
        try:
            yield running
        finally:
            for one in running:
                one.terminate()
            for one in running:
                with suppress(subprocess.TimeoutExpired):
                    one.wait(STOP_SECONDS)
                one.kill()


def main(words: Sequence[str]) -> int:
    reader = argparse.ArgumentParser(prog="benchmarks.fleet_builds", description=__doc__)
    reader.add_argument("--problems", type=int, default=12)
    reader.add_argument("--samples", type=int, default=2)
    asked = reader.parse_args(words)
    with fleet_site.site() as (folder, database):
        release = BuiltRelease(asked.problems, asked.samples)
        with fleet_site.processes(folder, database):
            one, two = (release.judged_by(n, folder) for n in (1, 2))
    n = asked.problems * asked.samples
    size = f"{n} samples of {asked.problems} problems with references"
    return 0 if show([
        BenchFigure(f"{size}: processor time of one node's commands for each result", one, "s", None, "max"),
        BenchFigure("the same of two nodes", two, "s", None, "max"),
        BenchFigure("two over one", two / one, "", RATIO_LIMIT, "max"),
    ]) else 1  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
