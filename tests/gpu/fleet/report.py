"""The report of a run: lines with the seconds since its start, faults, and the duration of each phase."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Failed(AssertionError):
    """The run cannot go on."""


class Report:
    """Lines go to stdout and to summary.txt of `folder`, results to its results.jsonl."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.wrong: list[str] = []
        self._phases: list[tuple[str, float]] = []
        self._began = time.monotonic()
        self._summary = folder / "summary.txt"
        self._results = folder / "results.jsonl"
        for path in (self._summary, self._results, *folder.glob("*.log")):
            path.unlink(missing_ok=True)

    def say(self, text: str) -> None:
        line = f"[{time.monotonic() - self._began:6.1f}] {text}\n"
        sys.stdout.write(line)
        sys.stdout.flush()
        with self._summary.open("a", encoding="utf-8") as target:
            target.write(line)

    def check(self, good: bool, words: str) -> None:
        """Where it is not good, the run goes on and fails in the end."""
        if not good:
            self.wrong.append(words)
            self.say(f"WRONG: {words}")

    def keep(self, row: Mapping[str, Any]) -> None:
        with self._results.open("a", encoding="utf-8") as target:
            target.write(json.dumps(row) + "\n")

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        self.say(f"== {name}")
        yield
        self._phases.append((name, time.monotonic() - began))

    def conclude(self, logs: str, error_lines: Sequence[str]) -> None:
        """`logs` is shown where something is wrong."""
        for name, seconds in self._phases:
            self.say(f"{seconds:6.1f} s  {name}")
        self.say(f"{len(error_lines)} error lines in the logs" + "".join(f"\n  {line}" for line in error_lines[:5]))
        if self.wrong:
            self.say(f"the ends of the logs\n{logs}")
            self.say(f"{len(self.wrong)} THINGS ARE WRONG\n" + "\n".join(f"  {words[:3000]}" for words in self.wrong))
        else:
            self.say("ALL IS AS IT SHOULD BE")
