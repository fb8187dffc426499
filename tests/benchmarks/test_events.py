"""The device's time, from the events of a run."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.compute_eval_gpu.events import activity, read
from runners.agent.ground.events import CommandRan, StageEntered, TurnChanged
from tests.benchmarks.rows import ran, turn


def test_only_turns_of_benchmarks_that_had_the_device_alone_are_exclusive() -> None:
    found = activity([
        turn("ask", "a", 0.0, alone=False), turn("open", "a", 1.0, alone=False), turn("close", "a", 1.5, alone=False),
        ran("test", "a", 0.0, 2.0),
        turn("ask", "a", 2.0), turn("open", "a", 3.0), turn("close", "a", 4.0),
        turn("ask", "a", 5.0), turn("open", "a", 6.0), turn("close", "a", 8.0),
        ran("benchmark", "a", 2.0, 9.0),
    ])  # fmt: skip
    assert (found.exclusive_s, found.shared_s) == (3.0, 0.5)


def test_a_turn_that_was_not_given_back_ends_with_its_command() -> None:
    found = activity([turn("open", "a", 3.0), ran("benchmark", "a", 2.0, 5.0), turn("open", "b", 6.0)])
    assert found.exclusive_s == 2.0


def test_turns_of_a_candidate_and_its_reference_are_told_apart() -> None:
    found = activity([
        turn("open", "a", 1.0), ran("test", "a", 0.0, 2.0, is_reference=True), turn("close", "a", 3.0),
        turn("open", "a", 4.0, is_reference=True), turn("close", "a", 5.0, is_reference=True),
        ran("benchmark", "a", 0.5, 3.5), ran("benchmark", "a", 3.5, 5.5, is_reference=True),
    ])  # fmt: skip
    assert found.exclusive_s == 3.0


def test_a_benchmark_without_turns_has_the_device_from_beginning_to_end() -> None:
    gated = [turn("open", "a", 1.0), turn("close", "a", 2.0), ran("benchmark", "a", 0.0, 3.0)]
    assert activity([*gated, ran("benchmark", "b", 10.0, 14.0)]).exclusive_s == 5.0


def test_benchmarks_without_turns_that_wait_for_each_other_count_once() -> None:
    assert activity([ran("benchmark", "a", 0.0, 3.0), ran("benchmark", "b", 1.0, 5.0)]).exclusive_s == 5.0


def test_builds_are_counted() -> None:
    found = activity([ran("build", "a", 0.0, 3.0), ran("build", "a", 1.0, 2.0, is_reference=True)])
    assert found.builds_s == 4.0


def test_the_agents_own_events_can_be_read(tmp_path: Path) -> None:
    """Events are written as their class's name and fields; a line cut short is left out."""
    told = [
        StageEntered("building"),
        TurnChanged("a", False, True, "open", 10**9),
        TurnChanged("a", False, True, "close", 3 * 10**9),
        CommandRan("benchmark", "a", False, 0, 4 * 10**9),
    ]
    path = tmp_path / "events.jsonl"
    lines = [json.dumps({"event": type(one).__name__, **asdict(one)}) for one in told]
    path.write_text("\n".join(lines) + "\n" + lines[0][:12])
    found = activity(read(path))
    assert found.exclusive_s == pytest.approx(2.0)


def test_no_events_are_no_time() -> None:
    assert activity([]).exclusive_s == 0.0
