"""The way of one sample: skip, validate, look for references, build, test, benchmark, in ComputeEval's order."""

import math
from collections.abc import Callable
from dataclasses import replace

from runners.agent import floors, runs, steps
from runners.agent.account import Account, StepName
from runners.agent.artefact import EMPTY
from runners.agent.bounds import INTERPRETED_START_NOISE_MS, START_NOISE_MS, Finding, findings
from runners.agent.build_cache import Build
from runners.agent.durations import Kind, kind_of_benchmark, kind_of_test
from runners.agent.early import begun
from runners.agent.environment import NodeEnvironment
from runners.agent.profilers import Timer, timer_for
from runners.agent.references import References, missing_names
from runners.agent.runs import BenchmarkRun
from runners.agent.sandbox.policy import Outcome
from runners.agent.slots import Place
from runners.agent.task import Finished, Subject, Task, Unwatched, Watcher, missing_files
from runners.agent.texts import MISSING_TEXT, STRICT_FAILURE, graded_text
from runners.agent.timing import Measure, Series, Stopwatch, Timed, measurement
from runners.protocol import (
    ArtefactRef,
    FlagScope,
    MeasurementReport,
    Role,
    Stage,
    TimingPolicy,
    Verdict,
    Witness,
    WorkStage,
)

LONG_SECONDS = 20.0
"""A benchmark that takes so long begins beside its test, though a test that fails then has it stopped."""
NEVER_ENDED = "The program ended with status 0, but the test harness was never seen to reach its end."


