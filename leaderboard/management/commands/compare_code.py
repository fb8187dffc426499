"""Compare the code of every submission that is not compared yet with that of other entrants."""

from typing import Any

from django.core.management.base import BaseCommand

from leaderboard.models import CodePair
from leaderboard.similarity.compare import compare_new


class Command(BaseCommand):
    help = "Find near-duplicate code of different entrants. The site's worker does the same for new submissions."

    def handle(self, *_args: Any, **_options: Any) -> None:
        n_compared = 0
        while n_now := compare_new():
            n_compared += n_now
        self.stdout.write(f"{n_compared} submissions compared; {CodePair.objects.count()} similar pairs are known.")
