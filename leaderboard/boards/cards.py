"""The picture that other sites show beside a link to a release: 1,200 × 630 px, drawn here as PNG."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 1200, 630
MOST_ROWS, MOST_LINES = 5, 2
MOST_CHARACTERS = 200
"""Limit of each text: longer ones are cut before they are measured."""
_FONT = settings.BASE_DIR / "static/vendor/dejavu/2.37/DejaVuSans.ttf"
_PAGE, _INK, _DIM, _TINT = "#0c1f24", "#f3f6f7", "#a9b9bb", "#18333a"
_GOLD, _SILVER, _BRONZE = "#f0b429", "#b8c4cc", "#d08b57"
_MARGIN = 64


@dataclass(frozen=True)
class CardRow:
    """One row of the board: `share` of the best score, from 0 to 1, is the length of its bar."""

    rank: str
    name: str
    score: str
    share: float


@dataclass(frozen=True)
class Card:
    title: str
    line: str
    rows: tuple[CardRow, ...]


def draw(card: Card) -> bytes:
    """The card as PNG."""
    image = Image.new("RGB", (WIDTH, HEIGHT), _PAGE)
    canvas = ImageDraw.Draw(image)
    _brand(canvas)
    top = 120
    for line in _wrapped(canvas, card.title, _font(54), WIDTH - 2 * _MARGIN):
        canvas.text((_MARGIN, top), line, font=_font(54), fill=_INK)
        top += 66
    canvas.text((_MARGIN, top + 6), _cut(canvas, card.line, _font(27), WIDTH - 2 * _MARGIN), font=_font(27), fill=_DIM)
    _table(canvas, card.rows[:MOST_ROWS])
    target = io.BytesIO()
    image.save(target, "PNG", optimize=True)
    return target.getvalue()


def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_FONT), size)


def _brand(canvas: ImageDraw.ImageDraw) -> None:
    """The icon's three steps, the first with its peak, and the name."""
    canvas.rectangle((_MARGIN, 62, _MARGIN + 14, 88), fill=_SILVER)
    canvas.polygon([(_MARGIN + 18, 52), (_MARGIN + 26, 38), (_MARGIN + 34, 52)], fill=_GOLD)
    canvas.rectangle((_MARGIN + 18, 52, _MARGIN + 34, 88), fill=_GOLD)
    canvas.rectangle((_MARGIN + 38, 70, _MARGIN + 52, 88), fill=_BRONZE)
    canvas.text((_MARGIN + 68, 48), "Podium", font=_font(34), fill=_INK)


def _table(canvas: ImageDraw.ImageDraw, rows: Sequence[CardRow]) -> None:
    """Draws the rows from the lower edge upwards, so that fewer rows leave the room above them."""
    height = 54
    top = HEIGHT - 40 - height * len(rows)
    for n, row in enumerate(rows):
        y = top + n * height
        width = round((WIDTH - 2 * _MARGIN) * min(1.0, max(0.0, row.share)))
        canvas.rectangle((_MARGIN, y, _MARGIN + width, y + height - 8), fill=_TINT)
        medal = {"1": _GOLD, "2": _SILVER, "3": _BRONZE}.get(row.rank)
        canvas.rectangle((_MARGIN, y, _MARGIN + 6, y + height - 8), fill=medal or _TINT)
        canvas.text((_MARGIN + 20, y + 6), row.rank, font=_font(26), fill=medal or _DIM)
        score_px = canvas.textlength(row.score, font=_font(26))
        canvas.text((WIDTH - _MARGIN - 16 - score_px, y + 6), row.score, font=_font(26), fill=_INK)
        room = WIDTH - 2 * _MARGIN - 120 - score_px
        canvas.text((_MARGIN + 80, y + 6), _cut(canvas, row.name, _font(26), room), font=_font(26), fill=_INK)


def _cut(canvas: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont, width: float) -> str:
    """The text as far as it fits, with an ellipsis where it was cut."""
    short = _plain(text)
    if canvas.textlength(short, font=font) <= width:
        return short
    while short and canvas.textlength(f"{short}…", font=font) > width:
        short = short[:-1]
    return f"{short.rstrip()}…"


def _wrapped(canvas: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """The text in at most two lines."""
    lines: list[str] = []
    words = _plain(text).split(" ")
    while words and len(lines) < MOST_LINES - 1:
        n = 1
        while n < len(words) and canvas.textlength(" ".join(words[: n + 1]), font=font) <= width:
            n += 1
        lines.append(_cut(canvas, " ".join(words[:n]), font, width))
        words = words[n:]
    return [*lines, _cut(canvas, " ".join(words), font, width)] if words else lines


def _plain(text: str) -> str:
    """On one line and without control characters."""
    return " ".join("".join(one if one.isprintable() else " " for one in text[:MOST_CHARACTERS]).split())
