"""The registry of metrics: names, and what each one needs."""

import pytest

from scoring.metrics import LARGEST_K, NAMED, Need, UnknownMetric, metric_named, pass_at, registry


@pytest.mark.parametrize("metric", [*NAMED, pass_at(1), pass_at(10), pass_at(LARGEST_K)], ids=lambda one: one.name)
def test_a_metric_is_found_by_its_name(metric) -> None:
    assert metric_named(metric.name) == metric


@pytest.mark.parametrize(
    "name", ["", "pass@0", "pass@01", "pass@101", "pass@x", "pass@1 ", "PASS@1", "pass@１", "speed"]
)
def test_another_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownMetric, match="use pass@k with a k from 1 to 100, or speedup, coding, weighted"):
        metric_named(name)


def test_only_pass_at_1_needs_nothing() -> None:
    assert [metric.name for metric in registry() if not metric.needs] == ["pass@1"]
    assert pass_at(10).needs == {Need.SAMPLES}
    assert metric_named("roofline").sorted_needs == [Need.TIMES, Need.WORK, Need.PEAKS]
    assert metric_named("sol_score").sorted_needs == [Need.TIMES, Need.WORK, Need.FASTEST_PEAKS]


def test_the_registry_shows_two_of_pass_at_k_and_each_other_metric_once() -> None:
    assert [metric.name for metric in registry()] == ["pass@1", "pass@2", *(metric.name for metric in NAMED)]


@pytest.mark.parametrize("k", [0, LARGEST_K + 1])
def test_a_k_out_of_range_is_refused_in_words(k: int) -> None:
    with pytest.raises(ValueError, match=f"a k from 1 to {LARGEST_K}, not {k}"):
        pass_at(k)
