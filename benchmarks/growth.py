"""How pages grow with a site: rows of `big_site` by number of entrants as CSV, drawn as SVG on logarithmic axes.

`python -m benchmarks.growth` draws docs/benchmarks/growth.svg from docs/benchmarks/growth.csv.
"""

import argparse
import csv
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"
CSV, SVG = DOCS / "growth.csv", DOCS / "growth.svg"
FIELDS = (
    "date", "commit", "hardware", "entrants", "problems", "samples", "page", "is_admin", "p95_ms", "median_ms",
    "queries", "bytes",
)  # fmt: skip
WIDTH, HEIGHT = 900, 560
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 250, 40, 56
SLOWEST = 10
"""The lines that have a colour and a name: the pages that are slowest at the greatest size."""
LIMIT_MS = 100.0
_COLOURS = (
    "#2f7ed8", "#e4572e", "#1a9a74", "#b5479d", "#c98a00", "#6a62d2", "#5f8f00", "#d6406a", "#0f93a8", "#a8692a",
)  # fmt: skip


@dataclass(frozen=True)
class PageGrowth:
    """One page: (entrants, p95 in ms) by entrants."""

    page: str
    points: list[tuple[int, float]]

    @property
    def last_ms(self) -> float:
        return self.points[-1][1]


def append(path: Path, hardware: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Add rows of one run. A file that is not there yet gets its heading. Raises ValueError if it has another one."""
    is_new = not path.exists()
    if not is_new and path.read_text(encoding="utf-8").partition("\n")[0].strip() != ",".join(FIELDS):
        raise ValueError(f"{path} has other columns than {', '.join(FIELDS)}")
    run = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit(), "hardware": hardware}
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for row in rows:
            writer.writerow({**run, **row})


def commit() -> str:
    """The commit that is measured, `+` after it if files were changed; "not recorded" outside a checkout."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, cwd=DOCS, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not recorded"


def lines_of(rows: Iterable[Mapping[str, str]]) -> list[PageGrowth]:
    """The public pages, slowest at their greatest size first. Of several runs at one size the last counts."""
    points: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        if row["is_admin"] != "True":
            points[row["page"]][int(row["entrants"])] = float(row["p95_ms"])
    found = [PageGrowth(page, sorted(by_size.items())) for page, by_size in points.items()]
    return sorted(found, key=lambda one: -one.last_ms)


class Axes:
    """Where entrants and milliseconds lie on the picture; both axes are logarithmic and end at whole decades."""

    def __init__(self, lines: Sequence[PageGrowth]) -> None:
        sizes = [size for line in lines for size, _ in line.points]
        times = [ms for line in lines for _, ms in line.points] + [LIMIT_MS]
        self.sizes = math.floor(math.log10(min(sizes))), max(1, math.ceil(math.log10(max(sizes))))
        self.times = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(self, entrants: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * _share(entrants, *self.sizes)

    def y(self, ms: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * _share(ms, *self.times)


def _share(value: float, low: int, high: int) -> float:
    return (math.log10(value) - low) / max(1, high - low)


def drawn(lines: Sequence[PageGrowth], about: str) -> str:
    """The picture. Raises ValueError without any line."""
    if not lines:
        raise ValueError("there are no rows of public pages to draw")
    axes = Axes(lines)
    parts = [*_grid(axes), *_limit(axes)]
    for line in lines[SLOWEST:]:
        parts.append(_path(axes, line, "#9aa6b4", 1))
    for line, colour in zip(lines, _COLOURS, strict=False):
        parts.append(_path(axes, line, colour, 2))
    parts += _names(axes, lines[:SLOWEST])
    frame = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>'
    title = _text(_LEFT, 22, f"p95 of each page against the number of entrants: {about}", weight="bold")
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', title, *parts, "</svg>", ""])


def _grid(axes: Axes) -> Iterable[str]:
    left, right, top, bottom = _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM
    for power in range(axes.sizes[0], axes.sizes[1] + 1):
        x = axes.x(10.0**power)
        yield f'<path d="M{x:.1f} {top}V{bottom}" stroke="#dfe3e8"/>'
        yield _text(x, bottom + 18, f"{10.0**power:,g}", anchor="middle")
    for power in range(axes.times[0], axes.times[1] + 1):
        y = axes.y(10.0**power)
        yield f'<path d="M{left} {y:.1f}H{right}" stroke="#dfe3e8"/>'
        yield _text(left - 8, y + 4, f"{10.0**power:,g}", anchor="end")
    yield _text((left + right) / 2, HEIGHT - 14, "entrants", anchor="middle")
    yield _text(8, _TOP - 4, "ms")


def _limit(axes: Axes) -> Iterable[str]:
    y = axes.y(LIMIT_MS)
    yield f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#a3242f" stroke-dasharray="6 4"/>'
    yield _text(_LEFT + 6, y - 5, f"limit {LIMIT_MS:g} ms", fill="#a3242f")


def _path(axes: Axes, line: PageGrowth, colour: str, width: int) -> str:
    points = [(axes.x(size), axes.y(ms)) for size, ms in line.points]
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 1}" fill="{colour}"/>' for x, y in points)
    path = f'<path d="M{steps}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
    return f"<g><title>{escape(line.page)}</title>{path}{dots}</g>"


def _names(axes: Axes, lines: Sequence[PageGrowth]) -> Iterable[str]:
    """A name beside each line's end, moved down where it would touch the one above."""
    lowest = 0.0
    for line, colour in zip(lines, _COLOURS, strict=False):
        lowest = max(axes.y(line.last_ms), lowest + 16)
        yield _text(WIDTH - _RIGHT + 12, lowest + 4, f"{line.page}: {line.last_ms:.1f} ms", fill=colour)


def _text(x: float, y: float, words: str, anchor: str = "start", fill: str = "#20262d", weight: str = "normal") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{fill}" font-weight="{weight}">{escape(words)}</text>'


def draw(source: Path, target: Path) -> None:
    """Raises ValueError if the file has no rows of public pages."""
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    last = rows[-1] if rows else {}
    about = f"{last.get('problems', '')} problems, {last.get('samples', '')} samples, {last.get('hardware', '')}"
    target.write_text(drawn(lines_of(rows), about), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path, default=CSV)
    parser.add_argument("--svg", type=Path, default=SVG)
    options = parser.parse_args()
    try:
        draw(options.csv, options.svg)
    except (OSError, ValueError) as error:
        print(f"not drawn: {error}")
        return 1
    print(f"      drawn: {options.svg}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
