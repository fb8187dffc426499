"""A pack's statements on how its release ranks."""

from typing import Any

import pytest

from problems.spec.errors import RecordError
from problems.spec.pack import parse_problem_metadata
from problems.spec.ranking import offered_ks, weights_of_problems


def metadata(**fields: Any) -> dict[str, Any]:
    return {"release": "spring", "total_count": 0, "profile": "podium/1", **fields}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"primary_metric": "best"}, "field `primary_metric` is no metric; use pass@k"),
        ({"primary_metric": "pass@1000"}, "field `primary_metric` is no metric"),
        ({"timing_policy": "slow"}, "field `timing_policy` is no timing policy; use quick or ranked"),
        ({"ks": [0]}, "field `ks.0`: input should be greater than or equal to 1"),
        ({"ks": [1, "x"]}, "field `ks.1`: input should be a valid integer"),
        ({"ks": [101]}, "less than or equal to 100"),
        ({"ks": [2, 2]}, "field `ks` names a k twice"),
        ({"ks": list(range(1, 12))}, "at most 10"),
        ({"weights": {"a": 0}}, "field `weights.a`: input should be greater than or equal to 0.000001"),
        ({"weights": {"a": 1e7}}, "less than or equal to 1000000"),
        ({"weights": {"a": "heavy"}}, "field `weights.a`: input should be a valid number"),
        ({"weights": ["a"]}, "field `weights`"),
    ],
)
def test_a_bad_value_is_refused_by_name(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_problem_metadata(metadata(**fields))
    assert words in str(refused.value)


def test_what_a_pack_does_not_say_stays_unsaid() -> None:
    found = parse_problem_metadata(metadata())
    assert (found.primary_metric, found.timing_policy, found.ks, found.weights) == ("", "", [], {})
    assert parse_problem_metadata(found.to_bytes()) == found


def test_ks_come_in_order() -> None:
    assert parse_problem_metadata(metadata(ks=[10, 2])).ks == [2, 10]


@pytest.mark.parametrize(
    ("stored", "metric", "ks"),
    [([5], "pass@1", [1, 5]), ([], "pass@10", [1, 10]), ([0, "x", True, 3], "odd", [1, 3]), ("x", "speedup", [1])],
)
def test_a_board_offers_the_valid_ks_with_1_and_the_primary_metrics(stored: Any, metric: str, ks: list[int]) -> None:
    assert offered_ks(stored, metric) == ks


def test_weights_have_a_mean_of_1_over_problems() -> None:
    assert weights_of_problems({"a": 1.0, "b": 4.0}, ["a", "a", "b"]) == [0.5, 0.5, 2.0]
    with pytest.raises(RecordError, match="none for the groups b"):
        weights_of_problems({"a": 1.0}, ["a", "b"])
