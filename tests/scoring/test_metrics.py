"""The registry of metrics: names, and what each one needs."""

import pytest

from scoring.metrics import (
    LARGEST_K,
    NAMED,
    SHOWN,
    SHOWN_ONLY,
    Metric,
    Need,
    UnknownMetric,
    metric_named,
    pass_at,
    registry,
    shown_metric,
)


@pytest.mark.parametrize("metric", [*NAMED, pass_at(1), pass_at(10), pass_at(LARGEST_K)], ids=lambda one: one.name)
def test_a_metric_is_found_by_its_name(metric) -> None:
    assert metric_named(metric.name) == metric


@pytest.mark.parametrize(
    "name", ["", "pass@0", "pass@01", "pass@101", "pass@x", "pass@1 ", "PASS@1", "pass@１", "speed"]
)
def test_another_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(
        UnknownMetric, match="use pass@k with a k from 1 to 100, or speedup, traffic_speedup, coding, weighted"
    ):
        metric_named(name)


def test_only_pass_at_1_needs_nothing() -> None:
    assert [metric.name for metric in registry() if not metric.needs] == ["pass@1"]
    assert pass_at(10).needs == {Need.SAMPLES}
    assert metric_named("roofline").sorted_needs == [Need.TIMES, Need.WORK, Need.PEAKS]
    assert metric_named("sol_score").sorted_needs == [Need.TIMES, Need.WORK, Need.FASTEST_PEAKS]


def test_the_registry_shows_two_of_pass_at_k_and_each_other_metric_once() -> None:
    assert [metric.name for metric in registry()] == ["pass@1", "pass@2", *(metric.name for metric in NAMED)]


def test_every_metric_that_can_rank_is_shown_and_the_others_cannot_be_chosen() -> None:
    assert set(NAMED) < set(SHOWN)
    assert {metric.name for metric in SHOWN_ONLY} >= {"correct_speedup", "held_out_speedup", "fast_1"}
    for metric in SHOWN_ONLY:
        assert shown_metric(metric.name) == metric
        with pytest.raises(UnknownMetric):
            metric_named(metric.name)


@pytest.mark.parametrize("metric", SHOWN, ids=lambda one: one.name)
def test_a_metric_has_its_words_and_a_reason_where_it_has_no_interval(metric: Metric) -> None:
    assert metric.title
    assert metric.definition.endswith(".")
    assert not metric.no_interval or metric.no_interval.endswith(".")


@pytest.mark.parametrize("k", [0, LARGEST_K + 1])
def test_a_k_out_of_range_is_refused_in_words(k: int) -> None:
    with pytest.raises(ValueError, match=f"a k from 1 to {LARGEST_K}, not {k}"):
        pass_at(k)
