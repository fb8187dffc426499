"""What a timeline comes to, and that one is written."""

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.compute_eval_gpu.timeline import figures, lines, read, slices, timeline_of, union_s
from benchmarks.compute_eval_gpu.traced import tracing
from runners.agent import pipeline, runs
from runners.agent.bounds import Finding
from runners.agent.gpu.gate import Gate


def span(kind: str, task: str, from_s: float, until_s: float, *, trusted: bool = False) -> dict[str, Any]:
    return {"kind": kind, "task": task, "trusted": trusted, "from_s": from_s, "until_s": until_s}


def at_gate(run: int, of: str, *events: tuple[str, float]) -> list[dict[str, Any]]:
    who = {"run": run, "of": of, "task": "a", "trusted": False, "alone": of == "benchmark"}
    return [{"kind": "gate", **who, "event": event, "at_s": at_s} for event, at_s in events]


LOG = [
    span("build", "a", 1.0, 4.0),
    span("build", "b", 2.0, 7.0, trusted=True),
    span("test", "a", 4.0, 6.0),
    span("benchmark", "a", 6.0, 11.0),
    *at_gate(0, "test", ("hold", 4.0), ("begin", 4.5), ("ask", 4.5), ("open", 5.0), ("close", 5.5), ("left", 6.0)),
    *at_gate(1, "benchmark", ("ask", 6.0), ("open", 7.0), ("close", 9.0), ("open", 9.5), ("left", 11.0)),
    {"kind": "end", "at_s": 12.0},
]


def test_figures_tell_what_bounds_a_run() -> None:
    found = figures(timeline_of(LOG))
    assert (found["builds"], found["builds_from_s"], found["builds_until_s"], found["builds_sum_s"]) == (2, 1, 7, 8)
    assert (found["held_by_benchmarks_s"], found["benchmark_turns"]) == (3.5, 2)
    assert (found["held_by_tests_s"], found["test_turns"], found["held_s"]) == (0.5, 1, 4.0)
    assert (found["starts"], found["mean_start_wait_s"], found["turn_wait_sum_s"]) == (1, 0.5, 1.5)
    assert found["end_s"] == 12.0


def test_a_run_is_told_in_stretches_of_five_seconds() -> None:
    first, second, last = slices(timeline_of(LOG))
    assert (first.builds, first.benchmarks, first.tests, first.starts) == (pytest.approx(6 / 5), 0.0, 0.0, 1)
    assert (second.builds, second.benchmarks, second.tests) == (2 / 5, pytest.approx(2.5 / 5), 0.1)
    assert (last.from_s, last.benchmarks) == (10.0, 1 / 5)


def test_seconds_in_several_stretches_count_once() -> None:
    assert union_s([(5, 6), (0, 3), (1, 2), (2, 4)]) == 5


def test_a_reader_sees_the_longest_and_the_last() -> None:
    text = "\n".join(lines(timeline_of(LOG)))
    assert "longest builds:\n  5.00 s  build b (reference) 2.0 to 7.0\n  3.00 s" in text
    assert "3.50 s in 2 turns, waited 1.0 s  a" in text
    assert "last to end:\n  benchmark a 6.0 to 11.0" in text


def test_a_log_that_was_cut_off_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(LOG[0]) + "\n" + json.dumps(LOG[1])[:20])
    assert figures(read(path))["builds"] == 1
    path.write_text("")
    assert "ended after 0.0 s" in lines(read(path))


class SilentPorter:
    """Takes runs in and says nothing by itself."""

    def admit(self, client: Gate, page: str, *, alone: bool, is_long: bool, seconds: float) -> str:
        return "0"

    def dismiss(self, name: str) -> None:
        pass


def test_turns_at_the_gate_are_written_with_who_had_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def benchmark(folder: Path, subject: Any) -> str:
        watch: Any = runs._Unwatched()
        porter: Any = SilentPorter()
        gate = Gate(folder, porter, True, watch, 60.0)
        with gate.attended():
            for event, at_ns in (("ask", 10**18), ("open", 2 * 10**18), ("close", 4 * 10**18)):
                gate.told(event, at_ns)
        return f"{len(gate.windows)} window"

    monkeypatch.setattr(runs, "benchmark", benchmark)
    before = Gate.told
    log = io.StringIO()
    with tracing(log):
        subject = SimpleNamespace(problem=SimpleNamespace(task_id="a"), trusted=True)
        assert runs.benchmark(tmp_path, subject) == "1 window", "what is wrapped works as before"  # type: ignore
    assert Gate.told is before
    events = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [one.get("event", one["kind"]) for one in events] == ["ask", "open", "close", "left", "benchmark", "end"]
    assert all(
        (one["of"], one["task"], one["trusted"], one["alone"]) == ("benchmark", "a", True, True) for one in events[:4]
    )
    assert figures(timeline_of(events[:3]))["held_by_benchmarks_s"] == pytest.approx(2e9)


def test_what_is_measured_again_is_told_with_why(monkeypatch: pytest.MonkeyPatch) -> None:
    class Course:
        _subject = SimpleNamespace(problem=SimpleNamespace(task_id="a"), trusted=False)

        def _findings(self, timed: str) -> list[Finding]:
            return [Finding("few_launches", "1 launch was timed.")] if timed == "odd" else []

    def looked_into(course: Course, timed: str) -> str:
        return timed if timed == "good" else "good"

    monkeypatch.setattr(pipeline._Course, "_looked_into", looked_into)
    log = io.StringIO()
    with tracing(log):
        for timed in ("good", "odd", "failed"):
            assert pipeline._Course._looked_into(Course(), timed) == "good"  # type: ignore[arg-type, comparison-overlap]
    found = timeline_of([json.loads(line) for line in log.getvalue().splitlines()])
    assert [one.why for one in found.again] == [["1 launch was timed."], ["The benchmark failed."]]
    assert (figures(found)["again"], found.spans) == (2, []), "its benchmarks are told by themselves"
    text = "\n".join(lines(found))
    assert re.search(r"measured again alone:\n  again a \S+ to \S+: 1 launch was timed\.\n", text)
