"""Which command problems a machine or a track cannot run, and why."""

from collections.abc import Callable
from dataclasses import replace

from problems.spec.command.command_record import CommandRecord
from problems.spec.hardware import Hardware, compute_eval_datacenter, is_datacenter, parse_version
from problems.spec.profile import Profile

NameTest = Callable[[str], bool]


def compute_eval_skip(problem: CommandRecord, hardware: Hardware) -> str:
    """Returns the reason why ComputeEval's evaluator would skip the problem, or "" where it would run it."""
    return _toolkit_skip(problem, hardware) or _gpu_skip(problem, hardware, compute_eval_datacenter)


def track_skip(problem: CommandRecord, hardware: Hardware) -> str:
    """Returns the reason why the problem cannot run on a track, or "".

    ComputeEval's rules with a sound test for datacenter GPUs. Problems of the CPU types run on CPU tracks alone; CUDA
    problems run there only in a strict pack and when they ask for neither a toolkit nor a compute capability.
    """
    if problem.type in ("cpp", "python"):
        return "" if hardware.device == "cpu" else "is a CPU problem and this is a GPU track"
    if hardware.device == "gpu":
        return _toolkit_skip(problem, hardware) or _gpu_skip(problem, hardware, is_datacenter)
    if problem.profile is Profile.PODIUM:
        return "is a CUDA problem and this is a CPU track"
    without_toolkit = replace(hardware, toolkit=(0, 0))
    return _toolkit_skip(problem, without_toolkit) or _gpu_skip(problem, without_toolkit, is_datacenter)


def _toolkit_skip(problem: CommandRecord, hardware: Hardware) -> str:
    if problem.min_cuda_toolkit is None:
        return ""
    needed = parse_version(problem.min_cuda_toolkit)
    if needed is None:
        return f"needs CUDA toolkit {problem.min_cuda_toolkit!r}, which is not a version"
    if hardware.toolkit >= needed:
        return ""
    present = ".".join(map(str, hardware.toolkit)) if hardware.toolkit > (0, 0) else "none"
    return f"needs CUDA toolkit {needed[0]}.{needed[1]} or newer, here is {present}"


def _gpu_skip(problem: CommandRecord, hardware: Hardware, datacenter: NameTest) -> str:
    needed = parse_version(problem.compute_capability)
    if needed is None:
        return ""
    words = f"needs a GPU of compute capability {needed[0]}.{needed[1]} or higher"
    if hardware.device == "cpu":
        return f"{words}, here is none"
    present = hardware.compute_capability or (0, 0)
    if present < needed:
        return f"{words}, here is {present[0]}.{present[1]}"
    if not problem.requires_datacenter_gpu or datacenter(hardware.gpu_name):
        return ""
    return f"needs a datacenter GPU, here is {hardware.gpu_name or 'none'}"
