"""A machine on which all native programs can be made in no time: its g++ makes empty files and notes what for."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from runners.agent.devices import porter
from runners.agent.ground import native
from runners.agent.profilers import cupti_library
from runners.agent.profilers.cupti_library import HEADERS

CORES = 32
"""More than there are sources, so that all may be compiled at once."""
PREBUILT = ("PODIUM_SUPERVISOR", "PODIUM_CUPTI_LIBRARY", "PODIUM_GPU_TOOL", "PODIUM_PORTER")
MAKE_EMPTY_FILES = 'while [ $# -gt 1 ]; do if [ "$1" = -o ]; then : > "$2"; fi; shift; done'
NOTE_PRODUCT = 'draft=${PWD%-draft-*}; echo "${draft##*/.}" >> "$LOG"'
"""A compiler is started in `.PREFIX-draft-…/sources`."""


@dataclass(frozen=True)
class SwiftMachine:
    """Without an NVIDIA driver, with a CUDA toolkit."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @classmethod
    def at(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> "SwiftMachine":
        machine = cls(folder, monkeypatch)
        for variable in (*PREBUILT, "PODIUM_CACHE_DIR"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setattr(native.os, "geteuid", lambda: 1000)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("LOG", str(folder / "compilations"))
        monkeypatch.setenv("PATH", f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(native, "AT_ONCE", CORES)
        monkeypatch.setattr(native, "_places", threading.BoundedSemaphore(CORES))
        machine.compiler_does(MAKE_EMPTY_FILES)
        machine.has_driver(present=False)
        machine._make_toolkit()
        machine.forget()
        return machine

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "podium"

    def compiler_does(self, what: str) -> None:
        """A shell script for every compilation; afterwards it is to make its file."""
        tool = self.folder / "tools" / "g++"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(f'#!/bin/sh\nif [ "$*" = -v ]; then exit; fi\n{NOTE_PRODUCT}\n{what}\n')
        tool.chmod(0o755)

    def compilations(self) -> list[str]:
        """The prefix of what was made, for every call of the compiler."""
        log = self.folder / "compilations"
        return log.read_text().split() if log.exists() else []

    def has_driver(self, *, present: bool) -> None:
        self.monkeypatch.setattr(cupti_library, "DRIVER_SIGNS", ("/",) if present else ())

    def lacks_toolkit(self) -> None:
        self.monkeypatch.setenv("PODIUM_CUDA_HOME", str(self.folder / "nowhere"))
        self.monkeypatch.setattr(cupti_library, "wheel_folders", lambda: iter(()))

    def lacks_compiler(self) -> None:
        self.monkeypatch.setenv("PATH", str(self.folder / "no tools"))

    def forget(self) -> None:
        """Forgets this process's knowledge, so that it is like a new one."""
        porter.program.cache_clear()
        cupti_library.find_or_build.cache_clear()

    def _make_toolkit(self) -> None:
        toolkit = self.folder / "toolkit"
        for path in (*(toolkit / "include" / header for header in HEADERS), toolkit / "lib64" / "libcupti.so.13"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        self.monkeypatch.setenv("PODIUM_CUDA_HOME", str(toolkit))
