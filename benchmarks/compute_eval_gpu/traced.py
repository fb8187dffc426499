"""Runs `podium` and writes a timeline of it: `python -m benchmarks.compute_eval_gpu.traced LOG evaluate …`.

The agent knows nothing of it: some of its functions are wrapped here, in this process alone. Reading the log is
timeline.py's part. All times are seconds since the start.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TextIO
from unittest.mock import patch

from runners.agent import pipeline, runs, steps
from runners.agent.gpu.gate import Gate

Work = Callable[..., Any]


class Recorder:
    """Writes one JSON object a line; safe to use from several threads."""

    def __init__(self, log: TextIO) -> None:
        self._log = log
        self._started_ns = time.monotonic_ns()
        self._guard = threading.Lock()
        self._here = threading.local()
        """Of this thread: `subject`, what it runs, and `began_ns`, when its build began."""
        self._numbers = count()
        self._gates: dict[int, dict[str, Any]] = {}

    def say(self, **fields: Any) -> None:
        line = json.dumps(fields) + "\n"
        with self._guard:
            self._log.write(line)

    def seconds(self, at_ns: int | None = None) -> float:
        return ((at_ns or time.monotonic_ns()) - self._started_ns) / 1e9

    def build(self, original: Work) -> Work:
        """A build from its first command on, without its wait for a slot."""

        def wrapped(environment: Any, subject: Any, *more: Any) -> Any:
            self._here.began_ns = None
            made = original(environment, subject, *more)
            if self._here.began_ns is not None:
                self.say(
                    kind="build", **_names(subject), from_s=self.seconds(self._here.began_ns), until_s=self.seconds()
                )
            return made

        return wrapped

    def build_command(self, original: Work) -> Work:
        def wrapped(*arguments: Any) -> Any:
            self._here.began_ns = self._here.began_ns or time.monotonic_ns()
            return original(*arguments)

        return wrapped

    def run(self, kind: str, original: Work) -> Work:
        """A test or a benchmark, waits included."""

        def wrapped(environment: Any, subject: Any, *more: Any) -> Any:
            self._here.run = {"of": kind, **_names(subject)}
            began_s = self.seconds()
            try:
                return original(environment, subject, *more)
            finally:
                self.say(kind=kind, **_names(subject), from_s=began_s, until_s=self.seconds())

        return wrapped

    def attended(self, original: Work) -> Work:
        @contextmanager
        def wrapped(gate: Gate) -> Iterator[None]:
            run = {"run": next(self._numbers), **self._here.run, "alone": gate.alone}
            self._gates[id(gate)] = run
            try:
                with original(gate):
                    yield
            finally:
                del self._gates[id(gate)]
                self.say(kind="gate", **run, event="left", at_s=self.seconds())

        return wrapped

    def looked_into(self, original: Work) -> Work:
        """What is measured once more alone, and why."""

        def wrapped(course: Any, timed: Any) -> Any:
            began_s = self.seconds()
            found = original(course, timed)
            if found is not timed:
                why = [finding.detail for finding in course._findings(timed)] or ["The benchmark failed."]
                self.say(kind="again", **_names(course._subject), why=why, from_s=began_s, until_s=self.seconds())
            return found

        return wrapped

    def told(self, original: Work) -> Work:
        def wrapped(gate: Gate, event: str, at_ns: int) -> None:
            if run := self._gates.get(id(gate)):
                self.say(kind="gate", **run, event=event, at_s=self.seconds(at_ns))
            original(gate, event, at_ns)

        return wrapped


def _names(subject: Any) -> dict[str, Any]:
    return {"task": subject.problem.task_id, "trusted": subject.trusted}


@contextmanager
def tracing(log: TextIO) -> Iterator[None]:
    """Write what the agent does in this process meanwhile."""
    recorder = Recorder(log)
    wrapped: tuple[tuple[Any, str, Callable[[Work], Work]], ...] = (
        (steps, "_make", recorder.build),
        (steps, "_build_command", recorder.build_command),
        (runs, "_test", lambda original: recorder.run("test", original)),
        (runs, "benchmark", lambda original: recorder.run("benchmark", original)),
        (pipeline._Course, "_looked_into", recorder.looked_into),
        (Gate, "attended", recorder.attended),
        (Gate, "told", recorder.told),
    )
    with ExitStack() as stack:
        for owner, name, wrap in wrapped:
            stack.enter_context(patch.object(owner, name, wrap(getattr(owner, name))))
        try:
            yield
        finally:
            recorder.say(kind="end", at_s=recorder.seconds())


def main(log: str, *arguments: str) -> None:
    from podium.cli import main as podium

    sys.argv = ["podium", *arguments]
    with Path(log).open("w", encoding="utf-8") as file, tracing(file):
        podium()


if __name__ == "__main__":
    main(*sys.argv[1:])
