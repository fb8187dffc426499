"""Says what bounded a run, from the timeline that traced.py writes. All times are seconds since the start."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHOWN = 10
SLICE_SECONDS = 5.0

Stretch = tuple[float, float]
"""From and until when."""


@dataclass(frozen=True)
class Span:
    """A build, or a test or benchmark with its waits."""

    kind: str
    task: str
    trusted: bool
    at: Stretch

    @property
    def seconds(self) -> float:
        return self.at[1] - self.at[0]

    @property
    def words(self) -> str:
        reference = " (reference)" if self.trusted else ""
        return f"{self.kind} {self.task}{reference} {self.at[0]:.1f} to {self.at[1]:.1f}"


@dataclass
class GateRun:
    """One run at the gate: when it had the device, and how long it waited for its turns and for its start."""

    kind: str
    task: str
    trusted: bool
    alone: bool
    held: list[Stretch] = field(default_factory=list)
    starts: list[Stretch] = field(default_factory=list)
    """From a wish to start CUDA to its beginning."""
    turn_wait_s: float = 0.0

    @property
    def held_s(self) -> float:
        return sum(until - since for since, until in self.held)


@dataclass(frozen=True)
class Again:
    """What was measured once more alone, the wait for that included, and what had not fitted before."""

    span: Span
    why: list[str]


@dataclass(frozen=True)
class Timeline:
    end_s: float
    spans: list[Span]
    gate_runs: list[GateRun]
    again: list[Again]

    def of(self, kind: str) -> list[Span]:
        return [span for span in self.spans if span.kind == kind]

    def held(self, *, alone: bool) -> list[Stretch]:
        return [stretch for run in self.gate_runs if run.alone == alone for stretch in run.held]

    @property
    def starts(self) -> list[Stretch]:
        return [start for run in self.gate_runs for start in run.starts]


def read(path: Path) -> Timeline:
    """Read a log; its last line may be cut short."""
    events = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            events.append(json.loads(line))
    return timeline_of(events)


def timeline_of(events: Sequence[dict[str, Any]]) -> Timeline:
    """From a log's events."""
    spans = [_span(one) for one in events if "from_s" in one and one["kind"] != "again"]
    again = [Again(_span(one), one["why"]) for one in events if one["kind"] == "again"]
    end_s = max((one.get("until_s", one.get("at_s", 0.0)) for one in events), default=0.0)
    by_run: dict[int, list[dict[str, Any]]] = {}
    for one in events:
        if one["kind"] == "gate":
            by_run.setdefault(one["run"], []).append(one)
    return Timeline(end_s, spans, [_gate_run(own) for own in by_run.values()], again)


def _span(event: dict[str, Any]) -> Span:
    return Span(event["kind"], event["task"], event["trusted"], (event["from_s"], event["until_s"]))


def _gate_run(events: list[dict[str, Any]]) -> GateRun:
    first = events[0]
    run = GateRun(first["of"], first["task"], first["trusted"], first["alone"])
    since: dict[str, float] = {}
    for one in sorted(events, key=lambda event: event["at_s"]):
        event, at_s = one["event"], one["at_s"]
        if event in {"ask", "hold", "open"}:
            since[event] = at_s
        if event == "open" and "ask" in since:
            run.turn_wait_s += at_s - since.pop("ask")
        if event in {"close", "left"} and "open" in since:
            run.held.append((since.pop("open"), at_s))
        if event == "begin" and "hold" in since:
            run.starts.append((since.pop("hold"), at_s))
    return run


def union_s(stretches: Iterable[Stretch]) -> float:
    """How many seconds lie in at least one of them."""
    total, reached = 0.0, float("-inf")
    for since, until in sorted(stretches):
        total += max(0.0, until - max(since, reached))
        reached = max(reached, until)
    return total


@dataclass(frozen=True)
class Slice:
    """Some seconds of a run: how many builds went on, the shares of time that the device was held, starts begun."""

    from_s: float
    builds: float
    benchmarks: float
    tests: float
    starts: int


