"""Values with which no machine can run a problem: it is skipped with the reason, on sites and on nodes."""

from typing import Any

import pytest

from problems.spec.hardware import Hardware
from problems.spec.profile import Profile
from problems.spec.records import record_from
from tests import packs

CPU = Hardware(device="cpu")


def unusable(limits: dict[str, Any] | None = None, **changes: Any) -> str:
    made = packs.problem("t/a", type="cpp", metadata={"podium": {"limits": limits or {}}}, **changes)
    record = record_from(made, Profile.PODIUM)
    assert record.unusable == record.why_skipped(CPU)
    return record.unusable


@pytest.mark.parametrize("seconds", [1.1e9, 1e20, 1e308, "1e308"])
def test_a_time_limit_that_no_clock_can_keep(seconds: Any) -> None:
    assert "a time limit of" in unusable(timeout_seconds=seconds)


@pytest.mark.parametrize("seconds", [None, 0, -5, "20", 1e9, float("nan"), float("inf")])
def test_compute_evals_reading_of_time_limits_stays(seconds: Any) -> None:
    assert unusable(timeout_seconds=seconds) == ""


@pytest.mark.parametrize("name", ["memory_bytes", "processes", "file_bytes", "workspace_bytes", "output_bytes"])
def test_counts_that_no_kernel_can_keep(name: str) -> None:
    assert name.replace("_", " ") in unusable({name: 2**63})
    assert unusable({name: 2**60}) == ""


def test_a_build_limit_that_no_clock_can_keep() -> None:
    assert "build seconds" in unusable({"build_seconds": 1e300})


@pytest.mark.parametrize("field", ["build_command", "test_command", "benchmark_command"])
@pytest.mark.parametrize(
    ("command", "words"), [("a\0b", "NUL"), ("x" * 200_000, "longer than"), ("\ud800", "surrogate")]
)
def test_commands_that_no_shell_takes(field: str, command: str, words: str) -> None:
    assert words in unusable(**{field: command})


@pytest.mark.parametrize("paths", [["../x"], ["/x"], ["a/../../x"], ["a", "a/b"], ["."], ["a\0b"]])
def test_files_that_no_folder_can_hold(paths: list[str]) -> None:
    files = [{"path": path, "content": ""} for path in paths]
    assert "has the file" in unusable(context_files=files)
