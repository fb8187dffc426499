"""The test of a reference starts with one connection to its device; a contestant's never does."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.agent import runs
from runners.agent.slots import Place
from runners.agent.task import Subject, Unwatched
from tests.agent.machine import Machine, shell_problem

ONE = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}


class Commands:
    """Stands in for running the command: passes unless told that it fails with what is added to its environment."""

    def __init__(self, fails_with: Mapping[str, str] | None = None) -> None:
        self.fails_with = fails_with
        self.added: list[dict[str, str]] = []

    def __call__(self, *given: Any) -> Any:
        added = dict(given[5]) if len(given) > 5 else {}
        self.added.append(added)
        succeeded = self.fails_with is None or added != self.fails_with
        return type("Ended", (), {"succeeded": succeeded, "stdout": "", "stderr": ""})()


def passes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tests: Commands, *, trusted: bool, device: str = "GPU-1"
) -> bool:
    monkeypatch.setattr(runs, "_test", tests)
    monkeypatch.setattr(runs, "_sharing", lambda *_: None)
    environment = replace(machine.environment, gate_library=Path("gate.so"))
    subject: Subject = Subject(shell_problem(), "0" * 64, (), trusted=trusted, place=Place("", device))
    return runs.test(environment, subject, b"", Unwatched()).succeeded


def test_a_references_test_starts_with_one_connection(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = Commands()
    assert passes(machine, monkeypatch, tests, trusted=True)
    assert tests.added == [ONE]


def test_a_reference_that_fails_so_is_tested_as_it_is(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = Commands(fails_with=ONE)
    assert passes(machine, monkeypatch, tests, trusted=True)
    assert tests.added == [ONE, {}]


def test_a_contestants_test_is_left_as_it_is(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = Commands(fails_with={})
    assert not passes(machine, monkeypatch, tests, trusted=False)
    assert tests.added == [{}]


def test_without_a_device_nothing_is_added(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = Commands()
    assert passes(machine, monkeypatch, tests, trusted=True, device="")
    assert tests.added == [{}]
