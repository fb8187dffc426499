"""One colour per entrant, the same on every page and chart, and how colours contrast."""

from collections.abc import Sequence

PALETTE = (
    "#2f7ed8", "#e4572e", "#1a9a74", "#b5479d", "#c98a00", "#6a62d2", "#5f8f00", "#d6406a", "#0f93a8", "#a8692a",
    "#8a57c9", "#3d9a3d", "#e0702a", "#2b8cbe", "#c0476e", "#7a8b2f", "#9a5f8f", "#1f8f5f", "#bf6f5a", "#5577b5",
)  # fmt: skip
"""Twenty hues of middling lightness, readable on the light and the dark page; neighbours lie far apart."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
"""Shapes of points in their order, as plotly.js names them; the page's script draws the same in legends."""


def colour_of(entrant_id: int) -> str:
    """Depends on nothing but the entrant; any twenty that came one after the other differ."""
    return PALETTE[entrant_id % len(PALETTE)]


def channels(colour: str) -> tuple[float, ...]:
    """Red, green and blue of `#rrggbb`, each 0 to 1."""
    return tuple(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The contrast ratio of two colours, as WCAG 2 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
