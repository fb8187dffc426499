"""Decides whether a solution's own files hold the names that a problem demands, exactly as ComputeEval does."""

import time
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from problems.formats.compute_eval.languages import detect, parser_for
from problems.spec.command.command_record import SourceReferences
from problems.spec.solution import SourceFile

MISSING_TEXT = "[VALIDATION ERROR] Solution does not include required source references."
SEARCH_SECONDS = 10.0
"""Files made to be slow to search count as holding nothing more once a solution has taken this long."""


def satisfied(references: SourceReferences | None, files: Sequence[SourceFile]) -> bool:
    """Whether every name of `all` and at least one of `any` occurs; no references are always satisfied."""
    return not missing(references, files)


def missing(references: SourceReferences | None, files: Sequence[SourceFile]) -> list[str]:
    """The names that are still needed: of `all` those not found, of `any` all of them when none is found."""
    needed = list(dict.fromkeys(references.all or [])) if references else []
    alternatives = list(dict.fromkeys(references.any or [])) if references else []
    deadline = time.monotonic() + SEARCH_SECONDS
    for file in files:
        if not (needed or alternatives) or time.monotonic() > deadline:
            break
        found = set(_found_names([*needed, *alternatives], file, deadline))
        needed = [name for name in needed if name not in found]
        alternatives = [] if found.intersection(alternatives) else alternatives
    return [*needed, *(name for name in alternatives if name not in needed)]


def _found_names(names: Sequence[str], file: SourceFile, deadline: float) -> Iterator[str]:
    """The names whose bytes are exactly one syntax node of the file that is neither comment nor error."""
    content = file.content.encode("utf-8", "replace")
    targets = {name: name.encode("utf-8", "replace") for name in names if name and name in file.content}
    key = detect(file.path, content) if targets else None
    if key is None:
        return
    root = parser_for(key).parse(content).root_node
    yield from (name for name, target in targets.items() if _is_node(root, content, target, deadline))


def _is_node(root: Node, content: bytes, target: bytes, deadline: float) -> bool:
    return any(_fits(root, start, start + len(target)) for start in _occurrences(content, target, deadline))


def _occurrences(content: bytes, target: bytes, deadline: float) -> Iterator[int]:
    start = content.find(target)
    while start != -1 and time.monotonic() < deadline:
        yield start
        start = content.find(target, start + len(target))


def _fits(root: Node, start: int, end: int) -> bool:
    node = root.descendant_for_byte_range(start, end)
    if node is None or node.is_error or node.is_extra or node.is_missing:
        return False
    return node.start_byte == start and node.end_byte == end
