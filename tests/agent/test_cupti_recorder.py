"""The recorder of libpodium_cupti.so: which work belongs to which range, and what is said of it.

The real C++ code, compiled here; a driver with made-up records stands for CUPTI and the GPU.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.agent.profilers.cupti_library import NATIVE
from runners.agent.profilers.cupti_notes import ProcessNote
from tests.agent.machine import temporary_folder

DRIVER = Path(__file__).parent / "cupti_recorder_driver.cpp"
CORE = [NATIVE / f"{name}.cpp" for name in ("recorder", "ranges", "ledger", "text")]
MAIN, HELPER = 11, 12
"""Threads."""


@pytest.fixture(scope="module")
def recorder() -> Iterator[Path]:
    with temporary_folder() as folder:
        program = Path(folder) / "driver"
        warnings = ["-Wall", "-Wextra", "-Werror"]
        sources = [*map(str, CORE), str(DRIVER)]
        subprocess.run(
            ["g++", "-std=c++17", "-O1", *warnings, f"-I{NATIVE}", *sources, "-o", str(program), "-pthread"], check=True
        )
        yield program


class Script:
    """The events of a process, written down in the driver's words."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.lines: list[str] = []

    def __getattr__(self, verb: str) -> Any:
        def say(*words: object) -> "Script":
            self.lines.append(" ".join([verb, *map(spell, words)]))
            return self

        return say

    def note(self) -> dict[str, Any]:
        told = "\n".join(self.lines)
        done = subprocess.run([str(self.program)], input=told.encode(), capture_output=True, check=True)
        ProcessNote.model_validate_json(done.stdout)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def ranges(self) -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in self.note()["ranges"]}


def spell(word: object) -> str:
    if isinstance(word, str):
        word = word.encode()
    if isinstance(word, bytes):
        return "x" + word.hex()
    return "-" if word is None else str(word)


@pytest.fixture
def script(recorder: Path) -> Script:
    return Script(recorder)


def test_a_kernel_belongs_to_the_range_that_was_open_at_its_launch_however_late_it_runs(script: Script) -> None:
    script.push(MAIN, 0, "bench", 2000).launch(1, MAIN, 2100).pop(MAIN, 0, 3000)
    script.kernel(1, 2500, 4500, 0, "k")
    one = script.ranges()["bench"]
    assert (one["launches"], one["kernel_ns"], one["wall_ns"]) == (1, 2000, 1000)
    assert (one["busy_ns"], one["late_ns"]) == (2000, 1500)


def test_what_is_launched_after_the_range_is_outside_it(script: Script) -> None:
    script.push(MAIN, 0, "bench", 2000).pop(MAIN, 0, 3000).launch(1, MAIN, 3100).kernel(1, 3200, 3700, 0, "k")
    note = script.note()
    assert note["ranges"][0]["launches"] == 0
    assert (note["outside_launches"], note["outside_ns"]) == (1, 500)


def test_outer_ranges_hold_what_inner_ones_do(script: Script) -> None:
    script.push(MAIN, 0, "outer", 2000).launch(1, MAIN, 2010).push(MAIN, 0, "inner", 2100).launch(2, MAIN, 2110)
    script.pop(MAIN, 0, 2200).pop(MAIN, 0, 2300)
    script.kernel(1, 2020, 2050, 0, "a").kernel(2, 2120, 2170, 0, "b")
    ranges = script.ranges()
    assert (ranges["outer"]["kernel_ns"], ranges["inner"]["kernel_ns"]) == (80, 50)
    assert (ranges["outer"]["wall_ns"], ranges["inner"]["wall_ns"]) == (300, 100)


def test_a_range_within_one_of_its_own_name_counts_once(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).push(MAIN, 0, "r", 2100).launch(1, MAIN, 2110)
    script.pop(MAIN, 0, 2200).pop(MAIN, 0, 2300).kernel(1, 2120, 2150, 0, "k")
    one = script.ranges()["r"]
    assert (one["instances"], one["wall_ns"], one["launches"], one["kernel_ns"]) == (2, 300, 1, 30)


