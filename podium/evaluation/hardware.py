"""Finds the hardware as ComputeEval's local evaluator does: nvcc on PATH and the first GPU of nvidia-smi."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from problems.spec.hardware import Hardware, parse_nvidia_smi, parse_version

_NVCC = re.compile(r"\bV(\d+\.\d+)\.\d+\b", re.IGNORECASE)


def local_hardware() -> Hardware:
    """This machine's hardware: toolkit (0, 0) without nvcc, device `cpu` without a GPU."""
    with ThreadPoolExecutor(2) as pool:
        nvcc = pool.submit(_output, "nvcc", "--version")
        smi = pool.submit(_output, "nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader")
    said = _NVCC.search(nvcc.result())
    toolkit = parse_version(said[1]) if said else None
    gpu = parse_nvidia_smi(smi.result())
    if gpu is None:
        return Hardware("cpu", toolkit=toolkit or (0, 0))
    return Hardware("gpu", gpu.name, gpu.compute_capability, toolkit or (0, 0))


def _output(*arguments: str) -> str:
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace", timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
