"""Finds the grammar that reads a source file: by its name, else by its extension, else by what parses best."""

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

from tree_sitter import Language, Node, Parser
from tree_sitter_language_pack import SupportedLanguage, get_language

_TABLE_PATH = Path(__file__).with_name("languages.json")


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(_TABLE_PATH.read_text(encoding="utf-8"))
    return table


@cache
def _grammar(key: str) -> Language:
    return get_language(cast(SupportedLanguage, key))


def parser_for(key: str) -> Parser:
    """A parser of its own for each call: parsers are not to be shared between threads."""
    return Parser(_grammar(key))


def language_name(key: str) -> str:
    """Linguist's name of a grammar's language, as `Cuda` or `C++`."""
    return str(_table()["languages"][key][0])


def detect(path: str, content: bytes) -> str | None:
    """The grammar for a file, or None where no grammar knows its name."""
    keys = _candidates(path, "filenames", "extensions")
    keys = keys or _candidates(path, "alternative_filenames", "alternative_extensions")
    if len(keys) < 2:
        return keys[0] if keys else None
    ranks = _table()["languages"]
    return min(keys, key=lambda key: (_error_lines(key, content), ranks[key][1]))


def _candidates(path: str, names: str, extensions: str) -> list[str]:
    name = path.rsplit("/", 1)[-1]
    found: str | None = _table()[names].get(name)
    dot = name.find(".")
    while found is None and dot != -1:
        found = _table()[extensions].get(name[dot:])
        dot = name.find(".", dot + 1)
    return found.split() if found else []


def _error_lines(key: str, content: bytes) -> int:
    """The number of lines in syntax errors, counted once for each outermost error."""
    waiting: list[Node] = [parser_for(key).parse(content).root_node]
    lines = 0
    while waiting:
        node = waiting.pop()
        if node.is_error:
            lines += node.end_point[0] - node.start_point[0] + 1
        elif node.has_error:
            waiting.extend(node.children)
    return lines
