"""The judge of command problems: validate, look for references, build, test, benchmark, in ComputeEval's order."""

from copy import deepcopy

from runners.agent.devices.lanes import Place
from runners.agent.ground.events import MeasuredAgain, Progress, StageEntered
from runners.agent.job.artefact import EMPTY
from runners.agent.job.build_cache import Build
from runners.agent.job.building import build, why_out_of_time
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.command import traffic
from runners.agent.judges.command.benchmark import BenchmarkRun, benchmark
from runners.agent.judges.command.commands import build_order
from runners.agent.judges.command.counting import Counted, Counting
from runners.agent.judges.command.findings import context_findings, findings_of, unchecked_findings
from runners.agent.judges.command.measurements import measurements_of, witness_of
from runners.agent.judges.command.references import References, missing_names
from runners.agent.judges.command.subject import Subject
from runners.agent.judges.command.test import test
from runners.agent.judges.command.timing import Measure, Stopwatch, Timed
from runners.agent.judges.command.unneeded import UnneededFiles
from runners.agent.judges.judgement import Assignment, Finding, Judgement, Step
from runners.agent.judges.texts import MISSING_TEXT, STRICT_FAILURE, graded_text, how_it_ended
from runners.agent.profilers import timer_for
from runners.agent.profilers.base import Timer
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import BUILDING, Clock, FlagScope, Role, Stage, TimingPolicy, Verdict, Witness

TESTING, BENCHMARKING = "testing", "benchmarking"
"""This judge's stages after `building`, as heartbeats name them."""
NEVER_ENDED = "The program ended with status 0, but the test harness was never seen to reach its end."
UNCLEAR_END = Finding(
    "unclear_end",
    "The program ended by a call that may be the harness's or the solution's: both are compiled together.",
    FlagScope.VERDICT,
)
LEFT_EARLY = Finding("left_early", "The benchmark's harness was never seen to reach its end.")


