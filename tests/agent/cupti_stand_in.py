"""The real library over a stand-in for CUPTI (fake_cupti.cpp), and a program that uses it."""

import subprocess
from pathlib import Path

from runners.agent.profilers.cupti_library import Library, Toolkit, build, find_toolkit

HERE = Path(__file__).parent


def library_over_stand_in(room: Path) -> Library:
    includes = find_toolkit().includes
    fake = room / "libcupti.so.13"
    arguments = ["-std=c++17", "-fPIC", "-shared", f"-Wl,-soname,{fake.name}", *(f"-I{path}" for path in includes)]
    subprocess.run(["g++", *arguments, str(HERE / "fake_cupti.cpp"), "-o", str(fake)], check=True)
    return build(Toolkit(includes, fake), room / "cache")


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
