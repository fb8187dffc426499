"""The judge of command problems: prepare, build, check, time, report, in ComputeEval's order."""

from dataclasses import dataclass, replace

from runners.agent.devices.lanes import Place
from runners.agent.ground.events import Progress, StageEntered
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.command import traffic
from runners.agent.judges.command.counting import Counted, Counting
from runners.agent.judges.command.findings import (
    context_findings,
    findings_of,
    measurements_of,
    unchecked_findings,
    witness_of,
)
from runners.agent.judges.command.references import References, missing_names
from runners.agent.judges.command.runs import BenchmarkRun, test
from runners.agent.judges.command.subject import CommandSubject
from runners.agent.judges.command.timing import Stopwatch, Timed
from runners.agent.judges.command.unneeded import UnneededFiles
from runners.agent.judges.judgement import (
    NO_TEXTS,
    PASSED,
    Built,
    Ending,
    Finding,
    Judgement,
    Step,
    Texts,
    built_by,
    failure,
    refusal,
)
from runners.agent.judges.texts import MISSING_TEXT, STRICT_FAILURE, graded_text, how_it_ended
from runners.agent.profilers import timer_for
from runners.agent.profilers.base import Timer
from runners.wire.job import Sides
from runners.wire.protocol import (
    BUILDING,
    Clock,
    FlagScope,
    MeasurementReport,
    Role,
    Stage,
    TimingPolicy,
    Verdict,
    Witness,
)

TESTING, BENCHMARKING = "testing", "benchmarking"
"""This judge's stages after `building`, as heartbeats name them."""
NEVER_ENDED = "The program ended with status 0, but the test harness was never seen to reach its end."
UNCLEAR_END = Finding(
    "unclear_end",
    "The program ended by a call that may be the harness's or the solution's: both are compiled together.",
    FlagScope.VERDICT,
)
LEFT_EARLY = Finding("left_early", "The benchmark's harness was never seen to reach its end.")


@dataclass(frozen=True)
class CheckedCommand:
    """The test of a solution."""

    step: Step
    ending: Ending
    witness: Witness
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class MeasuredCommand:
    """The times of a solution and its reference, and the flags of the solution's time."""

    timed: Timed
    measurements: tuple[MeasurementReport, ...]
    findings: tuple[Finding, ...]


