"""Publishes the demo's release once the node has verified it: references pass, the others end as they must."""

import time

from django.contrib.auth.models import User
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demo.environment import DemoRefused
from demo.seed import ORGANISER
from demo.services import Services
from leaderboard.actions import curate
from leaderboard.errors import Refused
from leaderboard.models import Evaluation, EvaluationState
from leaderboard.models.entrant import EntrantKind
from problems.models import Release

POLL_SECONDS = 0.5


def verify_and_publish(console: Console, services: Services, slug: str) -> None:
    """Returns at once where an earlier run has published the release.

    Raises DemoRefused with what is not as it must be, and ServicesFailed should a process end meanwhile.
    """
    release = Release.objects.get(slug=slug)
    if not release.is_draft:
        return
    _wait(console, services, release)
    try:
        curate.publish(User.objects.get(username=ORGANISER), release)
    except Refused as refused:
        raise DemoRefused(str(refused)) from refused
    console.print(f"{slug} is verified and published: references pass, empty and known-bad solutions fail.")


def _wait(console: Console, services: Services, release: Release) -> None:
    """Until a node has judged every solution that verifies the release."""
    rows = Evaluation.objects.filter(submission__release=release, submission__entrant__kind=EntrantKind.SYSTEM)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("Verifying the release", total=rows.count())
        while not bars.finished:
            services.check()
            bars.update(task, completed=rows.filter(state=EvaluationState.DONE).count())
            time.sleep(POLL_SECONDS)
