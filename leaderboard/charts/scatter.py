"""The common parts of charts with one point for each entrant."""

from collections.abc import Sequence

from leaderboard.charts.chart import GREY, BoardRow, Spec, plain
from leaderboard.charts.colours import colour_of

MAX_LABELS = 25
"""From one more on, only the first `FIRST_LABELS` points and the front are named, and the others are fainter."""
FIRST_LABELS = 10
_FAINT = "70"


def faint(row: BoardRow) -> str:
    """The entrant's colour, fainter: for whiskers that names stand on."""
    return f"{colour_of(row.entrant_id)}{_FAINT}"


def entrant_point(
    row: BoardRow, x: float | None, y: float | None, side: str, *, named: bool, hover: str, **errors: Spec
) -> Spec:
    """The entrant at (x, y), faint without a name. `hover` follows its name; `errors` are error_x and error_y."""
    shape = "diamond" if row.is_baseline else "circle"
    marker = {"size": 11 if named else 7, "color": colour_of(row.entrant_id), "symbol": shape}
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "name": plain(row.name),
        "x": [x],
        "y": [y],
        "text": [plain(row.name)],
        "textposition": side,
        **(errors if named else {}),
        "marker": marker if named else {**marker, "opacity": 0.5},
        "hovertemplate": f"%{{text}}<br>{hover}<extra></extra>",
    }


def named_points(points: Sequence[tuple[float, float]], front: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether each point is named: all where they are few, else the first ones and those of the front."""
    if len(points) <= MAX_LABELS:
        return [True] * len(points)
    ahead = set(front)
    return [n < FIRST_LABELS or point in ahead for n, point in enumerate(points)]


def dotted_line(name: str, points: Sequence[tuple[float, float]]) -> Spec:
    """A line through the points, such as a Pareto front."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"dash": "dot", "width": 1.5, "color": GREY},
        "hoverinfo": "skip",
    }


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The (x, y) that no other point reaches or beats on both axes, from left to right."""
    front: list[tuple[float, float]] = []
    for x, y in sorted(set(points), reverse=True):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front[::-1]
