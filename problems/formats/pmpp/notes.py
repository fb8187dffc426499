"""Remarks on a task for an organiser, read from its files."""

import re
from collections.abc import Iterator

from problems.formats.pmpp.building import REFERENCE, STUDENT
from problems.formats.pmpp.checkout import TaskFolder
from problems.formats.pmpp.functions import declared, defined
from problems.formats.pmpp.makefile import Makefile

_ARCHITECTURE = re.compile(r"(?:sm|compute)_\d+[a-z]?")
_REMOVED = re.compile(
    r"\.(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|maxTexture1DLinear"
    r"|singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch)\b"
)
"""Fields of cudaDeviceProp that CUDA 13 no longer has."""


def architecture_idiom(makefile: Makefile) -> str:
    """How the Makefile chose an architecture, as `ARCH = -arch=sm_70`; empty if it chose none."""
    for name, variable in makefile.variables.items():
        match = _ARCHITECTURE.search(variable.text)
        if match and name in ("CFLAGS", "CXXFLAGS", "NVCCFLAGS", "CUDA_FLAGS"):
            return f"{match[0]} in {name}"
        if match:
            return f"{name} = {variable.text.strip()}"
    return ""


def notes_on(task: TaskFolder, harness: str) -> Iterator[str]:
    """Sentences for the report; `harness` is the text of the tests' sources."""
    reference, skeleton = task.texts.get(REFERENCE, ""), task.texts.get(STUDENT, "")
    removed = sorted(set(_REMOVED.findall(reference))) if "cudaDeviceProp" in reference else []
    if removed:
        yield f"builds with CUDA 12 only: CUDA 13 removed {', '.join(removed)} from cudaDeviceProp"
    if "cudaLimitDevRuntimeSyncDepth" in harness:
        yield "cudaLimitDevRuntimeSyncDepth fails on GPUs of compute capability 9.0 and newer"
    if "cudaEventElapsedTime" in harness:
        yield "the test compares times; give it a GPU of its own"
    known = {*defined(skeleton), *defined(harness)}
    lacking = [name for name in declared(skeleton) if name not in known and name in defined(reference)]
    if lacking:
        yield f"the skeleton declares {', '.join(lacking)}, which only the reference defines"
