"""Parts of every figure: its rows, its parts, and the figure object that a description makes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scoring.metrics import Metric, pass_at

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

Spec = dict[str, Any]
"""A figure as plotly.js takes it: `data` and `layout`."""
GREY = "#8b919b"
"""Readable on the light and the dark page."""
MAX_ENTRANTS = 20
"""Lines and bars beyond this many cannot be told apart; the table beside the figure has more."""

PASS_AT_1 = pass_at(1)
Triple = tuple[float | None, float | None, float | None]
"""A figure and the ends of its interval."""
NO_FIGURE: Triple = (None, None, None)


@dataclass(frozen=True)
class BoardRow:
    """One entrant's figures for a chart; shares are 0 to 1, None where a figure does not exist."""

    entrant_id: int
    name: str
    is_baseline: bool
    pass_at_k: dict[str, list[float | None]]
    """k → [value, low, high]."""
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    fast_p: list[float | None]
    coding: Triple = NO_FIGURE
    weighted: Triple = NO_FIGURE
    primary: Triple = NO_FIGURE
    """The figure that the release ranks by."""
    metric: Metric = PASS_AT_1
    """The metric of `primary`."""
    usd_per_sample: float | None = None
    """Declared by the entrant."""
    groups: Mapping[str, float | None] = field(default_factory=dict)
    """Group → pass@1; None where no problem of it counts."""
    slug: str = ""
    """The entrant's, for links."""


@dataclass(frozen=True)
class Table:
    """A figure's numbers in words, for those who cannot see it or want to copy them."""

    header: list[str]
    rows: list[list[str]]


Row = TypeVar("Row")


@dataclass(frozen=True)
class Chart(Generic[Row]):
    """A figure of rows of one kind."""

    name: str
    title: str
    caption: str | Callable[[Sequence[Row]], str]
    spec: Callable[[Sequence[Row]], Spec]
    table: Callable[[Sequence[Row]], Table]
    is_shown: Callable[[Sequence[Row]], bool] = bool
    """Whether a page of these rows has the figure."""

    def words(self, rows: Sequence[Row]) -> str:
        """The caption of the figure of these rows."""
        return self.caption if isinstance(self.caption, str) else self.caption(rows)


def as_figure(spec: Spec) -> "Figure":
    """The plotly figure of a description; plotly is imported only here, since a page never needs it."""
    from plotly.graph_objs._figure import Figure

    return Figure(spec)  # type: ignore[no-untyped-call]


def plain(name: str) -> str:
    """A name as plotly may show it: its own small markup must not come from a name."""
    return name.replace("<", "‹").replace(">", "›")


def axis(title: str, **more: Any) -> Spec:
    return {"title": {"text": title}, "automargin": True, "zeroline": False, **more}


def layout(xaxis: Spec, yaxis: Spec, **more: Any) -> Spec:
    """Colours of text and grid are left out: the page's script takes them from the theme in use."""
    return {
        "xaxis": xaxis,
        "yaxis": yaxis,
        "margin": {"l": 60, "r": 20, "t": 40, "b": 50},
        "hovermode": "closest",
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        **more,
    }


def names_axis(names: Sequence[str]) -> Spec:
    """An axis of level lines, the first on top. The drawing's places are 0, 1, …, so two equal names stay two lines.

    A name with a line break takes two lines of text.
    """
    return axis(
        "", tickvals=list(range(len(names))), ticktext=[plain(name).replace("\n", "<br>") for name in names],
        range=[len(names) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip


def days_axis(times: Sequence[datetime]) -> Spec:
    """An axis of days with room beside the first and the last; a label that would leave the frame is left out."""
    if not times:
        return axis("Day (UTC)", type="date")
    room = max((max(times) - min(times)) * 0.06, timedelta(days=2))
    ends = [(min(times) - room).isoformat(), (max(times) + room).isoformat()]
    return axis("Day (UTC)", type="date", range=ends, nticks=5, ticklabeloverflow="hide past domain")


def lines_height(n_lines: int, line_px: int = 26) -> int:
    """The height in pixels of a figure of so many level lines, its axis included."""
    return 110 + line_px * max(2, n_lines)


def margins(
    values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None], colour: str = GREY
) -> Spec:
    """Asymmetric error bars; none where an interval is missing."""
    up = [0.0 if v is None or h is None else max(0.0, h - v) for v, h in zip(values, highs, strict=True)]
    down = [0.0 if v is None or low is None else max(0.0, v - low) for v, low in zip(values, lows, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": up,
        "arrayminus": down,
        "thickness": 1.2,
        "width": 3,
        "color": colour,
    }
