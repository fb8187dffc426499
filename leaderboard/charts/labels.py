"""Places the names of points, so that on a wide page none lies on another name, on a point or on an error bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_WIDTH_PX, _HEIGHT_PX = 1100.0, 320.0
"""The frame of a figure on a wide page. What still collides on a narrow one, the page's script leaves out."""
_LETTER_PX, _LINE_PX, _POINT_PX = 7.0, 16.0, 7.0
"""A letter's width, a name's height, and half a point's width."""
_STROKE_PX = 2.0
_SIDES = (
    "top left", "bottom left", "top right", "bottom right", "middle left", "middle right", "top center",
    "bottom center",
)  # fmt: skip
Stroke = tuple[tuple[float, float], tuple[float, float]]
"""The lower left and the upper right end of a level or upright stroke, in shares of the frame."""


@dataclass(frozen=True)
class _Box:
    left: float
    right: float
    low: float
    high: float

    def meets(self, other: "_Box") -> bool:
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high


def label_sides(
    names: Sequence[str], points: Sequence[tuple[float, float]], line: Sequence[tuple[float, float]] = (),
    bars: Sequence[Stroke] = (),
) -> list[str]:  # fmt: skip
    """Plotly's `textposition` of each name; points are in shares of the frame, 0 to 1, and earlier ones come first.

    `line` has the corners of level and upright strokes that no name may cross, and `bars` are error bars, the points'
    own too. A name for which no side is free gets its first side; the page's script leaves it out.
    """
    centres = [(x * _WIDTH_PX, y * _HEIGHT_PX) for x, y in points]
    taken = [_Box(x - _POINT_PX, x + _POINT_PX, y - _POINT_PX, y + _POINT_PX) for x, y in centres]
    corners = [(x * _WIDTH_PX, y * _HEIGHT_PX) for x, y in line]
    taken += [_Box(x, right, low, y) for (x, low), (right, y) in pairwise(corners)]
    taken += [_stroke(*bar) for bar in bars]
    sides = []
    for name, centre in zip(names, centres, strict=True):
        boxes = {side: _box(name, centre, side) for side in _SIDES}
        side = next((one for one, box in boxes.items() if _is_free(box, taken)), _SIDES[0])
        taken.append(boxes[side])
        sides.append(side)
    return sides


def _stroke(start: tuple[float, float], end: tuple[float, float]) -> _Box:
    (left, low), (right, high) = ((x * _WIDTH_PX, y * _HEIGHT_PX) for x, y in (start, end))
    return _Box(left - _STROKE_PX, right + _STROKE_PX, low - _STROKE_PX, high + _STROKE_PX)


def _box(name: str, centre: tuple[float, float], side: str) -> _Box:
    x, y = centre
    width, (level, hand) = len(name) * _LETTER_PX, side.split()
    left = {"left": x - _POINT_PX - width, "right": x + _POINT_PX, "center": x - width / 2}[hand]
    low = {"top": y + _POINT_PX, "middle": y - _LINE_PX / 2, "bottom": y - _POINT_PX - _LINE_PX}[level]
    return _Box(left, left + width, low, low + _LINE_PX)


def _is_free(box: _Box, taken: Sequence[_Box]) -> bool:
    inside = box.left >= 0 and box.right <= _WIDTH_PX and box.low >= 0 and box.high <= _HEIGHT_PX
    return inside and not any(box.meets(one) for one in taken)
