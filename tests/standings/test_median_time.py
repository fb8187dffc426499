"""The median time of a board's rows: of samples, then of problems; page, exports, API and the about page have it."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Standing
from leaderboard.standings import rank
from runners.wire.protocol import Verdict
from tests import factories
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
TIMES = {0: (2.0, 8.0, 4.0), 1: (10.0, None, 30.0)}
"""By problem: the time in ms of each sample; None fails."""


def _report(evaluation: Any) -> Any:
    time_ms = TIMES[evaluation.problem.position][evaluation.sample.index]
    if time_ms is None:
        return factories.report(Verdict.TEST_FAILED)
    return factories.report(speedup=10.0 / time_ms)  # the baseline takes 10 ms


def test_medians_of_samples_then_of_problems_are_shown_everywhere(client: Any, cast: factories.Cast) -> None:
    made = factories.release(2)
    factories.judged_submission(cast.entrant, made, factories.offer(made), _report, n_samples=3)
    rank.rank_touched()
    assert rank.rebuild(check=True) == []
    standing = Standing.objects.get()
    assert standing.estimates["median_ms"] == {"value": pytest.approx((4.0 + 20.0) / 2), "problems": 2}

    html = markup(client.get(reverse("board", args=[made.slug])))
    assert ">Median time (ms)" in html
    assert ">12.0<" in html
    by_name = {row["entrant"]: row for row in client.get(reverse("board_json", args=[made.slug])).json()["rows"]}
    assert by_name[cast.entrant.slug]["median_ms"] == pytest.approx(12.0)
    answer = client.get(f"/api/v1/releases/{made.slug}/board?sort=median_ms").json()
    assert answer["standings"][0]["median_ms_problems"] == 2
    assert {"median_ms"} <= {column["key"] for column in answer["columns"] if column["better"] == "down"}
    header = client.get(reverse("board_csv", args=[made.slug])).content.decode().splitlines()[0].split(",")
    assert {"median_ms", "median_ms_low", "median_ms_high"} <= set(header)
    assert ">Median time (ms)</th>" in markup(client.get(reverse("about")))
