"""A board's rows as HTML: no text of a row, a column or an address can become markup, wherever it stands."""

from collections.abc import Mapping
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from leaderboard.boards.columns import Cell, Column, columns_for
from leaderboard.boards.query import BoardQuery
from leaderboard.web.boards import board_html
from leaderboard.web.boards.board_html import SLUG, Links
from tests.estimates import estimates

HOSTILE = "<script>\"'&"
AT = datetime(2026, 3, 1, tzinfo=UTC)
TAGS = {
    "tr", "td", "th", "b", "small", "span", "svg", "circle", "a", "input", "label", "div", "table", "caption", "thead",
    "tbody", "progress", "dl", "dt", "dd",
}  # fmt: skip


class Seen(HTMLParser):
    """The tags, the names of attributes and the texts of a page, as a browser reads them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.texts += [value for _, value in attrs if value]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def row_of(**changes: Any) -> dict[str, Any]:
    fields = {
        "pk": 1, "rank": 1, "rank_low": 1, "rank_high": 2, "is_incomplete": False, "incomplete_reason": "",
        "primary_value": 0.5, "estimates": estimates({"pass@1": (0.5, 0.4, 0.6), "speedup": 2.0}), "n_solved": 1,
        "n_problems": 2, "n_skipped": 1, "n_samples": 2, "n_passed": 1, "n_unwitnessed": 1, "n_provisional": 0,
        "n_open_flags": 1, "n_upheld_flags": 2, "n_full_submissions": 3, "round_figures": None, "fast_p": [],
        "groups": {"plain": {"solved": 1, "problems": 2, "pass_at_1": 0.5}}, "submission_id": 1,
        "submission__created_at": AT, "chosen_at": AT, "submission__finished_at": AT, "submission__state": "accepted",
        "submission__measured_where": None, "submission__tokens_per_sample": 1.0, "submission__usd_per_sample": 1.0,
        "entrant_id": 1, "entrant__slug": "slug", "entrant__name": "Name", "entrant__kind": "model",
        "entrant__organisation": "Lab", "entrant__is_verified": True, "entrant__open_weights": True,
        "submission__licence": "",
    }  # fmt: skip
    return fields | changes


COLUMN = Column("key", "Title", "Words.", lambda _: 1, lambda _: Cell("text", "margin", "note", "basis"))
LINKS = Links("/flags/?track=cpu", f"/rows/{SLUG}/", f"?open={SLUG}", "?", "compare", datetime(2026, 1, 1, tzinfo=UTC),
              f"/submissions/{board_html.NUMBER}/")  # fmt: skip


def shown(row: Mapping[str, Any], column: Column = COLUMN, links: Links = LINKS) -> Seen:
    columns = [column, *columns_for(BoardQuery(), ["plain"], [row])]
    return Seen(board_html.body([row], columns, links, row["entrant__slug"]))


def check(seen: Seen) -> None:
    plain = shown(row_of())
    assert seen.tags <= TAGS
    assert seen.attributes <= plain.attributes | {"title"}
    assert any(HOSTILE in text for text in seen.texts), "it is shown as it was written"


@pytest.mark.parametrize(
    "changes",
    [
        {"entrant__slug": HOSTILE},
        {"entrant__name": HOSTILE},
        {"entrant__organisation": HOSTILE},
        {"rank": None, "is_incomplete": True, "incomplete_reason": HOSTILE},
        {"submission__measured_where": {"machines": [HOSTILE], "first_day": HOSTILE, "last_day": HOSTILE}},
        {"groups": {HOSTILE: {"solved": 1, "problems": 2, "pass_at_1": 0.5}}},
        {"groups": {HOSTILE: {"solved": 0, "problems": 2, "pass_at_1": None}}},
    ],
    ids="-".join,
)
def test_a_text_of_a_row_stays_text(changes: dict[str, Any]) -> None:
    check(shown(row_of(**changes)))


@pytest.mark.parametrize("part", ["text", "margin", "note", "basis"])
def test_a_text_of_a_cell_stays_text(part: str) -> None:
    cell = Cell(**{"text": "text", part: HOSTILE})
    check(shown(row_of(), Column("key", "Title", "Words.", lambda _: 1, lambda _: cell)))


def test_a_title_of_a_column_stays_text() -> None:
    check(shown(row_of(), Column("key", HOSTILE, "Words.", lambda _: 1, COLUMN.cell)))


@pytest.mark.parametrize("part", ["flags", "details", "expand", "collapse", "ticks", "results"])
def test_an_address_stays_an_address(part: str) -> None:
    known = {name: getattr(LINKS, name) for name in ("flags", "details", "expand", "collapse", "ticks", "results")}
    links = Links(**known | {part: HOSTILE})
    is_open = part != "expand"
    row = row_of()
    html = board_html.body([row], [COLUMN], links, row["entrant__slug"] if is_open else "")
    check(Seen(html))


@pytest.mark.parametrize(
    ("rank", "low", "high", "medal"),
    [
        (1, 1, 1, "medal first sure"),
        (1, 1, 2, "medal first"),
        (2, None, None, "medal second"),
        (3, 2, 4, "medal third"),
        (4, 4, 4, ""),
    ],
)
def test_the_first_three_have_medals_filled_where_the_interval_holds_no_other_rank(
    rank: int, low: int | None, high: int | None, medal: str
) -> None:
    html = board_html.body([row_of(rank=rank, rank_low=low, rank_high=high)], [COLUMN], LINKS, "")
    assert (f'<b class="{medal}">{rank}</b>' if medal else f"<b>{rank}</b>") in html
    assert ("medal" in html) == bool(medal)
