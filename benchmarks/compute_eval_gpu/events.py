"""Reads what `podium evaluate --events FILE` wrote: one JSON line for each event of `runners.agent.ground.events`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Window = tuple[int, int]
"""From and until when, in nanoseconds."""


@dataclass(frozen=True)
class ProcessActivity:
    """The work of one process of a run.

    `exclusive_s`: seconds in which a benchmark had a device alone; `shared_s`: seconds in which other commands had one.
    `builds_s`: the sum over all builds, waits for a slot included.
    """

    exclusive_s: float
    shared_s: float
    builds_s: float


def read(path: Path) -> list[Event]:
    """The events of a file. Its last line may be cut short, as by a kill."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def activity(events: Sequence[Event]) -> ProcessActivity:
    builds = _commands(events, "build")
    return ProcessActivity(
        exclusive_s=_union_s([*_turns(events, alone=True), *_ungated_benchmarks(events)]),
        shared_s=_union_s(_turns(events, alone=False)),
        builds_s=sum(one["ended_ns"] - one["began_ns"] for one in builds) / 1e9,
    )


def _union_s(windows: Iterable[Window]) -> float:
    """The seconds that lie in at least one of the windows."""
    total, reached = 0, 0
    for since, until in sorted(windows):
        total += max(0, until - max(since, reached))
        reached = max(reached, until)
    return total / 1e9


def _commands(events: Sequence[Event], step: str) -> list[Event]:
    return [one for one in events if one["event"] == "CommandRan" and one["step"] == step]


def _turns(events: Sequence[Event], *, alone: bool) -> list[Window]:
    """From each `open` to its `close`, or to the end of the command if that came first."""
    opened: dict[tuple[str, bool], int] = {}
    found = []
    for event in sorted((one for one in events if _is_turn(one, alone) or _is_end(one)), key=_moment):
        if event.get("change") == "open":
            opened[_run_of(event)] = _moment(event)
        elif (since := opened.pop(_run_of(event), None)) is not None:
            found.append((since, _moment(event)))
    return found


def _ungated_benchmarks(events: Sequence[Event]) -> list[Window]:
    """Benchmarks without turns have the device from their beginning to their end."""
    opens = [(_run_of(one), _moment(one)) for one in events if _is_turn(one, alone=True) and one["change"] == "open"]
    return [
        (one["began_ns"], one["ended_ns"])
        for one in _commands(events, "benchmark")
        if not any(run == _run_of(one) and one["began_ns"] <= at_ns <= one["ended_ns"] for run, at_ns in opens)
    ]


def _is_turn(event: Event, alone: bool) -> bool:
    return event["event"] == "TurnChanged" and event["alone"] == alone and event["change"] in {"open", "close"}


def _is_end(event: Event) -> bool:
    return bool(event["event"] == "CommandRan")


def _run_of(event: Event) -> tuple[str, bool]:
    """Tells a task's candidate from its reference; the packs have one sample a task."""
    return event["task_id"], event["is_reference"]


def _moment(event: Event) -> int:
    at_ns: int = event["at_ns"] if event["event"] == "TurnChanged" else event["ended_ns"]
    return at_ns