class CommandJudge:
    """See `Judge`. Keeps the references and baselines of recent problems."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._references = References(environment)
        self._stopwatch = Stopwatch(environment, self._references)
        self._counting = Counting(environment, self._references)
        self._unneeded = UnneededFiles(self._references, self._stopwatch)

    def judge(self, assignment: Assignment, progress: Progress) -> Judgement:
        """See `Judge.judge`."""
        device = self._environment.lanes.pick(assignment.devices)
        subject = Subject.of(assignment, Place(assignment.tenant, device, progress.cancelled))
        found = Judgement(device=device)
        # A node that only builds may lack the profiler.
        timer = None if assignment.stage is Stage.BUILD else _timer(assignment, subject)
        if _is_refused(assignment, subject, found):
            return found
        if assignment.stage is not Stage.RUN and not self._builds(assignment, subject, found, progress):
            return found
        if assignment.stage is Stage.BUILD or not subject.test_command:
            return found
        product = found.build.product if found.build else assignment.product or EMPTY
        if assignment.withhold_unneeded:
            return self._without_unneeded(assignment, subject, product, timer, found, progress)
        self._run(assignment, subject, product, timer, found, progress)
        return found

    def _without_unneeded(
        self,
        assignment: Assignment,
        subject: Subject,
        product: bytes,
        timer: Timer | None,
        built: Judgement,
        progress: Progress,
    ) -> Judgement:
        """Run without the test files that the reference does without. If it turns out to need them, run again."""
        found, withheld = deepcopy(built), self._unneeded.to_withhold(subject, progress)
        timed = self._run(assignment, subject.withholding(withheld), product, timer, found, progress)
        baseline = timed.baseline if timed else None
        if withheld and self._unneeded.are_needed(subject, withheld, timer, baseline, progress):
            found, withheld = deepcopy(built), []
            self._run(assignment, subject, product, timer, found, progress)
        found.withheld = withheld
        return found

    def _run(
        self,
        assignment: Assignment,
        subject: Subject,
        product: bytes,
        timer: Timer | None,
        found: Judgement,
        progress: Progress,
    ) -> Timed | None:
        """Test and time the solution. Returns its times; None if it was not timed."""
        if not self._tests(subject, product, found, progress):
            return None
        found.findings += context_findings(subject.problem, subject.files)
        return self._times(assignment, subject, product, timer, found, progress)

    def _builds(self, assignment: Assignment, subject: Subject, found: Judgement, progress: Progress) -> bool:
        """Build the solution. Returns False if that failed."""
        if not subject.problem.build_command:
            return True
        progress.tell(StageEntered(BUILDING))
        self._build_reference(assignment, subject, progress)
        order = build_order(subject)
        built = found.build = build(self._environment, order, progress)
        found.steps.append(Step("build", built, order.seconds))
        found.texts.build = graded_text(built, order.seconds)
        if built.succeeded:
            return True
        late = why_out_of_time(self._environment, order, built) if built.timed_out else ""
        _failed(found, "build", built, late, subject.limits.memory_bytes, Verdict.BUILD_FAILED)
        return False

    def _build_reference(self, assignment: Assignment, subject: Subject, progress: Progress) -> None:
        """Build the reference before a solution that will be timed, so that the solution's build reuses its objects."""
        reference = subject.reference
        is_timed = assignment.needs_baseline and _has_timer(assignment, subject)
        if is_timed and reference is not None and self._environment.objects is not None:
            self._references.build(reference, progress.without_output)

    def _tests(self, subject: Subject, product: bytes, found: Judgement, progress: Progress) -> bool:
        """Test the solution. Returns False if it fails."""
        progress.tell(StageEntered(TESTING))
        outcome = test(self._environment, subject, product, progress)
        seconds = subject.problem.effective_test_timeout_seconds
        found.steps.append(Step("test", outcome, seconds))
        found.texts.test = graded_text(outcome, seconds)
        found.witness = outcome.witness
        if outcome.complaint:
            found.ended(Verdict.TEST_FAILED, outcome.complaint)
            return False
        if not outcome.succeeded:
            late = f"within {seconds:g} seconds"
            _failed(found, "test", outcome, late, subject.limits.memory_bytes, Verdict.TEST_FAILED)
            return False
        if not subject.is_trial:
            self._references.learn(subject, product, outcome)
        found.witness = self._references.judge(subject, outcome.witness, progress)
        if found.witness is Witness.CONTRADICTED and self._references.may_accuse_wrongly(subject, progress):
            found.witness = Witness.UNAVAILABLE
            found.findings.append(UNCLEAR_END)
        if found.witness is Witness.CONTRADICTED:
            found.ended(Verdict.TEST_FAILED, f"{NEVER_ENDED} {outcome.witness_detail}".strip())
        return found.verdict is Verdict.PASSED

    def _times(
        self,
        assignment: Assignment,
        subject: Subject,
        product: bytes,
        timer: Timer | None,
        found: Judgement,
        progress: Progress,
    ) -> Timed | None:
        """Benchmark the solution. A failed benchmark does not change the verdict. Returns None without a timer."""
        timed = None
        if timer is not None:
            progress.tell(StageEntered(BENCHMARKING))
            _note(found, subject, timed := self._timed(assignment, subject, product, timer, progress))
            found.findings += findings_of(subject.problem, timed, self._environment.peaks(found.device))
            found.findings += unchecked_findings(subject.problem, timed)
            if assignment.timing_policy is TimingPolicy.RANKED and _could_rank(timed, found):
                self._count_traffic(subject, product, timed, found, progress)
        if assignment.try_withholding:
            found.withheld = self._withheld(assignment, subject, product, timer, progress)
        return timed

    def _timed(
        self, assignment: Assignment, subject: Subject, product: bytes, timer: Timer, progress: Progress
    ) -> Timed:
        """Time under the assignment's policy. A flagged `quick` time is measured again alone."""

        def measured(measure: Measure, timer: Timer) -> Timed:
            timed = measure(subject, product, timer, progress, baseline=assignment.needs_baseline)
            return measured(measure, timed.for_graphs) if timed.for_graphs else timed

        if assignment.timing_policy is TimingPolicy.RANKED:
            return measured(self._stopwatch.ranked, timer)
        timed = measured(self._stopwatch.quick, timer)
        if reasons := self._doubts(subject, timed):
            progress.tell(MeasuredAgain(subject.problem.task_id, reasons))
            return measured(self._stopwatch.confirm, timed.timer)
        return timed

    def _doubts(self, subject: Subject, timed: Timed) -> tuple[str, ...]:
        """The reasons to measure again alone. A failed run is one of them: beside others, memory may have run out."""
        if not timed.timer.waits_at_gate:
            return ()
        if timed.candidate.failed:
            return () if timed.candidate.hung else ("The benchmark failed.",)
        peaks = self._environment.peaks(subject.place.device)
        return tuple(one.detail for one in findings_of(subject.problem, timed, peaks))

    def _count_traffic(
        self, subject: Subject, product: bytes, timed: Timed, found: Judgement, progress: Progress
    ) -> None:
        """Compare the solution's memory traffic with what the problem needs. See `traffic`."""
        theirs = self._counting.of_reference(subject, progress)
        bounds, reference = traffic.bounds_of(subject.problem, timed, theirs), subject.reference
        if reference is not None and reference.files == subject.files:
            own = theirs
        elif bounds.why_not:
            own = Counted(why_not=bounds.why_not)
        else:
            own = self._counting.of_candidate(subject, product, progress)
        checked = traffic.check(bounds, timed, own, theirs, self._environment.peaks(found.device))
        found.findings += checked.findings
        facts = {Role.CANDIDATE: checked.facts, Role.BASELINE: checked.baseline_facts}
        found.measurements = [
            one.model_copy(update={"device": one.device | facts[one.role]}) for one in found.measurements
        ]

    def _withheld(
        self, assignment: Assignment, subject: Subject, product: bytes, timer: Timer | None, progress: Progress
    ) -> list[str]:
        """The files of `try_withholding` if the solution passes test and benchmark without all of them, else none."""
        tried = list(assignment.try_withholding)
        subject = subject.withholding(tried)
        if not test(self._environment, subject, product, progress).succeeded:
            return []
        if timer is None:
            return tried
        with self._environment.lanes.benchmark(subject.place, goes_on=True) as seat:
            run = benchmark(self._environment, subject, product, timer, seat, progress)
        return tried if run.outcome.succeeded else []


