"""The files of one solution to a command problem, with the settings of its commands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from problems.spec.command.problem import CommandProblem, as_command
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.devices.lanes import ANYWHERE, Place, Seat
from runners.agent.ground.events import Progress
from runners.agent.job import artefact
from runners.agent.job.building import BuildOrder
from runners.agent.job.environment import SOLUTION_FILES, NodeEnvironment, limits_for
from runners.agent.job.job import Author, Job, files_of
from runners.agent.job.workspace import normal_path
from runners.agent.judges.command.harness_code import source_facts
from runners.agent.sandbox.policy import Command, SourceFacts


@dataclass(frozen=True)
class CommandSubject:
    """The files of a job's solution, or of its problem's reference, at a place."""

    job: Job
    files: tuple[SourceFile, ...]
    withheld: tuple[str, ...] = ()
    """Paths that runs do not see."""
    place: Place = ANYWHERE
    author: Author = Author.CONTESTANT
    only_main_ends: bool = False
    """Whether no call ends the harness for the witness: its `main` must return."""

    @classmethod
    def of(cls, job: Job, place: Place = ANYWHERE) -> "CommandSubject":
        return cls(job, files_of(job.solution), job.rules.withheld or (), place)

    @cached_property
    def problem(self) -> CommandProblem:
        """Raises ValueError for a problem of another kind."""
        return as_command(self.job.problem)

    @property
    def is_trial(self) -> bool:
        """Whether only the visible tests run."""
        return self.job.rules.purpose.is_trial and not self.author.is_trusted

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
    def solution_paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    @property
    def test_paths(self) -> frozenset[str]:
        return frozenset(normal_path(file.path) for file in self.problem.test_files)

    @property
    def sources(self) -> SourceFacts:
        """The facts by which the witness tells the harness's code from the solution's."""
        facts = source_facts(self.problem, self.files)
        return replace(facts, is_mixed=True) if self.only_main_ends else facts

    @property
    def reference(self) -> "CommandSubject | None":
        """The same subject with the problem's own reference solution."""
        baseline = self.problem.baseline_solution
        if not isinstance(baseline, FileSolution):
            return None
        return replace(self, files=tuple(baseline.files), author=Author.PROBLEM)

    @property
    def is_reference(self) -> bool:
        """Whether its files are those of the problem's reference."""
        reference = self.reference
        return reference is not None and reference.files == self.files

    @property
    def shared_key(self) -> tuple[object, ...]:
        """Two subjects with equal keys share one built and tested reference."""
        settings = self.job.build_policy, self.job.rules.limits.model_dump_json(), self.only_main_ends
        return self.job.problem_sha256, self.withheld, self.job.image, *settings

    def withholding(self, paths: Sequence[str]) -> "CommandSubject":
        """The same subject with more files withheld from runs."""
        return replace(self, withheld=tuple(dict.fromkeys([*self.withheld, *paths])))

    @property
    def build_order(self) -> BuildOrder | None:
        """Its build; None if the problem has no build command."""
        shell = self.problem.build_command
        if not shell:
            return None
        seconds = self.job.rules.limits.build_seconds or self.problem.effective_build_timeout_seconds
        return BuildOrder(self.job, self.author, shell, self.inputs, self.solution_paths, seconds)

    def run_command(self, shell: str, wall_seconds: float, workspace: Path, seat: Seat, progress: Progress) -> Command:
        """The command of a test or benchmark: witnessed, on the seat's slot and GPU."""
        return Command(
            shell=shell,
            workspace=workspace,
            limits=limits_for(self.job.rules.limits, wall_seconds),
            environment={SOLUTION_FILES: ":".join(self.solution_paths)},
            image=self.job.image,
            gpu_uuids=seat.gpu_uuids,
            trace=True,
            harness=self.problem.podium.harness,
            sources=self.sources,
            slot=seat.slot,
            cancelled=progress.cancelled,
        )

    @contextmanager
    def laid_out(self, environment: NodeEnvironment, product: bytes) -> Iterator[Path]:
        """A workspace with the inputs that runs may see. The build's product is laid over them."""
        hidden = frozenset(map(normal_path, self.withheld))
        seen = {path: content for path, content in self.inputs.items() if path not in hidden}
        with environment.workspaces.open(seen) as workspace:
            artefact.restore(product, workspace, self.test_paths)
            yield workspace
