"""Finds the files of a set in KernelBench's form. They are read as text; nothing of them runs here."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from problems.formats.errors import PackRefused
from problems.formats.set_files import read_json, read_text, slug_of

FUNCTIONAL, CONFIGURATION = "func_forward.py", "config_forward.json"
MODEL, SOLUTION, INPUTS, INIT_INPUTS = "class Model", "class ModelNew", "def get_inputs", "def get_init_inputs"
MOST_SETTINGS = 32
Setting = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Keyword arguments of the constructor and of `get_inputs`."""


@dataclass(frozen=True)
class SetFile:
    """One problem's file. `refused` says why it is none before anything of it runs, `remedy` what would help."""

    slug: str
    group: str
    source: str
    """Its path within the set."""
    text: str = ""
    settings: tuple[Setting, ...] = (({}, {}),)
    refused: str = ""
    remedy: str = "correct the file"
    line: int = 0


def set_files(root: Path) -> list[SetFile]:
    """The problems' files below a folder, in the order of their paths. Raises PackRefused if there is none.

    These are the files with a class Model, and those that are named as KernelBench names its problems.
    """
    found = list(_files(root))
    if not found:
        words = "holds no file with a class Model and a function get_inputs"
        raise PackRefused("no_problems", f"{root} {words}; give the folder of a level, or a task's")
    return found


def _files(root: Path) -> Iterator[SetFile]:
    inner = root / "KernelBench"
    root = inner if inner.is_dir() and any(inner.glob("level*")) else root
    paths = sorted(root.rglob("*.py"), key=lambda path: (str(path.parent), _number(path), path.name))
    for path in paths:
        if path.is_symlink() or (path.name != FUNCTIONAL and (path.parent / FUNCTIONAL).exists()):
            continue
        source = str(path.relative_to(root))
        try:
            text = read_text(path)
        except PackRefused as refused:
            yield SetFile(slug_of(root.name, source), _group(root, path), source, refused=str(refused))
            continue
        if _is_problem(path, text):
            yield _set_file(root, path, source, text)


def _is_problem(path: Path, text: str) -> bool:
    """Whether a file is meant as a problem, even if it was cut off."""
    is_named_so = path.name == FUNCTIONAL or _is_numbered(path)
    return _has(text, MODEL) or (is_named_so and not _has(text, SOLUTION))


def _lacks(path: Path, text: str) -> list[str]:
    """The parts that a problem's file must have and this one has not. Files of a level have all."""
    needed = [MODEL, INPUTS, INIT_INPUTS] if _is_numbered(path) else [MODEL, INPUTS]
    return [part for part in needed if not _has(text, part)]


def _has(text: str, part: str) -> bool:
    """Whether a line of the text begins with this class or function."""
    beginnings = tuple(f"{part}{end}" for end in "(: ")
    return any(line.lstrip().startswith(beginnings) for line in text.splitlines())


def _is_numbered(path: Path) -> bool:
    """Whether a file is named as those of a level, as 12_Softmax.py."""
    number, mark, _ = path.name.partition("_")
    return bool(mark) and number.isdigit()


def _broken_at(text: str) -> tuple[int, str]:
    """The line and the words of a text's first fault of syntax; 0 and "" if it has none."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 0, f" (SyntaxError: {error.msg})"
    except (ValueError, RecursionError, MemoryError):
        pass
    return 0, ""


def _set_file(root: Path, path: Path, source: str, text: str) -> SetFile:
    is_functional = path.name == FUNCTIONAL
    named = str(Path(source).parent) if is_functional else source
    slug, group = slug_of(root.name, named), _group(root, path.parent if is_functional else path)
    if lacking := _lacks(path, text):
        line, fault = _broken_at(text)
        words = f"has no `{'` and no `'.join(lacking)}` in its {len(text.splitlines())} lines{fault}"
        return SetFile(slug, group, source, refused=words, remedy="fetch it again, as it may be cut off", line=line)
    if not is_functional or not (path.parent / CONFIGURATION).exists():
        return SetFile(slug, group, source, text)
    try:
        return SetFile(slug, group, source, text, _settings(path.parent / CONFIGURATION))
    except PackRefused as refused:
        return SetFile(slug, group, source, refused=str(refused))


def _number(path: Path) -> int:
    first = path.name.partition("_")[0]
    return int(first) if first.isdigit() and len(first) < 9 else 0


def _group(root: Path, path: Path) -> str:
    """The folder around a file, as level1."""
    return path.parent.name if path.parent != root else root.name


def _settings(path: Path) -> tuple[Setting, ...]:
    """The settings of a configuration: each constructor's with each of the inputs and each shared one.

    Its several settings count where there are any, else its single ones. Raises PackRefused.
    """
    data = read_json(path)
    if not isinstance(data, dict):
        raise PackRefused("bad_json", f"{path}: must be a mapping")
    for kind in ("multi", "single"):
        parts = [_listed(path, data, f"{kind}_{part}_configs") for part in ("init", "input", "shared")]
        combined = [({**init, **shared}, {**given, **shared}) for init, given, shared in product(*parts)]
        if any(any(part) for part in parts):
            break
    if len(combined) > MOST_SETTINGS:
        raise PackRefused("too_many", f"{path}: {len(combined)} settings; at most {MOST_SETTINGS} are possible")
    unique = {json.dumps(one, sort_keys=True): one for one in combined}
    return tuple(unique.values())


def _listed(path: Path, data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [{}])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        raise PackRefused("bad_json", f"{path}: `{name}` must be a list of mappings")
    if len(found) > MOST_SETTINGS:
        words = f"{path}: `{name}` has {len(found)} entries"
        raise PackRefused("too_many", f"{words}; at most {MOST_SETTINGS} are possible")
    return found
