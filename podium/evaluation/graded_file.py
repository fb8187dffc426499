"""The file of graded rows. Rows are appended as they come, and a later run continues the file."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO

from podium.evaluation.rows import Graded, summary_row
from problems.formats.compute_eval.graded import graded_line
from problems.formats.compute_eval.summary_row import SummaryRow
from runners.agent.ground.atomic import write_atomically

Key = tuple[str, int]


class NotOurs(Exception):
    """The file has other contents, or another run is writing it. The message says how to go on."""


class GradedFile:
    """Rows of one solutions pack. `expected` maps each sample's key to the digest of its inputs."""

    def __init__(self, path: Path, expected: Mapping[Key, str]) -> None:
        """Keep the rows with unchanged inputs; move other rows and truncated lines aside. Raises NotOurs."""
        self.path = path
        self.rows: dict[Key, SummaryRow] = {}
        self.verdicts: dict[Key, str] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _locked(path)
        lines = self._file.read().splitlines(keepends=True)
        kept = list(self._keep(lines, expected))
        self.n_dropped = len(lines) - len(kept)
        self.before = _free(path.with_name(f"{path.name}.before"))
        if self.n_dropped:
            self._rewrite(lines, kept)

    def add(self, graded: Graded) -> None:
        """Append a row. A later run finds it as soon as this returns."""
        self._file.write(graded_line(graded.row))
        self._file.flush()
        if graded.profile is not None:
            self._keep_profile(graded.sample.key, graded.profile)
        key = graded.sample.key
        self.rows[key] = SummaryRow.of(graded.row)
        self.verdicts[key] = (graded.row.podium or {})["verdict"]

    def _keep_profile(self, key: Key, report: bytes) -> None:
        """Write the report to `<graded file>-profiles/<task>-<sample>.ncu-rep`, for Nsight Compute."""
        folder = self.path.with_name(f"{self.path.stem}-profiles")
        folder.mkdir(exist_ok=True)
        (folder / f"{key[0].replace('/', '_')}-{key[1]}.ncu-rep").write_bytes(report)

    def close(self) -> None:
        self._file.close()

    def _keep(self, lines: list[bytes], expected: Mapping[Key, str]) -> Iterator[bytes]:
        for line in lines:
            data = _read(line)
            if data is None:
                continue
            podium = data.get("podium")
            if not isinstance(podium, dict):
                raise NotOurs(f"{self.path} was not written by `podium evaluate`; give another --out")
            key = (data["task_id"], podium.get("sample", -1))
            if expected.get(key) == podium.get("inputs") and key not in self.rows:
                self.rows[key] = summary_row(data)
                self.verdicts[key] = podium["verdict"]
                yield line

    def _rewrite(self, lines: list[bytes], kept: list[bytes]) -> None:
        """Set the lines aside and replace the file atomically, so that no kept row is ever missing. Lock the new
        one."""
        mode = stat.S_IMODE(self.path.stat().st_mode)
        write_atomically(self.before, b"".join(lines), mode)
        write_atomically(self.path, b"".join(kept), mode)
        self._file.close()
        self._file = _locked(self.path)
        self._file.seek(0, os.SEEK_END)


def _free(path: Path) -> Path:
    """The path, numbered if there is such a file."""
    names = chain([path.name], (f"{path.name}.{number}" for number in count(2)))
    return next(one for name in names if not (one := path.with_name(name)).exists())


def _locked(path: Path) -> BinaryIO:
    file = path.open("a+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise NotOurs(f"another run is writing {path}; wait for it or give another --out") from None
    file.seek(0)
    return file


def _read(line: bytes) -> dict[str, Any] | None:
    """The row, or None if a run was killed while it wrote the line."""
    if not line.endswith(b"\n"):
        return None
    try:
        data = json.loads(line)
    except ValueError:
        return None
    return data if isinstance(data, dict) and "task_id" in data else None