class Pipeline:
    """Judges samples on one machine; `run` may be called from several threads at once."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self.environment = environment
        self._references = References(environment)
        self._stopwatch = Stopwatch(environment, self._references)

    def run(self, task: Task, watcher: Watcher | None = None) -> Finished:
        """Judge one sample.

        Raises Cancelled; SandboxFault where the sandbox failed; UnusableProblem and ProfilerUnavailable where the task
        cannot be done here. None of these is the contestant's fault.
        """
        return _Course(self, task, watcher or Unwatched()).run()

    @property
    def references(self) -> References:
        return self._references

    @property
    def stopwatch(self) -> Stopwatch:
        return self._stopwatch


class _Course:
    """One task on its way; each method below is one station and says whether the way ends there."""

    def __init__(self, pipeline: Pipeline, task: Task, watcher: Watcher) -> None:
        self._pipeline = pipeline
        self._environment = pipeline.environment
        self._task = task
        expected = pipeline.environment.durations.of_runs(
            task.subject.problem_sha256, task.timing_policy, task.profiler
        )
        seconds = math.inf if expected is None else expected
        device = pipeline.environment.lanes.pick(task.devices)
        self._place = Place(task.tenant, device, seconds, self._benchmark_is_long, watcher.cancelled)
        self._subject: Subject = replace(task.subject, place=self._place)
        self._watcher = watcher
        self._account = Account(pipeline.environment, task, gpu_uuid=self._place.device)
        self._product = task.artefact or EMPTY

    def run(self) -> Finished:
        self._watcher.enter(WorkStage.PREPARING)
        only_builds = self._task.stage is Stage.BUILD
        # A node that only builds may lack the profiler.
        timer = None if only_builds else timer_for(self._subject.problem, self._task.timed_modes, self._task.profiler)
        ended = self._refuse()
        if ended is None and self._task.stage is not Stage.RUN:
            ended = self._build(timer)
        if ended is None and only_builds:
            return self._account.finish(Verdict.PASSED)
        if ended is None and timer is not None and self._takes_long(timer):
            with begun(lambda watcher: self._measured_once(timer, watcher), self._watcher) as timed:
                return self._test() or self._time(timer, timed) or self._account.finish(Verdict.PASSED)
        return ended or self._test() or self._time(timer) or self._account.finish(Verdict.PASSED)

    def _takes_long(self, timer: Timer) -> bool:
        """Whether a benchmark beside others is known to take so long that it had best not wait for its test's end."""
        return (
            self._task.timing_policy is not TimingPolicy.RANKED and timer.waits_at_gate and self._place.long_benchmark
        )

    @property
    def _benchmark_is_long(self) -> bool:
        seconds = self._environment.durations.known(self._kind_of_benchmark)
        return seconds is not None and seconds >= LONG_SECONDS

    @property
    def _kind_of_benchmark(self) -> Kind:
        task = self._task
        return kind_of_benchmark(task.subject.problem_sha256, task.timing_policy, task.profiler)

    def _refuse(self) -> Finished | None:
        """What can be said without running anything."""
        task, account = self._task, self._account
        if task.skip_reason:
            return account.finish(Verdict.SKIPPED, f"The problem {task.skip_reason}.")
        if task.invalid_reason:
            account.note(build=STRICT_FAILURE)
            return account.finish(Verdict.INVALID, task.invalid_reason)
        missing = missing_names(self._subject)
        if missing:
            account.note(test=MISSING_TEXT)
            names = ", ".join(missing)
            return account.finish(Verdict.SOURCE_REFERENCE_MISSING, f"The solution's sources lack: {names}")
        return None

    def _build(self, timer: Timer | None) -> Finished | None:
        if not self._subject.problem.build_command:
            return None
        self._watcher.enter(WorkStage.BUILDING)
        if self._needs_baseline(timer):
            self._build_reference()
        built = steps.build(self._environment, self._subject, self._watcher)
        seconds = steps.build_seconds(self._subject)
        account = self._account
        account.step("build", built, seconds)
        account.note(build=graded_text(built, seconds))
        account.artefact_key, account.build_cached = built.key, built.cached
        self._product = built.product
        if built.succeeded and self._task.stage is Stage.BUILD:
            blob = account.add_blob(built.product)
            account.artefact = ArtefactRef(key=built.key, blob=blob, node=self._environment.name)
        return self._failed("build", built, seconds, Verdict.BUILD_FAILED)

    def _needs_baseline(self, timer: Timer | None) -> bool:
        """Whether the benchmark will be timed beside the reference, here or by the node that runs this build."""
        timed_elsewhere = self._task.stage is Stage.BUILD and self._subject.problem.benchmark_command is not None
        return self._task.needs_baseline and (timer is not None or timed_elsewhere)

    def _build_reference(self) -> None:
        """Before the solution: the objects of its harness then serve the solution's build. Shown to nobody."""
        reference = self._subject.reference
        if reference is not None and self._environment.objects is not None:
            self._pipeline.references.build(reference, Unwatched(self._watcher.cancelled))

    def _test(self) -> Finished | None:
        self._watcher.enter(WorkStage.TESTING)
        account, subject = self._account, self._subject
        account.artefact_key = account.artefact_key or self._task.artefact_key
        outcome = runs.test(self._environment, subject, self._product, self._watcher)
        self._environment.durations.learn((kind_of_test(subject.problem_sha256),), outcome.wall_ms / 1e3)
        seconds = subject.problem.effective_test_timeout_seconds
        account.step("test", outcome, seconds)
        account.note(test=graded_text(outcome, seconds))
        self._pipeline.references.learn(subject, self._product, outcome)
        if not outcome.succeeded:
            account.witness = outcome.witness
            return self._failed("test", outcome, seconds, Verdict.TEST_FAILED)
        account.witness = self._pipeline.references.judge(subject, outcome.witness, self._watcher)
        if account.witness is Witness.CONTRADICTED:
            return account.finish(Verdict.TEST_FAILED, f"{NEVER_ENDED} {outcome.witness_detail}".strip())
        return None

    def _failed(self, name: StepName, ended: Outcome | Build, seconds: float, verdict: Verdict) -> Finished | None:
        """The end of a way whose command failed, and why."""
        if ended.succeeded:
            return None
        if ended.timed_out:
            return self._account.finish(Verdict.TIMED_OUT, f"The {name} did not end within {seconds:g} seconds.")
        if ended.memory_exceeded:
            mebibytes = self._subject.limits.memory_bytes >> 20
            return self._account.finish(
                Verdict.MEMORY_EXCEEDED, f"The {name} used more than {mebibytes} MiB of memory."
            )
        return self._account.finish(verdict, f"The {name} {how_it_ended(ended)}.")

    def _time(self, timer: Timer | None, begun_before: Callable[[], Timed] | None = None) -> Finished | None:
        """Never ends the way: a benchmark that fails changes no verdict."""
        if timer is not None:
            self._watcher.enter(WorkStage.BENCHMARKING)
            timed = self._looked_into(begun_before() if begun_before else self._measured_once(timer))
            self._learn(timed)
            self._note_times(timed)
        if self._task.try_withholding:
            self._account.withheld = self._withhold(timer)
        return None

    def _measured_once(self, timer: Timer, watcher: Watcher | None = None) -> Timed:
        stopwatch = self._pipeline.stopwatch
        ranked = self._task.timing_policy is TimingPolicy.RANKED
        return self._measured(stopwatch.ranked if ranked else stopwatch.quick, timer, watcher or self._watcher)

    def _looked_into(self, timed: Timed) -> Timed:
        """The same, or what a second measurement found where others may have been to blame."""
        if self._task.timing_policy is TimingPolicy.RANKED:
            return timed
        # Beside others even memory may have been short.
        failed = timed.candidate.failed and not timed.candidate.hung
        suspicious = timed.timer.waits_at_gate and (failed or self._findings(timed))
        return self._measured(self._pipeline.stopwatch.confirm, timed.timer, self._watcher) if suspicious else timed

    def _learn(self, timed: Timed) -> None:
        """How long it takes to time such a sample."""
        self._environment.durations.learn((self._kind_of_benchmark,), timed.own_ms / 1e3)

    def _measured(self, measure: Measure, timer: Timer, watcher: Watcher) -> Timed:
        """By the given timer, or by the one that times CUDA graphs in its stead."""
        subject = replace(self._subject, place=replace(self._place, cancelled=watcher.cancelled))
        timed = measure(subject, self._product, timer, watcher, baseline=self._task.needs_baseline)
        return self._measured(measure, timed.for_graphs, watcher) if timed.for_graphs else timed

    def _note_times(self, timed: Timed) -> None:
        account, candidate, baseline = self._account, timed.candidate, timed.baseline
        seconds = self._subject.problem.effective_benchmark_timeout_seconds
        account.step("benchmark", candidate.runs[-1].outcome, seconds)
        account.note(
            benchmark_error=candidate.error,
            solution_ms=candidate.median_ms,
            solution_metrics=candidate.metrics,
            baseline_ms=baseline.median_ms if baseline else None,
            baseline_metrics=baseline.metrics if baseline else None,
            baseline_error=baseline.error if baseline else None,
        )
        if candidate.error is not None:
            account.flag("benchmark_failed", FlagScope.TIME, _why_no_time(candidate.runs[-1], timed.timer))
        self._note_measurements(timed)

    def _note_measurements(self, timed: Timed) -> None:
        account = self._account
        checked = self._subject.problem.podium.work_checked
        witness = _believed(timed)
        own = measurement(Role.CANDIDATE, timed.candidate, timed.timer, work_checked=checked, witness=witness)
        left_early = witness is Witness.CONTRADICTED
        if left_early:
            account.flag("left_early", FlagScope.TIME, "The benchmark's harness was never seen to reach its end.")
        account.measurements += [own] if own else []
        unknown = left_early or timed.baseline is None or timed.baseline.lacks_graphs
        base = self._baseline(timed, timed.baseline) if timed.baseline and not unknown else None
        account.measurements += [base] if base else []
        account.profiler = timed.timer.name
        account.profile = account.add_blob(timed.candidate.report) if timed.candidate.report else None
        if own and base:
            account.speedup = base.median_ms / own.median_ms
        for finding in self._findings(timed):
            account.flag(finding.code, FlagScope.TIME, finding.detail)

    def _findings(self, timed: Timed) -> list[Finding]:
        """What about the candidate's time does not fit what was seen from outside."""
        candidate, problem = timed.candidate.observed, self._subject.problem
        if candidate is None or timed.candidate.failed:
            return []
        found = findings(
            problem.timing_mode,
            candidate,
            timed.baseline.observed if timed.baseline else None,
            work_checked=problem.podium.work_checked,
            plain_wall_ms=timed.plain_wall_ms,
            start_noise_ms=INTERPRETED_START_NOISE_MS if problem.type.endswith("python") else START_NOISE_MS,
        )
        floor = floors.below_floor(problem, candidate.time_ms, self._environment.peaks(self._place.device))
        throttled = timed.candidate.device.throttle_reasons if timed.candidate.device else ()
        return [
            *found,
            *([floor] if floor else []),
            *([Finding("throttled", f"The device was slowed down: {', '.join(throttled)}.")] if throttled else []),
        ]

    def _baseline(self, timed: Timed, series: Series) -> MeasurementReport | None:
        witness = Witness.UNAVAILABLE if series.witness is Witness.CONTRADICTED else series.witness
        return measurement(
            Role.BASELINE,
            series,
            timed.timer,
            work_checked=self._subject.problem.podium.work_checked,
            witness=witness,
            shared=bool(timed.shared_key),
            key=timed.shared_key,
            measured_at=timed.measured_at,
        )

    def _withhold(self, timer: Timer | None) -> list[str]:
        """While verifying: the files without which the solution still passes test and benchmark, all or none."""
        tried = list(self._task.try_withholding)
        subject = missing_files(self._subject, tried)
        outcome = runs.test(self._environment, subject, self._product, self._watcher)
        if not outcome.succeeded:
            return []
        if timer is None:
            return tried
        with self._environment.lanes.benchmark(self._place) as seat:
            run = runs.benchmark(self._environment, subject, self._product, timer, seat, self._watcher)
        return tried if run.outcome.succeeded else []


def _believed(timed: Timed) -> Witness:
    """The candidate's witness; a contradiction that the baseline's harness shares says nothing."""
    witness = timed.candidate.witness
    shared = timed.baseline is not None and timed.baseline.witness is Witness.CONTRADICTED
    return Witness.UNAVAILABLE if shared and witness is Witness.CONTRADICTED else witness


def _why_no_time(run: BenchmarkRun, timer: Timer) -> str:
    if run.reading.by_timer:
        return f"The profiler {timer.name} failed by itself."
    return f"The benchmark {'printed no time' if run.outcome.succeeded else how_it_ended(run.outcome)}."


def how_it_ended(ended: Outcome | Build) -> str:
    """The end of a command in words that follow its name."""
    if ended.timed_out:
        return "did not end in time"
    if ended.memory_exceeded:
        return "used more memory than allowed"
    if ended.exit_code is None:
        return f"was killed by signal {ended.signal}"
    return f"ended with exit status {ended.exit_code}"
