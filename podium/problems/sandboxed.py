"""Runs functions on a set's files in one sandbox, each call in a process of its own."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from podium.problems import inside
from problems.formats.errors import PackRefused
from problems.formats.functions import inside as functions_inside
from problems.formats.kernelbench import inside as kernelbench_inside
from problems.formats.leetgpu import inside as leetgpu_inside
from problems.formats.mutants import inside as mutants_inside
from runners.agent.ground.errors import SandboxFault
from runners.agent.sandbox import Command, Limits, Sandbox

SECONDS_EACH = 120.0
MOST_SECONDS = 6 * 3600.0
START_SECONDS = 120.0
LIMITS = Limits(
    wall_seconds=MOST_SECONDS,
    memory_bytes=16 << 30,
    processes=1024,
    file_bytes=1 << 30,
    workspace_bytes=1 << 30,
    output_bytes=64 << 20,
)
PACKAGES = {
    "inside": Path(functions_inside.__file__).parent,
    "kernelbench_inside": Path(kernelbench_inside.__file__).parent,
    "leetgpu_inside": Path(leetgpu_inside.__file__).parent,
}
"""Packages of the sandbox by the names under which jobs import them."""
MODULES = (Path(inside.__file__).parent / "many.py", Path(mutants_inside.__file__).parent / "idle.py")


@dataclass(frozen=True)
class CallBounds:
    """Bounds of a set's files: wall time of each, and memory of all."""

    seconds_each: float = SECONDS_EACH
    memory_bytes: int = LIMITS.memory_bytes


@dataclass(frozen=True)
class SandboxedCall:
    """One call: `module:name` in the sandbox, with arguments of plain data."""

    call: str
    arguments: Sequence[Any] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"call": self.call, "arguments": list(self.arguments), "named": dict(self.named)}


@dataclass(frozen=True)
class SandboxedAnswer:
    """The result of one call as plain data, or the fault that ended it."""

    result: Any = None
    fault: str = ""


class MissingTorch(PackRefused):
    """The Python that problems run under has no torch."""

    def __init__(self, sandbox: str) -> None:
        words = "the Python that problems run under has no torch; install it, or name another by PODIUM_PYTHON"
        if sandbox == "docker":
            words = (
                "the sandbox's image has no torch: name another by PODIUM_DOCKER_IMAGE, or give --sandbox bubblewrap,"
                " whose Python is named by PODIUM_PYTHON"
            )
        super().__init__("no_torch", words)


def call_each(
    sandbox: Sandbox,
    jobs: Sequence[SandboxedCall],
    *,
    warm: Sequence[SandboxedCall] = (),
    files: Mapping[str, str] | None = None,
    gpu_uuids: tuple[str, ...] = (),
    bounds: CallBounds | None = None,
) -> list[SandboxedAnswer]:
    """Answers in the order of the jobs. `files` lie in the working folder, by path.

    `warm` jobs run before all, in the process from which those of the jobs are forked. Raises PackRefused if nothing
    could be run.
    """
    if not jobs:
        return []
    within = bounds or CallBounds()
    limits = replace(LIMITS, memory_bytes=within.memory_bytes)
    asked = {
        "warm": [one.as_json() for one in warm],
        "seconds": within.seconds_each,
        "jobs": [one.as_json() for one in jobs],
    }
    with _workspace(asked, files or {}) as workspace:
        command = Command("python -m many jobs.json", workspace, limits, gpu_uuids=gpu_uuids)
        try:
            outcome = sandbox.run(command)
        except SandboxFault as fault:
            raise PackRefused("sandbox", f"the files could not be run: {fault}") from fault
    answers = _answers(outcome.stdout, len(jobs))
    if answers and all("No module named 'torch'" in one.fault for one in answers.values()):
        raise MissingTorch(sandbox.name)
    if not answers:
        said = outcome.stderr.strip().splitlines() or [f"exit status {outcome.exit_code}"]
        raise PackRefused("no_answers", f"the sandbox ended without an answer: {said[-1][:500]}")
    ended = "the sandbox ended before its turn" + (": memory ran out" if outcome.memory_exceeded else "")
    return [answers.get(number, SandboxedAnswer(fault=ended)) for number in range(len(jobs))]


@contextmanager
def _workspace(asked: Mapping[str, Any], files: Mapping[str, str]) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="podium-set-"))
    try:
        folder.chmod(0o755)
        for name, source in PACKAGES.items():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for path in MODULES:
            shutil.copyfile(path, folder / path.name)
        (folder / "jobs.json").write_text(json.dumps(asked), encoding="utf-8")
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answers(text: str, count: int) -> dict[int, SandboxedAnswer]:
    """The answers by the numbers of their jobs. Lines that are none are left out; the first of a number counts."""
    found: dict[int, SandboxedAnswer] = {}
    for line in text.splitlines():
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        number = data.get("job") if isinstance(data, dict) else None
        if isinstance(number, int) and 0 <= number < count and number not in found:
            found[number] = SandboxedAnswer(data.get("result"), str(data.get("fault", ""))[:1000])
    return found
