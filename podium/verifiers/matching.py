"""Finds the problem that a rollout answers: by the names in its file, else by its prompt."""

import re
from collections.abc import Iterator, Sequence

from podium.generation.asked import Asked
from problems.formats.verifiers.rollouts import SavedRollout

SHORTEST_STATEMENT = 40
_TASK_LINE = re.compile(r"^Task:[ \t]*(\S+)[ \t]*$", re.MULTILINE)
"""The line with which PMPP's prompts begin."""


class Matcher:
    """`key` is a dotted path in the file's facts, such as `info.task_dir`; with it nothing else is looked at."""

    def __init__(self, problems: Sequence[Asked], key: str = "") -> None:
        self._problems = {one.task_id: one for one in problems}
        self._spellings = _spellings(self._problems)
        self._key = key

    def problem_of(self, rollout: SavedRollout) -> Asked | None:
        """The problem, or None if nothing names exactly one."""
        if self._key:
            return self._named(rollout.fact(self._key))
        names = (*rollout.names, *_TASK_LINE.findall(rollout.asked))
        return next(filter(None, map(self._named, names)), None) or self._stated(rollout.asked)

    def named_by(self, rollout: SavedRollout) -> str:
        """The name that the file gives in place of a known one, for a message."""
        names = [rollout.fact(self._key)] if self._key else [*rollout.names]
        return next(filter(None, names), "")

    def _named(self, name: str) -> Asked | None:
        """The problem with this task_id in any spelling, or with this last part of a path."""
        for spelling in (name, name.rstrip("/").rpartition("/")[2]):
            task_id = self._spellings.get(spelling)
            if task_id is not None:
                return self._problems[task_id]
        return None

    def _stated(self, asked: str) -> Asked | None:
        """The only problem whose whole statement stands in the prompt."""
        text = " ".join(asked.split())
        found = [one for one in self._problems.values() if _is_in(one.statement, text)]
        return found[0] if len(found) == 1 else None


def _is_in(statement: str, text: str) -> bool:
    words = " ".join(statement.split())
    return len(words) >= SHORTEST_STATEMENT and words in text


def _spellings(task_ids: Sequence[str] | dict[str, Asked]) -> dict[str, str]:
    """Spellings to task_ids, without those that two problems would share. A task_id itself is always its own."""
    found: dict[str, set[str]] = {}
    for task_id in task_ids:
        for name in _written(task_id):
            found.setdefault(name, set()).add(task_id)
    unique = {name: next(iter(ids)) for name, ids in found.items() if len(ids) == 1}
    return unique | {task_id: task_id for task_id in task_ids}


def _written(task_id: str) -> Iterator[str]:
    yield task_id.replace("/", "_")
    yield task_id.replace("/", "-")
    yield task_id.rpartition("/")[2]
