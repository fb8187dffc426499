"""Parts of every figure: its rows, its parts, and the figure object that a description makes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from leaderboard.models.boards.estimates import Estimates, Triple, figure_of
from leaderboard.site.numerals import percent, significant
from scoring.metrics import PASS_AT_1, Metric, pass_at, shown_metric

if TYPE_CHECKING:
    from plotly.graph_objs._figure import Figure

Spec = dict[str, Any]
"""A figure as plotly.js takes it: `data` and `layout`."""
GREY = "#8b919b"
"""Readable on the light and the dark page."""
MAX_ENTRANTS = 20
"""Lines and bars beyond this many cannot be told apart; the table beside the figure has more."""


NOTHING: Spec = {"data": [], "layout": {}}
"""The figure of no rows."""


@dataclass(frozen=True)
class BoardRow:
    """One entrant's figures for a chart; shares are 0 to 1, None where a figure does not exist."""

    entrant_id: int
    name: str
    is_baseline: bool
    estimates: Estimates
    """The row's, by name of metric."""
    fast_p: Sequence[float | None] = ()
    metric: Metric = PASS_AT_1
    """The metric that the release ranks by."""
    usd_per_sample: float | None = None
    """Declared by the entrant."""
    groups: Mapping[str, float | None] = field(default_factory=dict)
    """Group → the metric over its problems; None where none counts."""
    pass_groups: Mapping[str, float | None] = field(default_factory=dict)
    """Group → pass@1 over its problems."""
    slug: str = ""
    """The entrant's, for links."""

    def figure(self, metric: Metric) -> Triple:
        """The metric's value and the ends of its interval."""
        return figure_of(self.estimates, metric.name)

    def pass_at(self, k: int) -> Triple:
        return self.figure(pass_at(k))

    @property
    def primary(self) -> Triple:
        """The figure that the release ranks by."""
        return self.figure(self.metric)

    @property
    def ks(self) -> list[int]:
        """Each k of which it has a pass@k, in rising order."""
        known = (shown_metric(name).k for name, one in self.estimates.items() if "value" in one)
        return sorted(k for k in known if k)


def ranks_by_passes(rows: Sequence[BoardRow]) -> bool:
    """Whether a pass@k ranks these rows."""
    return bool(rows) and rows[0].metric.k is not None


def vary(values: Iterable[float | None]) -> bool:
    """Whether two of the known values differ."""
    return len({round(value, 9) for value in values if value is not None}) > 1


def titled(metric: Metric) -> str:
    """The title of an axis. Shares have their unit at each tick."""
    return metric.title if metric.unit in ("", "%") else f"{metric.title} ({metric.unit})"


def headed(metric: Metric, words: str = "{}") -> str:
    """The heading of a table's column; `words` may stand around the title."""
    unit = f" ({metric.unit})" if metric.unit else ""
    return f"{words.format(metric.title)}{unit}"


def figured(metric: Metric, value: float | None) -> str:
    """A figure in a table whose heading has the unit."""
    return percent(value) if metric.unit == "%" else significant(value)


def hovered(metric: Metric, name: str = "y") -> str:
    """How plotly.js writes a figure of this name on hover, without one that of the vertical axis."""
    return f"%{{{name}:.1%}}" if metric.unit == "%" else f"%{{{name}:.3g}}{metric.unit}"


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
    title: str | Callable[[Sequence[Row]], str]
    caption: str | Callable[[Sequence[Row]], str]
    spec: Callable[[Sequence[Row]], Spec]
    table: Callable[[Sequence[Row]], Table]
    is_shown: Callable[[Sequence[Row]], bool] = bool
    """Whether a page of these rows has the figure."""

    def heading(self, rows: Sequence[Row]) -> str:
        """The title of the figure of these rows."""
        return self.title if isinstance(self.title, str) else self.title(rows)

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
