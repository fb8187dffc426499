"""The picture of growth with size. The rows are made up."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import growth

MADE_UP = "made up for a test, not measured"


def _row(page: str, entrants: int, p95_ms: float, is_admin: bool = False) -> dict[str, object]:
    size = {"entrants": entrants, "problems": 600, "samples": 10, "page": page, "is_admin": is_admin}
    return {**size, "p95_ms": p95_ms, "median_ms": p95_ms / 2, "queries": 9, "bytes": 1000}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "growth.csv"
    for entrants, factor in ((10, 1.0), (30, 2.0), (1000, 4.0)):
        rows = [_row("board & more", entrants, 12 * factor), _row("problems", entrants, 30 * factor)]
        growth.append(path, MADE_UP, [*rows, _row("admin: home", entrants, 500.0, is_admin=True)])
    return path


def test_runs_are_added_under_one_heading(measured: Path) -> None:
    with measured.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9
    assert {row["hardware"] for row in rows} == {MADE_UP}
    measured.write_text("other,columns\n", encoding="utf-8")
    with pytest.raises(ValueError, match="other columns"):
        growth.append(measured, MADE_UP, [])


def test_the_picture_names_the_slowest_pages_and_no_organisers_page(measured: Path, tmp_path: Path) -> None:
    growth.draw(measured, tmp_path / "growth.svg")
    text = (tmp_path / "growth.svg").read_text(encoding="utf-8")
    words = [one.text or "" for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert "problems: 120.0 ms" in words
    assert "board & more: 48.0 ms" in words
    assert any(MADE_UP in one for one in words)
    assert not any("admin" in one for one in words)


def test_equal_factors_are_equally_far_apart(measured: Path) -> None:
    line = growth.PageGrowth("board", [(10, 1.0), (100, 10.0), (1000, 100.0)])
    axes = growth.Axes([line])
    across = [axes.x(size) for size, _ in line.points]
    down = [axes.y(ms) for _, ms in line.points]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1])
    assert down[0] - down[1] == pytest.approx(down[1] - down[2])


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    growth.append(tmp_path / "growth.csv", MADE_UP, [])
    with pytest.raises(ValueError, match="no rows"):
        growth.draw(tmp_path / "growth.csv", tmp_path / "growth.svg")
