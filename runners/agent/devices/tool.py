"""Runs podium-gpu, which is compiled once per node, on one GPU at a time under a time limit."""

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

from runners.agent.ground.native import Recipe, find_or_build
from runners.wire.protocol import Peaks

NATIVE = Path(__file__).parent / "native"
PROGRAM = "podium-gpu"
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off")
"""Contraction is off because the golden program's result is compared bit by bit with the processor's."""
INHERITED = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
SCRUB_SECONDS, GOLDEN_SECONDS, PEAKS_SECONDS = 60.0, 60.0, 240.0
"""Time limits: many times what a healthy device needs. A device that takes longer hangs."""
KILL_SECONDS = 5.0


class ToolUnavailable(Exception):
    """podium-gpu cannot be built here. The message says how to fix it."""


class DeviceFailed(Exception):
    """The device failed at a command of podium-gpu or computed a wrong result. The message is for an operator."""


@dataclass(frozen=True)
class Scrubbed:
    """The result of scrubbing: all free memory of a device was overwritten, read back and set to zero."""

    n_bytes: int
    ms: float


@dataclass(frozen=True)
class Golden:
    """Times in milliseconds: six of a fixed computation and six of a fixed memory copy."""

    compute_ms: tuple[float, ...]
    copy_ms: tuple[float, ...]


@dataclass(frozen=True)
class MeasuredPeaks:
    """A device's peaks, the method of each measurement, and the reasons for missing ones."""

    peaks: Peaks
    read_gbps: float
    """Read bandwidth, 1e9 bytes a second."""
    how: Mapping[str, str]
    missing: Mapping[str, str]


@dataclass(frozen=True)
class GpuTool:
    """Runs the program with the additional variables of `environment`. Every call may raise DeviceFailed."""

    program: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build(cls, cache_dir: Path) -> "GpuTool":
        """Compile the program if needed. Raises ToolUnavailable."""
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
        """Version of the program: a digest of its sources, the same for every compiler."""
        return self.program.parent.name.rpartition("-")[0]

    def scrub(self, uuid: str) -> Scrubbed:
        """Overwrite all free memory of the device."""
        said = self._ask(uuid, ["scrub"], SCRUB_SECONDS)
        return Scrubbed(int(said["bytes"]), float(said["ms"]))

    def golden(self, uuid: str) -> Golden:
        """Run the golden program. A wrong result raises DeviceFailed."""
        said = self._ask(uuid, ["golden"], GOLDEN_SECONDS)
        return Golden(_times(said["compute_ms"]), _times(said["copy_ms"]))

    def peaks(self, uuid: str) -> MeasuredPeaks:
        """Measure copy bandwidth and arithmetic by data type, with cuBLAS if it is found."""
        folders = [argument for folder in library_folders() for argument in ("--libraries", str(folder))]
        said = self._ask(uuid, ["peaks", *folders], PEAKS_SECONDS)
        peaks = Peaks(gbps=said["gbps"], gflops=said["gflops"], l2_bytes=said["l2_bytes"])
        return MeasuredPeaks(peaks, float(said["read_gbps"]), said["how"], said["missing"])

    def _ask(self, uuid: str, arguments: Sequence[str], limit_seconds: float) -> dict[str, Any]:
        """The program's answer about one device. Raises DeviceFailed."""
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
    """Kill the process and wait briefly. A process that hangs in the driver does not end."""
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=KILL_SECONDS)


def _parsed(doing: str, answer: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(answer)
    except ValueError:
        raise DeviceFailed(f"{doing} answered {answer[:200]!r}, which is not JSON") from None
    return said


def _times(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def library_folders() -> list[Path]:
    """Folders with cuBLAS: of PODIUM_CUDA_HOME, nvcc's toolkit, /usr/local/cuda* and NVIDIA's Python packages."""
    compiler = shutil.which("nvcc")
    homes = [Path(home) for home in [os.environ.get("PODIUM_CUDA_HOME")] if home]
    homes += [Path(compiler).resolve().parent.parent] if compiler else []
    homes += sorted(Path("/usr/local").glob("cuda*"), reverse=True)
    wheels = [Path(place) / "nvidia" / part / "lib" for place in sys.path for part in ("cu13", "cublas")]
    found = [*(home / "lib64" for home in homes), *wheels]
    return [folder for folder in dict.fromkeys(found) if any(folder.glob("libcublas.so.*"))]
