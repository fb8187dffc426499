"""Finds and reads a run's file of rollouts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from problems.formats.errors import PackRefused
from problems.formats.verifiers.rollouts import SavedRollout
from problems.formats.verifiers.rows import is_row, rollout_of_row
from problems.formats.verifiers.traces import is_episode, rollouts_of_line
from problems.spec.errors import RecordError, may_hold_surrogate
from problems.spec.solution import load_object

RESULTS, TRACES, METADATA = "results.jsonl", "traces.jsonl", "metadata.json"
MAX_LINE_BYTES = 256 * 1024 * 1024
"""A trace may hold the tokens of a long conversation."""


def rollouts_file(path: Path) -> Path:
    """The file itself, or that of a run's folder. Raises PackRefused."""
    if not path.is_dir():
        return path
    found = next((file for name in (TRACES, RESULTS) if (file := path / name).is_file()), None)
    if found is None:
        raise PackRefused("no_rollouts", f"the folder {path} has neither {RESULTS} nor {TRACES}; name a run's folder")
    return found


def read_rollouts(path: Path) -> Iterator[SavedRollout]:
    """Every rollout of the file, in its order. Raises PackRefused with the line's number."""
    with path.open("rb") as lines:
        number = 0
        while line := lines.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise PackRefused("too_large", f"{path}: the line is longer than {MAX_LINE_BYTES >> 20} MiB", number)
            if line.strip():
                yield from _rollouts(path, line, number)


def run_facts(path: Path) -> dict[str, Any]:
    """Facts of a run's `metadata.json` on model and environment; empty where there is no such file."""
    try:
        data = json.loads((path.parent / METADATA).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    names = ("env", "env_id", "model", "num_examples", "rollouts_per_example", "sampling_args")
    return {name: data[name] for name in names if name in data} if isinstance(data, dict) else {}


def _rollouts(path: Path, line: bytes, number: int) -> Iterator[SavedRollout]:
    try:
        data = load_object(line)
    except RecordError as error:
        raise PackRefused("unreadable_line", f"{path}: the line {error}", number) from error
    if may_hold_surrogate(line):
        data = _writable(data)
    if is_episode(data):
        yield from rollouts_of_line(data, number)
    elif is_row(data):
        yield rollout_of_row(data, number)
    else:
        words = "the line is no rollout: it has none of `completion` (verifiers 0.1), `traces` and `nodes` (v1)"
        raise PackRefused("no_rollout", f"{path}: {words}", number)


def _writable(value: Any) -> Any:
    """The value with lone surrogates replaced, which no file can hold. Models emit them when a character is cut."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(one) for one in value]
    if isinstance(value, dict):
        return {_writable(key): _writable(one) for key, one in value.items()}
    return value
