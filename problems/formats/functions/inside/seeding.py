"""Mixes a call's seed into every seed that a definition sets, so that a fixed seed gives fresh data in every call."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .arrays import Library


class CallSeed:
    """The seed of the current call; None outside of calls."""

    current: bytes | None = None


def mixed(own: object) -> int:
    """A seed of 63 bits from a definition's own seed and that of the current call, if there is one."""
    return int.from_bytes(hashlib.sha256((CallSeed.current or b"") + repr(own).encode()).digest()[:8], "big") >> 1


def seeded(own: object) -> Any:
    """A definition's own seed as it is outside of calls, else mixed. No seed at all is one, too."""
    return own if CallSeed.current is None else mixed(own)


class MixedRandom(random.Random):
    """`random.Random` whose seeds are mixed."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(seeded(a), version)


@contextmanager
def mixing(library: Library) -> Iterator[None]:
    """Replace the functions that set seeds while the definition is loaded or called."""
    replaced = [(place, name, getattr(place, name)) for place, name, _ in _replacements(library)]
    try:
        for place, name, new in _replacements(library):
            setattr(place, name, new)
        with library.placing():
            yield
    finally:
        for place, name, old in replaced:
            setattr(place, name, old)


@contextmanager
def call(library: Library, seed: int, case: int) -> Iterator[None]:
    """One call: its seed is mixed into all others, and the global generators begin from it."""
    before = CallSeed.current
    with mixing(library):
        CallSeed.current = hashlib.sha256(f"{seed} {case}".encode()).digest()
        try:
            random.seed(mixed("global"))
            library.seed_globally(mixed("global"))
            yield
        finally:
            CallSeed.current = before


def _replacements(library: Library) -> list[tuple[Any, str, Any]]:
    plain = random.Random.seed
    shared = random._inst

    def seed(a: Any = None, version: int = 2) -> None:
        plain(shared, seeded(a), version)

    return [(random, "Random", MixedRandom), (random, "seed", seed), *library.seed_replacements(seeded)]
