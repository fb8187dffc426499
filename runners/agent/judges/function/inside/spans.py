"""Kernel spans in a contestant's process: ctypes around libpodium_cupti (profilers/native/spans.cpp)."""

import ctypes
import os
import sys


class Spans:
    """Records the device's work of this process. Raises OSError or AttributeError if the library is of no use here."""

    def __init__(self, path: str) -> None:
        # Torch may have loaded a CUPTI. The loader shares it if it has the same major version; else DEEPBIND keeps the
        # two apart.
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
        library.podium_spans_end.restype = ctypes.c_float
        self._begin, self._end = library.podium_spans_begin, library.podium_spans_end
        if not library.podium_spans_open():
            raise OSError("CUPTI does not record this process")

    def begin(self) -> None:
        """Forget the work so far. The device must be done with it."""
        self._begin()

    def end_ms(self) -> float:
        """From the start of the first kernel, copy or memset since the beginning to the end of the last; 0 if it is not
        known. The device must be done."""
        return float(self._end())


def opened_spans(path: str) -> Spans | None:
    """None if the path is empty, or spans cannot be had."""
    try:
        return Spans(path) if path else None
    except (OSError, AttributeError) as error:
        print("no kernel spans:", error, file=sys.stderr)  # noqa: T201 - of the contestant's process
        return None
