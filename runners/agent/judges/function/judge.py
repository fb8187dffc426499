"""The judge of function problems: prepare, build, measure before a checker with the reference beside, and settle."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from problems.spec.function.problem import FunctionProblem
from runners.agent.devices.lanes import Place, Seat
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.ground.events import CaseEnded, Progress, StageEntered
from runners.agent.job.artefact import file_in
from runners.agent.job.building import build
from runners.agent.job.environment import NodeEnvironment, told
from runners.agent.job.job import Author, Job
from runners.agent.judges.baselines import Baselines
from runners.agent.judges.function.checkers import Checker, Checkers
from runners.agent.judges.function.comparison import Clocks, Compared, Shared, Timed, clocks_of, compared
from runners.agent.judges.function.contest import Contest, contest
from runners.agent.judges.function.contestants import Contestants, Entry
from runners.agent.judges.function.inside.orders import Calibrate, CallSample, HowEnded
from runners.agent.judges.function.inside.plan import Plan
from runners.agent.judges.function.mutants import with_mutants
from runners.agent.judges.function.plans import QUICK, RANKED, SAMPLE, SHORT, TRIAL, is_ranked, on_device, plan_of
from runners.agent.judges.function.results import (
    case_report,
    case_reports,
    ending_of,
    has_drifted,
    lacks_a_case,
)
from runners.agent.judges.function.sets import check_memory, with_wrong_sets
from runners.agent.judges.function.subject import LISTING, MAX_LISTING_BYTES, FunctionSubject, with_own_case
from runners.agent.judges.function.timed_cases import FirstCases, TimedCases, numbers_of
from runners.agent.judges.host import SPARE_RUNS
from runners.agent.judges.judgement import Built, Ending, Judgement, Step, built_by, refusal
from runners.wire.job import JobPurpose, Sides
from runners.wire.protocol import BUILDING, CaseReport, Stage, Witness

RUNNING = "running"
"""This judge's stage after `building`."""
CASES_SHARE = 0.8
"""The share of a process's time limit after which no case is called more often than it must."""
PROFILER = "podium clock"
"""The name of the clock, for provenance."""
RANKED_PROCESSES = 6
"""The smallest number of processes whose order statistics give a 95 % interval of the median."""
CALIBRATING_PROCESSES = 6
"""On a GPU, for `ranked` times."""
RANKED_SECONDS = 3600.0
"""Maximum age of a `ranked` baseline, of which every sample times one process more, to see that it still holds."""


@dataclass(frozen=True)
class MeasuredFunction:
    """The end of a contestant's processes, with its cases and times."""

    ending: Ending
    last: Contest
    compared: Compared


