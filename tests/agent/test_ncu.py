"""The profiler ncu: what it makes of tables recorded on an H200, and how a benchmark runs under it.

Nsight Compute needs a GPU, so a stand-in that runs the command and leaves a recorded table takes its place in the
sandbox here; the real one is tried in tests/gpu/test_ncu_on_device.py.
"""

import csv
import io
import os
import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.profilers import available, ncu_tool, timer_for
from runners.agent.profilers.base import Reading
from runners.agent.profilers.ncu import MOST_REPORT_BYTES, SAMPLED_LAUNCHES, Ncu
from runners.agent.profilers.ncu_csv import DRAM, SM, TIME, DamagedTable, metrics_of, read_launches
from runners.agent.sandbox.policy import Outcome, Sandbox
from runners.wire.protocol import Clock, Profiler, Role, Verdict
from tests.agent.machine import Machine, shell_problem
from tests.agent.ncu_stand_in import (
    KERNELS,
    REGION,
    THROUGHPUTS,
    TIMES,
    problem,
    under_ncu,
)


def table(*rows: dict[str, str]) -> str:
    """A table like the recorded ones, of rows that differ from the first of those by what is given."""
    lines = TIMES.read_text().splitlines()[4:6]
    names, first = csv.reader(lines)
    text = io.StringIO()
    writer = csv.DictWriter(text, names, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    pattern = dict(zip(names, first, strict=True))
    writer.writerows({**pattern, "ID": str(number), **row} for number, row in enumerate(rows))
    return text.getvalue()


PUSH_POP, START_STOP = (
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
)


def ranges(column: str, text: str) -> tuple[str, ...]:
    (launch,) = read_launches(table({column: text}))
    return launch.ranges


# ---- tables --------------------------------------------------------------------------------------------------------


def test_recorded_times_add_up_by_kernel_and_range() -> None:
    metrics = metrics_of(read_launches(TIMES.read_text()), [], wall_ms=10.0)
    (kernel,) = metrics.kernels
    assert (kernel.name, kernel.invocations, kernel.sm_throughput_avg) == ("k(float *, int)", 5, None)
    assert metrics.summary.total_kernel_time_ms == pytest.approx(0.2616)
    assert list(metrics.nvtx_ranges) == ["bench_region"]
    inside = metrics.nvtx_ranges["bench_region"]
    assert (inside.kernel_invocations, inside.kernel_time_ms) == (3, pytest.approx(0.157248))


def test_recorded_throughputs_are_the_drams_own() -> None:
    launches = read_launches(THROUGHPUTS.read_text())
    assert [(one.metrics[DRAM], one.metrics[SM]) for one in launches[:1]] == [(50.58, 30.38)]
    (kernel,) = metrics_of(launches, launches, 10.0).kernels
    assert (kernel.dram_throughput_avg, kernel.sm_throughput_avg) == (pytest.approx(51.656), pytest.approx(31.044))


def test_throughputs_of_the_first_launches_stand_beside_the_times_of_all() -> None:
    timed = read_launches(table({"Kernel Name": "a()"}, {"Kernel Name": "b()"}, {"Kernel Name": "a()"}))
    sampled = read_launches(table({"Kernel Name": "a()", "Metric Name": SM, "Metric Value": "7.5"}))
    a, b = metrics_of(timed, sampled, 10.0).kernels
    assert (a.invocations, a.sm_throughput_avg, b.sm_throughput_avg) == (2, 7.5, None)


def test_outer_ranges_hold_what_inner_ones_do() -> None:
    outer, inner = ('"<default domain>:' + name + ':none:none:none:none:none:none"' for name in ("outer", "inner"))
    launches = read_launches(table({PUSH_POP: f"12  {outer}  {inner} "}, {PUSH_POP: f"12  {outer} "}))
    found = metrics_of(launches, [], 10.0).nvtx_ranges
    assert {name: one.kernel_invocations for name, one in found.items()} == {"outer": 2, "inner": 1}


def test_a_range_within_one_of_its_own_name_counts_its_launches_once() -> None:
    twice = '12  "<default domain>:a:none:none:none:none:none:none"  "other:a:none:none:none:none:none:none" '
    assert ranges(PUSH_POP, twice) == ("a",)


@pytest.mark.parametrize("name", ["cub::DeviceReduce::Sum", 'say "hi"', "a b, c", "日本", 'end"', ":"])
def test_names_may_hold_what_the_column_is_made_of(name: str) -> None:
    assert ranges(PUSH_POP, f'12  "CCCL:{name}:none:none:none:none:none:none" ') == (name,)


def test_start_end_ranges_count_with_or_without_their_number() -> None:
    assert ranges(START_STOP, '"3:<default domain>:started:none:none:none:none:none:none" ') == ("started",)
    assert ranges(START_STOP, '3  "<default domain>:started:none:none:none:none:none:none" ') == ("started",)


@pytest.mark.parametrize("text", ["", '12  "<default domain>:none:none:none:none:none:none:none" ', '"', "12", '""'])
def test_ranges_without_a_name_are_none(text: str) -> None:
    assert ranges(PUSH_POP, text) == ()


def test_a_name_that_ncu_lost_is_told_from_none() -> None:
    """As ncu 2025.3.1 shows a range that was pushed by a name of wide characters."""
    lost, named, unnamed = (
        f'12  "<default domain>:{name}:none:none:none:none:none:none" ' for name in ("", "a", "none")
    )
    launches = read_launches(table({PUSH_POP: lost}, {PUSH_POP: named}, {PUSH_POP: unnamed}, {PUSH_POP: '""'}))
    assert [(one.ranges, one.lost_name) for one in launches] == [((), True), (("a",), False), ((), False), ((), False)]


@pytest.mark.parametrize(("value", "unit"), [("1,500", "ns"), ("1.5", "us"), ("0.0015", "msecond"), ("1.5e-6", "s")])
def test_times_come_in_any_unit(value: str, unit: str) -> None:
    (launch,) = read_launches(table({"Metric Value": value, "Metric Unit": unit}))
    assert launch.metrics[TIME] == pytest.approx(1500)


@pytest.mark.parametrize(("value", "unit"), [("n/a", "ns"), ("nan", "ns"), ("inf", "ns"), ("-5", "ns"), ("5", "cycle")])
def test_what_is_no_time_is_not_taken_for_one(value: str, unit: str) -> None:
    (launch,) = read_launches(table({"Metric Value": value, "Metric Unit": unit}))
    assert launch.metrics == {}


def test_remarks_around_the_table_are_passed_over() -> None:
    text = f'==PROF== "Connected"\n{table({})}==WARNING== done, or nearly\n"Process ID","and more"\n'
    assert len(read_launches(text)) == 1
    assert read_launches("==WARNING== No kernels were profiled.\n") == []


@pytest.mark.parametrize("row", ['"1","2","cut off', '"1","2","of","other","length"\n'])
def test_a_launch_that_cannot_be_read_is_not_passed_over(row: str) -> None:
    with pytest.raises(DamagedTable, match="1 launches that can be read, and 1 that cannot"):
        read_launches(table({}) + row)


@pytest.mark.parametrize("text", ['"ID","Process ID","Kernel Name"\n', f'"ID","Process ID"\n"{"x" * 200_000}"'])
def test_a_table_that_is_none_of_ncus_is_damaged(text: str) -> None:
    with pytest.raises(DamagedTable):
        read_launches(text)


# ---- under the profiler --------------------------------------------------------------------------------------------


Run = Callable[..., tuple[Outcome, Reading]]


@pytest.fixture
def run(installed: Path, notes: Path, box: Sandbox) -> Run:
    return partial(under_ncu, box, notes)


def read(notes: Path, mode: dict[str, Any] = REGION, log: str | None = None) -> Reading:
    if log is not None:
        (notes / "times.log").write_text(log)
    ended = Outcome(0, None, False, False, False, "", "", False, 10.0, 1.0, 1, "unavailable")  # type: ignore[arg-type]
    return Ncu(problem(mode)).read(problem(mode), notes, ended)


def test_times_throughputs_and_a_report_come_from_two_runs(run: Run) -> None:
    outcome, reading = run("echo printed")
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, "printed\n", "")
    assert (reading.error, reading.time_ms) == (None, pytest.approx(0.157248))
    assert reading.metrics is not None
    assert reading.metrics.sm_throughput_pct == pytest.approx(31.044)
    assert (reading.report, reading.facts) == (b"report of throughputs\n", None)