def test_instances_of_one_name_are_added_up(script: Script) -> None:
    for turn in range(3):
        at = 2000 + 1000 * turn
        script.push(MAIN, 0, "r", at).launch(turn + 1, MAIN, at + 1).pop(MAIN, 0, at + 500)
        script.kernel(turn + 1, at + 10, at + 110, 0, "k")
    one = script.ranges()["r"]
    assert (one["instances"], one["wall_ns"], one["kernel_ns"], one["late_ns"]) == (3, 1500, 300, 0)
    assert one["open"] == [[2000, 2500], [3000, 3500], [4000, 4500]]


def test_another_threads_launches_beside_an_open_range_are_added_and_told_as_foreign(script: Script) -> None:
    script.push(MAIN, 0, "bench", 2000).launch(1, HELPER, 2100).launch(2, MAIN, 2200).pop(MAIN, 0, 3000)
    script.kernel(1, 2110, 2210, 0, "k").kernel(2, 2300, 2310, 0, "k")
    note = script.note()
    one = note["ranges"][0]
    assert (one["launches"], one["kernel_ns"], one["foreign_launches"]) == (2, 110, 1)
    assert note["outside_launches"] == 0


def test_threads_that_open_a_range_of_the_same_name_own_what_they_launch(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).push(HELPER, 0, "r", 2001).launch(1, HELPER, 2100)
    script.pop(HELPER, 0, 2300).pop(MAIN, 0, 2900).kernel(1, 2200, 2400, 0, "k")
    one = script.ranges()["r"]
    assert (one["launches"], one["foreign_launches"], one["kernel_ns"]) == (1, 0, 200)
    assert one["wall_ns"] == 299 + 900
    assert one["late_ns"] == 100


def test_start_and_end_ranges_need_not_nest_and_may_end_on_another_thread(script: Script) -> None:
    script.start(MAIN, 1, "a", 2000).start(MAIN, 2, "b", 2100).launch(1, MAIN, 2150).end(1, 2200)
    script.launch(2, MAIN, 2250).end(2, 2300).kernel(1, 2160, 2170, 0, "k").kernel(2, 2260, 2290, 0, "k")
    ranges = script.ranges()
    assert (ranges["a"]["kernel_ns"], ranges["b"]["kernel_ns"]) == (10, 40)
    assert (ranges["a"]["wall_ns"], ranges["b"]["wall_ns"]) == (200, 200)


def test_overlapping_starts_of_one_name_count_the_time_once(script: Script) -> None:
    script.start(MAIN, 1, "r", 2000).start(MAIN, 2, "r", 2100).end(1, 2200).end(2, 2500)
    assert script.ranges()["r"]["wall_ns"] == 500


def test_domains_have_stacks_of_their_own(script: Script) -> None:
    script.push(MAIN, 1, "first", 2000).push(MAIN, 2, "second", 2100).pop(MAIN, 1, 2200).launch(1, MAIN, 2250)
    script.pop(MAIN, 2, 2300).kernel(1, 2260, 2270, 0, "k")
    ranges = script.ranges()
    assert (ranges["first"]["wall_ns"], ranges["second"]["wall_ns"]) == (200, 200)
    assert (ranges["first"]["launches"], ranges["second"]["launches"]) == (0, 1)


def test_a_range_that_is_never_left_is_unclosed_and_keeps_its_kernels(script: Script) -> None:
    script.push(MAIN, 0, "bench", 2000).launch(1, MAIN, 2100).kernel(1, 2200, 2300, 0, "k").launch(2, MAIN, 2500)
    one = script.ranges()["bench"]
    assert (one["instances"], one["unclosed"], one["wall_ns"], one["kernel_ns"]) == (0, 1, 0, 100)
    assert one["open"] == [[2000, 2500]]


