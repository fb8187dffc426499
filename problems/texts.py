"""The fields and files of a problem's record as texts, by the names that people know them by."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_FILES = ("context_files", "test_files", "starter")
_HELD = frozenset({*_FILES, "baseline_solution", "other_baselines", "known_bad", "definition"})
"""Fields whose files are texts of their own."""


def texts_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Every field and file of a record, decoded from JSON, as text."""
    fields = {**record, **record["metadata"]}
    fields |= fields.pop("podium", None) or {}
    del fields["metadata"]
    texts = {f"{name}: {path}": content for name, path, content in _files(fields)}
    return {name: _text(value) for name, value in fields.items() if name not in _HELD} | texts


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The names whose texts are not the same; a text that is not there counts as empty."""
    names = dict.fromkeys([*before, *after])
    return [name for name in names if before.get(name, "") != after.get(name, "")]


def _files(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in _FILES:
        yield from ((name, one["path"], one["content"]) for one in fields.get(name) or [])
    if definition := fields.get("definition"):
        yield "definition", definition["path"], definition["content"]
    solutions = {"reference": fields.get("baseline_solution"), **(fields.get("other_baselines") or {})}
    for name, one in solutions.items():
        yield from ((name, file["path"], file["content"]) for file in (one or {}).get("files") or [])
    for bad in fields.get("known_bad") or []:
        name = f"known-bad {bad['name']}, expects {bad['expect']}"
        yield from ((name, file["path"], file["content"]) for file in bad["files"])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