@pytest.mark.parametrize(
    ("shell", "printed"),
    [
        ("PYTHONPATH=lib python bench.py", "helped\n"),
        ("true && echo 'one  two' | cat; X=\"it's\"; echo $X", "one  two\nit's\n"),
        ("(exit 3) || echo */*.py", "lib/helper.py\n"),
        ("echo {} {{0}} %s", "{} {{0}} %s\n"),
        ("exec echo replaced", "replaced\n"),
        ("echo said # and a remark", "said\n"),
    ],
)
def test_a_command_runs_whole_whatever_it_is_made_of(run: Run, shell: str, printed: str) -> None:
    outcome, reading = run(shell)
    assert (outcome.exit_code, outcome.stdout) == (0, printed), outcome.stderr
    assert reading.error is None


@pytest.mark.parametrize(("shell", "code"), [("echo why; exit 7", 7), ("kill -SEGV $$", 139), ("if", 2)])
def test_the_benchmarks_own_end_is_kept(run: Run, shell: str, code: int, notes: Path) -> None:
    outcome, _ = run(shell)
    assert outcome.exit_code == code
    assert not (notes / "throughputs.log").exists()


def test_a_profiler_that_never_starts_the_benchmark_is_a_failure_with_its_words(run: Run, installed: Path) -> None:
    (installed / "times.refused").write_text("==ERROR== Failed to prepare the connection\n")
    outcome, _ = run("echo printed")
    assert (outcome.exit_code, outcome.stdout) == (9, "")
    assert "Failed to prepare the connection" in outcome.stderr


