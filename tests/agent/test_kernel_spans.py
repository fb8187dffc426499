"""Kernel spans by the real library over a stand-in for CUPTI (fake_cupti.cpp), which does not work without a GPU.

What CUPTI itself delivers is tried in tests/gpu/test_kernel_spans_on_device.py.
"""

import ctypes
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.agent.judges.function.inside.spans import Spans, opened_spans
from runners.agent.profilers.cupti_library import Library
from tests.agent.cupti_stand_in import library_over_stand_in
from tests.agent.machine import temporary_folder
from tests.requirements import requires

pytestmark = requires("nvcc")
COPY, FILL, RUNTIME_CALL, KERNEL = 1, 2, 5, 10
"""Kinds of records, as CUPTI numbers them."""


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with temporary_folder() as folder:
        yield library_over_stand_in(Path(folder))


@pytest.fixture
def spans(library: Library) -> Spans:
    opened = opened_spans(str(library.path))
    assert opened is not None
    return opened


@pytest.fixture
def record(library: Library) -> Callable[[int, float, float], None]:
    """The device does work of a kind in so many milliseconds from now, and is done with it in so many."""
    fake = ctypes.CDLL(str(library.path.parent / "libcupti.so.13"))

    def put(kind: int, start_in_ms: float, end_in_ms: float) -> None:
        now = time.monotonic_ns()
        times = [ctypes.c_uint64(now + round(ms * 1e6)) for ms in (start_in_ms, end_in_ms)]
        fake.fake_record(ctypes.c_uint32(kind), *times)

    return put


Record = Callable[[int, float, float], None]


def test_a_span_reaches_from_the_first_start_to_the_last_end(spans: Spans, record: Record) -> None:
    spans.begin()
    record(KERNEL, -8, -6)
    record(FILL, -9, -8.5)
    record(COPY, -3, -2)
    record(RUNTIME_CALL, -20, -1)
    assert spans.end_ms() == pytest.approx(7.0, abs=0.5)


def test_work_before_a_call_does_not_count(spans: Spans, record: Record) -> None:
    record(KERNEL, -50, -40)
    spans.begin()
    record(KERNEL, -2, -1)
    assert spans.end_ms() == pytest.approx(1.0, abs=0.1)
    spans.begin()
    record(KERNEL, -4, -1)
    assert spans.end_ms() == pytest.approx(3.0, abs=0.1)


def test_a_record_that_is_completed_a_little_later_is_waited_for(spans: Spans, record: Record) -> None:
    spans.begin()
    record(KERNEL, -1, 4)
    assert spans.end_ms() == pytest.approx(5.0, abs=0.1)


def test_a_record_that_is_never_completed_makes_the_span_unknown(spans: Spans, record: Record) -> None:
    spans.begin()
    record(KERNEL, -2, -1)
    record(KERNEL, -1, 10_000)
    assert spans.end_ms() == 0
    spans.begin()
    record(KERNEL, -2, -1)
    assert spans.end_ms() > 0, "the next call has its own"


def test_a_call_without_work_on_the_device_has_no_span(spans: Spans) -> None:
    spans.begin()
    assert spans.end_ms() == 0


@pytest.mark.parametrize("path", ["", "/nowhere/libpodium_cupti.so", "libc.so.6"])
def test_without_the_library_there_are_no_spans(path: str) -> None:
    assert opened_spans(path) is None
