"""podium-gpu: compiled once per node, run on one GPU at a time under a time limit."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners.agent.native import Recipe, find_or_build
from runners.protocol import Peaks

NATIVE = Path(__file__).parent / "native"
PROGRAM = "podium-gpu"
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off")
"""Without contraction: the golden program's result is compared bit by bit with the processor's."""
INHERITED = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
SCRUB_SECONDS, GOLDEN_SECONDS, PEAKS_SECONDS = 60.0, 60.0, 240.0
"""What a healthy device needs, many times over; one that takes longer hangs."""
KILL_SECONDS = 5.0


class ToolUnavailable(Exception):
    """podium-gpu is not to be had here; the message says how to mend it."""


class DeviceFailed(Exception):
    """The device could not do, or did wrongly, what podium-gpu asked of it; the message is for a person."""


@dataclass(frozen=True)
class Scrubbed:
    """All free memory of a device, overwritten, read back and left zero."""

    n_bytes: int
    ms: float


@dataclass(frozen=True)
class Golden:
    """Six times each of a fixed computation and a fixed copy of memory."""

    compute_ms: tuple[float, ...]
    copy_ms: tuple[float, ...]


@dataclass(frozen=True)
class MeasuredPeaks:
    """A device's ceilings, how each was reached, and why some are missing."""

    peaks: Peaks
    read_gbps: float
    """Bandwidth of reading alone, 1e9 bytes a second."""
    how: Mapping[str, str]
    missing: Mapping[str, str]


@dataclass(frozen=True)
class GpuTool:
    """Runs the program. Every call raises DeviceFailed; `environment` is given to it besides."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build(cls, cache_dir: Path) -> "GpuTool":
        """Compile it unless that is done already. Raises ToolUnavailable."""
        prebuilt = os.environ.get("PODIUM_GPU_TOOL")
        recipe = Recipe(
            name=PROGRAM,
            prefix="gpu",
            variable="PODIUM_GPU_TOOL",
            sources=NATIVE,
            inputs=("podium_gpu.cpp", "kernels.cpp", "products.cpp", "-ldl"),
            flags=(FLAGS,),
            unavailable=ToolUnavailable,
            prebuilt=Path(prebuilt) if prebuilt else None,
        )
        return cls(find_or_build(recipe, cache_dir).path)

    @property
    def version(self) -> str:
        """Names the program by its sources, whichever compiler made it."""
        return self.program.parent.name.rpartition("-")[0]

    def scrub(self, uuid: str) -> Scrubbed:
        """Overwrite what the last program left in the device's memory."""
        said = self._ask(uuid, ["scrub"], SCRUB_SECONDS)
        return Scrubbed(int(said["bytes"]), float(said["ms"]))

    def golden(self, uuid: str) -> Golden:
        """Run the golden program; wrong results are failures."""
        said = self._ask(uuid, ["golden"], GOLDEN_SECONDS)
        return Golden(_times(said["compute_ms"]), _times(said["copy_ms"]))

    def peaks(self, uuid: str) -> MeasuredPeaks:
        """Measure copy bandwidth and arithmetic by data type, by cuBLAS where one is found."""
        folders = [argument for folder in library_folders() for argument in ("--libraries", str(folder))]
        said = self._ask(uuid, ["peaks", *folders], PEAKS_SECONDS)
        peaks = Peaks(gbps=said["gbps"], gflops=said["gflops"], l2_bytes=said["l2_bytes"])
        return MeasuredPeaks(peaks, float(said["read_gbps"]), said["how"], said["missing"])

    def _ask(self, uuid: str, arguments: Sequence[str], limit_seconds: float) -> dict[str, Any]:
        """What the program answers about the one device."""
        doing = f"podium-gpu {arguments[0]} on {uuid}"
        process = subprocess.Popen(
            [self.program, *arguments],
            env=self._environment(uuid),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        try:
            answer, complaint = process.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            _abandon(process)
            raise DeviceFailed(f"{doing} gave no answer within {limit_seconds:g} s: the device hangs") from None
        if process.returncode != 0:
            raise DeviceFailed(f"{doing} failed: {complaint.strip()[-2000:] or f'status {process.returncode}'}")
        return _parsed(doing, answer)

    def _environment(self, uuid: str) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return inherited | {"CUDA_VISIBLE_DEVICES": uuid, "CUDA_CACHE_DISABLE": "1"} | dict(self.environment)


def _abandon(process: "subprocess.Popen[str]") -> None:
    """Kill it, and wait no longer than a little: what hangs in the driver does not die."""
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=KILL_SECONDS)


def _parsed(doing: str, answer: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(answer)
    except ValueError:
        raise DeviceFailed(f"{doing} answered {answer[:200]!r}, which is no JSON") from None
    return said


def _times(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def library_folders() -> list[Path]:
    """Where cuBLAS may lie outside the system's own folders: named toolkit, nvcc's, the usual place, PyPI's wheels."""
    compiler = shutil.which("nvcc")
    homes = [Path(home) for home in [os.environ.get("PODIUM_CUDA_HOME")] if home]
    homes += [Path(compiler).resolve().parent.parent] if compiler else []
    homes += sorted(Path("/usr/local").glob("cuda*"), reverse=True)
    wheels = [Path(place) / "nvidia" / part / "lib" for place in sys.path for part in ("cu13", "cublas")]
    found = [*(home / "lib64" for home in homes), *wheels]
    return [folder for folder in dict.fromkeys(found) if any(folder.glob("libcublas.so.*"))]
