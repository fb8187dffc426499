"""Judges one solution on this machine with a node's judge."""

from hashlib import sha256
from pathlib import Path

from podium.evaluation.judges import local_judges
from podium.evaluation.run import limits_of
from problems.formats.errors import PackRefused
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.ground.events import Progress
from runners.agent.job.job import Job
from runners.wire.job import JobRules
from runners.wire.protocol import CaseReport, MeasurementReport, Report, Role, TimingPolicy, Verdict


def judged(problem: FunctionProblem, path: Path, sandbox: str | None, timing: TimingPolicy) -> tuple[list[str], bool]:
    """The result in lines of text, and whether the solution passed. Raises PackRefused, SandboxUnavailable."""
    file = SourceFile(path=f"solution{path.suffix}", content=_text(path))
    job = Job(
        problem=problem,
        problem_sha256=sha256(problem.to_line()).hexdigest(),
        solution=FileSolution(task_id=problem.task_id, files=[file]),
        rules=JobRules(limits=limits_of(problem), timing_policy=timing),
        invalid_reason=problem.rules().why_bad([file]),
    )
    try:
        with local_judges(sandbox, None, bounded=any(case.is_declared for case in problem.cases)) as judges:
            report = judges.judge(job, Progress()).report
    except (SandboxFault, UnusableProblem) as error:
        raise PackRefused("fault", f"this machine could not judge it: {error}") from error
    return _lines(report), report.verdict is Verdict.PASSED


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise PackRefused("not_text", f"{path} is not UTF-8 text (byte {error.start})") from error


def _lines(report: Report) -> list[str]:
    head = report.verdict.value + (f": {report.reason}" if report.reason else "")
    times = [one for one in report.measurements if one.role is Role.CANDIDATE]
    references = {one.case: one.median_ms for one in report.measurements if one.role is Role.BASELINE}
    shown = [f"  {_time(one, references.get(one.case))}" for one in times]
    return [head, *(f"  {_case(one)}" for one in report.cases), *shown]


def _case(case: CaseReport) -> str:
    """The verdict with the case's figures. Words are left out: they stand in the first line."""
    figures = [f"{one.name} {one.value:.4g}" for one in case.fields if isinstance(one.value, int | float)]
    return f"{case.name}: {case.verdict.value}" + (f" ({', '.join(figures)})" if figures else "")


def _time(one: MeasurementReport, reference_ms: float | None) -> str:
    words = f"{one.case or 'time'}: {one.median_ms:.4g} ms"
    if one.ci_low_ms is not None and one.ci_high_ms is not None:
        words += f" ({one.ci_low_ms:.4g} to {one.ci_high_ms:.4g} over {len(one.runs_ms)} processes)"
    if reference_ms:
        words += f", {reference_ms / one.median_ms:.3g} × as fast as the reference's {reference_ms:.4g} ms"
    return words
