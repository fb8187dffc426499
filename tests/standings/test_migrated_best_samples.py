"""The migration that adds the sample of the largest speedup fills it for the aggregates that are there."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from leaderboard import migrations
from leaderboard.models import ProblemScore, ReleaseTrack
from leaderboard.standings.rank import rebuild
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
[MIGRATION] = (Path(migrations.__path__[0])).glob("*_board_over_some_problems.py")
EMPTY = {"best_speedup_evaluation": None, "best_speedup_ms": None, "last_result_at": None}


def test_best_samples_of_earlier_aggregates_are_filled(cast: Any) -> None:
    """On the first problem the sample of the largest speedup is not the fastest one."""

    def verdict_of(evaluation: Any) -> Any:
        made = factories.report(speedup=4.0)
        if evaluation.sample.index == 1 and evaluation.problem.position == 0:
            times_ms = {"baseline": 50.0, "candidate": 5.0}
            slower = [one.model_copy(update={"median_ms": times_ms[one.role.value]}) for one in made.measurements]
            return made.model_copy(update={"measurements": slower})
        return made

    made = factories.release(2)
    factories.judged_submission(cast.entrant, made, factories.offer(made), verdict_of)
    right = list(ProblemScore.objects.order_by("pk").values_list("best_speedup", "best_speedup_ms", "best_ms"))
    assert right == [(10.0, 5.0, 2.5), (4.0, 2.5, 2.5)]
    ProblemScore.objects.update(**EMPTY)
    assert rebuild(check=True)
    migration = importlib.import_module(f"leaderboard.migrations.{MIGRATION.stem}")
    migration.fill_best_samples(apps, connection.schema_editor())
    assert rebuild(check=True) == []
    assert ReleaseTrack.objects.get().is_stale, "so that its arrays and sums are stored"
