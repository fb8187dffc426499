"""Memory traffic by the hardware's counters: what ncu's table gives, and how a benchmark runs under it.

The tables are made up in the form of those recorded on an H200. A stand-in takes ncu's place.
"""

import shlex
from pathlib import Path
from typing import Any

import pytest

from runners.agent.profilers.base import Reading
from runners.agent.profilers.ncu_counters import (
    ALL,
    DRAM_READ,
    DRAM_WRITTEN,
    L2_READ,
    MOST_SECONDS,
    WRITES,
    NcuCounters,
)
from runners.agent.sandbox.policy import Sandbox
from tests.agent.cupti_stand_in import ran
from tests.agent.ncu_stand_in import (
    ATOMIC,
    INSIDE,
    KERNELS,
    PUSH_POP,
    REDUCTION,
    REGION,
    STORES,
    WRITE,
    counts,
    problem,
    under_timer,
)


def read(notes: Path, log: str, mode: dict[str, Any] = REGION) -> Reading:
    (notes / "times.log").write_text(log)
    (notes / "status").write_text("0\n")
    (notes / "ended").write_text("0\n")
    return NcuCounters(problem(mode), ALL).read(problem(mode), notes, ran())


def test_sectors_of_stores_reductions_and_atomics_are_what_is_written(installed: Path, notes: Path) -> None:
    log = counts(STORES, {**STORES, WRITE: "0", REDUCTION: "512"}, {**STORES, WRITE: "0", ATOMIC: "256"})
    traffic = read(notes, log).traffic
    assert traffic is not None
    assert traffic.l2_written_bytes == 32 * (1024 + 512 + 256)
    assert (traffic.launches, traffic.kernel_ms) == (3, pytest.approx(3 * 0.05296))
    assert (traffic.l2_read_bytes, traffic.dram_read_bytes, traffic.dram_written_bytes) == (None, None, None)


def test_reads_and_the_drams_own_traffic_are_told_where_they_were_counted(installed: Path, notes: Path) -> None:
    more = {**STORES, L2_READ: "2,048", DRAM_READ: "100", DRAM_WRITTEN: "0"}
    traffic = read(notes, counts(more, {**more, DRAM_WRITTEN: "n/a"})).traffic
    assert traffic is not None
    assert (traffic.l2_read_bytes, traffic.dram_read_bytes) == (2 * 2048 * 32, 6400)
    assert traffic.dram_written_bytes is None


@pytest.mark.parametrize(
    ("mode", "columns", "launches"),
    [
        (REGION, {}, 2),
        (REGION, {PUSH_POP: ""}, 0),
        (KERNELS, {PUSH_POP: ""}, 2),
        ({"type": "kernels", "include": ["other*"]}, {}, 0),
        ({"type": "kernels", "exclude": ["other*"]}, {}, 2),
        ({"type": "gpu"}, {PUSH_POP: ""}, 2),
    ],
)
def test_only_timed_launches_count(
    installed: Path, notes: Path, mode: dict[str, Any], columns: dict[str, str], launches: int
) -> None:
    traffic = read(notes, counts(STORES, STORES, **columns), mode).traffic
    assert traffic is not None
    assert (traffic.launches, traffic.l2_written_bytes) == (launches, launches * 32 * 1024)


def test_a_run_without_launches_writes_nothing(installed: Path, notes: Path) -> None:
    traffic = read(notes, "==WARNING== No kernels were profiled.\n").traffic
    assert traffic is not None
    assert (traffic.launches, traffic.l2_written_bytes) == (0, 0)


@pytest.mark.parametrize("missing", WRITES)
@pytest.mark.parametrize("value", ["n/a", None])
def test_a_launch_without_its_counts_leaves_the_traffic_unknown(
    installed: Path, notes: Path, missing: str, value: str | None
) -> None:
    lacking = {name: value or "" for name in STORES if name == missing} if value else {}
    launch = {name: amount for name, amount in STORES.items() if name != missing} | lacking
    reading = read(notes, counts(STORES, launch))
    assert reading.traffic is None
    assert f"no value of {missing} for some of 2 kernel launches" in (reading.error or "")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission\n", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("==ERROR== Failed to find metric lts__x\n", "Failed to find metric"),
        (counts(STORES) + '"7","2723","cut off', "that cannot"),
        (counts(STORES, **{PUSH_POP: INSIDE.replace("bench_region", "")}), "names are empty or lost"),
    ],
)
def test_what_ncu_refused_or_lost_is_told(installed: Path, notes: Path, log: str, words: str) -> None:
    reading = read(notes, log)
    assert reading.traffic is None
    assert words in (reading.error or "")


def command(notes: Path, metrics: tuple[str, ...], **changes: Any) -> list[str]:
    shell = NcuCounters(problem(**changes), metrics).attach("./bench", notes).shell
    (line,) = [line for line in shell.replace("\\\n", "").splitlines() if " --metrics " in line]
    return shlex.split(line)


@pytest.mark.parametrize("metrics", [WRITES, ALL])
def test_each_launch_in_the_range_is_counted_in_one_run_as_warm_as_it_was_timed(
    installed: Path, notes: Path, metrics: tuple[str, ...]
) -> None:
    words = command(notes, metrics)
    assert words[words.index("--metrics") + 1] == ",".join(metrics)
    assert [words[at + 1] for at, word in enumerate(words) if word == "--cache-control"] == ["none"]
    assert words[words.index("--nvtx-include") + 1] == "bench_region/"
    assert "--launch-count" not in words


def test_a_run_ends_within_the_limit_whatever_the_problem_allows(installed: Path, notes: Path) -> None:
    assert command(notes, ALL, timeout_seconds=10)[:4] == ["timeout", "-k", "5", "90"]
    assert command(notes, ALL, timeout_seconds=1000)[3] == str(int(MOST_SECONDS))


def test_a_benchmark_runs_once_and_keeps_its_status(installed: Path, notes: Path, box: Sandbox) -> None:
    (installed / "times.csv").write_text(counts(STORES))
    outcome, reading = under_timer(NcuCounters(problem(), WRITES), box, notes, "echo printed")
    assert (outcome.exit_code, outcome.stdout) == (0, "printed\n")
    assert reading.traffic is not None
    assert not (notes / "throughputs.log").exists()


def test_a_failing_benchmark_is_no_success(installed: Path, notes: Path, box: Sandbox) -> None:
    (installed / "times.csv").write_text(counts(STORES))
    outcome, _ = under_timer(NcuCounters(problem(), WRITES), box, notes, "exit 7")
    assert outcome.exit_code == 7
