"""Builds libpodium_cupti.so once per node, beside a copy of the CUPTI library that it needs.

The folder holds all that a profiled program loads, so it is shown to sandboxes whole, whatever toolkit they have.
"""

import hashlib
import os
import re
import shutil
import site
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runners.agent.ground import native
from runners.agent.ground.errors import ProfilerUnavailable
from runners.agent.ground.homes import why_private
from runners.agent.ground.native import Recipe, default_cache_directory

NATIVE = Path(__file__).parent / "native"
LIBRARY = "libpodium_cupti.so"
DRIVER_SIGNS = ("/proc/driver/nvidia/version", "/dev/nvidiactl")
INCLUDE_FOLDERS = ("extras/CUPTI/include", "include", "targets/*/include")
LIBRARY_FOLDERS = ("extras/CUPTI/lib64", "extras/CUPTI/lib", "lib64", "lib", "targets/*/lib", "lib/*-linux-gnu")
HEADERS = ("cupti.h", "cuda.h", "nvtx3/nvToolsExt.h")
FLAGS = (
    "-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-static-libstdc++", "-static-libgcc",
    "-Wl,--gc-sections", "-Wl,-z,nodelete", "-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags",
    "-Wl,--version-script=exports.map",
)  # fmt: skip


@dataclass(frozen=True)
class Toolkit:
    """Where CUPTI is: folders of headers, and the library under the name that programs load it by."""

    includes: tuple[Path, ...]
    cupti: Path


@dataclass(frozen=True)
class Library:
    """The built library; `version` names it and the CUPTI that it uses, for provenance."""

    path: Path
    version: str


def why_unavailable() -> str:
    """Words on what is missing and how to mend it; empty where programs can be profiled."""
    if not driver_is_present():
        return "this machine has no NVIDIA driver: install one, or run on a machine with a GPU"
    try:
        find_or_build()
    except ProfilerUnavailable as error:
        return str(error)
    return ""


def driver_is_present() -> bool:
    """Whether this machine has an NVIDIA driver."""
    return any(Path(sign).exists() for sign in DRIVER_SIGNS)


@cache
def find_or_build() -> Library:
    """The library that PODIUM_CUPTI_LIBRARY names, else one of our own. Raises ProfilerUnavailable."""
    prebuilt = os.environ.get("PODIUM_CUPTI_LIBRARY")
    if not prebuilt:
        return build(find_toolkit(), default_cache_directory())
    path = Path(prebuilt).resolve()
    if not path.is_file():
        raise ProfilerUnavailable(f"PODIUM_CUPTI_LIBRARY names {prebuilt}, which is no file: mend or unset it")
    if why := why_private(path.parent):
        raise ProfilerUnavailable(f"PODIUM_CUPTI_LIBRARY: {why}: move the library to a folder of its own")
    return Library(path, f"cupti ({path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:8]})")


def find_toolkit() -> Toolkit:
    """The first toolkit with CUPTI's headers and library. Raises ProfilerUnavailable."""
    homes = list(dict.fromkeys(toolkit_homes()))
    for home in homes:
        found = toolkit_at([home])
        if found is not None:
            return found
    wheels = toolkit_at(list(wheel_folders()))
    if wheels is not None:
        return wheels
    looked = ", ".join(map(str, homes)) or "nowhere, for there is no nvcc"
    raise ProfilerUnavailable(
        f"CUPTI's headers or library are missing (looked in: {looked}): install the CUDA toolkit with CUPTI, or the "
        "wheels nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-nvtx, or name a toolkit in PODIUM_CUDA_HOME"
    )


def toolkit_homes() -> Iterator[Path]:
    """PODIUM_CUDA_HOME alone where it is set; else nvcc's folder, then what stands in /usr/local, newest first."""
    named = os.environ.get("PODIUM_CUDA_HOME")
    if named:
        yield Path(named)
        return
    nvcc = shutil.which("nvcc")
    if nvcc is not None:
        yield Path(nvcc).resolve().parent.parent
    yield from (path.resolve() for path in [Path("/usr/local/cuda")] if path.exists())
    yield from sorted(Path("/usr/local").glob("cuda-*"), key=_version, reverse=True)


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.name))


def wheel_folders() -> Iterator[Path]:
    """Those of NVIDIA's Python packages: up to CUDA 12 one each, then one for all (`cu13`)."""
    roots = dict.fromkeys([*sys.path, *site.getsitepackages()])
    for root in roots:
        yield from sorted(Path(root or ".").glob("nvidia/*"))


def toolkit_at(homes: list[Path]) -> Toolkit | None:
    """What these folders hold together; None unless it is all that is needed."""
    includes = [path for home in homes for path in _existing(home, INCLUDE_FOLDERS)]
    libraries = [path for home in homes for folder in _existing(home, LIBRARY_FOLDERS) for path in _cupti_in(folder)]
    used = [next((folder for folder in includes if (folder / header).is_file()), None) for header in HEADERS]
    if not libraries or None in used:
        return None
    return Toolkit(tuple(dict.fromkeys(folder for folder in used if folder is not None)), libraries[0])


def _existing(home: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(home.glob(pattern)) if path.is_dir()]


def _cupti_in(folder: Path) -> list[Path]:
    """By the name with the major version alone, which is the one that programs ask the loader for."""
    return sorted(path for path in folder.glob("libcupti.so.*") if re.fullmatch(r"\.so\.\d+", "".join(path.suffixes)))


def build(toolkit: Toolkit, cache_dir: Path) -> Library:
    """Compile, or find it compiled. Raises ProfilerUnavailable."""
    recipe = Recipe(
        name=LIBRARY,
        prefix="cupti",
        variable="PODIUM_CUPTI_LIBRARY",
        sources=NATIVE,
        inputs=(*sorted(path.name for path in NATIVE.glob("*.cpp")), f"-l:{toolkit.cupti.name}"),
        flags=(FLAGS,),
        unavailable=ProfilerUnavailable,
        includes=toolkit.includes,
        beside=(toolkit.cupti,),
    )
    built = native.find_or_build(recipe, cache_dir)
    return Library(built.path, f"cupti ({toolkit.cupti.name}, recorder {built.digest[:8]})")
