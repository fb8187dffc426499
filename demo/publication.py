"""Publishes the demo's releases once the node has verified them: references pass, the others end as they must."""

import time
from collections.abc import Sequence

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


def verify_and_publish(console: Console, services: Services, slugs: Sequence[str]) -> None:
    """Returns at once where an earlier run has published the releases.

    Raises DemoRefused with what is not as it must be, and ServicesFailed should a process end meanwhile.
    """
    drafts = [one for one in Release.objects.filter(slug__in=slugs).order_by("pk") if one.is_draft]
    if drafts:
        _wait(console, services, drafts)
    for release in drafts:
        _publish(console, release)


def _publish(console: Console, release: Release) -> None:
    try:
        curate.publish(User.objects.get(username=ORGANISER), release)
    except Refused as refused:
        raise DemoRefused(str(refused)) from refused
    console.print(f"{release.slug} is verified and published: references pass, empty and known-bad solutions fail.")


def _wait(console: Console, services: Services, drafts: Sequence[Release]) -> None:
    """Until a node has judged every solution that verifies the releases."""
    system = Evaluation.objects.filter(submission__entrant__kind=EntrantKind.SYSTEM)
    rows = {one.pk: system.filter(submission__release=one) for one in drafts}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks = {one.pk: bars.add_task(f"Verifying {one.slug}", total=rows[one.pk].count()) for one in drafts}
        while not bars.finished:
            services.check()
            for pk, task in tasks.items():
                bars.update(task, completed=rows[pk].filter(state=EvaluationState.DONE).count())
            time.sleep(POLL_SECONDS)
