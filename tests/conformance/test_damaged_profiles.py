"""Conformance case 24: ComputeEval's profile is read with and without its optional parts; a damaged one is `None`."""

import json
from pathlib import Path

import pytest

from problems.formats.compute_eval.timing import extract_time_ms, read_profile
from problems.spec.command.timing_mode import RegionTimingMode
from runners.agent.profilers.cupti import Cupti
from tests.agent.test_cupti_reading import a_process, a_range, cupti, leave, read

__all__ = ["cupti"]

TABLE = Path(__file__).parent.parent / "data" / "compute-eval" / "cases-timing.json"


def test_a_profile_with_a_parent_and_without_a_wall_clock_is_read() -> None:
    sample = json.loads(TABLE.read_text())["profile_json"]
    assert sample["nvtx_ranges"]["bench_region"]["parent"] == "outer"
    assert "wall_clock_time_ms" not in sample["nvtx_ranges"]["other"]
    profile = read_profile(json.dumps(sample))
    assert profile is not None
    assert extract_time_ms(RegionTimingMode(include=["other"], time_type="wall_clock"), profile) == 0.0


def unescaped(text: str) -> str:
    return text.replace("bench_region", 'bench"region')


def truncated(text: str) -> str:
    return text[: len(text) // 2]


@pytest.mark.parametrize("damage", [unescaped, truncated])
def test_a_damaged_recording_is_a_profile_of_none(cupti: Cupti, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    (file,) = leave(tmp_path, a_process()).glob("*.json")
    file.write_text(damage(file.read_text()))
    assert read(cupti, tmp_path).error == "Benchmark profiling failed: None"


def test_a_missing_recording_is_a_profile_of_none(cupti: Cupti, tmp_path: Path) -> None:
    assert read(cupti, tmp_path).error == "Benchmark profiling failed: None"


def test_a_quote_in_a_name_is_no_damage(cupti: Cupti, tmp_path: Path) -> None:
    notes = leave(tmp_path, a_process(ranges=[a_range("bench_region"), a_range('say "hi"')]))
    assert read(cupti, notes).error is None
