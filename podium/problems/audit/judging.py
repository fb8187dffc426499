"""Judges mutants as samples on this machine, and counts the killed ones."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from podium.evaluation.run import limits_of
from problems.formats.mutants.mutant import Mutant
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.job import Job
from runners.agent.judges.registry import Judges
from runners.wire.job import JobRules, Sides
from runners.wire.mutant_outcomes import MutantOutcome, outcome_of
from runners.wire.protocol import Report, Verdict

State = Literal["passed", "survivors", "not_audited"]


@dataclass(frozen=True)
class Judged:
    """A mutant's outcome. `verdict` is the judge's, or `fault`."""

    mutant: Mutant
    outcome: MutantOutcome
    verdict: str

    def as_json(self) -> dict[str, Any]:
        row = {"kind": self.mutant.kind, "name": self.mutant.name, "outcome": self.outcome, "verdict": self.verdict}
        if self.outcome == "survived":
            row["sha256"] = sha256("".join(one.content for one in self.mutant.files).encode()).hexdigest()
        return row


@dataclass(frozen=True)
class Audited:
    """A problem's mutants, the precisions that its cases admit, and why it was not audited, if so."""

    problem: ProblemRecord
    rows: Sequence[Judged] = field(default_factory=tuple)
    why_not: str = ""

    @property
    def survivors(self) -> list[Judged]:
        return [one for one in self.rows if one.outcome == "survived"]

    @property
    def built(self) -> int:
        """The number of mutants that were built and ran."""
        return sum(one.outcome != "not_run" for one in self.rows)

    @property
    def kill_rate(self) -> float | None:
        """Share of killed ones among those built; None if none was."""
        return (self.built - len(self.survivors)) / self.built if self.built else None

    @property
    def state(self) -> State:
        if not self.built:
            return "not_audited"
        return "survivors" if self.survivors else "passed"

    @property
    def less_precise(self) -> list[str]:
        """The lower precisions whose results some case accepts. A note, and no fault."""
        if not isinstance(self.problem, FunctionProblem):
            return []
        return sorted({str(case.admits) for case in self.problem.manifest.cases if case.admits})

    def as_json(self) -> dict[str, Any]:
        return {
            "task_id": self.problem.task_id, "kind": self.problem.kind.value, "state": self.state,
            "why_not": self.why_not, "made": len(self.rows), "built": self.built, "killed": self.built
            - len(self.survivors), "kill_rate": self.kill_rate, "less_precise": self.less_precise,
            "mutants": [one.as_json() for one in self.rows],
        }  # fmt: skip


class Auditor:
    """Judges mutants with a node's judges."""

    def __init__(self, judges: Judges, workers: int) -> None:
        self._judges = judges
        self._workers = workers
        self._progress = Progress()

    def reference(self, problem: ProblemRecord) -> tuple[str, str]:
        """The reason why the problem's reference does not pass here, "" if it does, and what its test prints."""
        if not isinstance(problem.reference, FileSolution):
            return "it has no reference of whole files", ""
        try:
            report = self._report(problem, tuple(problem.reference.files))
        except (SandboxFault, UnusableProblem, OSError) as error:
            return f"this machine could not judge its reference: {error}", ""
        if report.verdict is not Verdict.PASSED:
            return f"its reference is {report.verdict.value} here: {report.reason}"[:500], ""
        return "", next((one.log.text for one in reversed(report.steps) if one.name == "test"), "")

    def judged(self, problem: ProblemRecord, mutants: Sequence[Mutant], tell: Callable[[Judged], None]) -> list[Judged]:
        """The mutants with their outcomes, in order. `tell` is called with each."""

        def one(mutant: Mutant) -> Judged:
            found = self._one(problem, mutant)
            tell(found)
            return found

        with ThreadPoolExecutor(self._workers, thread_name_prefix="audit") as pool:
            try:
                return list(pool.map(one, mutants))
            except BaseException:
                self._progress.cancelled.set()
                raise

    def _one(self, problem: ProblemRecord, mutant: Mutant) -> Judged:
        try:
            verdict = self._report(problem, mutant.files).verdict
        except (SandboxFault, UnusableProblem, OSError):
            return Judged(mutant, "not_run", "fault")
        return Judged(mutant, outcome_of(problem.kind.value, verdict), verdict.value)

    def _report(self, problem: ProblemRecord, files: Sequence[SourceFile]) -> Report:
        listed = list(files)
        rules = JobRules(
            sides=Sides.NONE,
            limits=limits_of(problem),
            withheld=None if problem.withheld is None else tuple(problem.withheld),
        )
        job = Job(
            problem=problem,
            problem_sha256=sha256(problem.to_line()).hexdigest(),
            solution=FileSolution(task_id=problem.task_id, files=listed),
            rules=rules,
            invalid_reason=problem.rules().why_bad(listed),
        )
        return self._judges.judge(job, self._progress).report
