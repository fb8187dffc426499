"""A CUDA solution's kernels, as its build log and its listing describe them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.results.logs import log_text
from runners.wire.protocol import BUILD_STEP

SHOWN_CHARACTERS = 256 * 1024
"""Limit of each part on a page; the download has all."""
MAX_KERNELS = 200
_TITLES = {"sass": "SASS", "ptx": "PTX"}
_PART = re.compile(r"^== (sass|ptx)\n", re.MULTILINE)
_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_NUMBER = r"(?<!\d)(\d{1,9})"
"""Bounded: a build may print any number of digits."""
_PROPERTIES = re.compile(rf"{_NUMBER} bytes stack frame, {_NUMBER} bytes spill stores, {_NUMBER} bytes spill loads")
_REGISTERS = re.compile(rf"Used {_NUMBER} registers")
_SHARED = re.compile(rf"{_NUMBER} bytes smem")
_MANGLED = re.compile(rf"_Z(?:N?L?){_NUMBER}")


@dataclass(frozen=True)
class Kernel:
    """The report of ptxas on one kernel. Sizes are in bytes a thread; `shared_bytes` is static, a block."""

    symbol: str
    arch: str
    registers: int
    stack_bytes: int
    spill_stores_bytes: int
    spill_loads_bytes: int
    shared_bytes: int

    @property
    def name(self) -> str:
        """The first name in a mangled symbol, else the symbol."""
        found = _MANGLED.match(self.symbol)
        return self.symbol[found.end() :][: int(found[1])] if found else self.symbol

    @property
    def spills(self) -> bool:
        return self.spill_stores_bytes > 0 or self.spill_loads_bytes > 0


@dataclass(frozen=True)
class ListingPart:
    """SASS or PTX, as far as a page shows it."""

    title: str
    text: str
    is_cut: bool


def build_log(steps: Sequence[Mapping[str, Any]]) -> str:
    """The text of the build step's log; "" if there is none."""
    return next((log_text(step.get("log") or {}) for step in steps if step["name"] == BUILD_STEP), "")


def kernels_of(log: str) -> list[Kernel]:
    """The kernels that ptxas describes in a build log under `-v`, at most MAX_KERNELS of them."""
    _, *rest = _ENTRY.split(log, maxsplit=MAX_KERNELS)
    found = [_kernel(*one) for one in zip(rest[::3], rest[1::3], rest[2::3], strict=True)]
    return [one for one in found if one]


def _kernel(symbol: str, arch: str, words: str) -> Kernel | None:
    properties, registers, shared = _PROPERTIES.search(words), _REGISTERS.search(words), _SHARED.search(words)
    if not properties or not registers:
        return None
    stack, stores, loads = map(int, properties.groups())
    return Kernel(symbol, arch, int(registers[1]), stack, stores, loads, int(shared[1]) if shared else 0)


def listing_text(ref: Mapping[str, Any]) -> str:
    """The whole listing; words in its place if it cannot be read."""
    return log_text({"blob": ref})


def parts_of(text: str) -> list[ListingPart]:
    """The listing by its parts; text without any is one part."""
    _, *rest = _PART.split(text)
    if not rest:
        return [ListingPart("Listing", text[:SHOWN_CHARACTERS], len(text) > SHOWN_CHARACTERS)] if text else []
    return [
        ListingPart(_TITLES[name], words[:SHOWN_CHARACTERS].strip("\n"), len(words) > SHOWN_CHARACTERS)
        for name, words in zip(rest[::2], rest[1::2], strict=True)
    ]
