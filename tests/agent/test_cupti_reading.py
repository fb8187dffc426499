"""The node's reading of a recording: times, facts and ComputeEval's metrics; and the recordings that it refuses."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from problems.spec.command.timing_mode import GpuTimingMode, KernelsTimingMode, RegionTimingMode
from runners.agent.devices import gate
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers import cupti_library
from runners.agent.profilers.base import Reading
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.cupti_notes import MOST_FILES
from runners.agent.sandbox.policy import Mount
from tests.agent.cupti_stand_in import ran, reader
from tests.agent.machine import shell_problem

MS = 1_000_000
PARENT, CHILD = 40, 41
REGION = {"type": "region", "include": ["bench_region"]}


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> Cupti:
    return reader(monkeypatch)


def a_range(name: str, **changes: Any) -> dict[str, Any]:
    """One instance of 9 ms with two launches of 4 ms in all."""
    note = {
        "name": name,
        "instances": 1,
        "unclosed": 0,
        "wall_ns": 9 * MS,
        "launches": 2,
        "kernel_ns": 4 * MS,
        "copies": 0,
        "copy_ns": 0,
        "copied_bytes": 0,
        "fill_ns": 0,
        "busy_ns": 4 * MS,
        "late_ns": 0,
        "foreign_launches": 0,
        "open": [[510 * MS, 519 * MS]],
    }
    return note | changes


def a_process(pid: int = PARENT, **changes: Any) -> dict[str, Any]:
    """From 500 to 600 ms on the clock: two kernels of 5.5 ms in three launches, and two copies."""
    note = {
        "schema": 1,
        "pid": pid,
        "begun_ns": 500 * MS,
        "ended_ns": 600 * MS,
        "final": True,
        "contexts": 1,
        "kernel_calls": 3,
        "dropped": 0,
        "incomplete": 0,
        "unattributed": 0,
        "kernels": [
            {"name": "void k1<int>", "launches": 2, "ns": 4 * MS},
            {"name": "ns::debug_k", "launches": 1, "ns": 1_500_000},
        ],
        "copies": [
            {
                "direction": "HtoD",
                "count": 1,
                "bytes": 8,
                "ns": 500_000,
                "ranges": [{"name": "", "bytes": 8, "ns": 500_000}],
            },
            {"direction": "DtoH", "count": 1, "bytes": 8, "ns": 250_000, "ranges": []},
        ],
        "fill_ns": 100_000,
        "busy_ns": 6 * MS,
        "outside_launches": 1,
        "outside_ns": 1_500_000,
        "ranges": [a_range("bench_region"), a_range("other", launches=1, kernel_ns=MS, busy_ns=MS)],
        "timeline": {
            "origin_ns": 500 * MS,
            "width_ns": MS,
            "slices": [[12, 2, 4 * MS, 0, 0, 0, 100_000, 0, 0], [50, 1, 1_500_000, 2, 750_000, 16, 0, 1, 1_500_000]],
        },
    }
    return note | changes


def a_child(**changes: Any) -> dict[str, Any]:
    """A process without ranges that launched ten kernels of 1 ms, one at each millisecond from 510 ms on."""
    quiet: dict[str, Any] = {
        "kernels": [{"name": "child", "launches": 10, "ns": 10 * MS}],
        "copies": [],
        "fill_ns": 0,
        "busy_ns": 10 * MS,
        "outside_launches": 10,
        "outside_ns": 10 * MS,
        "ranges": [],
        "timeline": {
            "origin_ns": 500 * MS,
            "width_ns": MS,
            "slices": [[index, 1, MS, 0, 0, 0, 0, 1, MS] for index in range(10, 20)],
        },
    }
    return a_process(CHILD) | quiet | changes


def leave(folder: Path, *notes: dict[str, Any]) -> Path:
    for note in notes:
        stem = folder / f"{note['pid']}-{note['begun_ns']}"
        stem.with_suffix(".json").write_text(json.dumps(note))
        if note["contexts"]:
            stem.with_suffix(".begun").touch()
    return folder


def read(cupti: Cupti, notes: Path, mode: dict[str, Any] = REGION, **outcome: Any) -> Reading:
    return cupti.read(shell_problem(timing_mode=mode, benchmark_command="true"), notes, ran(**outcome))


@pytest.mark.parametrize(
    ("mode", "time_ms"),
    [
        ({"type": "kernels"}, 5.5),
        ({"type": "kernels", "include": ["void k1*"]}, 4.0),
        ({"type": "kernels", "exclude": ["*debug*"]}, 4.0),
        ({"type": "gpu"}, 6.25),
        ({"type": "region"}, 5.0),
        (REGION, 4.0),
        ({"type": "region", "include": ["bench*"], "time_type": "wall_clock"}, 9.0),
        ({"type": "region", "exclude": ["bench_region"]}, 1.0),
    ],
)
def test_times_are_computeevals(cupti: Cupti, tmp_path: Path, mode: dict[str, Any], time_ms: float) -> None:
    reading = read(cupti, leave(tmp_path, a_process()), mode)
    assert (reading.time_ms, reading.error) == (time_ms, None)


def test_metrics_have_computeevals_shape(cupti: Cupti, tmp_path: Path) -> None:
    metrics = read(cupti, leave(tmp_path, a_process())).metrics
    assert metrics is not None
    shape = metrics.model_dump(exclude_none=True)
    assert list(shape) == ["kernels", "memory_transfers", "nvtx_ranges", "summary"]
    assert shape["kernels"][0] == {
        "name": "void k1<int>",
        "invocations": 2,
        "total_duration_ms": 4.0,
        "avg_duration_ms": 2.0,
    }
    assert shape["memory_transfers"]["HtoD"] == {
        "count": 1,
        "total_bytes": 8,
        "total_time_ms": 0.5,
        "bandwidth_gbps": 0.0,
        "nvtx": {"": {"bytes": 8, "time_ms": 0.5, "bandwidth_gbps": 0.0}},
    }
    assert shape["nvtx_ranges"]["bench_region"] == {
        "wall_clock_time_ms": 9.0,
        "kernel_time_ms": 4.0,
        "kernel_invocations": 2,
        "memcpy_time_ms": 0.0,
        "memcpy_count": 0,
        "memcpy_bytes": 0,
    }
    assert shape["summary"] == {
        "total_kernel_time_ms": 5.5,
        "total_kernels": 2,
        "total_kernel_invocations": 3,
        "total_memory_transfers": 2,
        "application_duration_ms": 100.0,
    }


def test_facts_tell_what_lies_outside_the_ranges(cupti: Cupti, tmp_path: Path) -> None:
    facts = read(cupti, leave(tmp_path, a_process(dropped=2, incomplete=1))).facts
    assert facts is not None
    assert (facts.processes, facts.unfinished, facts.dropped_records) == (1, 0, 3)
    assert (facts.kernel_ms, facts.launches, facts.memcpy_ms, facts.memset_ms) == (5.5, 3, 0.75, 0.1)
    assert (facts.busy_ms, facts.outside_ms, facts.outside_launches) == (6.0, 1.5, 1)
    assert facts.kernels == {"void k1<int>": 2, "ns::debug_k": 1}
    assert (facts.ranges["bench_region"].kernel_ms, facts.ranges["bench_region"].wall_ms) == (4.0, 9.0)


def test_kernels_that_were_launched_and_left_no_record_are_missing(cupti: Cupti, tmp_path: Path) -> None:
    facts = read(cupti, leave(tmp_path, a_process(kernel_calls=10, incomplete=1))).facts
    assert facts is not None
    assert facts.dropped_records == 1 + 6


@pytest.mark.parametrize(
    ("note", "lacks"),
    [
        ({"graph_launches": 2, "incomplete": 3}, True),
        ({"graph_launches": 2, "incomplete": 0}, False),
        ({"graph_launches": 0, "incomplete": 3}, False),
    ],
)
def test_graphs_without_times_call_for_another_timer(
    cupti: Cupti, tmp_path: Path, note: dict[str, Any], lacks: bool
) -> None:
    one_at_a_time = Cupti(RegionTimingMode(include=["bench_region"], time_type="kernel"))
    left = leave(tmp_path, a_process(**note))
    assert read(one_at_a_time, left).lacks_graphs is lacks
    assert not read(cupti, left).lacks_graphs


def test_graphs_are_recorded_as_they_run_over_one_connection(cupti: Cupti, tmp_path: Path) -> None:
    mode = KernelsTimingMode()
    one_at_a_time = Cupti(mode)
    with_graphs = one_at_a_time.for_graphs
    assert with_graphs is not None
    assert (cupti.for_graphs, with_graphs.for_graphs) == (None, None)
    assert len({cupti.name, one_at_a_time.name, with_graphs.name}) == 3
    ways = [timer.attach("true", tmp_path).environment for timer in (cupti, one_at_a_time, with_graphs)]
    assert ["PODIUM_CUPTI_SERIAL" in way for way in ways] == [False, True, False]
    assert ["CUDA_DEVICE_MAX_CONNECTIONS" in way for way in ways] == [False, True, True]


def test_a_childs_launches_count_for_the_range_that_its_parent_has_open(cupti: Cupti, tmp_path: Path) -> None:
    reading = read(cupti, leave(tmp_path, a_process(), a_child()))
    assert reading.time_ms == pytest.approx(4 + 9)
    facts = reading.facts
    assert facts is not None
    region = facts.ranges["bench_region"]
    assert (region.launches, region.foreign_launches) == (11, 9)
    assert facts.processes == 2
    assert (facts.outside_launches, facts.outside_ms) == (2, pytest.approx(2.5))


def test_a_parent_that_does_not_use_the_device_may_hold_the_range(cupti: Cupti, tmp_path: Path) -> None:
    empty = {"kernels": [], "copies": [], "fill_ns": 0, "busy_ns": 0, "outside_launches": 0, "outside_ns": 0}
    region = a_range("bench_region", launches=0, kernel_ns=0, busy_ns=0)
    timeline = {"origin_ns": 500 * MS, "width_ns": MS, "slices": []}
    parent = a_process(contexts=0, ranges=[region], timeline=timeline) | empty
    reading = read(cupti, leave(tmp_path, parent, a_child()))
    assert reading.time_ms == pytest.approx(9.0)
    assert reading.facts is not None
    assert reading.facts.processes == 1


def test_a_child_with_a_range_of_that_name_is_not_counted_twice(cupti: Cupti, tmp_path: Path) -> None:
    own = a_range("bench_region", launches=3, kernel_ns=3 * MS, busy_ns=3 * MS, open=[[512 * MS, 515 * MS]])
    reading = read(cupti, leave(tmp_path, a_process(), a_child(ranges=[own])))
    assert reading.time_ms == pytest.approx(4 + 3)


def test_a_process_that_did_not_end_in_order_is_told_of(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process(final=False))
    (tmp_path / "99-1.begun").touch()
    reading = read(cupti, tmp_path)
    assert reading.time_ms == 4.0
    assert reading.facts is not None
    assert (reading.facts.processes, reading.facts.unfinished) == (2, 2)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ({"type": "region", "include": ["nope"]}, "No NVTX range matches 'nope'; the run had: 'bench_region', 'other'"),
        ({"type": "region", "exclude": ["*"]}, "No NVTX range matches other than '*'; the run had"),
        ({"type": "kernels", "include": ["a", "b*"]}, "No kernel matches 'a' or 'b*'; the run had: 'void k1<int>'"),
        ({"type": "kernels", "include": []}, "No kernel matches an empty list; the run had"),
    ],
)
def test_a_filter_that_matches_nothing_is_an_error(
    cupti: Cupti, tmp_path: Path, mode: dict[str, Any], words: str
) -> None:
    reading = read(cupti, leave(tmp_path, a_process()), mode)
    assert reading.time_ms is None
    assert reading.error is not None
    assert reading.error.startswith(f"Benchmark profiling failed: {words}")
    assert reading.facts is not None


def test_a_run_without_ranges_is_told_so(cupti: Cupti, tmp_path: Path) -> None:
    reading = read(cupti, leave(tmp_path, a_process(ranges=[])), {"type": "region"})
    assert reading.error == "Benchmark profiling failed: the run had no NVTX range"


def test_without_any_profile_the_error_is_computeevals(cupti: Cupti, tmp_path: Path) -> None:
    assert read(cupti, tmp_path) == Reading(None, "Benchmark profiling failed: None")
    (tmp_path / "40-5.begun").touch()
    assert read(cupti, tmp_path) == Reading(None, "Benchmark profiling failed: None")


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1}', "[]", "NaN", '{"schema": 1, "pid": "a" b"}', "[" * 100_000])
def test_a_damaged_profile_is_none(cupti: Cupti, tmp_path: Path, text: str) -> None:
    (tmp_path / "40-5.json").write_text(text)
    assert read(cupti, tmp_path) == Reading(None, "Benchmark profiling failed: None")


def refuses(cupti: Cupti, notes: Path, words: str, **outcome: Any) -> None:
    reading = read(cupti, notes, **outcome)
    assert reading.time_ms is None
    assert reading.metrics is None
    assert reading.error is not None
    assert words in reading.error
    assert reading.error.endswith("the profile was rejected")


@pytest.mark.parametrize(
    "forged",
    [
        {"ranges": [a_range("bench_region", launches=4)]},
        {"ranges": [a_range("bench_region", kernel_ns=6 * MS)]},
        {"ranges": [a_range("bench_region", late_ns=5 * MS)]},
        {"ranges": [a_range("bench_region", open=[[510 * MS, 601 * MS]])]},
        {"ranges": [a_range("bench_region", open=[[520 * MS, 510 * MS]])]},
        {"ranges": [a_range("bench_region"), a_range("bench_region")]},
        {"kernels": [{"name": "k", "launches": 3, "ns": 1}]},
        {"busy_ns": 7 * MS},
        {"outside_ns": 6 * MS},
        {"ended_ns": 499 * MS},
        {"contexts": 0},
    ],
)
def test_figures_that_contradict_one_another_are_not_believed(
    cupti: Cupti, tmp_path: Path, forged: dict[str, Any]
) -> None:
    refuses(cupti, leave(tmp_path, a_process() | forged), "contradict")


@pytest.mark.parametrize(
    "forged", [{"busy_ns": -1}, {"busy_ns": 1.5}, {"busy_ns": "1"}, {"busy_ns": 1 << 70}, {"more": 1}, {"schema": 2}]
)
def test_figures_that_no_recorder_writes_are_no_profile(cupti: Cupti, tmp_path: Path, forged: dict[str, Any]) -> None:
    assert read(cupti, leave(tmp_path, a_process() | forged)).error == "Benchmark profiling failed: None"


def test_a_recording_longer_than_the_command_is_not_believed(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process())
    refuses(cupti, tmp_path, "more time than the command", wall_ms=-1.0)
    leave(tmp_path, a_child(begun_ns=500 * MS + 1, ended_ns=900 * MS))
    refuses(cupti, tmp_path, "more time than the command", wall_ms=250.0)


def test_a_file_under_another_processs_name_is_not_believed(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process())
    (tmp_path / f"40-{500 * MS}.json").rename(tmp_path / f"40-{501 * MS}.json")
    refuses(cupti, tmp_path, "another process")


def test_a_profile_without_the_mark_of_its_begin_is_not_believed(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process())
    (tmp_path / f"40-{500 * MS}.begun").unlink()
    refuses(cupti, tmp_path, "used the device but left no file")


def test_links_pipes_and_folders_are_refused_and_not_followed(cupti: Cupti, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(json.dumps(a_process()))
    name = f"40-{500 * MS}.json"
    for number, make in enumerate(
        [
            lambda path: path.symlink_to(secret),
            lambda path: path.hardlink_to(secret),
            os.mkfifo,
            lambda path: path.mkdir(),
        ]
    ):
        notes = tmp_path / str(number)
        notes.mkdir()
        make(notes / name)
        refuses(cupti, notes, "40-")


def test_foreign_files_and_too_many_of_them_are_refused(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process())
    (tmp_path / "profile.json").write_text("{}")
    refuses(cupti, tmp_path, "profile.json")
    (tmp_path / "profile.json").unlink()
    for number in range(MOST_FILES):
        (tmp_path / f"1-{number}.begun").touch()
    refuses(cupti, tmp_path, "more than")


def test_the_gates_page_is_no_recording_and_no_foreign_file(cupti: Cupti, tmp_path: Path) -> None:
    leave(tmp_path, a_process())
    (tmp_path / gate.FILE).write_bytes(bytes(gate.PAGE.size))
    assert read(cupti, tmp_path).time_ms == 4.0


def test_a_huge_file_is_refused(cupti: Cupti, tmp_path: Path) -> None:
    with (tmp_path / "40-5.json").open("wb") as file:
        file.truncate(1 << 40)
    refuses(cupti, tmp_path, "MiB")


def test_the_command_stays_as_it_is_and_finds_the_library_by_its_environment(cupti: Cupti, tmp_path: Path) -> None:
    attachment = cupti.attach("PYTHONPATH=. python bench.py && ./b", tmp_path)
    assert attachment.shell == "PYTHONPATH=. python bench.py && ./b"
    assert attachment.environment == {
        "CUDA_INJECTION64_PATH": "/cache/cupti-1/libpodium_cupti.so",
        "NVTX_INJECTION64_PATH": "/cache/cupti-1/libpodium_cupti.so",
        "PODIUM_CUPTI_NOTES": str(tmp_path),
    }
    assert attachment.mounts == (
        Mount(Path("/cache/cupti-1"), "/cache/cupti-1"),
        Mount(tmp_path, str(tmp_path), writable=True),
    )


KERNELS_ALONE = {"PODIUM_CUPTI_SERIAL": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (KernelsTimingMode(), KERNELS_ALONE),
        (RegionTimingMode(time_type="kernel"), KERNELS_ALONE),
        (RegionTimingMode(time_type="wall_clock"), {}),
        (GpuTimingMode(), KERNELS_ALONE | {"PODIUM_GATE_COPIES": "1"}),
    ],
)
@pytest.mark.usefixtures("cupti")
def test_kernels_are_timed_one_at_a_time_where_their_own_times_are_summed(
    mode: Any, told: dict[str, str], tmp_path: Path
) -> None:
    timer = Cupti(mode)
    environment = timer.attach("./b", tmp_path).environment
    names = {"PODIUM_CUPTI_SERIAL", "CUDA_DEVICE_MAX_CONNECTIONS", "PODIUM_GATE_COPIES"}
    assert {name: environment[name] for name in names & environment.keys()} == told
    assert ("one at a time" in timer.name) == bool(told)


def test_without_what_it_needs_it_says_how_to_mend_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti_library, "why_unavailable", lambda: "there is no driver: install one")
    with pytest.raises(ProfilerUnavailable, match=r"install one\. Or use `--profile none`"):
        Cupti()


RECORDED = Path(__file__).parent / "data" / "cupti"
"""Folders of notes that programs left on a real GPU, kept by tests/gpu/test_cupti_on_device.py."""


@pytest.mark.parametrize("notes", sorted(RECORDED.glob("*/notes-*")), ids=lambda notes: notes.parent.name)
def test_what_a_real_gpu_left_is_read(cupti: Cupti, notes: Path) -> None:
    reading = read(cupti, notes, {"type": "region"}, wall_ms=120_000.0)
    assert reading.error is None
    assert reading.time_ms is not None
    assert reading.facts is not None
    assert reading.facts.launches >= max(one.launches for one in reading.facts.ranges.values()) > 0


def copying(*outside: list[int], **changes: Any) -> dict[str, Any]:
    """A process with its range open from 510 to 519 ms, and these copies outside: slice, bytes up, bytes down."""
    up, down = (sum(one[column] for one in outside) for column in (1, 2))
    copies = [
        {"direction": "HtoD", "count": 1, "bytes": up, "ns": 500_000, "ranges": []},
        {"direction": "DtoH", "count": 1, "bytes": down, "ns": 250_000, "ranges": []},
    ]
    timeline = {**a_process()["timeline"], "outside_copies": list(outside)}
    return a_process(copies=copies, timeline=timeline, filled_bytes=7, **changes)


def test_copies_around_a_range_are_those_before_its_last_entry_and_after_its_first_exit(
    cupti: Cupti, tmp_path: Path
) -> None:
    twice = a_range("bench_region", open=[[510 * MS, 512 * MS], [517 * MS, 519 * MS]], filled_bytes=5, copied_bytes=3)
    notes = leave(tmp_path, copying([2, 1, 10], [14, 2, 20], [17, 4, 0], [19, 8, 40], [40, 16, 80], ranges=[twice]))
    facts = read(cupti, notes).facts
    assert facts
    one = facts.ranges["bench_region"]
    assert (one.uploaded_before_bytes, one.downloaded_after_bytes) == (7, 140)
    assert (one.copied_bytes, one.filled_bytes) == (3, 5)
    assert (facts.uploaded_bytes, facts.downloaded_bytes) == (31, 150)
    assert (facts.copied_bytes, facts.filled_bytes) == (181, 7)


def test_copies_of_a_child_count_for_its_parents_range(cupti: Cupti, tmp_path: Path) -> None:
    child = copying([1, 100, 0], [30, 0, 200], pid=CHILD, ranges=[])
    facts = read(cupti, leave(tmp_path, a_process(), child)).facts
    assert facts
    one = facts.ranges["bench_region"]
    assert (one.uploaded_before_bytes, one.downloaded_after_bytes) == (100, 200)


def test_more_copies_outside_than_in_all_are_rejected(cupti: Cupti, tmp_path: Path) -> None:
    note = copying([2, 1, 10])
    note["timeline"]["outside_copies"] = [[2, 1, 11]]
    assert "contradict" in (read(cupti, leave(tmp_path, note)).error or "")