def test_one_that_is_left_open_does_not_swallow_the_time_of_those_after_it(script: Script) -> None:
    script.start(MAIN, 1, "r", 2000).start(MAIN, 2, "r", 2100).end(2, 2400)
    one = script.ranges()["r"]
    assert (one["instances"], one["unclosed"], one["wall_ns"]) == (1, 1, 400)


def test_a_pop_without_a_push_is_passed_over(script: Script) -> None:
    script.pop(MAIN, 0, 1500).end(9, 1600).push(MAIN, 0, "r", 2000).pop(MAIN, 0, 2100).pop(MAIN, 0, 2200)
    one = script.ranges()["r"]
    assert (one["instances"], one["wall_ns"]) == (1, 100)


def test_a_range_without_a_name_keeps_its_place_and_counts_for_nothing(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).push(MAIN, 0, None, 2100).launch(1, MAIN, 2150).pop(MAIN, 0, 2200)
    script.pop(MAIN, 0, 2300).kernel(1, 2160, 2170, 0, "k")
    ranges = script.ranges()
    assert list(ranges) == ["r"]
    assert (ranges["r"]["wall_ns"], ranges["r"]["kernel_ns"]) == (300, 10)


def test_all_nodes_of_a_graph_belong_to_its_one_launch(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).launch(5, MAIN, 2100).pop(MAIN, 0, 2200)
    for node in range(4):
        script.kernel(5, 2300 + 100 * node, 2350 + 100 * node, 0, f"node{node}")
    one = script.ranges()["r"]
    assert (one["launches"], one["kernel_ns"], one["late_ns"]) == (4, 200, 200)


def test_what_overlaps_on_several_streams_is_busy_once(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).launch(1, MAIN, 2001).launch(2, MAIN, 2002).launch(3, MAIN, 2003)
    script.pop(MAIN, 0, 2900)
    script.kernel(1, 2100, 2400, 0, "a").kernel(3, 2600, 2700, 0, "c").kernel(2, 2200, 2500, 0, "b")
    note = script.note()
    assert (note["ranges"][0]["kernel_ns"], note["ranges"][0]["busy_ns"], note["busy_ns"]) == (700, 500, 500)


def test_copies_are_told_by_direction_and_by_the_innermost_range(script: Script) -> None:
    script.launch(1, MAIN, 1900).push(MAIN, 0, "out", 2000).push(MAIN, 0, "in", 2010).launch(2, MAIN, 2020)
    script.pop(MAIN, 0, 2030).pop(MAIN, 0, 2040)
    script.copy(1, 1910, 1920, 64, "HtoD").copy(2, 2021, 2029, 128, "HtoD").fill(2, 2029, 2030, 32, "")
    note = script.note()
    (copies,) = note["copies"]
    assert (copies["direction"], copies["count"], copies["bytes"], copies["ns"]) == ("HtoD", 2, 192, 18)
    parts = {part["name"]: part["bytes"] for part in copies["ranges"]}
    assert parts == {"": 64, "in": 128}
    ranges = {one["name"]: (one["copies"], one["copied_bytes"], one["fill_ns"]) for one in note["ranges"]}
    assert ranges == {"out": (1, 128, 1), "in": (1, 128, 1)}


def test_copies_between_host_and_device_outside_all_ranges_are_in_the_timeline(script: Script) -> None:
    script.launch(1, MAIN, 1900).push(MAIN, 0, "r", 2000).launch(2, MAIN, 2020).pop(MAIN, 0, 2040)
    script.launch(3, MAIN, 500_000).launch(4, MAIN, 600_000)
    script.copy(1, 1910, 1920, 64, "HtoD").copy(2, 2021, 2029, 128, "DtoH").copy(3, 500_010, 500_020, 32, "DtoH")
    script.copy(4, 600_010, 600_020, 16, "DtoD").fill(2, 2029, 2030, 48, "")
    note = script.note()
    assert note["timeline"]["outside_copies"] == [[0, 64, 0], [4, 0, 32]]
    assert note["filled_bytes"] == note["ranges"][0]["filled_bytes"] == 48


