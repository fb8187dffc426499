"""A command problem: its record, and what site and nodes ask of it."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from problems.spec.case import Case
from problems.spec.command.command_record import CommandRecord
from problems.spec.command.early_end import ending_early
from problems.spec.command.skips import track_skip
from problems.spec.command.workspace_rules import WorkspaceRules
from problems.spec.errors import RecordError, explain
from problems.spec.hardware import Hardware
from problems.spec.profile import Profile
from problems.spec.record import FileRole, ProblemFile, ProblemRecord, TimedWork
from problems.spec.solution import FileSolution, Solution, SourceFile
from problems.spec.usable import why_bad_places, why_unusable

DEFAULT_STEP_SECONDS = 60.0
DEFAULT_BENCHMARK_SECONDS = 300.0
_PUBLIC_FACTS = (
    "build_command", "test_command", "benchmark_command", "timeout_seconds", "min_cuda_toolkit", "compute_capability",
    "requires_datacenter_gpu",
)  # fmt: skip
_DEFAULT_PATHS = {"cuda_cpp": "solution.cu", "cpp": "solution.cpp"}


class CommandProblem(CommandRecord):
    """A problem judged by shell commands."""

    @property
    def cases(self) -> tuple[Case, ...]:
        return (self.podium.case,) if self.benchmark_command else ()

    @property
    def language(self) -> Literal["cpp", "python"]:
        """The language that a contestant writes."""
        return "python" if self.type.endswith("python") else "cpp"

    @property
    def effective_build_timeout_seconds(self) -> float:
        """Bound on the build; null and 0 mean a minute."""
        return self._timeout_or(DEFAULT_STEP_SECONDS)

    @property
    def effective_test_timeout_seconds(self) -> float:
        """Bound on the test; null and 0 mean a minute."""
        return self._timeout_or(DEFAULT_STEP_SECONDS)

    @property
    def effective_benchmark_timeout_seconds(self) -> float:
        """Bound on one benchmark run; null and 0 mean five minutes."""
        return self._timeout_or(DEFAULT_BENCHMARK_SECONDS)

    def _timeout_or(self, default_seconds: float) -> float:
        seconds = self.timeout_seconds
        return seconds if seconds is not None and math.isfinite(seconds) and seconds > 0 else default_seconds

    @property
    def times_its_test(self) -> bool:
        return self.benchmark_command is None or self.benchmark_command.split() == self.test_command.split()

    @property
    def checks_timed_work(self) -> bool:
        """Whether a timed run that ends with status 0 did its work: the benchmark says that it checks it, or the
        process that is timed is a test."""
        return self.podium.work_checked or (self.timing_mode.type == "process" and self.times_its_test)

    @property
    def timed_work(self) -> TimedWork | None:
        if not self.benchmark_command:
            return None
        if self.timing_mode.type == "custom":
            return TimedWork.SELF_REPORTED
        return TimedWork.CHECKED if self.checks_timed_work else TimedWork.UNCHECKED

    @property
    def has_separate_harness(self) -> bool:
        return self.podium.harness == "separate"

    @property
    def ending_early(self) -> FileSolution | None:
        baseline = self.baseline_solution
        return ending_early(baseline) if self.has_separate_harness and isinstance(baseline, FileSolution) else None

    @property
    def reference(self) -> Solution | None:
        return self.baseline_solution

    @property
    def files(self) -> list[ProblemFile]:
        context = [ProblemFile(file, FileRole.CONTEXT, is_held_out=False) for file in self.context_files]
        shown = frozenset(self.podium.visible_tests)
        return context + [ProblemFile(file, FileRole.TEST, file.path not in shown) for file in self.test_files]

    @property
    def starter_files(self) -> list[SourceFile]:
        path = _DEFAULT_PATHS.get(self.type, "solution.py")
        return list(self.podium.starter) or [SourceFile(path=path, content="")]

    @property
    def starters(self) -> dict[str, list[SourceFile]]:
        return {self.language: self.starter_files}

    @property
    def empty(self) -> FileSolution | None:
        """The reference's files without content."""
        if not isinstance(self.baseline_solution, FileSolution):
            return None
        files = [SourceFile(path=file.path, content="") for file in self.baseline_solution.files]
        return FileSolution(task_id=self.task_id, files=files)

    def times_rank(self, *, with_gpu: bool) -> bool:
        """A time that the program states itself never ranks; without a GPU only the process can be timed."""
        mode = self.timing_mode.type
        return mode == "process" or (mode != "custom" and with_gpu)

    @property
    def withheld(self) -> list[str] | None:
        return self.podium.build_only

    @property
    def may_withhold(self) -> list[str]:
        return [file.path for file in self.test_files]

    @property
    def trial_runs_tests(self) -> bool:
        return self.podium.visible_test_command is not None

    @property
    def required_names(self) -> str:
        """The names that a solution's sources must hold, in words; empty where none is asked for."""
        return self.source_references.in_words() if self.source_references else ""

    def public_facts(self) -> dict[str, JsonValue]:
        return {name: getattr(self, name) for name in _PUBLIC_FACTS} | {
            "required_names": self.required_names,
            "source_references": self.source_references and self.source_references.model_dump(mode="json"),
            "timing_mode": self.timing_mode.model_dump(mode="json"),
            "visible_test_command": self.podium.visible_test_command,
            "limits": self.podium.limits.set_values(),
        }

    def rules(self) -> WorkspaceRules:
        return WorkspaceRules.of(self)

    @property
    def unusable(self) -> str:
        seconds = self.effective_benchmark_timeout_seconds
        commands = (self.build_command, self.test_command, self.benchmark_command, self.podium.visible_test_command)
        paths = [one.file.path for one in self.files]
        return why_unusable(self.podium.limits.set_values(), seconds, commands) or why_bad_places(paths)

    def why_skipped(self, hardware: Hardware) -> str:
        return self.unusable or track_skip(self, hardware)


class CudaCppProblem(CommandProblem):
    """Built with nvcc."""

    type: Literal["cuda_cpp"] = "cuda_cpp"


class CudaPythonProblem(CommandProblem):
    """Python that drives a GPU."""

    type: Literal["cuda_python"] = "cuda_python"


class CppProblem(CommandProblem):
    """C++ for a CPU track; Podium's own."""

    type: Literal["cpp"] = "cpp"


class PythonProblem(CommandProblem):
    """Python for a CPU track; Podium's own."""

    type: Literal["python"] = "python"


_ADAPTERS: dict[Profile, TypeAdapter[Any]] = {
    Profile.COMPUTE_EVAL: TypeAdapter(Annotated[CudaCppProblem | CudaPythonProblem, Field(discriminator="type")]),
    Profile.PODIUM: TypeAdapter(
        Annotated[CudaCppProblem | CudaPythonProblem | CppProblem | PythonProblem, Field(discriminator="type")]
    ),
}


def as_command(record: ProblemRecord) -> CommandProblem:
    """The record where it is a command problem's; raises RecordError otherwise."""
    if isinstance(record, CommandProblem):
        return record
    raise RecordError(f"task `{record.task_id}` is of kind `{record.kind}`; only command problems can be used here")


def problem_from(data: dict[str, Any], profile: Profile) -> CommandProblem:
    """Read a problem from decoded JSON; raises RecordError."""
    try:
        problem: CommandProblem = _ADAPTERS[profile].validate_python(data, context={"profile": profile})
    except ValidationError as error:
        raise RecordError(explain(error)) from error
    return problem
