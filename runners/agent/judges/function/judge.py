"""The judge of function problems: build, then put the contestant before a checker, and its reference beside it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runners.agent.devices.lanes import Place, Seat
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.ground.events import CaseEnded, Progress, StageEntered
from runners.agent.job.artefact import EMPTY, file_in
from runners.agent.job.building import build, why_out_of_time
from runners.agent.job.commands import told
from runners.agent.job.environment import NodeEnvironment
from runners.agent.judges.baselines import Baselines
from runners.agent.judges.function.checkers import Checker, Checkers
from runners.agent.judges.function.clocks import Clocks, clocks_of
from runners.agent.judges.function.comparison import Shared, Timed, note_times
from runners.agent.judges.function.contest import Contest, contest
from runners.agent.judges.function.contestants import Contestants, Entry
from runners.agent.judges.function.mutants import with_mutants
from runners.agent.judges.function.plans import QUICK, RANKED, SAMPLE, SHORT, TRIAL, on_device
from runners.agent.judges.function.results import (
    case_report,
    case_reports,
    has_drifted,
    lacks_a_case,
    verdict_of,
)
from runners.agent.judges.function.sets import check_memory, with_wrong_sets
from runners.agent.judges.function.subject import LISTING, MAX_LISTING_BYTES, Subject, with_own_case
from runners.agent.judges.function.timed_cases import FirstCases, TimedCases, numbers_of
from runners.agent.judges.host import SPARE_RUNS
from runners.agent.judges.judgement import Assignment, Judgement, Step
from runners.agent.judges.texts import how_it_ended
from runners.wire.protocol import BUILDING, Stage, TimingPolicy, Verdict, Witness

RUNNING = "running"
"""This judge's stage after `building`."""
CASES_SHARE = 0.8
"""The share of a process's time limit after which no case is called more often than it must."""
PROFILER = "podium clock"
RANKED_PROCESSES = 6
CALIBRATING_PROCESSES = 6
"""On a GPU, for `ranked` times."""
RANKED_SECONDS = 3600.0
"""Maximum age of a `ranked` baseline, of which every sample times one process more, to see that it still holds."""


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

    def judge(self, assignment: Assignment, progress: Progress) -> Judgement:
        """See `Judge.judge`."""
        device = self._environment.lanes.pick(assignment.devices)
        subject = Subject.of(assignment, Place(assignment.tenant, device, progress.cancelled))
        found = Judgement(device=device, profiler=PROFILER)
        if _is_refused(assignment, found):
            return found
        if not subject.problem.manifest.is_run:
            raise UnusableProblem(
                "its class was only read when it was packed: pack it again where its library is installed"
            )
        entry = self._entry(assignment, subject, found, progress)
        if entry is None or assignment.stage is Stage.BUILD:
            return found
        found.listing = file_in(entry.product, LISTING, MAX_LISTING_BYTES)
        progress.tell(StageEntered(RUNNING))
        for is_last in (False, True):
            try:
                return self._judged(assignment, entry, found, progress)
            except SandboxFault:  # the checker or the device failed, not this contestant: once more with new processes
                if is_last:
                    raise
                self._contestants.end_waiting(device)
                self._checkers.end_spare(device)
        raise AssertionError

    def _entry(self, assignment: Assignment, subject: Subject, found: Judgement, progress: Progress) -> Entry | None:
        """The contestant with its product; None if its build failed."""
        order = subject.build_order
        if order is None:
            return Entry(subject)
        if assignment.stage is Stage.RUN:
            return Entry(subject, assignment.product or EMPTY)
        progress.tell(StageEntered(BUILDING))
        built = found.build = build(self._environment, order, progress)
        found.steps.append(Step("build", built, order.seconds))
        if built.succeeded:
            return Entry(subject, built.product)
        if built.timed_out:
            late = why_out_of_time(self._environment, order, built)
            found.ended(Verdict.TIMED_OUT, f"The build did not end {late}.")
        elif built.memory_exceeded:
            limit_mib = subject.limits.memory_bytes >> 20
            found.ended(Verdict.MEMORY_EXCEEDED, f"The build used more than {limit_mib} MiB of memory.")
        else:
            found.ended(Verdict.BUILD_FAILED, f"The build {how_it_ended(built)}.")
        return None

    def _judged(self, assignment: Assignment, entry: Entry, found: Judgement, progress: Progress) -> Judgement:
        problem = with_own_case(entry.subject.problem, assignment.sizes)
        check_memory(entry.subject.problem, self._memory_bytes(found.device, entry.subject))
        entrants = self._entrants(assignment, entry, progress)
        cases = self._first_cases.fixed(assignment, found.device)
        with self._match(entrants, cases, progress, is_ranked=_is_ranked(assignment)) as match:
            runs, clocks = self._runs(assignment, entrants, match, progress)
            has_passed = verdict_of(problem, runs[-1])[0] is Verdict.PASSED
            shared = self._beside(assignment, entrants, match, progress) if has_passed else None
            if shared is not None:
                runs = match.on_one_clock(entry, runs, _plan(assignment), progress, on_host_in(shared.runs))
            verdict, reason = verdict_of(problem, runs[-1])
            has_passed = verdict is Verdict.PASSED
            found.cases = case_reports(problem, runs[-1])
            if assignment.verifies and has_passed:
                found.cases = with_mutants(found.cases, match.checker, progress)
                found.cases = with_wrong_sets(found.cases, problem, runs)
        found.steps.append(Step("run", runs[-1].outcome, problem.time_limit_seconds))
        found.witness = Witness.SEEN
        found.ended(verdict, reason)
        if not assignment.is_trial:
            if shared is not None and cases is None:
                cases = self._first_cases.of(assignment, found.device, shared.measurements(problem))
            note_times(found, problem, Timed(runs, clocks), shared, cases, self._environment.peaks(found.device))
        return found

    def _runs(
        self, assignment: Assignment, entrants: "_Entrants", match: "_Match", progress: Progress
    ) -> tuple[list[Contest], Clocks]:
        """The solution's processes, up to one that does not pass."""
        entry, is_ranked = entrants.candidate, _is_ranked(assignment)
        with (
            told(progress, "run", entry.subject.problem.task_id, is_reference=False),
            clocks_of(self._environment.gpus, match.seat) as clocks,
        ):
            known = self._known_on_host(entrants, match.seat)
            first = match.contest(
                entry, _plan(assignment), progress, is_told=True, sizes=assignment.sizes, on_host=known
            )
            return match.more(entry, first, progress, known) if is_ranked else [first], clocks

    def _beside(
        self, assignment: Assignment, entrants: "_Entrants", match: "_Match", progress: Progress
    ) -> Shared | None:
        """The baseline to compare with, if there is one."""
        if entrants.reference is None:
            return None
        time_it = self._ranked_baseline if _is_ranked(assignment) else self._baseline
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

    def _memory_bytes(self, device: str, subject: Subject) -> int:
        """Bytes of memory of the device, or of those that a checker on the CPU may use."""
        gpus = {one.uuid: one.memory_bytes for one in self._environment.capabilities.gpus}
        return gpus.get(device, subject.limits.memory_bytes)

    def _entrants(self, assignment: Assignment, entry: Entry, progress: Progress) -> "_Entrants":
        """Build all that will run before the device is taken: on a CPU a build needs the same cores."""
        is_compared = assignment.needs_baseline and not assignment.is_trial
        reference = entry.subject.reference if is_compared else None
        beside = self._own_entry(reference, progress) if reference else None
        subjects = [one.subject for one in (entry, beside) if one is not None and not assignment.is_trial]
        filling = {one.stub: self._own_entry(one.filling, progress) for one in sorted(subjects, key=_loads_longest)}
        return _Entrants(entry, beside, filling)

    def _own_entry(self, subject: Subject, progress: Progress) -> Entry:
        """A contestant of the problem's own or the judge's own. Raises UnusableProblem if it cannot be built."""
        order = subject.build_order
        if order is None:
            return Entry(subject)
        built = build(self._environment, order, progress.without_output)
        if not built.succeeded:
            which = "filling" if subject.is_filling else "reference"
            raise UnusableProblem(f"the {which} solution cannot be built here: {built.stderr[-1000:]}")
        return Entry(subject, built.product)

    @contextmanager
    def _match(
        self, entrants: "_Entrants", cases: TimedCases, progress: Progress, *, is_ranked: bool
    ) -> Iterator["_Match"]:
        """The device alone, with this problem's checker. It has calibrated calls of all kinds of processes."""
        subject = entrants.candidate.subject
        with self._environment.lanes.benchmark(subject.place) as seat:
            for one in entrants.all:  # they load while the checker does
                self._contestants.prepare(one, seat)
            with self._checkers.at(seat, subject, progress) as checker:
                match = _Match(checker, seat, self._contestants, cases)
                for filling in entrants.filling.values():
                    match.calibrate(filling, calibrating_processes(seat) if is_ranked else 1, progress)
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

    def _reference_run(self, match: "_Match", reference: Entry, plan: dict[str, float], progress: Progress) -> Contest:
        with told(progress, "run", reference.subject.problem.task_id, is_reference=True):
            return match.contest(reference, plan, progress)

    def _shared(self, match: "_Match", reference: Entry, runs: list[Contest], clocks: Clocks) -> Shared:
        """Raises SandboxFault if the reference failed: it passed when its problem was verified."""
        verdict, reason = verdict_of(reference.subject.problem, runs[-1])
        if verdict is not Verdict.PASSED:
            raise SandboxFault(f"the problem's reference does not pass here ({verdict}): {reason}")
        when = datetime.now(UTC).isoformat()
        device = f"{match.seat.gpu_uuid}@" if match.seat.gpu_uuid else ""
        name = f"{reference.subject.problem_sha256[:16]}@{when}@{device}{self._environment.name or 'here'}"
        return Shared(tuple(runs), clocks, name, when)


