"""A function problem as its author writes it: a folder with `def.py`, `problem.md`, bad solutions and baselines."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused
from problems.formats.yaml_text import read_yaml
from problems.spec.function.problem import DEFINITION_PATH
from problems.spec.podium_metadata import KnownBad
from problems.spec.solution import SourceFile

STATEMENT_NAME = "problem.md"
KNOWN_BAD_FOLDER, EXPECT_NAME = "known_bad", "expect.json"
BASELINE_FOLDER, REFERENCE_STEM, EXPERT_STEM = "baselines", "reference", "expert"
SUFFIXES = (".cpp", ".cu", ".py")
DEFAULT_GROUP = "functions"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_KEYS = frozenset(
    {"slug", "title", "difficulty", "tags", "group", "date", "languages", "device", "time_limit_seconds", "limits"}
)  # fmt: skip
_OTHERS_KEYS = frozenset({"author", "gpus", "parameters"})
"""Keys of other platforms' folders. Nothing here depends on them."""


@dataclass(frozen=True)
class FunctionFolder:
    """The files of one problem, read and not yet judged."""

    path: Path
    definition: SourceFile
    head: Mapping[str, Any]
    """The statement's front matter."""
    statement: str
    known_bad: tuple[KnownBad, ...]
    reference: SourceFile | None
    """The solution against which speedups are measured, where it is not the class's own reference."""
    expert: SourceFile | None
    """The author's fast solution, if there is one."""

    @property
    def slug(self) -> str:
        return str(self.head.get("slug") or self.path.name)


def is_function_folder(path: Path) -> bool:
    """Whether a folder holds a function problem."""
    return (path / DEFINITION_PATH).is_file()


def function_folders(root: Path) -> list[Path]:
    """The folders of function problems at or below `root`, in the order of their names."""
    return sorted(path.parent for path in root.rglob(DEFINITION_PATH) if not path.is_symlink())


def read_folder(path: Path) -> FunctionFolder:
    """Read a problem's files. Raises PackRefused."""
    definition = SourceFile(path=DEFINITION_PATH, content=_read_text(path / DEFINITION_PATH))
    head, statement = _statement(path / STATEMENT_NAME)
    baselines = [_baseline(path, stem) for stem in (REFERENCE_STEM, EXPERT_STEM)]
    return FunctionFolder(path, definition, head, statement, _known_bad(path / KNOWN_BAD_FOLDER), *baselines)


def _read_text(path: Path) -> str:
    if path.is_symlink():
        raise PackRefused("link", f"{path} is a link; put the file itself there")
    if not path.is_file():
        raise PackRefused("no_file", f"{path} is missing")
    if path.stat().st_size > DEFAULT_LIMITS.file_bytes:
        raise PackRefused("too_large", f"{path} is larger than {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackRefused("not_text", f"{path} is not UTF-8 text (byte {error.start})") from error


def _statement(path: Path) -> tuple[dict[str, Any], str]:
    """The front matter between two lines of `---`, and the Markdown after it."""
    found = _FRONT_MATTER.match(_read_text(path))
    if found is None:
        words = "must begin with front matter: a line of ---, slug: and title:, and a line of ---"
        raise PackRefused("no_front_matter", f"{path} {words}")
    head = read_yaml(found[1], path)
    if not isinstance(head, dict):
        raise PackRefused("bad_yaml", f"{path}: the front matter must be a mapping of fields to values")
    if unknown := sorted(map(str, head.keys() - _KEYS - _OTHERS_KEYS)):
        raise PackRefused(
            "unknown_field", f"{path}: unknown field `{unknown[0]}`; known are {', '.join(sorted(_KEYS))}"
        )
    return head, found[2].strip() + "\n"


def _known_bad(folder: Path) -> tuple[KnownBad, ...]:
    """Each file is one wrong solution; its stem is its name in `expect.json`."""
    if not folder.is_dir():
        return ()
    paths = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    expected = _expected(folder / EXPECT_NAME)
    if unknown := sorted(expected.keys() - {path.stem for path in paths}):
        raise PackRefused("unknown_solution", f"{folder / EXPECT_NAME} names `{unknown[0]}`, which has no file there")
    return tuple(_known_bad_one(path, expected.get(path.stem, "wrong_answer")) for path in paths)


def _known_bad_one(path: Path, verdict: Any) -> KnownBad:
    file = SourceFile(path=f"solution{path.suffix}", content=_read_text(path))
    try:
        return KnownBad(name=path.stem, expect=verdict, files=[file])
    except ValueError as error:
        words = f"{path.parent / EXPECT_NAME}: `{path.stem}` expects {verdict!r:.40}, which is no contestant's verdict"
        raise PackRefused("bad_verdict", words) from error


def _expected(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        data = json.loads(_read_text(path))
    except ValueError as error:
        raise PackRefused("bad_json", f"{path}: {error}") from error
    if not isinstance(data, dict):
        raise PackRefused("bad_json", f"{path}: must map each solution's name to its verdict")
    return data


def _baseline(folder: Path, stem: str) -> SourceFile | None:
    paths = [folder / BASELINE_FOLDER / f"{stem}{suffix}" for suffix in SUFFIXES]
    found = [path for path in paths if path.exists()]
    if len(found) > 1:
        raise PackRefused("two_baselines", f"{found[0]} and {found[1]}: keep one of the baselines")
    return SourceFile(path=f"solution{found[0].suffix}", content=_read_text(found[0])) if found else None