class CommandJudge:
    """See `Judge`. Keeps the references and baselines of recent problems."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._references = References(environment)
        self._stopwatch = Stopwatch(environment, self._references)
        self._counting = Counting(environment, self._references)
        self._unneeded = UnneededFiles(self._references, self._stopwatch)

    def judge(self, job: Job, progress: Progress) -> Judgement:
        """See `Judge.judge`."""
        subject = self._prepare(job, progress)
        timer = _timer(subject)
        refused = _refusal(subject)
        if not refused.ending.has_passed:
            return refused
        built = self._build(subject, progress)
        if not built.ending.has_passed or job.rules.stage is Stage.BUILD or not subject.test_command:
            return _report(subject, built)
        seen = self._unneeded.without(subject, progress) if job.rules.withheld is None else subject
        checked = self._check(seen, built.product, progress)
        measured = self._time(seen, built.product, timer, checked, progress)
        if seen is not subject and self._needs_all(subject, seen, timer, measured, progress):
            seen = subject
            checked = self._check(seen, built.product, progress)
            measured = self._time(seen, built.product, timer, checked, progress)
        return _report(seen, built, checked, measured)

    def _prepare(self, job: Job, progress: Progress) -> CommandSubject:
        device = self._environment.lanes.pick(job.devices)
        return CommandSubject.of(job, Place(job.tenant, device, progress.cancelled))

    def _build(self, subject: CommandSubject, progress: Progress) -> Built:
        order = subject.build_order
        if order is not None and subject.job.rules.stage is not Stage.RUN:
            progress.tell(StageEntered(BUILDING))
            self._build_reference(subject, progress)
        return built_by(self._environment, subject.job, order, progress)

    def _build_reference(self, subject: CommandSubject, progress: Progress) -> None:
        """Build the reference before a solution that will be timed, so that the solution's build reuses its objects."""
        reference = subject.reference
        is_timed = subject.job.rules.sides is Sides.BOTH and _will_be_timed(subject)
        if is_timed and reference is not None and self._environment.objects is not None:
            self._references.build(reference, progress.without_output)

    def _needs_all(
        self,
        subject: CommandSubject,
        seen: CommandSubject,
        timer: Timer | None,
        measured: MeasuredCommand | None,
        progress: Progress,
    ) -> bool:
        baseline = measured.timed.baseline if measured else None
        return self._unneeded.are_needed(subject, seen, timer, baseline, progress)

    def _check(self, subject: CommandSubject, product: bytes, progress: Progress) -> CheckedCommand:
        """Test the solution."""
        progress.tell(StageEntered(TESTING))
        outcome = test(self._environment, subject, product, progress)
        seconds = subject.problem.effective_test_timeout_seconds
        step = Step("test", outcome, seconds)
        if outcome.complaint:
            return CheckedCommand(step, Ending(Verdict.TEST_FAILED, outcome.complaint), outcome.witness)
        if not outcome.succeeded:
            memory_bytes = subject.job.rules.limits.memory_bytes
            ending = failure("test", outcome, f"within {seconds:g} seconds", memory_bytes, Verdict.TEST_FAILED)
            return CheckedCommand(step, ending, outcome.witness)
        if not subject.is_trial:
            self._references.learn(subject, product, outcome)
        witness = self._references.judge(subject, outcome.witness, progress)
        changed = tuple(context_findings(subject.problem, subject.files))
        if witness is not Witness.CONTRADICTED:
            return CheckedCommand(step, PASSED, witness, changed)
        if self._references.may_accuse_wrongly(subject, progress):
            return CheckedCommand(step, PASSED, Witness.UNAVAILABLE, (UNCLEAR_END, *changed))
        reason = f"{NEVER_ENDED} {outcome.witness_detail}".strip()
        return CheckedCommand(step, Ending(Verdict.TEST_FAILED, reason), witness)

    def _time(
        self, subject: CommandSubject, product: bytes, timer: Timer | None, checked: CheckedCommand, progress: Progress
    ) -> MeasuredCommand | None:
        """Benchmark a solution that has passed. A failed benchmark changes no verdict. None without a timer."""
        if timer is None or not checked.ending.has_passed:
            return None
        progress.tell(StageEntered(BENCHMARKING))
        timed = self._timed(subject, product, timer, progress)
        peaks = self._environment.peaks(subject.place.device)
        flags = (*findings_of(subject.problem, timed, peaks), *unchecked_findings(subject.problem, timed))
        measurements = tuple(measurements_of(subject.problem, timed))
        measured = MeasuredCommand(timed, measurements, (*_benchmark_findings(timed), *flags))
        if subject.job.rules.timing_policy is TimingPolicy.RANKED and _could_rank(measured, checked.witness):
            return self._with_traffic(subject, product, measured, progress)
        return measured

    def _timed(self, subject: CommandSubject, product: bytes, timer: Timer, progress: Progress) -> Timed:
        """Time under the job's policy."""
        is_ranked = subject.job.rules.timing_policy is TimingPolicy.RANKED
        time_it = self._stopwatch.ranked if is_ranked else self._stopwatch.quick
        timed = time_it(subject, product, timer, progress)
        return time_it(subject, product, timed.for_graphs, progress) if timed.for_graphs else timed

    def _with_traffic(
        self, subject: CommandSubject, product: bytes, measured: MeasuredCommand, progress: Progress
    ) -> MeasuredCommand:
        """Compare the solution's memory traffic with what the problem needs. See `traffic`."""
        timed = measured.timed
        theirs = self._counting.of_reference(subject, progress)
        bounds = traffic.bounds_of(subject.problem, timed, theirs)
        if subject.is_reference:
            own = theirs
        elif bounds.why_not:
            own = Counted(why_not=bounds.why_not)
        else:
            own = self._counting.of_candidate(subject, product, progress)
        checked = traffic.check(bounds, timed, own, theirs, self._environment.peaks(subject.place.device))
        facts = {Role.CANDIDATE: checked.facts, Role.BASELINE: checked.baseline_facts}
        measurements = tuple(
            one.model_copy(update={"device": one.device | facts[one.role]}) for one in measured.measurements
        )
        return MeasuredCommand(timed, measurements, (*measured.findings, *checked.findings))


