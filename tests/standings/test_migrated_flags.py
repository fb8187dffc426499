"""The migration that adds counts of flags fills them for the rows that are there."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from leaderboard import migrations
from leaderboard.actions.curation.decide import decide_flag
from leaderboard.models import Flag, ProblemScore, ReleaseTrack
from leaderboard.standings.rank import rebuild
from runners.wire.protocol import FlagReport, FlagScope
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
[MIGRATION] = (Path(migrations.__path__[0])).glob("*_flag_counts_appeals_and_code_pairs.py")


def test_counts_of_earlier_flags_are_filled_and_ranked_anew(cast: Any) -> None:
    made = factories.release(2)
    report = factories.report(flags=[FlagReport(code="throttled", scope=FlagScope.TIME),
                                     FlagReport(code="left_early", scope=FlagScope.VERDICT)])  # fmt: skip
    stored = factories.judged_submission(cast.entrant, made, factories.offer(made), lambda _: report, n_samples=1)
    first, second, third, _ = Flag.objects.order_by("pk")
    for flag, upheld in ((first, True), (second, False), (third, True)):
        decide_flag(cast.organiser, flag, upheld=upheld, public_reason="Seen.")
    factories.rank(made, stored.tracks.get())
    right = list(ProblemScore.objects.order_by("problem__position").values_list("n_open_flags", "n_upheld_flags"))
    assert right == [(0, 1), (1, 1)]
    ProblemScore.objects.update(n_open_flags=0, n_upheld_flags=0)
    assert rebuild(check=True)
    importlib.import_module(f"leaderboard.migrations.{MIGRATION.stem}").count_flags(apps, connection.schema_editor())
    assert not [line for line in rebuild(check=True) if "aggregate" in line]
    assert ReleaseTrack.objects.get().is_stale