class FunctionJudge:
    """See `Judge`. Keeps the checkers and the baselines of recent problems, and processes that wait for solutions."""

    def __init__(self, environment: NodeEnvironment) -> None:
        self._environment = environment
        self._checkers = Checkers(environment)
        self._contestants = Contestants(environment)
        environment.closing.callback(self._checkers.close)
        environment.closing.callback(self._contestants.close)
        self._baselines: Baselines[Shared] = Baselines(lambda shared: shared.is_disturbed)
        self._ranked_baselines: Baselines[Shared] = Baselines(
            lambda shared: shared.is_disturbed, samples=math.inf, seconds=RANKED_SECONDS
        )
        self._on_host: dict[tuple[str, ...], frozenset[int]] = {}
        """Cases in which a baseline needs the host's clock on a GPU, by its key: few have any."""
        self._first_cases = FirstCases(environment.capabilities)

    def judge(self, job: Job, progress: Progress) -> Judgement:
        """See `Judge.judge`."""
        device = self._environment.lanes.pick(job.devices)
        subject = FunctionSubject.of(job, Place(job.tenant, device, progress.cancelled))
        refused = refusal(job)
        if not refused.has_passed:
            return _report(subject, Built(ending=refused), None)
        built = self._build(subject, progress)
        if not built.ending.has_passed or job.rules.stage is Stage.BUILD:
            return _report(subject, built, None)
        progress.tell(StageEntered(RUNNING))
        return _report(subject, built, self._measured_twice(Entry(subject, built.product), progress))

    def _build(self, subject: FunctionSubject, progress: Progress) -> Built:
        if not subject.problem.manifest.is_run:
            raise UnusableProblem(
                "its class was only read when it was packed: pack it again where its library is installed"
            )
        order = subject.build_order
        if order is not None and subject.job.rules.stage is not Stage.RUN:
            progress.tell(StageEntered(BUILDING))
        return built_by(self._environment, subject.job, order, progress)

    def _measured_twice(self, entry: Entry, progress: Progress) -> MeasuredFunction:
        """Measure. If the checker or the device fails, which is not this contestant's fault, once more with new
        processes."""
        try:
            return self._measured(entry, progress)
        except SandboxFault:
            self._contestants.end_waiting(entry.subject.place.device)
            self._checkers.end_spare(entry.subject.place.device)
            return self._measured(entry, progress)

    def _measured(self, entry: Entry, progress: Progress) -> MeasuredFunction:
        """Put the contestant before the checker, and its reference beside it if it passes."""
        subject, rules = entry.subject, entry.subject.job.rules
        problem = with_own_case(subject.problem, rules.sizes)
        check_memory(subject.problem, self._memory_bytes(subject))
        entrants = self._entrants(entry, progress)
        fixed = self._first_cases.fixed(subject.job, subject.place.device)
        with self._match(entrants, fixed, progress) as match:
            runs, clocks = self._runs(entrants, match, progress)
            has_passed = ending_of(problem, runs[-1]).has_passed
            shared = self._beside(entrants, match, progress) if has_passed else None
            if shared is not None:
                runs = match.on_one_clock(entry, runs, plan_of(rules), progress, on_host_in(shared.runs))
            ending = ending_of(problem, runs[-1])
            reports = case_reports(problem, runs[-1])
            if rules.purpose is JobPurpose.VERIFY and ending.has_passed:
                reports = with_mutants(reports, match.checker, progress)
                reports = with_wrong_sets(reports, problem, runs)
        return MeasuredFunction(
            ending, runs[-1], self._settled(subject, problem, reports, Timed(runs, clocks), shared, fixed)
        )

    def _settled(
        self,
        subject: FunctionSubject,
        problem: FunctionProblem,
        reports: Sequence[CaseReport],
        own: Timed,
        shared: Shared | None,
        cases: TimedCases,
    ) -> Compared:
        """The cases with their times and flags. A trial has none."""
        job, device = subject.job, subject.place.device
        if job.rules.purpose.is_trial:
            return Compared(reports)
        if shared is not None and cases is None:
            cases = self._first_cases.of(job, device, shared.measurements(problem))
        return compared(problem, reports, own, shared, cases, self._environment.peaks(device))

    def _runs(self, entrants: "_Entrants", match: "_Match", progress: Progress) -> tuple[list[Contest], Clocks]:
        """The solution's processes, up to one that does not pass."""
        entry, rules = entrants.candidate, entrants.candidate.subject.job.rules
        with (
            told(progress, "run", entry.subject.problem.task_id, is_reference=False),
            clocks_of(self._environment.gpus, match.seat) as clocks,
        ):
            known = self._known_on_host(entrants, match.seat)
            first = match.contest(entry, plan_of(rules), progress, is_told=True, sizes=rules.sizes, on_host=known)
            return match.more(entry, first, progress, known) if is_ranked(rules) else [first], clocks

    def _beside(self, entrants: "_Entrants", match: "_Match", progress: Progress) -> Shared | None:
        """The baseline to compare with, if there is one."""
        if entrants.reference is None:
            return None
        time_it = self._ranked_baseline if is_ranked(entrants.reference.subject.job.rules) else self._baseline
        found = time_it(match, entrants.reference, progress)
        key = _baseline_key(entrants.reference, match.seat)
        if on_host := on_host_in(found.runs):
            self._on_host[key] = on_host
        else:
            self._on_host.pop(key, None)
        return found

    def _known_on_host(self, entrants: "_Entrants", seat: Seat) -> frozenset[int]:
        """Cases in which the baseline has needed the host's clock."""
        if entrants.reference is None:
            return frozenset()
        return self._on_host.get(_baseline_key(entrants.reference, seat), frozenset())

    def _memory_bytes(self, subject: FunctionSubject) -> int:
        """Bytes of memory of the device, or of those that a checker on the CPU may use."""
        gpus = {one.uuid: one.memory_bytes for one in self._environment.capabilities.gpus}
        return gpus.get(subject.place.device, subject.job.rules.limits.memory_bytes)

    def _entrants(self, entry: Entry, progress: Progress) -> "_Entrants":
        """Build all that will run before the device is taken: on a CPU a build needs the same cores."""
        rules = entry.subject.job.rules
        is_compared = rules.sides is Sides.BOTH and not rules.purpose.is_trial
        reference = entry.subject.reference if is_compared else None
        beside = self._own_entry(reference, progress) if reference else None
        subjects = [one.subject for one in (entry, beside) if one is not None and not rules.purpose.is_trial]
        filling = {one.stub: self._own_entry(one.filling, progress) for one in sorted(subjects, key=_loads_longest)}
        return _Entrants(entry, beside, filling)

    def _own_entry(self, subject: FunctionSubject, progress: Progress) -> Entry:
        """A contestant of the problem's own or the judge's own. Raises UnusableProblem if it cannot be built."""
        order = subject.build_order
        if order is None:
            return Entry(subject)
        built = build(self._environment, order, progress.without_output)
        if not built.succeeded:
            which = "filling" if subject.author is Author.JUDGE else "reference"
            raise UnusableProblem(f"the {which} solution cannot be built here: {built.stderr[-1000:]}")
        return Entry(subject, built.product)

    @contextmanager
    def _match(self, entrants: "_Entrants", cases: TimedCases, progress: Progress) -> Iterator["_Match"]:
        """The device alone, with this problem's checker. It has calibrated calls of all kinds of processes."""
        subject = entrants.candidate.subject
        is_long = is_ranked(subject.job.rules)
        with self._environment.lanes.benchmark(subject.place) as seat:
            for one in entrants.all:  # they load while the checker does
                self._contestants.prepare(one, seat)
            with self._checkers.at(seat, subject, progress) as checker:
                match = _Match(checker, seat, self._contestants, cases)
                for filling in entrants.filling.values():
                    match.calibrate(filling, calibrating_processes(seat) if is_long else 1, progress)
                yield match

    def _baseline(self, match: "_Match", reference: Entry, progress: Progress) -> Shared:
        def time_it() -> Shared:
            with clocks_of(self._environment.gpus, match.seat) as clocks:
                runs = [self._reference_run(match, reference, QUICK, progress)]
            return self._shared(match, reference, runs, clocks)

        def serves(kept: Shared) -> bool:
            return not lacks_a_case(reference.subject.problem, kept.runs, match.cases)

        return self._baselines.near(_baseline_key(reference, match.seat), time_it, progress.cancelled, serves)

    def _ranked_baseline(self, match: "_Match", reference: Entry, progress: Progress) -> Shared:
        """Six processes an hour, and one with each sample. If that one differs, the six are timed anew."""
        latest = self._reference_run(match, reference, RANKED, progress)

        def time_it() -> Shared:
            with clocks_of(self._environment.gpus, match.seat) as clocks:
                runs = match.more(reference, latest, progress)
            return self._shared(match, reference, runs, clocks)

        def serves(kept: Shared) -> bool:
            return not has_drifted(reference.subject.problem, kept.runs, latest, match.cases)

        key = _baseline_key(reference, match.seat)
        return self._ranked_baselines.near(key, time_it, progress.cancelled, serves)

    def _reference_run(self, match: "_Match", reference: Entry, plan: dict[str, Any], progress: Progress) -> Contest:
        with told(progress, "run", reference.subject.problem.task_id, is_reference=True):
            return match.contest(reference, plan, progress)

    def _shared(self, match: "_Match", reference: Entry, runs: list[Contest], clocks: Clocks) -> Shared:
        """Raises SandboxFault if the reference failed: it passed when its problem was verified."""
        ending = ending_of(reference.subject.problem, runs[-1])
        if not ending.has_passed:
            raise SandboxFault(f"the problem's reference does not pass here ({ending.verdict}): {ending.reason}")
        when = datetime.now(UTC).isoformat()
        device = f"{match.seat.gpu_uuid}@" if match.seat.gpu_uuid else ""
        name = f"{reference.subject.job.problem_sha256[:16]}@{when}@{device}{self._environment.name or 'here'}"
        return Shared(tuple(runs), clocks, name, when)


