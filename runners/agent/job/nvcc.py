"""Gives nvcc the track's architecture, for problems whose build command names none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from runners.wire.protocol import TrackSpec

COMPUTE_EVAL = "compute-eval"
"""The image policy that leaves build commands unchanged, as ComputeEval does."""
DEFAULT = "default"
ARCHITECTURE = "PODIUM_NVCC_ARCH"
"""Variable that gives the sandbox's nvcc shim the architecture; see sandbox/native/nvcc_target.h."""

_CAPABILITY = re.compile(r"^(\d{1,2})\.(\d)$")


@dataclass(frozen=True)
class BuildPolicy:
    """The architecture that builds are given; `arch` is empty if they are given none."""

    name: str = COMPUTE_EVAL
    arch: str = ""

    @classmethod
    def of_track(cls, track: TrackSpec) -> "BuildPolicy":
        """The track's architecture; none under the policy `compute-eval`."""
        if track.image_policy == COMPUTE_EVAL:
            return AS_WRITTEN
        return cls(track.image_policy, architecture_of(track.compute_capability))

    @classmethod
    def for_capability(cls, compute_capability: str) -> "BuildPolicy":
        """The default policy for a GPU of this machine; without an architecture for ""."""
        return cls(DEFAULT, architecture_of(compute_capability))

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables to add to the build's environment."""
        return {ARCHITECTURE: self.arch} if self.arch else {}


AS_WRITTEN = BuildPolicy()


def architecture_of(compute_capability: str) -> str:
    """`sm_90` for `9.0`: with it nvcc's `-arch` makes machine code and PTX. "" for a text that is not a capability.

    On such a GPU `-arch=native` means the same. A problem that needs features of `sm_90a` must name it itself.
    """
    match = _CAPABILITY.match(compute_capability)
    return f"sm_{match[1]}{match[2]}" if match else ""
