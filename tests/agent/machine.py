"""A small node for tests: the real judges over the real sandbox of this machine."""

import hashlib
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any

from problems.spec.command.problem import CommandProblem, problem_from
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile
from runners.agent import capabilities
from runners.agent.devices.lanes import Lanes
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job, why_invalid
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.registry import Judges
from runners.agent.judges.report import Finished
from runners.agent.sandbox import Command, Outcome, Running, Sandbox, choose
from runners.wire.job import JobRules
from runners.wire.protocol import ResourceLimits
from tests.packs import problem as record
from tests.requirements import present

Files = Mapping[str, str]

LIMITS = ResourceLimits(memory_bytes=512 << 20, processes=64, file_bytes=64 << 20, workspace_bytes=64 << 20)


def sandbox_name() -> str:
    """The one that confines where it is to be had; what is tested here holds in either."""
    return "bubblewrap" if present("bubblewrap") else "unconfined"


def open_sandbox() -> Sandbox:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return choose(sandbox_name())


class QuietRunning(Running):
    """A started command of which the supervisor tells no loss during timed goes."""

    def __init__(self, inner: Running) -> None:
        self._inner = inner

    def stop(self) -> None:
        self._inner.stop()

    @property
    def has_ended(self) -> bool:
        return self._inner.has_ended

    def wait(self) -> Outcome:
        return replace(self._inner.wait(), timed_ms=0.0)

    def __exit__(self, *facts: object) -> None:
        self._inner.__exit__(*facts)


class QuietSandbox(Sandbox):
    """The real sandbox as on a machine that runs nothing else, since other work is no part of what most tests test."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.name, self.memory_limit_by, self.memory_limit_why = inner.name, inner.memory_limit_by, ""

    def run(self, command: Command) -> Outcome:
        return replace(self._inner.run(command), lost_ms=0.0, steal_ms=0.0)

    def start(self, command: Command, channel: socket | None = None, brake: socket | None = None) -> Running:
        return QuietRunning(self._inner.start(command, channel, brake))

    def why_no_gpus(self, uuids: tuple[str, ...]) -> str:
        return self._inner.why_no_gpus(uuids)

    def close(self) -> None:
        self._inner.close()


class Machine:
    """One node's environment and judges in a folder of its own."""

    def __init__(self, folder: Path, slots: int = 2) -> None:
        sandbox = QuietSandbox(open_sandbox())
        known = capabilities.find_out(sandbox)
        self.environment = NodeEnvironment.open("node-1", folder, sandbox, Lanes(slots, slots), known)
        self.judges = Judges(self.environment)
        self.work_folder, self.builds_folder = folder / "work", folder / "builds"

    def judge(self, problem: CommandProblem, files: Files, **facts: Any) -> Finished:
        """Judges a sample with these files."""
        return self.judges.judge(job_of(problem, files, **facts))

    def leftovers(self) -> list[Path]:
        """Workspaces that were not removed."""
        return [path for room in self.work_folder.iterdir() for path in room.iterdir() if path.is_dir()]


def job_of(problem: ProblemRecord, files: Files, **changes: Any) -> Job:
    """Fields of the job's rules and of the job itself may be given."""
    solution = FileSolution(task_id=problem.task_id, files=sources(files))
    digest = hashlib.sha256(problem.to_line()).hexdigest()
    rules, own = ruled({"limits": LIMITS, "invalid_reason": why_invalid(problem, solution)} | changes)
    return Job(problem, digest, solution, rules, **own)


def ruled(facts: Mapping[str, Any]) -> tuple[JobRules, dict[str, Any]]:
    """The rules among these facts, and the others."""
    rules = {name: value for name, value in facts.items() if name in JobRules.model_fields}
    return JobRules(**rules), {name: value for name, value in facts.items() if name not in rules}


def subject_of(problem: CommandProblem, files: Files, **changes: Any) -> CommandSubject:
    return CommandSubject.of(job_of(problem, files, **changes))


def sources(files: Files) -> list[SourceFile]:
    return [SourceFile(path=path, content=content) for path, content in files.items()]


def shell_problem(**changes: Any) -> CommandProblem:
    """Runs `sh test/t.sh`, which runs `solution.sh`, unless `changes` say otherwise; `tests`, `context`, `baseline`
    give files as path to content."""
    for name, field in (("tests", "test_files"), ("context", "context_files")):
        if name in changes:
            changes[field] = [one.model_dump() for one in sources(changes.pop(name))]
    if "baseline" in changes:
        files = [one.model_dump() for one in sources(changes.pop("baseline"))]
        changes["baseline_solution"] = {"schema_version": 1, "type": "file", "task_id": "t", "files": files}
    return problem_from(record("t", **changes), Profile.PODIUM)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Where the slots' users can reach it when the suite runs as root, unlike pytest's own."""
    folder = tempfile.TemporaryDirectory(prefix="podium-node-")
    Path(folder.name).chmod(0o755)
    return folder
