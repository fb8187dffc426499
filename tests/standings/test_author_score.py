"""Other benchmarks' scores on a board: the worked example of FlashInfer-Bench, shown on demand, never ranked."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import ReleaseTrack, Standing
from leaderboard.standings import rank
from problems.actions import releases
from problems.spec.case import Case
from runners.wire.protocol import MeasurementReport, Role, Verdict
from scoring.metrics import NAMED, THEIRS
from tests import factories
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
RATIOS = {
    "alpha": {0: [(4.0, 1.0), None], 1: [(1.2, 1.2), None]},
    "strangers-model": {0: [(2.0, 2.0), (1.5, 1.5)]},
}
"""Baseline ÷ own of both cases, by entrant, problem and sample; None fails. The second leaves a problem out."""


def _report(evaluation: Any) -> Any:
    found = RATIOS[evaluation.submission.entrant.slug][evaluation.problem.position][evaluation.sample.index]
    if found is None:
        return factories.report(Verdict.TEST_FAILED)
    report = factories.report()
    facts = report.measurements[0].model_dump()
    measured = [
        MeasurementReport(**facts | {"role": role, "case": case, "median_ms": ms, "runs_ms": [ms]})
        for case, ratio in zip("ab", found, strict=True)
        for role, ms in ((Role.BASELINE, 12.0), (Role.CANDIDATE, 12.0 / ratio))
    ]
    return report.model_copy(update={"measurements": measured})


@pytest.fixture
def place(cast: factories.Cast) -> ReleaseTrack:
    made = factories.release(2, publish=False)
    made.problems.update(cases=[Case(name=name).model_dump(mode="json") for name in "ab"])
    releases.publish(made)
    track = factories.offer(made)
    for entrant, problems in ((cast.entrant, None), (cast.strangers_entrant, ["Shell/0"])):
        factories.judged_submission(entrant, made, track, _report, n_samples=2, task_ids=problems)
    rank.rank_touched()
    return ReleaseTrack.objects.get()


def test_leaving_a_problem_out_pays_as_its_trap_says(client: Any, place: ReleaseTrack) -> None:
    scores = {row.entrant.slug: row.estimates for row in Standing.objects.select_related("entrant")}
    assert scores["alpha"]["author_score"] == {"value": pytest.approx(1.85), "problems": 2}
    assert scores["alpha"]["win_rate"] == {"value": pytest.approx(0.75), "problems": 2}
    assert scores["strangers-model"]["author_score"] == {"value": pytest.approx(2.0), "problems": 1}
    assert rank.rebuild(check=True) == []


def test_a_board_shows_them_when_asked_with_their_traps_and_never_ranks_by_them(
    client: Any, place: ReleaseTrack
) -> None:
    path = reverse("board", args=[place.release.slug])
    assert "Author score" not in markup(client.get(path)).split("<table")[1].split("</table>")[0]
    shown = markup(client.get(f"{path}?theirs=1"))
    for metric in THEIRS:
        assert f">{metric.title}" in shown
        assert f"Trap: {metric.trap}" in shown
    assert not set(THEIRS) & set(NAMED)
    told = client.get(f"/api/v1/releases/{place.release.slug}/board?theirs=1").json()
    rows = {row["entrant"]: row for row in told["standings"]}
    assert rows["strangers-model"]["author_score"] > rows["alpha"]["author_score"]
    assert rows["alpha"]["rank"] == 1, "it passed more"
    assert {column["key"] for column in told["columns"] if column["trap"]} >= {"author_score", "win_rate", "fast_1"}


def test_a_board_of_some_problems_averages_over_those_attempted_among_them(client: Any, place: ReleaseTrack) -> None:
    path = reverse("board_json", args=[place.release.slug])
    rows = client.get(f"{path}?theirs=1&groups=sums").json()["rows"]
    assert {row["entrant"]: row["author_score"] for row in rows} == {
        "alpha": pytest.approx(1.2), "strangers-model": None,
    }  # fmt: skip
