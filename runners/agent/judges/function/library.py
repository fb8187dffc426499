"""Finds or builds libpodium_clock, the native part of the checker's clock."""

import os
from pathlib import Path

from runners.agent.ground.errors import SandboxFault
from runners.agent.ground.native import Recipe, find_or_build

NATIVE = Path(__file__).parent / "native"
LIBRARY = "libpodium_clock.so"
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-static-libstdc++", "-static-libgcc")
"""Without libstdc++ of this machine: an image may have an older one."""


def build(cache_dir: Path) -> Path:
    """The library's path, in a folder of its own. Raises SandboxFault where it can neither be found nor built."""
    prebuilt = os.environ.get("PODIUM_CLOCK_LIBRARY")
    recipe = Recipe(
        name=LIBRARY,
        prefix="clock",
        variable="PODIUM_CLOCK_LIBRARY",
        sources=NATIVE,
        inputs=("clock.cpp", "hand_off.cpp"),
        flags=((*FLAGS, "-ldl"),),
        unavailable=SandboxFault,
        prebuilt=Path(prebuilt) if prebuilt else None,
    )
    return find_or_build(recipe, cache_dir).path
