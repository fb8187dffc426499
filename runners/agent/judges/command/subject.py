"""The files of one solution to a command problem, with the settings of its commands."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from problems.spec.command.problem import CommandProblem, as_command
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.devices.lanes import ANYWHERE, Place
from runners.agent.job.nvcc import AS_WRITTEN, BuildPolicy
from runners.agent.job.workspace import normal_path
from runners.agent.judges.command.harness_code import source_facts
from runners.agent.judges.judgement import Assignment
from runners.agent.judges.solutions import files_of
from runners.agent.sandbox.policy import SourceFacts
from runners.wire.protocol import ResourceLimits


@dataclass(frozen=True)
class Subject:
    """One solution to one problem, with the settings of its commands."""

    problem: CommandProblem
    problem_sha256: str
    files: tuple[SourceFile, ...]
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    build_only: tuple[str, ...] = ()
    image: str = ""
    build_policy: BuildPolicy = AS_WRITTEN
    place: Place = ANYWHERE
    is_trial: bool = False
    """Whether only the visible tests run."""
    is_rerun: bool = False
    """Whether no kept failure is used."""
    only_main_ends: bool = False
    """Whether no call ends the harness for the witness: its `main` must return."""
    trusted: bool = False
    """Whether the files are the problem's own reference. Only its builds may write to shared caches."""

    @classmethod
    def of(cls, assignment: Assignment, place: Place = ANYWHERE) -> "Subject":
        """Raises ValueError for a problem of another kind."""
        return cls(
            as_command(assignment.problem),
            assignment.problem_sha256,
            files_of(assignment.solution),
            assignment.limits,
            assignment.build_only,
            assignment.image,
            assignment.build_policy,
            place,
            assignment.is_trial,
            assignment.is_rerun,
        )

    @property
    def test_command(self) -> str:
        """The shell command that tests the solution; empty for a trial of a problem without visible tests."""
        return self.problem.podium.visible_test_command or "" if self.is_trial else self.problem.test_command

    @cached_property
    def inputs(self) -> dict[str, bytes]:
        """All files by path, in ComputeEval's order: context, tests, solution; a later one replaces an earlier."""
        own = [*self.problem.context_files, *self.problem.test_files]
        files = {normal_path(file.path): file.content.encode() for file in own}
        return files | {file.path: file.content.encode() for file in self.files}

    @property
    def run_inputs(self) -> dict[str, bytes]:
        """The files that a run sees: all except those needed only for the build."""
        withheld = frozenset(map(normal_path, self.build_only))
        return {path: content for path, content in self.inputs.items() if path not in withheld}

    @property
    def test_paths(self) -> frozenset[str]:
        return frozenset(normal_path(file.path) for file in self.problem.test_files)

    @property
    def sources(self) -> SourceFacts:
        """The facts by which the witness tells the harness's code from the solution's."""
        facts = source_facts(self.problem, self.files)
        return replace(facts, is_mixed=True) if self.only_main_ends else facts

    @property
    def reference(self) -> "Subject | None":
        """The same subject with the problem's own reference solution."""
        baseline = self.problem.baseline_solution
        return (
            replace(self, files=tuple(baseline.files), is_trial=False, trusted=True)
            if isinstance(baseline, FileSolution)
            else None
        )

    @property
    def shared_key(self) -> tuple[object, ...]:
        """Two subjects with equal keys share one built and tested reference."""
        settings = self.build_policy, self.limits.model_dump_json(), self.only_main_ends
        return self.problem_sha256, self.build_only, self.image, *settings

    def withholding(self, paths: Sequence[str]) -> "Subject":
        """The same subject with more files withheld from runs."""
        return replace(self, build_only=tuple(dict.fromkeys([*self.build_only, *paths])))
