"""Says whether the pages have changed since all were last looked at in every look.

`python -m tests.web.looked_at` stores the digest of what they are made of; `make screenshots` does so once no page had
a fault. While the stored digest is that of the tree, the browser tests look at each page once.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("looked_at.sha256")
FOLDERS = (
    "templates", "static", "leaderboard/web", "leaderboard/admin", "leaderboard/charts", "leaderboard/templatetags",
    "runners/fleet/web", "runners/fleet/templatetags", "tests/web",
)  # fmt: skip
"""Templates, styles and scripts, views, and the tests that open pages."""


def digest(root: Path = ROOT) -> str:
    """SHA-256 over the names and contents of all files of FOLDERS."""
    total = hashlib.sha256()
    for path in _files(root):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return total.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        paths = (path for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        yield from sorted(path for path in paths if path != STORED)


@cache
def is_unchanged() -> bool:
    return STORED.is_file() and STORED.read_text("utf-8").strip() == digest()


def looks_now(looks: Sequence[str]) -> Sequence[str]:
    """All of them, or the last if nothing has changed since they were last worn and no pictures are taken."""
    return looks[-1:] if is_unchanged() and not os.environ.get("PODIUM_SCREENSHOTS") else looks


if __name__ == "__main__":
    STORED.write_text(f"{digest()}\n", encoding="utf-8")
