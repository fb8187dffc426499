"""Which problems a machine or a track cannot run, and why."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from problems.spec.problem import CommandProblem
from problems.spec.profile import Profile

_GPU_ROW = re.compile(r"(\d+)\.(\d+),(.*)")
# fmt: off
_COMPUTE_EVAL_DATACENTER = (
    "A100", "A40", "A30", "A16", "A10", "A2", "H100", "H200", "GH200", "B200", "GB200", "B300", "GB300", "GB10",
    "V100", "L40S", "L40", "L4",
)
_DATACENTER_WORDS = frozenset({
    "K80", "M10", "M40", "M60", "P4", "P6", "P40", "P100", "V100", "V100S", "T4", "T4G", "A2", "A10", "A10G",
    "A10M", "A16", "A30", "A30X", "A40", "A100", "A100X", "A800", "L2", "L4", "L20", "L40", "L40G", "L40S", "H20",
    "H100", "H100L", "H200", "H800", "GH200", "B100", "B200", "B300", "GB200", "GB300",
})
# fmt: on
_WORKSTATION = re.compile(r"\b(RTX|GEFORCE|QUADRO|TITAN)\b")
NameTest = Callable[[str], bool]
_RTX_SERVER = re.compile(r"\bSERVER\b")


@dataclass(frozen=True)
class GpuInfo:
    """What `nvidia-smi --query-gpu=compute_cap,name` says; the first GPU speaks for all."""

    num_gpus: int
    compute_capability: tuple[int, int] | None
    is_datacenter_gpu: bool
    """ComputeEval's own reading of the name, false positives included."""
    name: str = ""


@dataclass(frozen=True)
class Hardware:
    """What skips depend on. `toolkit` is (0, 0) where there is none."""

    device: Literal["cpu", "gpu"]
    gpu_name: str = ""
    compute_capability: tuple[int, int] | None = None
    toolkit: tuple[int, int] = (0, 0)


def parse_nvidia_smi(text: str) -> GpuInfo | None:
    """Read csv rows `compute_cap, name`; None where no row can be read."""
    rows = [match for line in text.splitlines() if (match := _GPU_ROW.match(line.strip()))]
    if not rows:
        return None
    major, minor, name = rows[0].groups()
    return GpuInfo(len(rows), (int(major), int(minor)), compute_eval_datacenter(name.strip()), name.strip())


def compute_eval_datacenter(gpu_name: str) -> bool:
    """ComputeEval's test: any known product name as a part of the GPU's name."""
    return any(name in gpu_name.upper() for name in _COMPUTE_EVAL_DATACENTER)


def is_datacenter(gpu_name: str) -> bool:
    """Whether the name is that of a datacenter product: whole words, and no workstation card."""
    name = gpu_name.upper()
    if _WORKSTATION.search(name):
        return bool(_RTX_SERVER.search(name))
    return not _DATACENTER_WORDS.isdisjoint(re.split(r"[^A-Z0-9]+", name))


def parse_version(text: str | None) -> tuple[int, int] | None:
    """The leading `major[.minor]` of a version, or None."""
    match = re.match(r"(\d+)(?:\.(\d+))?", text or "", re.ASCII)
    return (int(match[1]), int(match[2] or 0)) if match else None


def compute_eval_skip(problem: CommandProblem, hardware: Hardware) -> str:
    """Why ComputeEval's evaluator would skip the problem, or "" where it would run it."""
    return _toolkit_skip(problem, hardware) or _gpu_skip(problem, hardware, compute_eval_datacenter)


def track_skip(problem: CommandProblem, hardware: Hardware) -> str:
    """Why the problem cannot run on a track, or "".

    ComputeEval's rules with a sound test for datacenter GPUs. Problems of the CPU types run on CPU tracks alone; CUDA
    problems run there only in a strict pack and when they ask for neither a toolkit nor a compute capability.
    """
    if problem.type in ("cpp", "python"):
        return "" if hardware.device == "cpu" else "is a CPU problem and this is a GPU track"
    if hardware.device == "gpu":
        return _toolkit_skip(problem, hardware) or _gpu_skip(problem, hardware, is_datacenter)
    if problem.profile is Profile.PODIUM:
        return "is a CUDA problem and this is a CPU track"
    without_toolkit = replace(hardware, toolkit=(0, 0))
    return _toolkit_skip(problem, without_toolkit) or _gpu_skip(problem, without_toolkit, is_datacenter)


def _toolkit_skip(problem: CommandProblem, hardware: Hardware) -> str:
    if problem.min_cuda_toolkit is None:
        return ""
    needed = parse_version(problem.min_cuda_toolkit)
    if needed is None:
        return f"needs CUDA toolkit {problem.min_cuda_toolkit!r}, which is not a version"
    if hardware.toolkit >= needed:
        return ""
    present = ".".join(map(str, hardware.toolkit)) if hardware.toolkit > (0, 0) else "none"
    return f"needs CUDA toolkit {needed[0]}.{needed[1]} or newer, here is {present}"


def _gpu_skip(problem: CommandProblem, hardware: Hardware, datacenter: NameTest) -> str:
    needed = parse_version(problem.compute_capability)
    if needed is None:
        return ""
    words = f"needs a GPU of compute capability {needed[0]}.{needed[1]} or higher"
    if hardware.device == "cpu":
        return f"{words}, here is none"
    present = hardware.compute_capability or (0, 0)
    if present < needed:
        return f"{words}, here is {present[0]}.{present[1]}"
    if not problem.requires_datacenter_gpu or datacenter(hardware.gpu_name):
        return ""
    return f"needs a datacenter GPU, here is {hardware.gpu_name or 'none'}"