def test_records_without_an_end_and_those_dropped_are_counted(script: Script) -> None:
    script.launch(1, MAIN, 2000).kernel(1, 2100, 0, 0, "k").kernel(1, 0, 0, 0, "k").dropped()
    note = script.note()
    assert (note["incomplete"], note["dropped"], note["kernels"]) == (2, 1, [])


def test_a_kernel_whose_launch_was_not_seen_is_outside_of_all_ranges(script: Script) -> None:
    script.push(MAIN, 0, "r", 2000).kernel(77, 2100, 2150, 0, "k").pop(MAIN, 0, 2900)
    note = script.note()
    assert (note["unattributed"], note["outside_ns"], note["ranges"][0]["launches"]) == (1, 50, 0)


NASTY = ['say "hi"', "back\\slash", "new\nline\ttab\x01", "naïve 日本 🚀", "", "a" * 5000]


@pytest.mark.parametrize("name", NASTY)
def test_any_name_survives(script: Script, name: str) -> None:
    script.push(MAIN, 0, name, 2000).pop(MAIN, 0, 2100)
    assert list(script.ranges()) == [name[:1024]]


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe", b"cut \xe6\x97", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"ok \x80 ok"]
)
def test_names_that_are_no_text_are_replaced_byte_by_byte(script: Script, raw: bytes) -> None:
    script.push(MAIN, 0, raw, 2000).pop(MAIN, 0, 2100)
    (name,) = script.ranges()
    assert name.count("\ufffd") == sum(byte >= 0x80 for byte in raw)
    assert name.replace("\ufffd", "") == raw.decode("ascii", "ignore")


@pytest.mark.parametrize(
    ("mangled", "shown"),
    [
        ("_Z6kernelPfi", "kernel"),
        ("_Z6squareIfEvPT_", "void square<float>"),
        ("_ZN12_GLOBAL__N_11kEPf", "(anonymous namespace)::k"),
        ("_ZN12_GLOBAL__N_12kkIiEEvPT_", "void (anonymous namespace)::kk<int>"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("f", "f"),
        ('odd"name', 'odd"name'),
    ],
)
def test_kernels_are_named_without_their_parameters(script: Script, mangled: str, shown: str) -> None:
    script.launch(1, MAIN, 2000).kernel(1, 2100, 2200, 0, mangled)
    (kernel,) = script.note()["kernels"]
    assert kernel == {"name": shown, "launches": 1, "ns": 100}


def test_a_long_run_keeps_its_sums_and_stays_small(script: Script) -> None:
    turns = 20_000
    for turn in range(turns):
        at = 10_000 + 1_000_000 * turn
        script.push(MAIN, 0, "r", at).launch(turn + 1, MAIN, at + 10).pop(MAIN, 0, at + 900)
        script.kernel(turn + 1, at + 100, at + 300, 0, "k")
    note = script.note()
    one = note["ranges"][0]
    assert (one["instances"], one["launches"]) == (turns, turns)
    assert (one["kernel_ns"], one["busy_ns"]) == (turns * 200, turns * 200)
    assert len(one["open"]) <= 1024
    assert len(note["timeline"]["slices"]) <= 4096
    assert sum(piece[2] for piece in note["timeline"]["slices"]) == turns * 200


def test_too_many_names_and_too_many_open_ranges_are_told_as_lost(script: Script) -> None:
    for number in range(300):
        script.push(MAIN, 0, f"deep {number}", 2000 + number)
    script.launch(1, MAIN, 3000).kernel(1, 3100, 3200, 0, "k")
    note = script.note()
    assert note["dropped"] == 44
    assert sum(one["launches"] for one in note["ranges"]) == 256