def calibrating_processes(seat: Seat) -> int:
    """In how many processes the cost of a go is calibrated for `ranked` times."""
    return CALIBRATING_PROCESSES if seat.gpu_uuid else 1


def _loads_longest(subject: FunctionSubject) -> bool:
    return subject.stub != "python"


def _baseline_key(reference: Entry, seat: Seat) -> tuple[str, ...]:
    job = reference.subject.job
    return job.problem_sha256, seat.gpu_uuid, job.image, job.rules.limits.model_dump_json()


@dataclass(frozen=True)
class _Entrants:
    """All that runs for one sample."""

    candidate: Entry
    reference: Entry | None
    filling: dict[str, Entry]
    """The solution that only fills its outputs, by kind of process."""

    @property
    def all(self) -> list[Entry]:
        return [*self.filling.values(), self.candidate, *([self.reference] if self.reference else [])]


@dataclass(frozen=True)
class _Match:
    """A checker on a device that nothing else uses."""

    checker: Checker
    seat: Seat
    contestants: Contestants
    cases: TimedCases
    spared: dict[Entry, int] = field(default_factory=dict)
    """The number of processes that were disturbed and repeated, by contestant."""

    def calibrate(self, filling: Entry, count: int, progress: Progress) -> None:
        """Have the checker time what a call costs in so many processes of this kind, unless it has. On a GPU that
        varies from process to process. Raises SandboxFault if it fails."""
        stub = filling.subject.stub
        is_on_gpu = filling.subject.device == "cuda"  # where all cases are calibrated
        timed = None if is_on_gpu else numbers_of(filling.subject.problem, self.cases)
        order = Calibrate(stub, _all_cases(filling.subject), timed)
        while self.checker.calibrations.get((stub, timed), 0) < count:
            seen = contest(self.contestants, self.checker, filling, self.seat, order, progress)
            if seen.how is not HowEnded.NOT:
                why = f"{seen.how.value} {seen.words or seen.outcome.stderr}"
                raise SandboxFault(f"a solution that fills its outputs cannot be called: {why}")
            self.checker.calibrations[stub, timed] = self.checker.calibrations.get((stub, timed), 0) + 1

    def more(
        self, entry: Entry, first: Contest, progress: Progress, on_host: frozenset[int] = frozenset()
    ) -> list[Contest]:
        """The first process and those that a `ranked` timing needs beside it, up to one that does not pass."""
        problem, runs = entry.subject.problem, [first]
        while len(runs) < RANKED_PROCESSES and ending_of(problem, runs[-1]).has_passed:
            runs.append(self.contest(entry, RANKED, progress, on_host=on_host | on_host_in(runs)))
        return self.on_one_clock(entry, runs, RANKED, progress, on_host)

    def on_one_clock(
        self,
        entry: Entry,
        runs: list[Contest],
        plan: dict[str, Any],
        progress: Progress,
        on_host: frozenset[int],
    ) -> list[Contest]:
        """The same processes; those that the device timed in a case that needs the host are run anew, up to one that
        does not pass."""
        needed, problem, found = on_host | on_host_in(runs), entry.subject.problem, list(runs)
        for place, one in enumerate(runs):
            if not needed <= on_host_in([one]) and ending_of(problem, found[-1]).has_passed:
                found[place] = self.contest(entry, plan, progress, on_host=needed)
                if not ending_of(problem, found[place]).has_passed:
                    return [*found[:place], *found[place + 1 :], found[place]]
        return found

    def contest(
        self,
        entry: Entry,
        plan: dict[str, Any],
        progress: Progress,
        *,
        is_told: bool = False,
        sizes: Mapping[str, int] | None = None,
        on_host: frozenset[int] = frozenset(),
    ) -> Contest:
        """Run one contestant through all cases, in a trial through those that are not held out, or through the smallest
        if the plan shows values. With sizes, through one case like the smallest, of those sizes. `SPARE_RUNS` of each
        contestant's `ranked` processes are repeated if other programs disturbed them. Raises Cancelled and
        SandboxFault."""
        problem = entry.subject.problem
        told = problem.manifest.n_public if plan is TRIAL else None
        cases = [problem.manifest.smallest_case] if plan is SAMPLE else _all_cases(entry.subject)[:told]
        like = problem.manifest.smallest_case if sizes else None
        if sizes:
            problem, cases = with_own_case(problem, sizes), [len(problem.manifest.cases)]
        if entry.subject.device == "cuda":
            plan = on_device(plan)
        limit_seconds = problem.time_limit_seconds
        longest_seconds = min(plan["longest_seconds"], CASES_SHARE * limit_seconds / len(cases))
        order = CallSample(
            stub=entry.subject.stub,
            cases=cases,
            timed=numbers_of(entry.subject.problem, self.cases),
            plan=Plan(**{**plan, "longest_seconds": longest_seconds, "budget_seconds": limit_seconds}),
            short_plan=Plan(**{**(SHORT if plan is RANKED else plan), "budget_seconds": limit_seconds}),
            host_cases=sorted(on_host),
            like=like,
            sizes=dict(sizes or {}),
        )
        tell = (lambda reply: progress.tell(CaseEnded(case_report(problem, reply)))) if is_told else _ignore
        seen = contest(self.contestants, self.checker, entry, self.seat, order, progress, tell)
        if seen.how is HowEnded.NOT_STOPPED:
            # A busy machine can let a thread leave its core late. What ran in one process has seen nothing of the next.
            seen = contest(self.contestants, self.checker, entry, self.seat, order, progress, tell)
        while plan is RANKED and seen.is_disturbed and self.spared.get(entry, 0) < SPARE_RUNS:
            self.spared[entry] = self.spared.get(entry, 0) + 1
            seen = contest(self.contestants, self.checker, entry, self.seat, order, progress)
        return seen


def on_host_in(runs: Sequence[Contest]) -> frozenset[int]:
    """Cases that were timed by the host's clock on a GPU."""
    return frozenset(one.case for seen in runs for one in seen.cases if one.device and one.device.clock == "host")


def _all_cases(subject: FunctionSubject) -> list[int]:
    return list(range(len(subject.problem.manifest.cases)))


def _ignore(_: object) -> None:
    """Tell nobody."""


def _report(subject: FunctionSubject, built: Built, measured: MeasuredFunction | None) -> Judgement:
    """The judgement of a solution that was built and, unless that failed or was all, measured."""
    judgement = Judgement(built.ending, built.steps, device=subject.place.device, build=built.build, profiler=PROFILER)
    if measured is None:
        return judgement
    run = Step("run", measured.last.outcome, subject.problem.time_limit_seconds)
    return replace(
        judgement,
        ending=measured.ending,
        steps=(*built.steps, run),
        cases=tuple(measured.compared.cases),
        measurements=measured.compared.measurements,
        findings=measured.compared.findings,
        witness=Witness.SEEN,
        listing=file_in(built.product, LISTING, MAX_LISTING_BYTES),
    )
