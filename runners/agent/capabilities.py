"""Finds out the capabilities of a node's machine."""

import os
import platform
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from runners.agent import profilers
from runners.agent.devices.gpus import Gpus, chosen
from runners.agent.ground.errors import SandboxFault
from runners.agent.job.toolchain import cores
from runners.agent.sandbox.policy import Command, Limits, Sandbox
from runners.wire.protocol import Capabilities, GpuCapability

_GPU_FIELDS = "uuid,name,compute_cap,memory.total,driver_version"
_ASK_VERSIONS = """\
for tool in g++ nvcc ncu python3; do
  command -v $tool >/dev/null && echo "$tool: $($tool --version 2>&1 | tr '\\n' ' ')" &
done
python3 -c 'from importlib.metadata import version; print("numpy:", version("numpy"))' 2>/dev/null &
for header in /usr/include/cudnn_version.h /usr/include/*/cudnn_version.h /usr/local/cuda/include/cudnn_version.h; do
  [ -f $header ] || continue
  echo "cudnn: V$(sed -n 's/^#define CUDNN_\\(MAJOR\\|MINOR\\|PATCHLEVEL\\) //p' $header | paste -sd .)"
  break
done
wait
true
"""
"""The tools run side by side, because some are slow to print their version."""
_VERSION = re.compile(r"(?:release |V|\s|\))(\d+(?:\.\d+)+)")


def find_out(sandbox: Sandbox, known_gpus: list[GpuCapability] | None = None) -> Capabilities:
    """The capabilities; unknown ones are empty. `known_gpus` are the GPUs if they were found before."""
    with ThreadPoolExecutor(3, thread_name_prefix="find-out") as pool:
        found_gpus = pool.submit(lambda: gpus() if known_gpus is None else known_gpus)
        versions = pool.submit(toolkits, sandbox)
        usable_profilers = pool.submit(profilers.available)
    return Capabilities(
        hostname=platform.node(),
        cpu_model=cpu_model(),
        cpu_cores=cores(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        architecture=platform.machine(),
        kernel=platform.release(),
        gpus=found_gpus.result(),
        toolkits=versions.result(),
        sandbox=sandbox.name,
        image=getattr(sandbox, "image", ""),  # only a container's sandbox has one
        memory_limit_by=sandbox.memory_limit_by,
        memory_limit_why=sandbox.memory_limit_why,
        profilers=usable_profilers.result(),
        agent_version=agent_version(),
    )


def agent_version() -> str:
    try:
        return version("podium")
    except PackageNotFoundError:
        return ""


def cpu_model() -> str:
    """The processor's name as the kernel reports it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.processor()


def gpus() -> list[GpuCapability]:
    """The NVIDIA GPUs, from the driver's library, else from `nvidia-smi`; none if both are missing.

    Raises UnknownGpu.
    """
    opened = Gpus.open()
    if opened is None:
        return gpus_by_nvidia_smi()
    try:
        return opened.capabilities()
    finally:
        opened.close()


def gpus_by_nvidia_smi() -> list[GpuCapability]:
    """The GPUs that `nvidia-smi` lists and PODIUM_GPUS allows; none if it is missing. Raises UnknownGpu."""
    found = parse_gpus(_output(["nvidia-smi", f"--query-gpu={_GPU_FIELDS}", "--format=csv,noheader,nounits"]))
    allowed = chosen(gpu.uuid for gpu in found)
    return [gpu for gpu in found if gpu.uuid in allowed]


def parse_gpus(text: str) -> list[GpuCapability]:
    """Parse rows `uuid, name, compute capability, MiB, driver`. Other rows are ignored."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return [
        GpuCapability(
            uuid=row[0],
            name=row[1],
            compute_capability=row[2],
            memory_bytes=int(row[3]) << 20 if row[3].isdigit() else 0,
            driver=row[4],
        )
        for row in rows
        if len(row) == 5 and row[0].startswith(("GPU-", "MIG-"))
    ]


def toolkits(sandbox: Sandbox) -> dict[str, str]:
    """Versions of the tools that commands will find, read inside the sandbox, else on this machine."""
    limits = Limits(
        wall_seconds=20,
        memory_bytes=1 << 30,
        processes=64,
        file_bytes=1 << 20,
        workspace_bytes=1 << 20,
        output_bytes=1 << 16,
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcome = sandbox.run(Command(_ASK_VERSIONS, Path(folder), limits))
        except SandboxFault:
            return parse_versions(_output(["sh", "-c", _ASK_VERSIONS]))
    return parse_versions(outcome.stdout)


def parse_versions(text: str) -> dict[str, str]:
    """Versions by tool, from lines `tool: version text` in any order."""
    found = {}
    for line in sorted(text.splitlines()):
        tool, _, words = line.partition(":")
        match = _VERSION.search(words)
        if match:
            found[tool] = match[1]
    return found


def _output(arguments: list[str]) -> str:
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace", timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
