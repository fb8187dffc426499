"""One colour per entrant, the same on every page and chart."""

import hashlib

PALETTE = (
    "#2f7ed8", "#e4572e", "#1a9a74", "#b5479d", "#c98a00", "#6a62d2", "#d6406a", "#3d9a3d", "#0f93a8", "#a8692a",
    "#8a57c9", "#5f8f00", "#e0702a", "#2b8cbe", "#c0476e", "#7a8b2f", "#9a5f8f", "#1f8f5f", "#bf6f5a", "#5577b5",
)  # fmt: skip
"""Twenty hues of middling lightness: at least 3:1 against both the light and the dark page."""


def colour_of(slug: str) -> str:
    """Depends on nothing but the entrant's slug."""
    return PALETTE[int.from_bytes(hashlib.sha256(slug.encode()).digest()[:4]) % len(PALETTE)]
