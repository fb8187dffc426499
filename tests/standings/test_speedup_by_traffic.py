"""Weights of cases: shown beside the plain speedup, ranking where the release says so, no part of the grading."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.actions.curation import curate
from leaderboard.models import ProblemScore, Standing
from leaderboard.standings import rank, rankable
from problems.actions import releases
from problems.actions.releases import PackUnfit
from problems.models import Release
from problems.spec.case import Case
from runners.wire.protocol import MeasurementReport, Role
from scoring.metrics import SPEEDUP, TRAFFIC_SPEEDUP
from tests import factories, packs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
RATIOS = {"alpha": (8.0, 2.0), "strangers-model": (2.0, 7.0)}
"""Baseline ÷ own in the cases a and b: alpha leads by the plain mean, the other one where b has the traffic."""


def _report(evaluation: Any) -> Any:
    report = factories.report()
    facts = report.measurements[0].model_dump()
    measured = [
        MeasurementReport(**facts | {"role": role, "case": case, "median_ms": ms, "runs_ms": [ms]})
        for case, ratio in zip("ab", RATIOS[evaluation.submission.entrant.slug], strict=True)
        for role, ms in ((Role.BASELINE, 12.0), (Role.CANDIDATE, 12.0 / ratio))
    ]
    return report.model_copy(update={"measurements": measured})


def board(cast: factories.Cast, weights: Any, metric: str = "speedup") -> Release:
    made = factories.release(2, publish=False)
    made.problems.update(cases=[Case(name=name).model_dump(mode="json") for name in "ab"])
    made.case_weights, made.primary_metric = weights, metric
    made.save()
    releases.publish(made)
    track = factories.offer(made)
    for entrant in (cast.entrant, cast.strangers_entrant):
        factories.judged_submission(entrant, made, track, _report, n_samples=1)
    return made


def figures(name: str) -> dict[str, tuple[float | None, ...]]:
    return {row.entrant.slug: row.figure(name) for row in Standing.objects.select_related("entrant")}


def ranks() -> dict[str, int | None]:
    return dict(Standing.objects.values_list("entrant__slug", "rank"))


BY_B = {"Shell/0": {"a": 1, "b": 9}, "Shell/1": {"a": 1, "b": 9}}


def test_weights_are_shown_beside_the_plain_mean_which_ranks(client: Any, cast: factories.Cast) -> None:
    made = board(cast, BY_B)
    assert figures("speedup")["alpha"][0] == pytest.approx(4.0)
    assert figures("traffic_speedup")["alpha"][0] == pytest.approx((8.0 * 2.0**9) ** 0.1)
    assert figures("traffic_speedup")["strangers-model"][0] == pytest.approx((2.0 * 7.0**9) ** 0.1)
    assert ranks() == {"alpha": 1, "strangers-model": 2}
    assert rank.rebuild(check=True) == []
    told = client.get(reverse("board_json", args=[made.slug])).json()
    keys = [column["key"] for column in told["columns"]]
    assert keys[0] == SPEEDUP.name, "it ranks"
    assert TRAFFIC_SPEEDUP.name in keys


def test_a_release_may_rank_by_them(cast: factories.Cast) -> None:
    board(cast, BY_B, "traffic_speedup")
    assert ranks() == {"alpha": 2, "strangers-model": 1}


@pytest.mark.parametrize("weights", [{"Shell/0": {"a": 3, "b": 3}}, {"Shell/1": {"b": 0.01}}])
def test_equal_weights_change_nothing_on_a_board(cast: factories.Cast, weights: Any) -> None:
    board(cast, weights)
    plain, weighted = figures("speedup"), figures("traffic_speedup")
    for slug, found in weighted.items():
        assert found == pytest.approx(plain[slug]), slug


def test_without_weights_there_is_no_such_column(client: Any, cast: factories.Cast) -> None:
    made = board(cast, {})
    told = client.get(reverse("board_json", args=[made.slug])).json()
    assert TRAFFIC_SPEEDUP.name not in {column["key"] for column in told["columns"]}
    score = ProblemScore.objects.first()
    assert score.traffic_ln_sum == score.ln_speedup_sum


def _pack(**metadata: Any) -> Any:
    return packs.problem_pack([factories.example_problem(n) for n in range(2)], **metadata)


def test_weights_are_no_part_of_the_grading(db: Any) -> None:
    """A pack with other weights is a revision whose results all still hold, and it is exported with them."""
    first = releases.import_release(_pack())
    weights = {"Shell/0": {"": 2.0}}
    report = releases.import_release(_pack(case_weights=weights))
    assert (report.created, report.release.revision, report.release.case_weights) == (True, 2, weights)
    assert report.release.digest == first.release.digest
    assert sorted(report.still_holding) == ["Shell/0", "Shell/1"]
    assert not releases.import_release(_pack(case_weights=weights)).created
    assert b"case_weights" not in _pack().metadata.to_bytes()
    assert b"case_weights" in _pack(case_weights=weights).metadata.to_bytes()


def test_a_pack_that_weights_an_unknown_case_is_refused(db: Any) -> None:
    with pytest.raises(PackUnfit) as refused:
        releases.import_release(_pack(case_weights={"Shell/0": {"no such": 1}}))
    assert "`case_weights`: has weights of case 'no such' of 'Shell/0'" in str(refused.value)


def test_a_release_without_weights_cannot_rank_by_them(cast: factories.Cast) -> None:
    made = board(cast, {}, "speedup")
    made.primary_metric = "traffic_speedup"
    (fault,) = rankable.faults(made)
    assert "it needs weights of cases by their traffic" in fault


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"Shell/9": {"a": 1}}, "has weights of task 'Shell/9', which the release does not have"),
        ({"Shell/0": {"c": 1}}, "has weights of case 'c' of 'Shell/0'"),
        ({"Shell/0": {"a": -1}}, "greater than or equal to"),
        ({"Shell/0": {}}, "at least 1 item"),
        ({"Shell/0": {"a": "much"}}, "valid number"),
        ([1], "valid dictionary"),
    ],
)
def test_bad_weights_are_refused_in_words(cast: factories.Cast, weights: Any, words: str) -> None:
    made = board(cast, {})
    values = {
        name: getattr(made, name) for name in ("primary_metric", "timing_policy", "ks", "weights", "weights_note")
    }
    with pytest.raises(releases.ReleaseRefused, match=words.replace("(", r"\(")):
        releases.correct_ranking(made, values | {"case_weights": weights}, "Traffic was counted.")


def test_a_correction_of_weights_counts_every_sample_anew(cast: factories.Cast) -> None:
    made = board(cast, BY_B)
    made.weights = {"nope": 1}  # a fault, as one stored past every check: only then may the ranking be corrected
    values = {
        "primary_metric": "traffic_speedup", "timing_policy": made.timing_policy, "ks": made.ks, "weights": {},
        "weights_note": "", "case_weights": {"Shell/0": {"a": 9, "b": 1}, "Shell/1": {"a": 9, "b": 1}},
    }  # fmt: skip
    curate.correct_ranking(cast.organiser, made, values, "The traffic of the cases was swapped.")
    rank.rank_touched()
    assert figures("traffic_speedup")["alpha"][0] == pytest.approx((8.0**9 * 2.0) ** 0.1)
    assert rank.rebuild(check=True) == []
