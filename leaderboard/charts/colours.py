"""One colour per entrant, the same on every page and chart."""

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
