"""podium-gpu over a stand-in for NVIDIA's driver, since CI has no GPU: memory is a file, kernels are done by hand."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from runners.agent.devices.tool import GpuTool
from runners.agent.ground.native import default_cache_directory

SOURCE = Path(__file__).parent / "native" / "fake_cuda.cpp"
MEMORY_BYTES = 32 << 20
UUID = "GPU-0aa00000-0000-0000-0000-00000000000a"


def build(folder: Path) -> GpuTool:
    """The real program, compiled, with the stand-in as its driver."""
    subprocess.run(
        ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", SOURCE],
        check=True, capture_output=True,
    )  # fmt: skip
    tool = GpuTool.build(default_cache_directory())
    return replace(tool, environment={"LD_LIBRARY_PATH": str(folder)})


def device(tool: GpuTool, folder: Path, **settings: str) -> GpuTool:
    """The tool on a device of its own; `settings` as in fake_cuda.cpp: largest, fault."""
    memory = folder / "memory"
    if not memory.exists():
        memory.write_bytes(b"\x11" * MEMORY_BYTES)
    named = {f"FAKE_GPU_{name.upper()}": value for name, value in settings.items()}
    return replace(tool, environment={**tool.environment, "FAKE_GPU_MEMORY": str(memory), **named})


def present() -> bool:
    return shutil.which("g++") is not None
