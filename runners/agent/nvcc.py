"""What nvcc is told of a track: the architecture to compile for where the problem's build names none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from runners.protocol import TrackSpec

COMPUTE_EVAL = "compute-eval"
"""The image policy under which a build runs as the problem wrote it, as in ComputeEval."""
DEFAULT = "default"
ARCHITECTURE = "PODIUM_NVCC_ARCH"
"""Tells the sandbox's nvcc shim the architecture; see sandbox/native/nvcc_target.h."""

_CAPABILITY = re.compile(r"^(\d{1,2})\.(\d)$")


@dataclass(frozen=True)
class BuildPolicy:
    """How builds are told of the track; `arch` is empty where they are told nothing."""

    name: str = COMPUTE_EVAL
    arch: str = ""

    @classmethod
    def of_track(cls, track: TrackSpec) -> "BuildPolicy":
        """Under the policy `compute-eval` nothing is added, under any other the track's architecture."""
        if track.image_policy == COMPUTE_EVAL:
            return AS_WRITTEN
        return cls(track.image_policy, architecture_of(track.compute_capability))

    @property
    def environment(self) -> Mapping[str, str]:
        """What the build's product depends on beyond the problem."""
        return {ARCHITECTURE: self.arch} if self.arch else {}


AS_WRITTEN = BuildPolicy()


def architecture_of(compute_capability: str) -> str:
    """`9.0` to `sm_90`, which nvcc's `-arch` takes for machine code and PTX both; "" for what is no capability.

    It is what `-arch=native` comes to on such a GPU. A problem that needs the features of `sm_90a` names it itself.
    """
    match = _CAPABILITY.match(compute_capability)
    return f"sm_{match[1]}{match[2]}" if match else ""
