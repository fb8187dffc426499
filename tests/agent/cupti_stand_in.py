"""The real library over a stand-in for CUPTI (fake_cupti.cpp), a program that uses it, and the profiler as a reader."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from runners.agent.ground.native import default_cache_directory
from runners.agent.profilers import cupti_library
from runners.agent.profilers.cupti import Cupti
from runners.agent.profilers.cupti_library import Library, Toolkit, build, find_toolkit
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Witness

HERE = Path(__file__).parent


def library_over_stand_in(room: Path) -> Library:
    includes = find_toolkit().includes
    fake = room / "libcupti.so.13"
    arguments = ["-std=c++17", "-fPIC", "-shared", f"-Wl,-soname,{fake.name}", *(f"-I{path}" for path in includes)]
    subprocess.run(["g++", *arguments, str(HERE / "fake_cupti.cpp"), "-o", str(fake)], check=True)
    return build(Toolkit(includes, fake), default_cache_directory())


def program_in(room: Path) -> Path:
    made = room / "program"
    includes = [f"-I{path}" for path in find_toolkit().includes]
    source = str(HERE / "cupti_life_program.cpp")
    subprocess.run(["g++", "-std=c++17", *includes, source, "-o", str(made), "-ldl"], check=True)
    return made


def driver_in(room: Path) -> Path:
    """A stand-in for the driver, loaded before the program; it tells in the file WAITED what it was called for."""
    made = room / "libcuda.so.1"
    arguments = ["-shared", "-fPIC", f"-Wl,-soname,{made.name}", "-o", str(made), str(HERE / "fake_driver.cpp")]
    subprocess.run(["g++", *arguments], check=True)
    return made


def reader(monkeypatch: pytest.MonkeyPatch) -> Cupti:
    """The profiler as on a machine with a GPU; reading needs neither the GPU nor the library."""
    monkeypatch.setattr(cupti_library, "why_unavailable", lambda: "")
    built = Library(Path("/cache/cupti-1/libpodium_cupti.so"), "cupti (libcupti.so.13, recorder 1)")
    monkeypatch.setattr(cupti_library, "find_or_build", lambda: built)
    return Cupti()


def ran(**changes: Any) -> Outcome:
    facts: dict[str, Any] = {
        "exit_code": 0,
        "signal": None,
        "timed_out": False,
        "memory_exceeded": False,
        "cancelled": False,
        "stdout": "",
        "stderr": "",
        "truncated": False,
        "wall_ms": 1000.0,
        "cpu_ms": 1.0,
        "peak_memory_bytes": 1,
        "witness": Witness.SEEN,
    }
    return Outcome(**facts | changes)
