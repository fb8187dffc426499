"""Two solutions line by line: which lines are the same, changed, or on one side only."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from problems.spec.solution import SourceFile

MAX_LINES = 1000
"""Limit of lines per file; the rest is not compared."""
MAX_FILES = 10


@dataclass(frozen=True)
class LinePair:
    """A line of each side, number None where it has none. `kind`: same, changed, or left or right alone."""

    kind: str
    left_number: int | None
    left: str
    right_number: int | None
    right: str


@dataclass(frozen=True)
class FilePair:
    """Two files of the same role; the path is empty where a side has no such file."""

    left_path: str
    right_path: str
    rows: Sequence[LinePair]
    n_same: int
    """Lines that are the same but for blanks at their ends."""
    is_cut: bool


def compare_files(left: Sequence[SourceFile], right: Sequence[SourceFile]) -> list[FilePair]:
    """Files of the same path, then those with the same ending in their order, then each that is left over by itself."""
    return [_pair(one, other) for one, other in _matched(list(left), list(right))][:MAX_FILES]


def _matched(left: list[SourceFile], right: list[SourceFile]) -> Iterator[tuple[SourceFile | None, SourceFile | None]]:
    for alike in (_same_path, _same_ending):
        for one in list(left):
            other = next((file for file in right if alike(one, file)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
                yield one, other
    yield from ((one, None) for one in left)
    yield from ((None, other) for other in right)


def _same_path(one: SourceFile, other: SourceFile) -> bool:
    return one.path == other.path


def _same_ending(one: SourceFile, other: SourceFile) -> bool:
    return one.path.rpartition(".")[2] == other.path.rpartition(".")[2]


def _pair(left: SourceFile | None, right: SourceFile | None) -> FilePair:
    texts = [[line.rstrip() for line in file.content.splitlines()] if file else [] for file in (left, right)]
    rows = compare_lines(texts[0][:MAX_LINES], texts[1][:MAX_LINES])
    n_same = sum(row.kind == "same" and bool(row.left) for row in rows)
    is_cut = any(len(lines) > MAX_LINES for lines in texts)
    return FilePair(left.path if left else "", right.path if right else "", rows, n_same, is_cut)


def compare_lines(left: Sequence[str], right: Sequence[str]) -> list[LinePair]:
    """Every line of both sides once, in order."""
    matcher = difflib.SequenceMatcher(None, left, right)
    return [
        row
        for tag, left_from, left_to, right_from, right_to in matcher.get_opcodes()
        for row in _rows(
            tag,
            list(enumerate(left[left_from:left_to], left_from + 1)),
            list(enumerate(right[right_from:right_to], right_from + 1)),
        )
    ]


def _rows(tag: str, left: Sequence[tuple[int, str]], right: Sequence[tuple[int, str]]) -> Iterator[LinePair]:
    for n in range(max(len(left), len(right))):
        (left_number, left_line) = left[n] if n < len(left) else (None, "")
        (right_number, right_line) = right[n] if n < len(right) else (None, "")
        kind = "same" if tag == "equal" else "changed"
        kind = "left" if right_number is None else "right" if left_number is None else kind
        yield LinePair(kind, left_number, left_line, right_number, right_line)
