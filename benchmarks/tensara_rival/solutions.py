"""The solutions that are sent to both engines."""

from dataclasses import dataclass
from pathlib import Path

KINDS = ("honest", "attack")
COMMENTS = {".cu": "//", ".py": "#"}


@dataclass(frozen=True)
class Solution:
    """A file SLUG/KIND-NAME.cu or .py."""

    problem: str
    path: Path

    @property
    def kind(self) -> str:
        return self.path.stem.partition("-")[0]

    @property
    def name(self) -> str:
        """KIND-NAME.cu or .py: an honest solution may have the same name in both languages."""
        return self.path.name

    def content(self, repeat: int) -> str:
        """The text with a comment that makes each repeat a new submission, which has no build yet."""
        return f"{self.path.read_text()}\n{COMMENTS[self.path.suffix]} repeat {repeat}\n"


def solutions(root: Path, part: str = "") -> list[Solution]:
    """All solutions whose SLUG/NAME contains `part`, the honest ones of a problem first."""
    paths = [path for path in root.glob("*/*") if path.suffix in COMMENTS and path.stem.partition("-")[0] in KINDS]
    found = [Solution(path.parent.name, path) for path in paths if part in f"{path.parent.name}/{path.name}"]
    return sorted(found, key=lambda one: (one.problem, KINDS.index(one.kind), one.name))
