"""Finds the tasks of a checkout and reads their files. Nothing of a checkout runs, and no link is followed."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused
from problems.formats.pmpp.errors import TaskRefused
from problems.spec.paths import why_bad_path

TASKS_FOLDER = "eval-tasks"
MAKEFILE = "Makefile"
LICENSES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING")
MAX_FILES = 200
_CHAPTER = re.compile(r"(ch\d+)(?:[-_].*)?")
_COMPILED = (".o", ".obj", ".a", ".so", ".cubin", ".fatbin", ".pyc")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Dropped:
    """A committed file that is not imported, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class TaskFolder:
    """One task's folder: its name and its text files by path."""

    name: str
    texts: Mapping[str, str]
    dropped: tuple[Dropped, ...]

    @property
    def chapter(self) -> str:
        """The chapter, as `ch05`. Raises TaskRefused."""
        match = _CHAPTER.fullmatch(self.name)
        if match is None:
            raise TaskRefused(self.name, "the folder's name has no chapter", "Name it like ch05-matmul-tiled")
        return match[1]

    def text(self, path: str, purpose: str) -> str:
        """A file of the task. Raises TaskRefused."""
        if path not in self.texts:
            raise TaskRefused(f"{self.name}/{path}", f"the {purpose} is missing", "Add the file")
        return self.texts[path]

    def included(self, paths: Sequence[str]) -> list[str]:
        """The task's files that these include with quotes, directly or not, without the paths themselves."""
        queue, seen = list(paths), list(paths)
        while queue:
            path = queue.pop(0)
            for name in _INCLUDE.findall(self.texts.get(path, "")):
                found = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
                if found in self.texts and found not in seen:
                    seen.append(found)
                    queue.append(found)
        return seen[len(dict.fromkeys(paths)) :]


def task_folders(root: Path) -> list[Path]:
    """The folders of all tasks, by name: `root` itself, or those in it or in its `eval-tasks`. Raises PackRefused."""
    if (root / MAKEFILE).is_file() and _CHAPTER.fullmatch(root.resolve().name):
        return [root]
    above = root / TASKS_FOLDER if (root / TASKS_FOLDER).is_dir() else root
    found = sorted(path for path in above.iterdir() if path.is_dir() and not path.is_symlink() and _is_task(path))
    if not found:
        words = f"no task below {above}: a task is a folder such as ch05-matmul-tiled with a {MAKEFILE}"
        raise PackRefused("no_problems", words)
    return found


def _is_task(folder: Path) -> bool:
    return not folder.name.startswith(".") and (
        (folder / MAKEFILE).is_file() or _CHAPTER.fullmatch(folder.name) is not None
    )


def license_of(root: Path) -> str:
    """The text of the checkout's license; empty if there is none."""
    for name in LICENSES:
        path = root / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MEBIBYTE:
            return path.read_text(encoding="utf-8", errors="replace").strip()
    return ""


def read_task(folder: Path) -> TaskFolder:
    """Read a task's files. Compiled files, links and other files that are not text are dropped. Raises TaskRefused."""
    texts: dict[str, str] = {}
    dropped: list[Dropped] = []
    name = folder.resolve().name
    for path in _files(folder, name):
        relative = path.relative_to(folder).as_posix()
        reason = why_bad_path(relative) or _why_dropped(path)
        if reason:
            dropped.append(Dropped(relative, reason))
        else:
            texts[relative] = path.read_bytes().decode("utf-8")
    return TaskFolder(name, texts, tuple(dropped))


def _files(folder: Path, name: str) -> Iterator[Path]:
    count = 0
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if is_hidden or (path.is_dir() and not path.is_symlink()):
            continue
        count += 1
        if count > MAX_FILES:
            raise TaskRefused(name, f"the folder holds more than {MAX_FILES} files", "Move other files elsewhere")
        yield path


def _why_dropped(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return "not a plain file"
    if path.stat().st_size > DEFAULT_LIMITS.file_bytes:
        return f"larger than {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB"
    data = path.read_bytes()
    if data.startswith(b"\177ELF"):
        return "compiled" if path.suffix in _COMPILED else "a compiled program"
    if path.suffix in _COMPILED or b"\0" in data:
        return "compiled" if path.suffix in _COMPILED else "not text"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8 text"
    return ""
