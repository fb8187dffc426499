"""Identifies the build tools of this machine. A change of any of them invalidates cached builds."""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runners.agent.sandbox.root import interpreter

TOOLS = (
    "g++", "gcc", "c++", "cc", "clang++", "clang", "nvcc", "cuobjdump", "nvdisasm", "ld", "as", "ar", "make", "cmake",
    "ninja", "python3", "python", "rustc", "go", "sh", "bash",
)  # fmt: skip
SYSTEM_FILES = ("/etc/os-release", "/etc/ld.so.cache", "/usr/include/c++")
CUDA_FILES = (
    "bin/nvcc", "bin/nvcc.profile", "bin/cudafe++", "bin/ptxas", "bin/fatbinary", "bin/nvlink", "nvvm/bin/cicc",
    "nvvm/libdevice/libdevice.10.bc", "version.json", "include", "include/cuda.h", "include/cuda_runtime_api.h",
    "include/cccl/cub/version.cuh", "include/cub/version.cuh", "lib64", "lib64/libcudart_static.a",
)  # fmt: skip
"""Folders of a toolkit. A folder's modification time changes if libraries are added or replaced."""


def identity(search_path: str | None = None) -> str:
    """sha256 over path, size and modification time of every tool. `search_path` has the form of PATH."""
    digest = hashlib.sha256()
    for path in _files(search_path):
        try:
            facts = path.stat()
        except OSError:
            continue
        digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files(search_path: str | None) -> Iterator[Path]:
    for tool in TOOLS:
        found = shutil.which(tool, path=search_path)
        if found is not None:
            yield Path(found).resolve()
    compiler = shutil.which("g++", path=search_path)
    if compiler is not None:
        yield _compiler_proper(compiler)
    for folder in _cuda_folders(search_path):
        yield from (folder / name for name in CUDA_FILES)
    yield interpreter().resolve()
    yield from map(Path, SYSTEM_FILES)


def _compiler_proper(compiler: str) -> Path:
    """The compiler program behind the driver `g++`, which may change while the driver does not."""
    done = subprocess.run([compiler, "-print-prog-name=cc1plus"], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or compiler)


def _cuda_folders(search_path: str | None) -> Iterator[Path]:
    """Folders of nvcc's toolkit. The `nvcc` on PATH may be a script that calls the real one."""
    nvcc = shutil.which("nvcc", path=search_path)
    if nvcc is None:
        return
    asked = [nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"]
    done = subprocess.run(asked, capture_output=True, text=True, errors="replace", check=False)
    for line in done.stderr.splitlines():
        name, _, value = line.removeprefix("#$ ").partition("=")
        if name == "TOP":
            yield Path(value).resolve()


def architecture() -> str:
    """Machine and processor features. They count because code built with `-march=native` needs the same processor."""
    return f"{platform.machine()} {processor_features()}"


def processor_features() -> str:
    """A digest of the processor's model and features; empty if the machine does not report them."""
    wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "Features")
    lines: dict[str, str] = {}
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if not name.strip():
                    break
                lines[name.strip()] = value.strip()
    except OSError:
        return ""
    text = "\n".join(f"{name}={lines[name]}" for name in wanted if name in lines)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
