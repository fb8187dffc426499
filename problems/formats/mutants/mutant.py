"""A mutant: a sample that does less than the problem asks for."""

from collections.abc import Iterable
from dataclasses import dataclass

from problems.spec.solution import SourceFile

LESS_WORK = frozenset({"operation left out", "grid halved", "loop halved", "outputs zeroed"})
"""Kinds that do a part of the work. One that passes may be right; a person sees to that. What is zeroed after a
function's last launch may be no output: the launch may be one that did not run, or others follow elsewhere."""


@dataclass(frozen=True)
class Mutant:
    """One sample made from a problem's reference. `kind` groups mutants, `name` tells which part was changed."""

    kind: str
    name: str
    files: tuple[SourceFile, ...]


def distinct(mutants: Iterable[Mutant], most: int) -> list[Mutant]:
    """The mutants without those of equal files, at most `most`. Kinds take turns, so that none crowds out another."""
    by_kind: dict[str, list[Mutant]] = {}
    seen: set[tuple[tuple[str, str], ...]] = set()
    for one in mutants:
        content = tuple((file.path, file.content) for file in one.files)
        if content not in seen:
            seen.add(content)
            by_kind.setdefault(one.kind, []).append(one)
    kept: list[Mutant] = []
    longest = max(map(len, by_kind.values()), default=0)
    for place in range(longest):
        kept += [members[place] for members in by_kind.values() if place < len(members)]
    return kept[:most]