def calibrating_processes(seat: Seat) -> int:
    """In how many processes the cost of a go is calibrated for `ranked` times."""
    return CALIBRATING_PROCESSES if seat.gpu_uuid else 1


def _loads_longest(subject: Subject) -> bool:
    return subject.stub != "python"


def _baseline_key(reference: Entry, seat: Seat) -> tuple[str, ...]:
    subject = reference.subject
    return subject.problem_sha256, seat.gpu_uuid, subject.image, subject.limits.model_dump_json()


def _is_ranked(assignment: Assignment) -> bool:
    return assignment.timing_policy is TimingPolicy.RANKED and not assignment.is_trial


def _plan(assignment: Assignment) -> dict[str, float]:
    """How the first process of a sample is called."""
    if assignment.is_trial:
        return SAMPLE if assignment.is_sample else TRIAL
    return RANKED if assignment.timing_policy is TimingPolicy.RANKED else QUICK


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
        order = {"op": "calibrate", "stub": stub, "cases": _all_cases(filling.subject), "timed": timed}
        while self.checker.calibrations.get((stub, timed), 0) < count:
            seen = contest(self.contestants, self.checker, filling, self.seat, order, progress)
            if seen.how:
                why = f"{seen.how} {seen.words or seen.outcome.stderr}"
                raise SandboxFault(f"a solution that fills its outputs cannot be called: {why}")
            self.checker.calibrations[stub, timed] = self.checker.calibrations.get((stub, timed), 0) + 1

    def more(
        self, entry: Entry, first: Contest, progress: Progress, on_host: frozenset[int] = frozenset()
    ) -> list[Contest]:
        """The first process and those that a `ranked` timing needs beside it, up to one that does not pass."""
        problem, runs = entry.subject.problem, [first]
        while len(runs) < RANKED_PROCESSES and verdict_of(problem, runs[-1])[0] is Verdict.PASSED:
            runs.append(self.contest(entry, RANKED, progress, on_host=on_host | on_host_in(runs)))
        return self.on_one_clock(entry, runs, RANKED, progress, on_host)

    def on_one_clock(
        self,
        entry: Entry,
        runs: list[Contest],
        plan: dict[str, float],
        progress: Progress,
        on_host: frozenset[int],
    ) -> list[Contest]:
        """The same processes; those that the device timed in a case that needs the host are run anew, up to one that
        does not pass."""
        needed, problem, found = on_host | on_host_in(runs), entry.subject.problem, list(runs)
        for place, one in enumerate(runs):
            if not needed <= on_host_in([one]) and verdict_of(problem, found[-1])[0] is Verdict.PASSED:
                found[place] = self.contest(entry, plan, progress, on_host=needed)
                if verdict_of(problem, found[place])[0] is not Verdict.PASSED:
                    return [*found[:place], *found[place + 1 :], found[place]]
        return found

    def contest(
        self,
        entry: Entry,
        plan: dict[str, float],
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
        own: dict[str, Any] = {}
        if sizes:
            own = {"like": problem.manifest.smallest_case, "sizes": dict(sizes)}
            problem, cases = with_own_case(problem, sizes), [len(problem.manifest.cases)]
        if entry.subject.device == "cuda":
            plan = on_device(plan)
        limit_seconds = problem.time_limit_seconds
        longest_seconds = min(plan["longest_seconds"], CASES_SHARE * limit_seconds / len(cases))
        order = {
            "op": "sample",
            "stub": entry.subject.stub,
            "cases": cases,
            "timed": numbers_of(entry.subject.problem, self.cases),
            **own,
            "plan": {**plan, "longest_seconds": longest_seconds, "budget_seconds": limit_seconds},
            "short_plan": {**(SHORT if plan is RANKED else plan), "budget_seconds": limit_seconds},
            "host_cases": sorted(on_host),
        }
        tell = (lambda reply: progress.tell(CaseEnded(case_report(problem, reply)))) if is_told else _ignore
        seen = contest(self.contestants, self.checker, entry, self.seat, order, progress, tell)
        if seen.how == "not_stopped":
            # A busy machine can let a thread leave its core late. What ran in one process has seen nothing of the next.
            seen = contest(self.contestants, self.checker, entry, self.seat, order, progress, tell)
        while plan is RANKED and seen.is_disturbed and self.spared.get(entry, 0) < SPARE_RUNS:
            self.spared[entry] = self.spared.get(entry, 0) + 1
            seen = contest(self.contestants, self.checker, entry, self.seat, order, progress)
        return seen


def on_host_in(runs: Sequence[Contest]) -> frozenset[int]:
    """Cases that were timed by the host's clock on a GPU."""
    return frozenset(one["case"] for seen in runs for one in seen.cases if one.get("clock") == "host")


def _all_cases(subject: Subject) -> list[int]:
    return list(range(len(subject.problem.manifest.cases)))


def _ignore(_: object) -> None:
    """Tell nobody."""


def _is_refused(assignment: Assignment, found: Judgement) -> bool:
    """Set the verdict and return True if nothing needs to run for it."""
    if assignment.skip_reason:
        found.ended(Verdict.SKIPPED, f"The problem {assignment.skip_reason}.")
    elif assignment.invalid_reason:
        found.ended(Verdict.INVALID, assignment.invalid_reason)
    return found.verdict is not Verdict.PASSED