def test_without_the_second_run_the_times_stay(run: Run, installed: Path) -> None:
    (installed / "throughputs.refused").write_text("==ERROR== Failed to profile\n")
    outcome, reading = run("echo printed")
    assert (outcome.exit_code, reading.error, reading.time_ms) == (0, None, pytest.approx(0.157248))
    assert reading.metrics is not None
    assert reading.metrics.sm_throughput_pct is None
    assert reading.report == b"report of times\n"


def test_a_first_run_out_of_time_is_told(run: Run) -> None:
    outcome, _ = run("sleep 4", timeout_seconds=0.1)
    assert outcome.exit_code == 124
    assert "it took more than 1 seconds" in outcome.stderr


@pytest.mark.rest
def test_a_second_run_out_of_time_leaves_the_times(run: Run) -> None:
    outcome, reading = run("[ ! -e once ] || sleep 600; touch once", timeout_seconds=0.2)
    assert (outcome.exit_code, reading.error, reading.time_ms) == (0, None, pytest.approx(0.157248))
    assert reading.report == b"report of times\n"


LOST, NAMED = (f'12  "<default domain>:{name}:none:none:none:none:none:none" ' for name in ("", "bench_region"))


@pytest.mark.parametrize(
    ("mode", "ranges", "lost"),
    [
        ({"type": "region"}, [NAMED, LOST], 1),
        (REGION, [NAMED, LOST], 1),
        (REGION, [NAMED, NAMED.strip() + LOST[2:]], 0),
        ({"type": "kernels"}, [NAMED, LOST], 0),
    ],
)
def test_what_may_or_may_not_count_for_a_range_is_an_error(
    installed: Path, notes: Path, mode: dict[str, Any], ranges: list[str], lost: int
) -> None:
    reading = read(notes, mode, table(*({PUSH_POP: text} for text in ranges)))
    assert (reading.time_ms is None) == bool(lost)
    if lost:
        assert f"{lost} of {len(ranges)} kernel launches lie in NVTX ranges whose names are empty" in (
            reading.error or ""
        )


