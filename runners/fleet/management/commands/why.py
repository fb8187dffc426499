"""`manage.py why SUBMISSION`: what its queued work, or its scores, wait for, a sentence for each queue."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.models import EvaluationState, Submission
from runners.fleet.queue.waiting import waits_of_submission


class Command(BaseCommand):
    help = "Tell what a submission's queued work, or its scores, wait for."

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
        for wait in waits_of_submission(found, n_queued=n_queued, n_running=n_running):
            self.stdout.write(wait.words)