def _timer(subject: CommandSubject) -> Timer | None:
    """The timer of the benchmark; None if nothing is timed here. A node that only builds may lack the profiler."""
    rules = subject.job.rules
    if rules.stage is Stage.BUILD or rules.purpose.is_trial or rules.sides is Sides.NONE:
        return None
    return timer_for(subject.problem, subject.job.timed_modes, rules.profiler)


def _will_be_timed(subject: CommandSubject) -> bool:
    """Whether the solution will be timed, on this node or on the node that runs this build."""
    rules = subject.job.rules
    if rules.stage is Stage.BUILD:
        return bool(subject.problem.cases) and not rules.purpose.is_trial
    return _timer(subject) is not None


def _refusal(subject: CommandSubject) -> Judgement:
    """The judgement of a solution for which nothing needs to run; passed for any other."""
    ending, texts = refusal(subject.job), NO_TEXTS
    if ending.verdict is Verdict.INVALID:
        texts = Texts(build=STRICT_FAILURE)
    elif ending.has_passed and (missing := missing_names(subject)):
        reason = f"The solution's sources lack: {', '.join(missing)}"
        ending, texts = Ending(Verdict.SOURCE_REFERENCE_MISSING, reason), Texts(test=MISSING_TEXT)
    return Judgement(ending, device=subject.place.device, texts=texts)


def _report(
    subject: CommandSubject,
    built: Built,
    checked: CheckedCommand | None = None,
    measured: MeasuredCommand | None = None,
) -> Judgement:
    """The judgement of a solution that was built and, unless that failed or was all, tested and timed."""
    candidate = measured.timed.candidate if measured else None
    benchmark_seconds = subject.problem.effective_benchmark_timeout_seconds
    benchmarks = [Step("benchmark", candidate.runs[-1].outcome, benchmark_seconds)] if candidate else []
    was_sought = checked is not None and subject.job.rules.withheld is None
    return Judgement(
        ending=checked.ending if checked else built.ending,
        steps=(*built.steps, *([checked.step] if checked else []), *benchmarks),
        measurements=measured.measurements if measured else (),
        findings=(*(checked.findings if checked else ()), *(measured.findings if measured else ())),
        witness=checked.witness if checked else Witness.UNAVAILABLE,
        device=subject.place.device,
        build=built.build,
        profiler=measured.timed.timer.name if measured else "",
        profile=candidate.report if candidate else None,
        withheld=subject.withheld if was_sought else None,
        texts=_texts(built, checked, measured),
    )


def _texts(built: Built, checked: CheckedCommand | None, measured: MeasuredCommand | None) -> Texts:
    steps = [*built.steps, *([checked.step] if checked else [])]
    printed = {one.name: graded_text(one.ended, one.limit_seconds) for one in steps}
    texts = Texts(build=printed.get("build"), test=printed.get("test"))
    if measured is None:
        return texts
    own, base = measured.timed.candidate, measured.timed.baseline
    texts = replace(texts, benchmark_error=own.error, solution_ms=own.median_ms, solution_metrics=own.metrics)
    if base is None:
        return texts
    return replace(texts, baseline_error=base.error, baseline_ms=base.median_ms, baseline_metrics=base.metrics)


def _benchmark_findings(timed: Timed) -> list[Finding]:
    """The flags of a benchmark that failed, or whose harness left early."""
    failed = timed.candidate.error is not None
    found = [Finding("benchmark_failed", _why_no_time(timed.candidate.runs[-1], timed.timer))] if failed else []
    return [*found, *([LEFT_EARLY] if witness_of(timed) is Witness.CONTRADICTED else [])]


def _could_rank(measured: MeasuredCommand, witness: Witness) -> bool:
    """Whether the candidate has a profiled time that ranks unless a flag stands against it."""
    timed = measured.timed
    has_time = any(one.role is Role.CANDIDATE for one in measured.measurements)
    seen = witness is Witness.SEEN and witness_of(timed) is Witness.SEEN
    return has_time and seen and timed.timer.clock is Clock.IN_PROCESS and not timed.candidate.failed


def _why_no_time(run: BenchmarkRun, timer: Timer) -> str:
    if run.reading.by_timer:
        return f"The profiler {timer.name} failed by itself."
    return f"The benchmark {'printed no time' if run.outcome.succeeded else how_it_ended(run.outcome)}."