def test_names_with_quotes_that_break_the_table_are_named_as_a_cause(installed: Path, notes: Path) -> None:
    """ncu 2025.3.1 doubles no quotes within a name."""
    broken = table({}, {PUSH_POP: "NAME"}).replace("NAME", '19  ""<default domain>:say "hi"\n\\:none:none"" ')
    reading = read(notes, KERNELS, broken)
    assert reading.time_ms is None
    assert "1 that cannot, perhaps because names of NVTX ranges hold quotes" in (reading.error or "")


def commands(notes: Path, mode: dict[str, Any]) -> list[list[str]]:
    shell = Ncu(problem(mode)).attach("./bench", notes).shell
    return [shlex.split(line)[1:] for line in shell.replace("\\\n", "").splitlines() if " --metrics " in line]


def test_only_launches_in_plainly_named_ranges_are_profiled(installed: Path, notes: Path) -> None:
    for words in commands(notes, {"type": "region", "include": ["bench_region", "b 2"]}):
        values = [words[at + 1] for at, word in enumerate(words) if word == "--nvtx-include"]
        assert values == ["bench_region/", "bench_region", "b 2/", "b 2"]


@pytest.mark.parametrize(
    "mode",
    [
        KERNELS,
        {"type": "region"},
        {"type": "region", "include": ["bench_*"]},
        {"type": "region", "include": ["plain", "a/b"]},
        {"type": "region", "include": ["regex:x"]},
        {"type": "region", "exclude": ["plain"]},
    ],
)
def test_what_cannot_be_told_to_ncu_is_profiled_whole(installed: Path, notes: Path, mode: dict[str, Any]) -> None:
    assert all("--nvtx-include" not in words for words in commands(notes, mode))


def test_only_the_first_launches_are_repeated_for_throughputs(installed: Path, notes: Path) -> None:
    times, throughputs = commands(notes, KERNELS)
    assert times[times.index("--metrics") + 1] == TIME
    assert "--launch-count" not in times
    assert throughputs[throughputs.index("--launch-count") + 1] == str(SAMPLED_LAUNCHES)
    assert DRAM in throughputs[throughputs.index("--metrics") + 1]


def test_options_that_this_version_does_not_know_are_left_out(installed: Path, notes: Path) -> None:
    first, _ = commands(notes, KERNELS)
    assert "--print-metric-name" not in first
    assert first[first.index("--clock-control") + 1] == "none"
    assert first[first.index("--config-file") + 1] == first[first.index("--rename-kernels") + 1] == "off"
    assert str(installed / "ncu") in first


def test_all_runs_end_within_the_patience_of_the_limit(installed: Path, notes: Path) -> None:
    timer = Ncu(problem(timeout_seconds=30))
    assert timer.patience == 10
    assert re.findall(r"timeout -k 5 (\S+)", timer.attach("./bench", notes).shell) == ["270", '"$left"', '"$left"']


def test_the_timer_says_who_it_is(installed: Path) -> None:
    timer = timer_for(problem(), frozenset(), Profiler.NCU)
    assert timer is not None
    assert (timer.name, timer.clock, timer.waits_at_gate) == ("ncu 2025.3.1", Clock.SELF, False)
    assert Profiler.NCU in available()


def test_a_missing_ncu_is_told_with_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(ncu_tool, "DRIVER_SIGNS", ("/",))
    with pytest.raises(ProfilerUnavailable, match="--profile none"):
        Ncu(problem())


def test_a_machine_without_a_driver_has_no_ncu(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_tool, "DRIVER_SIGNS", ())
    with pytest.raises(ProfilerUnavailable, match="no NVIDIA driver"):
        Ncu(problem())
    assert Profiler.NCU not in available()


