"""The machine that measures: what it is, and its compilers read into memory."""

import hashlib
import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compute_eval_gpu.refused import BenchmarkRefused
from podium.evaluation.hardware import local_hardware
from runners.agent.capabilities import cpu_model, gpus_by_nvidia_smi
from runners.agent.job.toolchain import cores

READ_SECONDS = 60
"""Files that are not read by then stay unread."""
COMPILER_FOLDERS = ("/usr/lib/gcc", "/usr/libexec/gcc", "/usr/include", "/usr/local/include")
TOOLKIT_FOLDERS = ("bin", "nvvm", "include", "targets", "lib64", "extras/CUPTI")
READ_ALL = 'find -L "$@" -type f -print0 | xargs -0 -n 64 -P 16 cat'


@dataclass(frozen=True)
class MeasuringMachine:
    """`uid` tells machines apart without naming them."""

    hardware: str
    cores: int
    uid: str


def this_machine() -> MeasuringMachine:
    gpus, (major, minor) = gpus_by_nvidia_smi(), local_hardware().toolkit
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    words = [f"{len(gpus)} × {gpus[0].name}, driver {gpus[0].driver}, CUDA {major}.{minor}"] if gpus else []
    words += [f"{cores()} cores {cpu_model()}", f"{memory_gib} GiB"]
    name = " ".join([platform.node(), *(gpu.uuid for gpu in gpus)])
    return MeasuringMachine(", ".join(words), cores(), hashlib.sha256(name.encode()).hexdigest()[:8])


def check_machine() -> None:
    """Raises BenchmarkRefused if times cannot be taken here."""
    found = local_hardware()
    if found.device != "gpu":
        raise BenchmarkRefused("This machine has no NVIDIA GPU that nvidia-smi can see, and timing needs one.")
    if found.toolkit == (0, 0):
        raise BenchmarkRefused("There is no nvcc on PATH, and timing needs it.")


def read_compilers() -> float:
    """Read the compilers' and the toolkit's files, so that the first run on a fresh machine does not pay for it.

    Returns the seconds that it took.
    """
    began, nvcc = time.monotonic(), shutil.which("nvcc")
    toolkit = [Path(nvcc).resolve().parent.parent / name for name in TOOLKIT_FOLDERS] if nvcc else []
    folders = [str(folder) for folder in (*toolkit, *map(Path, COMPILER_FOLDERS)) if folder.is_dir()]
    command = ["timeout", str(READ_SECONDS), "sh", "-c", READ_ALL, "sh", *folders]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began
