"""Bounds from compulsory traffic: what must be moved and written, wherever the amounts come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.traffic import DECLARED_SHARE, SHOWN_SHARE, Copies, Outputs, bandwidth_floor_ms, outputs_of

amounts = st.floats(0, 1e15)
positive = st.floats(1, 1e15)


def test_the_floor_is_a_fourth_of_the_time_at_the_peak() -> None:
    assert bandwidth_floor_ms(4e9, 4000.0) == pytest.approx(0.25)


@pytest.mark.parametrize(("moved_bytes", "peak_gbps"), [(None, 4000.0), (0.0, 4000.0), (4e9, None)])
def test_without_bytes_or_bandwidth_there_is_no_floor(moved_bytes: float | None, peak_gbps: float | None) -> None:
    assert bandwidth_floor_ms(moved_bytes, peak_gbps) is None


@given(positive, st.floats(1, 1e5), st.floats(0.3, 1e3))
def test_no_time_near_the_bandwidth_is_below_the_floor(moved_bytes: float, gbps: float, slowness: float) -> None:
    floor_ms = bandwidth_floor_ms(moved_bytes, gbps)
    assert floor_ms is not None
    assert slowness * moved_bytes / (gbps * 1e6) > floor_ms


def test_declared_outputs_replace_the_shown_ones() -> None:
    shown = Copies(100.0, 50.0)
    assert outputs_of(1000.0, shown) == Outputs(1000.0, are_declared=True)
    assert outputs_of(None, shown) == Outputs(50.0, are_declared=False)
    assert outputs_of(None, Copies(100.0, 0.0)) is None


@given(positive, st.booleans(), amounts)
def test_writing_each_output_once_covers_them_and_more_still_does(
    size_bytes: float, declared: bool, more_bytes: float
) -> None:
    outputs = Outputs(size_bytes, are_declared=declared)
    assert outputs.are_covered_by(size_bytes)
    assert outputs.are_covered_by(size_bytes + more_bytes)
    assert not outputs.are_covered_by(0.0)


@given(positive, st.integers(2, 1000))
def test_writing_in_the_first_of_several_declared_calls_alone_covers_nothing(size_bytes: float, n_calls: int) -> None:
    assert not Outputs(n_calls * size_bytes, are_declared=True).are_covered_by(size_bytes)


def test_shares_leave_room_for_the_unused_ends_of_shown_buffers() -> None:
    assert Outputs(100.0, are_declared=True).least_bytes == pytest.approx(100 * DECLARED_SHARE)
    assert Outputs(100.0, are_declared=False).least_bytes == pytest.approx(100 * SHOWN_SHARE)


@given(amounts, amounts, amounts, amounts)
def test_copies_bound_at_most_what_the_reference_moves(up: float, down: float, read: float, written: float) -> None:
    bounded = Copies(up, down).within(read, written)
    assert bounded.uploaded_bytes <= min(up, read)
    assert bounded.downloaded_bytes <= min(down, written)
    assert Copies(up, down).within(up, down) == Copies(up, down)


@given(positive, st.floats(1, 1e6))
def test_a_naive_reference_raises_no_bound(size_bytes: float, factor: float) -> None:
    """Its traffic exceeds the copies, so that the copies alone bound."""
    copies = Copies(size_bytes, size_bytes)
    assert copies.within(factor * size_bytes, factor * size_bytes) == copies


def test_outputs_are_covered_by_just_enough_bytes() -> None:
    outputs = Outputs(1000.0, are_declared=True)
    assert outputs.are_covered_by(DECLARED_SHARE * 1000.0)
    assert not outputs.are_covered_by(DECLARED_SHARE * 1000.0 - 1)
