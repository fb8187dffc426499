"""The identity of the tools that a build on this machine would use: a change of any of them makes old builds void."""

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runners.agent.sandbox.root import interpreter

TOOLS = (
    "g++", "gcc", "c++", "cc", "clang++", "clang", "nvcc", "ld", "as", "ar", "make", "cmake", "ninja", "python3",
    "python", "rustc", "go", "sh", "bash",
)  # fmt: skip
SYSTEM_FILES = ("/etc/os-release", "/etc/ld.so.cache", "/usr/include/c++", "/usr/local/cuda/version.json")


def identity(search_path: str | None = None) -> str:
    """sha256 over place, size and time of every tool; `search_path` as in PATH."""
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
    yield interpreter().resolve()
    yield from map(Path, SYSTEM_FILES)


def _compiler_proper(compiler: str) -> Path:
    """`g++` is a driver that stays the same while the program behind it changes."""
    done = subprocess.run([compiler, "-print-prog-name=cc1plus"], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip() or compiler)


def architecture() -> str:
    """Machine and processor: `-march=native` makes code that only this processor may understand."""
    return f"{platform.machine()} {processor_features()}"


def processor_features() -> str:
    """A digest of the processor's model and features, empty where the machine does not tell."""
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
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
