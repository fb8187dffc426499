"""The properties of a machine or a track that problems ask for: device, GPU, toolkit."""

import re
from dataclasses import dataclass
from typing import Literal

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
_RTX_SERVER = re.compile(r"\bSERVER\b")


@dataclass(frozen=True)
class GpuInfo:
    """The answer of `nvidia-smi --query-gpu=compute_cap,name`; the first GPU speaks for all."""

    num_gpus: int
    compute_capability: tuple[int, int] | None
    is_datacenter_gpu: bool
    """ComputeEval's own reading of the name, false positives included."""
    name: str = ""


@dataclass(frozen=True)
class Hardware:
    """The facts that skips depend on. `toolkit` is (0, 0) where there is none."""

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
