"""The migrations from columns of metrics to estimates: the figures stay, and the code before goes on until the last."""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from leaderboard.curation import snapshots
from leaderboard.models import RankedArrays, ReleaseTrack, Standing
from leaderboard.standings.scores import touch
from tests.web.boards import seeded_boards

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
BEFORE = "0036_first_replies"
(NEWEST,) = [name for app, name in MigrationLoader(None).graph.leaf_nodes("leaderboard") if app == "leaderboard"]
FILL = importlib.import_module("leaderboard.migrations.0038_fill_estimates")
EARLIER = {*FILL.INTERVALS, *FILL.VALUES, "fast_1"}
DROPPED = importlib.import_module("leaderboard.migrations.0039_drop_columns_of_metrics").DROPPED


@pytest.fixture(autouse=True)
def migrations(settings: Any) -> Iterator[None]:
    """Tests make their database without migrations; here it counts as migrated, and ends at the newest."""
    settings.MIGRATION_MODULES = {}
    call_command("migrate", fake=True, verbosity=0)
    yield
    _to(NEWEST)


def _to(name: str) -> None:
    call_command("migrate", "leaderboard", name, verbosity=0)


def _standings_before() -> Any:
    """The model as the code before has it."""
    state = MigrationExecutor(connection).loader.project_state([("leaderboard", BEFORE)])
    return state.apps.get_model("leaderboard", "Standing").objects


def _columns(record: dict[str, Any]) -> dict[str, Any]:
    """The columns of the code before, whose names a snapshot has."""
    first = zip(("pass_at_1", "pass_at_1_low", "pass_at_1_high"), record["pass_at_k"]["1"], strict=True)
    return {name: record[name] for name in DROPPED if name in record} | dict(first)


def _figures() -> dict[int, tuple[Any, ...]]:
    rows = Standing.objects.values_list("pk", "primary_value", "primary_low", "primary_high", "estimates")
    return {pk: tuple(figures) for pk, *figures in rows}


def _leave_earlier_metrics() -> None:
    """Metrics that are newer than the migrations have no columns to be filled from."""
    for row in Standing.objects.all():
        row.estimates = {name: one for name, one in row.estimates.items() if name in EARLIER or "@" in name}
        row.save(update_fields=["estimates"])


def test_figures_stay_and_the_code_before_survives_until_its_columns_go() -> None:
    made, track = seeded_boards.mixed_board()
    touch(made.pk, track.pk)
    _leave_earlier_metrics()
    place = ReleaseTrack.objects.get(release=made, track=track)
    told, figures, touched_at = snapshots.as_json(place), _figures(), place.touched_at
    of_submission = {row["submission_id"]: _columns(row) for row in json.loads(told)["rows"]}
    assert len(of_submission) == len(seeded_boards.NAMES)
    assert all(columns.keys() == set(DROPPED) for columns in of_submission.values())

    _to(BEFORE)
    before = _standings_before()
    for submission_id, columns in of_submission.items():
        before.filter(submission=submission_id).update(**columns)

    _to("0037")
    row = before.get(submission=seeded_boards.FIRST_ID + 1)
    first = row.pk
    row.delete()
    row.pk = first
    row.save(force_insert=True)

    _to("0038")
    assert _figures() == figures
    before.filter(pk=first).update(speedup=7.0, n_timed_problems=5)

    _to("0039")
    changed = {**figures[first][-1], "speedup": {**figures[first][-1]["speedup"], "value": 7.0, "problems": 5}}
    assert _figures() == figures | {first: (*figures[first][:-1], changed)}
    Standing.objects.filter(pk=first).update(estimates=figures[first][-1])
    assert snapshots.as_json(place) == told
    _to(NEWEST)
    assert not RankedArrays.objects.exists(), "boards over some problems are read anew"
    place.refresh_from_db()
    assert touched_at is not None
    assert place.touched_at is not None
    assert place.touched_at > touched_at
