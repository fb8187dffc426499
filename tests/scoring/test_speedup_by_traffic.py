"""Cases weighted by traffic: equal weights change nothing, a heavier case moves the speedup towards its own."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.rules import RULES
from scoring.sample import TimedCase, by_traffic, counted_if_surely_faster

RATIOS = st.floats(min_value=0.01, max_value=100.0)
CASES = st.lists(
    st.builds(TimedCase, RATIOS, st.floats(min_value=1e-4, max_value=0.5), st.booleans()), min_size=1, max_size=12
)


def named(cases: list[TimedCase]) -> list[tuple[str, TimedCase]]:
    return [(f"case {n}", one) for n, one in enumerate(cases)]


@given(
    CASES,
    st.floats(min_value=1e-6, max_value=1e6),
    st.floats(min_value=0.0, max_value=1.0),
    st.sampled_from(sorted(RULES)),
)
def test_equal_weights_change_nothing(cases: list[TimedCase], weight: float, lost: float, rules: int) -> None:
    """Also where cases without a time took a part of the speedup, and where some cases have no weight."""
    plain = math.exp(math.fsum(math.log(one.ratio) for one in cases) / len(cases) - lost)
    for weights in (
        {name: weight for name, _ in named(cases)},
        {name: weight for name, _ in named(cases)[::2]},
        {"another": weight},
        {},
    ):
        speedup, weighted = by_traffic(plain, named(cases), weights)
        assert speedup == pytest.approx(plain, rel=1e-9)
        assert [one.ranks for one in weighted] == [one.ranks for one in cases]
        for one, before in zip(weighted, cases, strict=True):
            assert (one.ratio, one.arm) == pytest.approx((before.ratio, before.arm), rel=1e-9)
        before, after = RULES[rules].counted(plain, cases), RULES[rules].counted(speedup, weighted)
        assert after == pytest.approx(before, abs=1e-9) or _is_at_the_edge(plain, cases)


def _is_at_the_edge(speedup: float, cases: list[TimedCase]) -> bool:
    """Whether the last digit decides if the sample is surely faster."""
    wider, narrower = ([TimedCase(one.ratio, one.arm * by, one.ranks) for one in cases] for by in (1.000001, 0.999999))
    return counted_if_surely_faster(speedup, wider) != counted_if_surely_faster(speedup, narrower)


@given(CASES, st.data())
def test_the_scale_of_weights_does_not_matter(cases: list[TimedCase], data: st.DataObject) -> None:
    weights = {name: data.draw(st.floats(min_value=0.01, max_value=100.0)) for name, _ in named(cases)}
    first, _ = by_traffic(1.0, named(cases), weights)
    again, _ = by_traffic(1.0, named(cases), {name: 7 * weight for name, weight in weights.items()})
    assert again == pytest.approx(first, rel=1e-9)


def test_the_weighted_speedup_is_the_weighted_geometric_mean() -> None:
    cases = named([TimedCase(8.0, 0.01), TimedCase(2.0, 0.01)])
    speedup, weighted = by_traffic(4.0, cases, {"case 0": 1, "case 1": 3})
    assert speedup == pytest.approx((8.0 * 2.0**3) ** 0.25)
    assert counted_if_surely_faster(speedup, weighted) == pytest.approx(math.log(speedup))


def test_a_heavy_case_that_is_not_surely_faster_decides() -> None:
    cases = named([TimedCase(2.0, 0.01), TimedCase(1.05, 0.2)])
    plain = math.sqrt(2.0 * 1.05)
    assert counted_if_surely_faster(plain, [one for _, one in cases]) > 0
    assert counted_if_surely_faster(*by_traffic(plain, cases, {"case 0": 1, "case 1": 99})) == 0.0


def test_one_case_may_weigh_as_much_as_all_of_many() -> None:
    cases = named([TimedCase(1e9), *[TimedCase(1.0)] * 199])
    weights = {name: 1e6 if name == "case 0" else 1e-6 for name, _ in cases}
    speedup, weighted = by_traffic(1.1, cases, weights)
    assert math.isfinite(speedup)
    assert math.isfinite(counted_if_surely_faster(speedup, weighted))


def test_a_case_without_a_weight_weighs_the_mean() -> None:
    cases = named([TimedCase(8.0), TimedCase(2.0), TimedCase(1.0)])
    speedup, _ = by_traffic(16 ** (1 / 3), cases, {"case 0": 1, "case 1": 3})
    assert speedup == pytest.approx(math.exp((math.log(8.0) + 3 * math.log(2.0) + 2 * 0.0) / 6))
