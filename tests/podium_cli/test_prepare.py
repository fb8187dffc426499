"""`podium prepare`: a line for each program, and a status that an image's build can go by."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.cli import make_app
from tests.agent.swift_compiler import SwiftMachine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SwiftMachine]:
    machine = SwiftMachine.at(tmp_path, monkeypatch)
    yield machine
    machine.forget()


def prepare(*arguments: str) -> Result:
    return CliRunner().invoke(make_app("prepare"), ["prepare", *arguments])


def test_every_program_has_a_line_with_its_place(machine: SwiftMachine) -> None:
    ran = prepare()
    assert ran.exit_code == 0
    lines = [line.split(": ") for line in ran.stdout.splitlines()]
    names = ["podium-supervisor", "libpodium_clock.so", "libpodium_cupti.so", "podium-gpu", "podium-porter"]
    assert [line[0] for line in lines] == names
    assert all(how.startswith("made in ") for _, how, _ in lines)
    assert all(Path(place).is_file() and Path(place).is_relative_to(machine.cache) for *_, place in lines)


def test_what_was_there_is_said_to_have_been_there(machine: SwiftMachine) -> None:
    prepare()
    machine.forget()
    ran = prepare()
    assert ran.exit_code == 0
    assert ran.stdout.count(": was there: ") == 5


def test_a_program_of_no_use_here_may_be_missing(machine: SwiftMachine) -> None:
    machine.lacks_toolkit()
    ran = prepare()
    assert ran.exit_code == 0
    assert "libpodium_cupti.so: not made (this machine has no NVIDIA driver and does without): CUPTI's" in ran.stdout


def test_one_that_this_machine_needs_may_not(machine: SwiftMachine) -> None:
    machine.lacks_toolkit()
    machine.has_driver(present=True)
    ran = prepare()
    assert ran.exit_code == 1
    assert "libpodium_cupti.so: not made: CUPTI's" in ran.stdout
    assert "install the CUDA toolkit with CUPTI" in ran.stdout
    assert ran.stdout.count("made in") == 4


def test_a_cache_that_cannot_be_written_is_named(machine: SwiftMachine) -> None:
    machine.cache.parent.mkdir()
    machine.cache.write_text("a file where a folder should be")
    ran = prepare()
    assert ran.exit_code == 1
    assert f"podium-supervisor: not made: podium-supervisor cannot be put into {machine.cache}: " in ran.stdout
    assert "see that this user may write there" in ran.stdout


def test_without_a_compiler_it_says_what_to_install(machine: SwiftMachine) -> None:
    machine.lacks_compiler()
    ran = prepare()
    assert ran.exit_code == 1
    assert "apt install g++" in ran.stdout


def test_what_the_compiler_says_is_shown(machine: SwiftMachine) -> None:
    machine.compiler_does("echo 'witness.cpp:1: no [bold] such thing' >&2; exit 1")
    ran = prepare()
    assert ran.exit_code == 1
    assert "witness.cpp:1: no [bold] such thing" in ran.stdout


def test_a_script_gets_a_line_of_json_for_each(machine: SwiftMachine) -> None:
    machine.lacks_toolkit()
    ran = prepare("--json")
    assert ran.exit_code == 0
    facts = {line["name"]: line for line in map(json.loads, ran.stdout.splitlines())}
    assert len(facts) == 5
    assert Path(facts["podium-supervisor"]["path"]).is_file()
    assert facts["podium-supervisor"]["seconds"] >= 0
    assert (facts["podium-supervisor"]["was_there"], facts["podium-supervisor"]["is_needed"]) == (False, True)
    assert (facts["libpodium_cupti.so"]["path"], facts["libpodium_cupti.so"]["is_needed"]) == (None, False)
    assert "PODIUM_CUDA_HOME" in facts["libpodium_cupti.so"]["complaint"]
