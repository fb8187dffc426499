"""Boards, exports, API answers and charts of two seeded boards equal those that are stored.

PODIUM_STORE_BOARDS=1 stores them anew; the difference of the file then shows what changed.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.charts import BOARD_CHARTS
from leaderboard.curation import snapshots
from leaderboard.models import ReleaseTrack
from tests.markup import markup
from tests.web.boards import seeded_boards

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
STORED = Path(__file__).parents[1] / "data" / "stored_boards.json"
BOARDS = {"mixed": seeded_boards.mixed_board, "timed": seeded_boards.timed_board}
QUERIES = {
    "mixed": ("", "?k=3&group=*", "?sort=-speedup", "?groups=ch3", "?as_of=2026-03-11&hide=solved&nobase=1"),
    "timed": ("", "?group=*", "?sort=-speedup", "?as_of=2026-03-11&hide=solved&nobase=1"),
}
_FLOAT = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?")


def _rounded(text: str) -> str:
    """Seven digits: processors differ in a logarithm's last ones, and a deviation near 0 keeps half of its digits."""
    return _FLOAT.sub(lambda found: f"{float(found[0]):.7g}", text)


def _without(text: str, *names: str) -> Any:
    return {name: value for name, value in json.loads(text).items() if name not in names}


def _told(client: Any, name: str) -> dict[str, Any]:
    """Everything that a board shows, by its address."""
    made, track = BOARDS[name]()
    place = ReleaseTrack.objects.get(release=made, track=track)
    told: dict[str, Any] = {"snapshot": _without(snapshots.as_json(place).decode(), "digest", "ranked_at")}
    told["snapshot"]["rows"].sort(key=lambda row: row["submission_id"])  # databases differ in where NULL stands

    def text(view: str, *more: str, query: str = "") -> str:
        answer = client.get(reverse(view, args=[made.slug, *more]) + query)
        assert answer.status_code == 200, (view, more, query)
        return shared(answer.content.decode())

    def shared(said: str) -> str:
        """Without what differs from run to run."""
        place.refresh_from_db()
        at = place.ranked_at.isoformat(timespec="seconds") if place.ranked_at else ""
        return said.replace(made.digest, "DIGEST").replace(at, "RANKED") if at else said

    for query in QUERIES[name]:
        told[f"csv{query}"] = text("board_csv", query=query).splitlines()
    for query in QUERIES[name][:2]:
        answer = client.get(f"/api/v1/releases/{made.slug}/board{query}")
        told[f"api{query}"] = json.loads(shared(answer.content.decode()))
    told["json"] = _without(text("board_json"), "digest")
    told["rows"] = re.findall(r'<tr class="\w*" id="row-.*?</tr>', text("board"))
    for row in told["json"]["rows"]:
        told[f"row {row['entrant']}"] = text("board_row", row["entrant"])
    for chart in BOARD_CHARTS:
        if chart != "differences":
            told[f"chart {chart}"] = json.loads(text("chart", chart))
    charts = markup(client.get(reverse("charts", args=[made.slug])))
    told["tables of charts"] = re.findall(r"<table.*?</table>", charts, re.DOTALL)
    return dict(json.loads(_rounded(json.dumps(told, ensure_ascii=False))))


def _store(name: str, told: dict[str, Any]) -> None:
    """A line for each address."""
    kept = (json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}) | {name: told}
    boards = (
        f"{json.dumps(board)}: {{\n"
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in shown.items())
        + "\n}"
        for board, shown in sorted(kept.items())
    )
    STORED.write_text("{\n" + ",\n".join(boards) + "\n}\n", "utf-8")


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_shows_what_it_showed_before(name: str, client: Any) -> None:
    told = _told(client, name)
    if os.environ.get("PODIUM_STORE_BOARDS"):
        _store(name, told)
    stored = json.loads(STORED.read_text("utf-8"))[name]
    assert told["csv"][1:], "the board has rows"
    assert told.keys() == stored.keys()
    for address, value in stored.items():
        assert told[address] == value, address
