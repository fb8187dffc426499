"""Parts of the folders that imports write: front matter, fenced sources and embedded modules."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from problems.formats.errors import PackRefused

Dims = tuple[int | str, ...]
_DOCSTRING_END = '"""\n'


def front_matter(head: Mapping[str, Any]) -> str:
    """The lines of a statement's front matter. JSON values are YAML."""
    lines = [f"{name}: {json.dumps(value)}" for name, value in head.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def fenced(text: str, language: str) -> str:
    """A block of code in Markdown, with a fence longer than any within the text."""
    ticks = "`" * max(3, 1 + _longest_run(text))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest


def embedded(title: str, *modules: Path) -> str:
    """The text of modules under one docstring, so that a definition or solution needs no other file.

    A later module imports from an earlier one by lines that begin with `from .`; these are left out.
    """
    parts: list[str] = []
    for module in modules:
        text = module.read_text(encoding="utf-8")
        text = text[text.index(_DOCSTRING_END) + len(_DOCSTRING_END) :]
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith("from .")]
        parts.append("".join(line for line in lines if not parts or not line.startswith("from __future__")))
    own = title.replace("\\", "/").replace('"', "'")
    return f'"""{own}"""\n{"".join(parts)}'


def dims_over(cases: Sequence[Mapping[str, Sequence[int]]]) -> tuple[dict[str, Dims], list[dict[str, int]]]:
    """The dims of each array, and the axes of each case, from the arrays' shapes in each.

    A length that differs between cases is an axis named after the array and its place. Raises PackRefused if an array
    is missing in a case, or has another number of axes there.
    """
    for number, case in enumerate(cases):
        if case.keys() != cases[0].keys() or any(len(case[name]) != len(cases[0][name]) for name in case):
            words = f"case {number + 1} has other arrays, or arrays with another number of axes, than the first"
            raise PackRefused("cases_differ", words)
    dims: dict[str, Dims] = {}
    axes: list[dict[str, int]] = [{} for _ in cases]
    for name in cases[0]:
        found: list[int | str] = []
        for place, lengths in enumerate(zip(*(case[name] for case in cases), strict=True)):
            if len(set(lengths)) == 1:
                found.append(lengths[0])
                continue
            found.append(f"{name}_{place}")
            for own, length in zip(axes, lengths, strict=True):
                own[f"{name}_{place}"] = length
        dims[name] = tuple(found)
    return dims, axes
