"""Decides whether a node's hardware and toolkit fit a track."""

import re

from leaderboard.models import Track
from runners.wire.protocol import Capabilities, Profiler, Stage


def why_not(found: Capabilities, track: Track, stage: Stage) -> str:
    """The reason why a node with these capabilities cannot serve this stage of the track, or "".

    Building needs the toolkit but no GPU. A property that the track leaves empty fits every node.
    """
    if track.device == "none":
        return "the site settles its problems itself"
    if track.image and found.sandbox != "docker":
        return f"the track names an image, and its sandbox is {found.sandbox or 'not known'}"
    complaint = "" if stage is Stage.BUILD else _hardware(found, track)
    return complaint or _toolkit(found, track, stage)


def _hardware(found: Capabilities, track: Track) -> str:
    if track.device == "cpu":
        same = not track.hardware_name or _plain(found.cpu_model) == _plain(track.hardware_name)
        return "" if same else f"its processor is {found.cpu_model or 'not known'}, not {track.hardware_name}"
    named = [gpu for gpu in found.gpus if not track.hardware_name or _plain(gpu.name) == _plain(track.hardware_name)]
    if not named:
        return f"it has no {track.hardware_name or 'GPU'}"
    if track.compute_capability and all(gpu.compute_capability != track.compute_capability for gpu in named):
        return (
            f"its {named[0].name} has compute capability {named[0].compute_capability}, not {track.compute_capability}"
        )
    if Profiler.CUPTI not in found.profilers:
        return "it has no profiler cupti, which times kernels and ranges: install the CUDA toolkit with CUPTI, and g++"
    return ""


def _toolkit(found: Capabilities, track: Track, stage: Stage) -> str:
    """The reason why the node's toolkit does not fit, or "". An image has its own toolkit. A node that only runs jobs
    needs no toolkit, but must not have another one."""
    if not track.toolkit or track.image:
        return ""
    own = toolkit_of(found)
    if own == track.toolkit or (not own and stage is Stage.RUN):
        return ""
    return f"its CUDA toolkit is {own}, not {track.toolkit}" if own else f"it has no nvcc of CUDA {track.toolkit}"


def toolkit_of(found: Capabilities) -> str:
    """Major and minor version of the CUDA toolkit: `13.0.88` → `13.0`; empty if there is none."""
    return version_of(found.toolkits.get("nvcc", ""))


def version_of(text: str) -> str:
    found = re.search(r"(?<!\d)\d+\.\d+", text)
    return found[0] if found else ""


def _plain(name: str) -> str:
    return " ".join(name.split()).lower()
