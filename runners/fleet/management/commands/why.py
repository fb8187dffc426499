"""`manage.py why SUBMISSION`: what its queued work waits for, a sentence for each queue."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.models import EvaluationState, Submission
from runners.fleet.queue.queue_place import queue_places
from runners.fleet.queue.waiting import waits_of


class Command(BaseCommand):
    help = "Tell what a submission's queued work waits for."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("submission", type=int, help="Its number, as in its page's address.")

    def handle(self, *_: Any, submission: int, **__: Any) -> None:
        found = Submission.objects.filter(pk=submission).first()
        if found is None:
            raise CommandError(f"There is no submission {submission}: its number is in its page's address.")
        live = found.evaluations.live()
        n_queued = live.filter(state=EvaluationState.QUEUED).count()
        n_running = live.filter(state=EvaluationState.LEASED).count()
        self.stdout.write(f"Submission {submission}: {n_queued} queued, {n_running} running.")
        for wait in waits_of(queue_places(found)) if n_queued else []:
            self.stdout.write(wait.words)