def slices(timeline: Timeline) -> list[Slice]:
    """The run in stretches of SLICE_SECONDS."""
    builds = [span.at for span in timeline.of("build")]
    found = []
    for number in range(int(timeline.end_s / SLICE_SECONDS) + 1):
        since = number * SLICE_SECONDS
        until = since + SLICE_SECONDS
        found.append(
            Slice(
                since,
                sum(b - a for a, b in _within(builds, since, until)) / SLICE_SECONDS,
                union_s(_within(timeline.held(alone=True), since, until)) / SLICE_SECONDS,
                union_s(_within(timeline.held(alone=False), since, until)) / SLICE_SECONDS,
                sum(since <= begun < until for _, begun in timeline.starts),
            )
        )
    return found


def _within(stretches: Iterable[Stretch], since: float, until: float) -> list[Stretch]:
    return [(max(a, since), min(b, until)) for a, b in stretches if a < until and b > since]


def figures(timeline: Timeline) -> dict[str, float]:
    """What bounds a run, in seconds and numbers."""
    builds, starts = timeline.of("build"), timeline.starts
    alone, shared = timeline.held(alone=True), timeline.held(alone=False)
    return {
        "end_s": timeline.end_s,
        "builds": len(builds),
        "builds_from_s": min((span.at[0] for span in builds), default=0.0),
        "builds_until_s": max((span.at[1] for span in builds), default=0.0),
        "builds_sum_s": sum(span.seconds for span in builds),
        "tests": len(timeline.of("test")),
        "benchmarks": len(timeline.of("benchmark")),
        "held_by_benchmarks_s": union_s(alone),
        "benchmark_turns": len(alone),
        "held_by_tests_s": union_s(shared),
        "test_turns": len(shared),
        "held_s": union_s(alone + shared),
        "again": len(timeline.again),
        "starts": len(starts),
        "mean_start_wait_s": sum(begun - asked for asked, begun in starts) / max(1, len(starts)),
        "turn_wait_sum_s": sum(run.turn_wait_s for run in timeline.gate_runs),
    }


def lines(timeline: Timeline) -> list[str]:
    """The same for a reader, with the longest of each kind and a table of the whole run."""
    one = figures(timeline)
    found = [
        f"ended after {one['end_s']:.1f} s",
        f"{one['builds']} builds from {one['builds_from_s']:.1f} to {one['builds_until_s']:.1f} s, "
        f"{one['builds_sum_s']:.0f} s in all",
        f"device held by {one['benchmarks']} benchmarks {one['held_by_benchmarks_s']:.1f} s in "
        f"{one['benchmark_turns']} turns, by {one['tests']} tests {one['held_by_tests_s']:.1f} s in "
        f"{one['test_turns']}, by either {one['held_s']:.1f} s",
        f"{one['starts']} CUDA starts, mean wait {one['mean_start_wait_s']:.2f} s",
        *_list("longest builds", _longest(timeline.of("build"))),
        *_list("longest benchmarks, waits included", _longest(timeline.of("benchmark"))),
        *_list("benchmarks that held the device longest", _holders(timeline)),
        *_list("measured again alone", [f"{one.span.words}: {' '.join(one.why)}" for one in timeline.again]),
        *_list("last to end", [span.words for span in sorted(timeline.spans, key=lambda span: -span.at[1])[:SHOWN]]),
        f"{'from s':>8}{'builds':>8}{'benchmarks':>12}{'tests':>8}{'starts':>8}",
    ]
    for part in slices(timeline):
        shares = f"{part.benchmarks:>12.0%}{part.tests:>8.0%}"
        found.append(f"{part.from_s:>8.0f}{part.builds:>8.1f}{shares}{part.starts:>8}")
    return found


def _list(title: str, entries: Iterable[str]) -> list[str]:
    shown = [f"  {entry}" for entry in entries]
    return [f"{title}:", *shown] if shown else []


def _longest(spans: Iterable[Span]) -> list[str]:
    found = sorted(spans, key=lambda span: -span.seconds)[:SHOWN]
    return [f"{span.seconds:.2f} s  {span.words}" for span in found]


def _holders(timeline: Timeline) -> list[str]:
    runs = sorted((run for run in timeline.gate_runs if run.alone), key=lambda run: -run.held_s)[:SHOWN]
    return [
        f"{run.held_s:.2f} s in {len(run.held)} turns, waited {run.turn_wait_s:.1f} s  {run.task}"
        f"{' (reference)' if run.trusted else ''}"
        for run in runs
    ]
