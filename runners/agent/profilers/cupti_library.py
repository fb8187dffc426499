"""Builds libpodium_cupti.so once per node, beside a copy of the CUPTI library that it needs.

The folder holds every file of the profiler that a program loads. It is mounted into sandboxes as a whole, so the
sandbox's own toolkit does not matter.
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
    """The folders of CUPTI's headers, and its library by the name that programs load (`libcupti.so.13`)."""

    includes: tuple[Path, ...]
    cupti: Path


@dataclass(frozen=True)
class Library:
    """The built library. `version` names the library and its CUPTI, for provenance."""

    path: Path
    version: str


def why_unavailable() -> str:
    """The reason why programs cannot be profiled here, with a remedy; "" if they can."""
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
    """The library that PODIUM_CUPTI_LIBRARY names, else one built from source. Raises ProfilerUnavailable."""
    prebuilt = os.environ.get("PODIUM_CUPTI_LIBRARY")
    if not prebuilt:
        return build(find_toolkit(), default_cache_directory())
    path = Path(prebuilt).resolve()
    if not path.is_file():
        raise ProfilerUnavailable(f"PODIUM_CUPTI_LIBRARY names {prebuilt}, which is not a file: mend or unset it")
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
    searched = ", ".join(map(str, homes)) or "none found"
    raise ProfilerUnavailable(
        f"CUPTI's headers or library are missing (toolkits searched: {searched}): install the CUDA toolkit with CUPTI, "
        "or the wheels nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-nvtx, or name a toolkit in PODIUM_CUDA_HOME"
    )


def toolkit_homes() -> Iterator[Path]:
    """Toolkit folders: PODIUM_CUDA_HOME alone if it is set; else nvcc's, then those in /usr/local, newest first."""
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
    """Folders of NVIDIA's Python packages: one for each package up to CUDA 12, one for all (`cu13`) since then."""
    roots = dict.fromkeys([*sys.path, *site.getsitepackages()])
    for root in roots:
        yield from sorted(Path(root or ".").glob("nvidia/*"))


def toolkit_at(homes: list[Path]) -> Toolkit | None:
    """The toolkit that these folders hold together; None if a header or the library is missing."""
    includes = [path for home in homes for path in _existing(home, INCLUDE_FOLDERS)]
    libraries = [path for home in homes for folder in _existing(home, LIBRARY_FOLDERS) for path in _cupti_in(folder)]
    used = [next((folder for folder in includes if (folder / header).is_file()), None) for header in HEADERS]
    if not libraries or None in used:
        return None
    return Toolkit(tuple(dict.fromkeys(folder for folder in used if folder is not None)), libraries[0])


def _existing(home: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(home.glob(pattern)) if path.is_dir()]


def _cupti_in(folder: Path) -> list[Path]:
    """Libraries named by the major version alone. Programs ask the loader for this name."""
    return sorted(path for path in folder.glob("libcupti.so.*") if re.fullmatch(r"\.so\.\d+", "".join(path.suffixes)))


def build(toolkit: Toolkit, cache_dir: Path) -> Library:
    """Compile the library, or find it in `cache_dir`. Raises ProfilerUnavailable."""
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
