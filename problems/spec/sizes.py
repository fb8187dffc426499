"""The sizes that a contestant may choose for a run before submitting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """One size by its parameter's name, with its bounds: those of the problem's own cases."""

    name: str
    least: int
    most: int
    usual: int
    """The value of the smallest case."""


def why_bad_sizes(offered: Sequence[Size], chosen: Mapping[str, int]) -> str:
    """Say why a run may not have the chosen sizes, or return ""."""
    by_name = {one.name: one for one in offered}
    for name, length in chosen.items():
        size = by_name.get(name)
        if size is None:
            known = f"Its sizes are: {', '.join(by_name)}." if by_name else "Its sizes are fixed."
            return f"{name!a} is not a size of this problem. {known}"
        if not size.least <= length <= size.most:
            return f"{name} is {length}; choose {size.least} to {size.most}, the most that a case has."
    return ""
