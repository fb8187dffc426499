"""`podium slurm`: submits Slurm jobs that are nodes, as many as a queue of the site needs."""

import math
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Annotated

import requests
import typer

from podium.refusals import refusing, say

TIMEOUT_SECONDS = 30
SPARE_SECONDS = 30
"""Between the end of a node's grace and the end of its job."""
NEEDED = ("PODIUM_SITE_URL", "PODIUM_METRICS_TOKEN", "PODIUM_JOIN_TOKEN")
THERE = "PENDING,CONFIGURING,RUNNING,SUSPENDED"
# A state folder of its own: nodes that share one would be the same node. The shell passes the end of the job on. In
# Apptainer the image's own variables win over the job's, but not over these.
SCRIPT = """#!/bin/sh
PODIUM_VAR_DIR=$(mktemp -d) && export PODIUM_VAR_DIR || exit 1
export APPTAINERENV_PODIUM_VAR_DIR="$PODIUM_VAR_DIR"
export APPTAINERENV_PODIUM_CACHE_DIR="${{APPTAINERENV_PODIUM_CACHE_DIR:-$PODIUM_VAR_DIR/cache}}"
{node} &
node=$!
trap 'kill -TERM $node' TERM INT
status=0
while kill -0 $node 2>/dev/null; do wait $node; status=$?; done
rm -rf "$PODIUM_VAR_DIR"
exit $status
"""


class SlurmFailed(Exception):
    """The answer of the site or of Slurm, in words."""


@dataclass(frozen=True)
class QueueBounds:
    """One queue of the site, and the bounds within which nodes are started for it."""

    track: str
    stage: str
    jobs: int
    most: int

    @property
    def name(self) -> str:
        """The name of its Slurm jobs, by which they are counted."""
        return f"podium-{self.track}-{self.stage}"

    def lacking(self, n_open: int, n_there: int) -> int:
        """How many more nodes the open jobs need."""
        return max(0, min(self.most, math.ceil(n_open / self.jobs)) - n_there)


def slurm(
    track: Annotated[str, typer.Option(help="The track of the nodes.")],
    stage: Annotated[str, typer.Option(help="The stage: build, run or both.")] = "both",
    jobs: Annotated[int, typer.Option(min=1, help="Open jobs of the site for which one node is started.")] = 8,
    most: Annotated[int, typer.Option(min=1, help="Most nodes of this queue at once, waiting ones included.")] = 10,
    until_idle: Annotated[int, typer.Option(min=1, metavar="SECONDS", help="A node ends after so long idle.")] = 120,
    grace: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="Time for begun work before a job ends.")] = 300,
    every: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="Look again; 0: look once and end.")] = 0,
    within: Annotated[
        str, typer.Option(metavar="WORDS", help="Start `podium` with these words before it, as 'apptainer exec IMAGE'.")
    ] = "",
    options: Annotated[list[str] | None, typer.Argument(metavar="-- OPTIONS OF SBATCH", help="As -p gpu.")] = None,
) -> None:
    """Submit nodes as a Slurm job array, as many as the site's open jobs need and are not there yet.

    Needs PODIUM_SITE_URL, PODIUM_METRICS_TOKEN and PODIUM_JOIN_TOKEN. Running it again submits nothing twice.
    """
    queue = QueueBounds(track, stage, jobs, most)
    with refusing(SlurmFailed):
        settings = _settings()
        node = [*_program(within), "node", "--until-idle", str(until_idle), "--grace", str(grace)]
        while True:
            n_open, n_there = _open_jobs(settings, queue), _nodes_there(queue)
            n_new = queue.lacking(n_open, n_there)
            submitted = _submit(queue, n_new, node, grace, options or []) if n_new else "nothing"
            say(f"{n_open} open jobs, {n_there} nodes: submitted {submitted}")
            if not every:
                return
            time.sleep(every)


def _settings() -> dict[str, str]:
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        raise SlurmFailed(f"Not set: {', '.join(missing)}")
    return {name: os.environ[name] for name in NEEDED}


def _open_jobs(settings: dict[str, str], queue: QueueBounds) -> int:
    """The site's own count of queued and leased jobs. Raises SlurmFailed."""
    try:
        answer = requests.get(
            f"{settings['PODIUM_SITE_URL'].rstrip('/')}/metrics/jobs",
            params={"track": queue.track, "stage": queue.stage},
            headers={"Authorization": f"Bearer {settings['PODIUM_METRICS_TOKEN']}"},
            timeout=TIMEOUT_SECONDS,
        )
        answer.raise_for_status()
        return int(answer.json()["open"])
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise SlurmFailed(f"The site does not tell its open jobs: {error}") from None


def _nodes_there(queue: QueueBounds) -> int:
    """This user's jobs of the queue that wait or run. Raises SlurmFailed."""
    listed = _run(
        ["squeue", "--me", "--noheader", "--array", f"--name={queue.name}", f"--states={THERE}", "--format=%i"]
    )
    return len(listed.split())


def _program(within: str) -> list[str]:
    """The words that start `podium` in a job: this installation, or a container's. Raises SlurmFailed."""
    if not within:
        return [sys.executable, "-m", "podium.cli"]
    try:
        return [*shlex.split(within), "podium"]
    except ValueError as error:
        raise SlurmFailed(f"--within {within!r}: {error}") from None


def _submit(queue: QueueBounds, n_new: int, node: list[str], grace: int, options: list[str]) -> str:
    """Submit a job array of nodes, in words. Raises SlurmFailed."""
    command = ["sbatch", "--parsable", f"--job-name={queue.name}", f"--array=1-{n_new}"]
    command += [f"--signal=B:TERM@{grace + SPARE_SECONDS}", *options]
    job = _run(command, SCRIPT.format(node=shlex.join(node))).strip()
    return f"{n_new} as job {job}"


def _run(command: list[str], text: str = "") -> str:
    """Standard output. The metrics token is the submitter's and not the nodes'."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_METRICS_TOKEN")}
    try:
        ran = subprocess.run(command, input=text, env=environ, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SlurmFailed(f"{command[0]} is not installed: this is no machine of a Slurm cluster") from None
    if ran.returncode:
        raise SlurmFailed(f"{command[0]}: {ran.stderr.strip()}")
    return ran.stdout
