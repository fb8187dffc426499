"""A measured figure with the limit it must keep, and how to print a list of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BenchFigure:
    """`direction` says what `limit` is: the most ("max") or the least ("min") the value may be; None is no limit."""

    name: str
    value: float
    unit: str
    limit: float | None
    direction: Literal["max", "min"]

    def holds(self) -> bool:
        if self.limit is None:
            return True
        return self.value <= self.limit if self.direction == "max" else self.value >= self.limit


def show(figures: Iterable[BenchFigure]) -> bool:
    """Prints one line a figure and returns whether all hold."""
    held = True
    for figure in figures:
        held = figure.holds() and held
        print(_line(figure))
    return held


def _line(figure: BenchFigure) -> str:
    if figure.limit is None:
        return f"      {figure.name}: {figure.value:.3g} {figure.unit}"
    sign = "≤" if figure.direction == "max" else "≥"
    word = "ok  " if figure.holds() else "MISS"
    return f"{word}  {figure.name}: {figure.value:.3g} {figure.unit} ({sign} {figure.limit:g})"
