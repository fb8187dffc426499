"""All native programs at once: made side by side, once, and only what the machine can use."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runners.agent.native_programs import Made, make_all, make_needed
from tests.agent.swift_compiler import MAKE_EMPTY_FILES, SwiftMachine

NAMES = ["podium-supervisor", "libpodium_clock.so", "libpodium_cupti.so", "podium-gpu", "podium-porter"]
PREFIXES = {"supervisor", "clock", "cupti", "gpu", "porter"}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SwiftMachine]:
    machine = SwiftMachine.at(tmp_path, monkeypatch)
    yield machine
    machine.forget()


def by_name(made: list[Made]) -> dict[str, Made]:
    return {one.name: one for one in made}


def test_all_are_made_and_found_again(machine: SwiftMachine) -> None:
    first = make_all()
    machine.forget()
    second = make_all()
    assert [one.name for one in first] == NAMES
    assert all(one.path and one.path.is_file() and one.path.parent.parent == machine.cache for one in first)
    assert [one.path for one in second] == [one.path for one in first]
    assert {one.was_there for one in first} == {False}
    assert {one.was_there for one in second} == {True}


def test_they_are_made_side_by_side(machine: SwiftMachine) -> None:
    all_have_begun = f'[ "$(sort -u "$LOG" | wc -l)" -eq {len(PREFIXES)} ]'
    wait = f"for i in $(seq 1000); do {all_have_begun} && break; sleep 0.01; done; {all_have_begun} || exit 1"
    machine.compiler_does(f"{wait}\n{MAKE_EMPTY_FILES}")
    assert [one.complaint for one in make_all()] == [""] * len(NAMES)
    assert set(machine.compilations()) == PREFIXES


def test_threads_that_ask_at_once_have_each_made_once(machine: SwiftMachine) -> None:
    make_all()
    once = Counter(machine.compilations())
    machine.forget()
    machine.monkeypatch.setenv("XDG_CACHE_HOME", str(machine.folder / "another cache"))
    with ThreadPoolExecutor(3) as pool:
        paths = [{one.path for one in future.result()} for future in [pool.submit(make_all) for _ in range(3)]]
    assert paths[0] == paths[1] == paths[2]
    assert Counter(machine.compilations()) == once + once


def test_a_machine_without_gpus_needs_the_supervisor_and_the_clock(machine: SwiftMachine) -> None:
    assert [one.name for one in make_needed()] == ["podium-supervisor", "libpodium_clock.so"]
    assert set(machine.compilations()) == {"supervisor", "clock"}
    machine.has_driver(present=True)
    assert [one.name for one in make_needed()] == NAMES


@pytest.mark.parametrize("driver", [False, True])
def test_a_missing_toolkit_is_said_and_the_others_are_made(machine: SwiftMachine, driver: bool) -> None:
    machine.lacks_toolkit()
    machine.has_driver(present=driver)
    made = by_name(make_all())
    cupti = made.pop("libpodium_cupti.so")
    assert all(one.path for one in made.values())
    assert cupti.path is None
    assert "name a toolkit in PODIUM_CUDA_HOME" in cupti.complaint
    assert cupti.is_needed == driver


def test_one_built_elsewhere_was_there(machine: SwiftMachine) -> None:
    library = machine.folder / "libmine.so"
    library.touch()
    machine.monkeypatch.setenv("PODIUM_CUPTI_LIBRARY", str(library))
    made = by_name(make_all())["libpodium_cupti.so"]
    assert (made.path, made.was_there) == (library, True)
    assert "cupti" not in machine.compilations()


def test_without_a_compiler_every_one_says_how_to_mend_it(machine: SwiftMachine) -> None:
    machine.lacks_compiler()
    made = make_all()
    assert [one.path for one in made] == [None] * len(NAMES)
    assert all("apt install g++" in one.complaint for one in made)
