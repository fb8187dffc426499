"""Processes of the judge itself that stay on a GPU between jobs, as an idle checker: they are no strangers there."""

from pathlib import Path
from threading import Lock

PROC = Path("/proc")


class Residents:
    """Process trees by the id of their first process, in this agent's pid namespace."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._roots: set[int] = set()
        self._guard = Lock()

    def admit(self, root: int) -> None:
        """Count this process and all its descendants, now and later, as residents."""
        with self._guard:
            self._roots.add(root)

    def dismiss(self, root: int) -> None:
        """Count them as strangers again, because they should have ended."""
        with self._guard:
            self._roots.discard(root)

    def ids(self) -> frozenset[int]:
        """All residents that live now."""
        with self._guard:
            pending = list(self._roots)
        found: set[int] = set()
        while pending:
            process = pending.pop()
            if process not in found:
                found.add(process)
                pending += self._children(process)
        return frozenset(found)

    def _children(self, process: int) -> list[int]:
        try:
            tasks = list((self._proc / str(process) / "task").iterdir())
            return [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:  # it has just ended
            return []