def test_the_folder_behind_the_toolkits_own_starter_is_shown(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolkit = installed.parent / "cuda" / "bin"
    toolkit.mkdir(parents=True)
    (toolkit / "ncu").write_text(f'#!/bin/sh\nexec {installed}/ncu "$@"\n')
    (toolkit / "ncu").chmod(0o755)
    (installed.parent / "2025.3.1").symlink_to(installed)
    monkeypatch.setenv("PATH", f"{toolkit}:{os.environ['PATH']}")
    monkeypatch.setattr(ncu_tool, "STANDARD_HOME", installed.parent)
    assert ncu_tool.require_ncu().folder == installed.parent / "2025.3.1"


# ---- what it says where there is no time ---------------------------------------------------------------------------


def test_a_filter_that_matches_nothing_is_an_error(installed: Path, notes: Path) -> None:
    nothing = "==WARNING== No kernels were profiled.\n"
    assert "inside an NVTX range 'bench_region' of NVTX's default domain" in (read(notes, REGION, nothing).error or "")
    assert (read(notes, KERNELS, nothing).error or "").endswith("the run launched no kernel")
    named = read(notes, {"type": "kernels", "include": ["other*"]}, table({}))
    assert (named.time_ms, "No kernel matches 'other*'; the run had: 'k(float *, int)'" in (named.error or "")) == (
        None,
        True,
    )


def test_a_want_of_permission_is_told_with_how_to_mend_it_for_its_run_alone(installed: Path, notes: Path) -> None:
    denied = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    assert "NVreg_RestrictProfilingToAdminUsers=0" in (read(notes, KERNELS, denied).error or "")
    assert read(notes, KERNELS, table({})).error is None


def test_what_ncu_could_not_profile_leaves_no_time(installed: Path, notes: Path) -> None:
    log = f"==ERROR== Failed to profile kernel\n{table({})}"
    assert "ncu reported: Failed to profile kernel" in (read(notes, KERNELS, log).error or "")
    log = table({}, {"Metric Value": "n/a"})
    assert "no time for 1 of 2 kernel launches" in (read(notes, KERNELS, log).error or "")


def test_the_wall_clock_of_ranges_is_refused_with_what_knows_it(installed: Path, notes: Path) -> None:
    mode = {**REGION, "time_type": "wall_clock"}
    assert "use the profiler cupti" in (read(notes, mode, TIMES.read_text()).error or "")


def plant_link(path: Path) -> None:
    path.symlink_to(TIMES)


def plant_pipe(path: Path) -> None:
    os.mkfifo(path)


def plant_second_name(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(TIMES.read_bytes())
    path.hardlink_to(other)


@pytest.mark.parametrize("plant", [plant_link, plant_pipe, plant_second_name])
def test_only_plain_files_are_read(installed: Path, notes: Path, plant: Callable[[Path], None]) -> None:
    plant(notes / "times.log")
    assert "ncu left no table" in (read(notes).error or "")


def test_a_report_that_is_too_large_is_left_out(installed: Path, notes: Path) -> None:
    with (notes / "times.ncu-rep").open("wb") as file:
        file.truncate(MOST_REPORT_BYTES + 1)
    reading = read(notes, KERNELS, table({}))
    assert (reading.error, reading.report) == (None, None)


@pytest.mark.rest
def test_a_node_gives_ncu_ten_times_the_limit_and_keeps_its_report(installed: Path, machine: Machine) -> None:
    timed = shell_problem(
        test_command="true", benchmark_command="sh solution.sh", timing_mode=REGION, timeout_seconds=1.0
    )
    finished = machine.judge(timed, {"solution.sh": "sleep 1.2"}, profiler=Profiler.NCU)
    assert finished.report.verdict == Verdict.PASSED, finished.report.reason
    measured = {one.role: one for one in finished.report.measurements}[Role.CANDIDATE]
    assert (measured.median_ms, measured.clock) == (pytest.approx(0.157248), Clock.SELF)
    assert finished.report.profile is not None
