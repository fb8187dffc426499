"""Reads the text and JSON files of others' problem sets within bounds."""

import json
from pathlib import Path
from typing import Any

from problems.formats.bounded import MEBIBYTE
from problems.formats.errors import PackRefused

MOST_BYTES = 2 * MEBIBYTE
MOST_LINES_BYTES = 64 * MEBIBYTE


def path_within(root: Path, name: str) -> Path:
    """The path of a file that a set names. Raises PackRefused if it is not within the set's folder."""
    path = root / name
    try:
        path.exists()  # raises where no file system could hold the name
        is_within = path.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError) as error:
        raise PackRefused("bad_path", f"names the file {name[:100]!r}, which cannot be one") from error
    if not is_within:
        raise PackRefused("bad_path", f"names the file {name[:100]!r}, which is outside of the set")
    return path


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """A file's text. Raises PackRefused if it is a link, too large, absent or no UTF-8."""
    if path.is_symlink() or not path.is_file():
        raise PackRefused("no_file", f"{path} is no plain file")
    if path.stat().st_size > most:
        raise PackRefused("too_large", f"{path} is larger than {most // MEBIBYTE} MiB")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackRefused("not_text", f"{path} is not UTF-8 text (byte {error.start})") from error


def read_json(path: Path) -> Any:
    """A file's JSON. Raises PackRefused with the line of a fault."""
    return parsed(read_text(path), path.name)


def parsed(text: str, where: str, line: int = 0) -> Any:
    """Decoded JSON. `line` is the text's own line in the file, 0 if the text is the file. Raises PackRefused."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise PackRefused(
            "bad_json", f"{where} is not valid JSON: {error.msg} (column {error.colno})", line or error.lineno
        ) from error
    except (ValueError, RecursionError) as error:
        raise PackRefused("bad_json", f"{where}: {type(error).__name__}: {error}") from error


def slug_of(*parts: str) -> str:
    """A problem's slug from the names of its folders and its file."""
    text = "-".join(part.removesuffix(".py") for part in parts).lower()
    plain = "".join(char if char.isascii() and char.isalnum() else " " for char in text)
    return "-".join(plain.split())[:100].strip("-") or "problem"