def _timer(assignment: Assignment, subject: Subject) -> Timer | None:
    if assignment.is_trial or not assignment.is_timed:
        return None
    return timer_for(subject.problem, assignment.timed_modes, assignment.profiler)


def _has_timer(assignment: Assignment, subject: Subject) -> bool:
    """Whether the solution will be timed, on this node or on the node that runs this build."""
    if assignment.stage is Stage.BUILD:
        return bool(subject.problem.cases) and assignment.is_timed and not assignment.is_trial
    return _timer(assignment, subject) is not None


def _is_refused(assignment: Assignment, subject: Subject, found: Judgement) -> bool:
    """Set the verdict and return True if nothing needs to run for it."""
    if assignment.skip_reason:
        found.ended(Verdict.SKIPPED, f"The problem {assignment.skip_reason}.")
    elif assignment.invalid_reason:
        found.texts.build = STRICT_FAILURE
        found.ended(Verdict.INVALID, assignment.invalid_reason)
    elif missing := missing_names(subject):
        found.texts.test = MISSING_TEXT
        found.ended(Verdict.SOURCE_REFERENCE_MISSING, f"The solution's sources lack: {', '.join(missing)}")
    return found.verdict is not Verdict.PASSED


def _failed(
    found: Judgement, step: str, ended: Outcome | Build, late: str, memory_bytes: int, verdict: Verdict
) -> None:
    """Set the verdict of a failed command and the reason. `late` names the time limit that it reached."""
    if ended.timed_out:
        found.ended(Verdict.TIMED_OUT, f"The {step} did not end {late}.")
    elif ended.memory_exceeded:
        found.ended(Verdict.MEMORY_EXCEEDED, f"The {step} used more than {memory_bytes >> 20} MiB of memory.")
    else:
        found.ended(verdict, f"The {step} {how_it_ended(ended)}.")


def _note(found: Judgement, subject: Subject, timed: Timed) -> None:
    """Copy the benchmark's results into the judgement."""
    candidate, baseline, texts = timed.candidate, timed.baseline, found.texts
    last = candidate.runs[-1]
    found.steps.append(Step("benchmark", last.outcome, subject.problem.effective_benchmark_timeout_seconds))
    texts.benchmark_error, texts.solution_ms, texts.solution_metrics = (
        candidate.error,
        candidate.median_ms,
        candidate.metrics,
    )
    if baseline is not None:
        texts.baseline_ms, texts.baseline_metrics, texts.baseline_error = (
            baseline.median_ms,
            baseline.metrics,
            baseline.error,
        )
    if candidate.error is not None:
        found.findings.append(Finding("benchmark_failed", _why_no_time(last, timed.timer)))
    if witness_of(timed) is Witness.CONTRADICTED:
        found.findings.append(LEFT_EARLY)
    found.measurements += measurements_of(subject.problem, timed)
    found.profiler, found.profile = timed.timer.name, candidate.report


def _could_rank(timed: Timed, found: Judgement) -> bool:
    """Whether the candidate has a profiled time that ranks unless a flag stands against it."""
    measured = any(one.role is Role.CANDIDATE for one in found.measurements)
    seen = found.witness is Witness.SEEN and witness_of(timed) is Witness.SEEN
    return measured and seen and timed.timer.clock is Clock.IN_PROCESS and not timed.candidate.failed


def _why_no_time(run: BenchmarkRun, timer: Timer) -> str:
    if run.reading.by_timer:
        return f"The profiler {timer.name} failed by itself."
    return f"The benchmark {'printed no time' if run.outcome.succeeded else how_it_ended(run.outcome)}."
