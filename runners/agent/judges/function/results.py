"""Turns what a checker saw into a verdict, reports per case and measurements."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from problems.spec.case import Case, is_held_out
from problems.spec.function.manifest import ManifestCase
from problems.spec.function.problem import FunctionProblem
from problems.spec.shortest import LEAST_GO_MS, LEAST_MS
from runners.agent.judges.function.as_tensara import mean_as_tensara, rate_as_tensara_2025
from runners.agent.judges.function.contest import Contest
from runners.agent.judges.function.inside.orders import CaseReply, DeviceFacts, HowEnded
from runners.agent.judges.function.sets import many_sets_disagree, one_set_ms
from runners.agent.judges.function.timed_cases import TimedCases
from runners.agent.judges.judgement import PASSED, Ending, Finding
from runners.agent.judges.roofline import CACHES, below_roofline
from runners.agent.judges.texts import how_it_ended
from runners.wire.protocol import (
    MAX_TIME_MS,
    MIN_TIME_MS,
    Audience,
    CaseField,
    CaseReport,
    Clock,
    MeasurementReport,
    Peaks,
    Role,
    Verdict,
    Witness,
)
from scoring.median import MedianInterval, median_interval, processes_interval
from scoring.throughput import least_ms

PRECISION = 0.005
"""In a `ranked` timing each process calls until the 95 % interval of its median is within this share of it."""
DEVICE_PRECISION, DEVICE_SLACK_MS = 0.01, 0.001
"""The same by a GPU's clock, whose calls are fewer: the larger of a share and of milliseconds."""
EVENT_TICK_MS = 0.00005
"""Milliseconds. An interval by the device's clock reaches at least so far to either side."""
MOST_DRIFT, DEVICE_DRIFT_MS = 0.03, 0.003
"""A baseline whose single process differs by a larger share is timed anew; by the device's clock, by a larger share and
by more milliseconds. Processes and calibrations of one device differ by 1 to 3 µs: by the share alone, 73 % of 996
later processes on H100s had drifted, by both 21 %."""
HOST_ERROR_MS = 0.01
"""Added to a solution's single process by the host's clock: on an H100 one was 4 µs below the time by the device's
clock, and processes varied by up to 9 µs."""
MOVING_PROCESSES = 3
"""One process of so many is a flag: one of six moves no median."""
MOST_DISTURBED = 0.1
"""Share of calls on a GPU before which the checker's own work may be slowed down."""
LATE_SHARE, LATE_COPY_SHARE, LATE_NS = 0.02, 0.1, 10_000.0
"""How much longer the copies of outputs may take than calibrated: a share of the time, of the copies, nanoseconds."""


def case_reports(problem: FunctionProblem, seen: Contest) -> list[CaseReport]:
    """One report for each case that was called; the case at which the contestant ended has its verdict."""
    reports = [case_report(problem, one) for one in seen.cases]
    if seen.how not in (HowEnded.NOT, HowEnded.REFUSED) and len(reports) < len(seen.ordered):
        ended = problem.manifest.cases[seen.ordered[len(reports)]]
        reports.append(CaseReport(name=ended.name, verdict=early_ending(problem, seen).verdict))
    return reports


def case_report(problem: FunctionProblem, reply: CaseReply) -> CaseReport:
    """The report on one case. Never holds inputs."""
    case = problem.manifest.cases[reply.case]
    if case.is_held_out:
        return _held_out_report(case, reply)
    public: dict[str, Any] = {"n_calls": reply.n_calls}
    if reply.setup_ms is not None:
        public["setup_ms"] = round(reply.setup_ms, 3)
    organiser = {"prepare_ms": round(reply.prepare_ms, 3), "check_ms": round(reply.check_ms, 3)}
    groups = ((public, Audience.PUBLIC), (_team_facts(case, reply), Audience.TEAM), (organiser, Audience.ORGANISER))
    fields = [_field(name, value, audience) for values, audience in groups for name, value in values.items()]
    return CaseReport(name=case.name, verdict=_verdict(reply), fields=fields)


def _verdict(reply: CaseReply) -> Verdict:
    return Verdict.PASSED if reply.complaint is None else Verdict.WRONG_ANSWER


def _team_facts(case: ManifestCase, reply: CaseReply) -> dict[str, Any]:
    """The values of a trial's call, and what is wrong with a wrong answer."""
    facts: dict[str, Any] = {
        f"sample_{name}": words for name, words in (reply.shown.values if reply.shown else {}).items()
    }
    wrong = reply.complaint
    for seen in (reply.shown, wrong):
        if seen is not None and seen.largest is not None:
            facts |= {"largest_difference": seen.largest, "mean_difference": seen.mean}
    if wrong is not None:
        facts["message"] = wrong.message
        facts["shapes"] = ", ".join(f"{name} {'×'.join(map(str, axes))}" for name, axes in case.shapes.items())
        facts |= {"n_wrong": wrong.n_wrong, "n_total": wrong.n_total}
        facts["first_wrong"] = _places(wrong.first_wrong) or None
    return {name: value for name, value in facts.items() if value is not None}


def _held_out_report(case: ManifestCase, reply: CaseReply) -> CaseReport:
    """Its verdict alone. Sizes, counts and messages, which may tell sizes, are for organisers."""
    facts: dict[str, Any] = {"n_calls": reply.n_calls}
    if (wrong := reply.complaint) is not None:
        facts |= {"message": wrong.message, "n_wrong": wrong.n_wrong, "n_total": wrong.n_total}
    fields = [_field(name, value, Audience.ORGANISER) for name, value in facts.items() if value]
    return CaseReport(name=case.name, verdict=_verdict(reply), fields=fields)


def _field(name: str, value: Any, audience: Audience) -> CaseField:
    return CaseField(name=name, value=value[:1000] if isinstance(value, str) else value, audience=audience)


def _places(first_wrong: Iterable[tuple[str, Sequence[int], str, str]]) -> str:
    return "; ".join(
        f"{output}[{', '.join(map(str, index))}] is {actual}, expected {expected}"
        for output, index, expected, actual in first_wrong
    )


BUSY_DEVICE = Finding(
    "busy_device",
    "The device did other work before more than one in ten calls: that of the solution may have begun too early.",
)


def findings(problem: FunctionProblem, runs: Sequence[Contest]) -> list[Finding]:
    """The findings that a person should look at before a time counts."""
    replies = [one for seen in runs for one in seen.cases if one.clock_ns and not one.is_short]
    handed = [(one, one.device) for seen in runs for one in seen.cases if one.device and one.device.n_handed]
    n_disturbed = sum(device.n_disturbed for _, device in handed)
    found = [BUSY_DEVICE] if n_disturbed > MOST_DISTURBED * sum(device.n_handed for _, device in handed) else []
    return [*found, *_late_copies(problem, handed), *many_sets_disagree(problem, replies)]


def is_late(reply: CaseReply, device: DeviceFacts) -> bool:
    """Whether the outputs were copied later than a known solution's: its word came before the end of its work."""
    if not reply.clock_ns:
        return False
    time_ns = max(0.0, statistics.median(reply.clock_ns) - reply.overhead_ns)
    slack_ns = LATE_SHARE * time_ns + LATE_COPY_SHARE * device.copies_ns + LATE_NS
    return bool(device.late_copies_ns > slack_ns)


def _late_copies(problem: FunctionProblem, handed: Sequence[tuple[CaseReply, DeviceFacts]]) -> list[Finding]:
    """A flag if so many processes show it in a case that a median over processes would move with them."""
    for number, case in enumerate(problem.manifest.cases):
        own = [(one, device) for one, device in handed if one.case == number]
        late = [device for one, device in own if is_late(one, device)]
        if late and len(late) * MOVING_PROCESSES >= len(own):
            later_us = statistics.median(one.late_copies_ns for one in late) / 1e3
            words = (
                f"In case {case.name} the outputs were copied {later_us:.0f} µs later than those of a known solution"
            )
            return [Finding("late_copies", f"{words}: work may have gone on after its end was told.")]
    return []


def ending_of(problem: FunctionProblem, seen: Contest) -> Ending:
    """The verdict and its reason. A wrong answer counts before an early end in a later case."""
    for reply in seen.cases:
        if reply.complaint is not None:
            case = problem.manifest.cases[reply.case]
            words = "the answer is wrong." if case.is_held_out else reply.complaint.message
            return Ending(Verdict.WRONG_ANSWER, f"Case {case.name}: {words}")
    if seen.how is HowEnded.REFUSED:
        return Ending(Verdict.INVALID, f"It was not run. {seen.words}")
    if seen.how is not HowEnded.NOT:
        return early_ending(problem, seen)
    return PASSED


def early_ending(problem: FunctionProblem, seen: Contest) -> Ending:
    """The verdict on a contestant that ended before its time."""
    where = _where(problem, seen)
    if seen.outcome.memory_exceeded:
        return Ending(Verdict.MEMORY_EXCEEDED, f"The solution used more memory than it may {where}.")
    if seen.how is HowEnded.LATE or seen.outcome.timed_out:
        limit = f"all calls of one process may take {problem.time_limit_seconds:g} s"
        return Ending(Verdict.TIMED_OUT, f"The solution did not answer {where}; {limit}.")
    how = _how_it_failed(seen, where, _saw_held_out(problem, seen))
    return Ending(Verdict.TEST_FAILED, f"The solution {how}")


def _saw_held_out(problem: FunctionProblem, seen: Contest) -> bool:
    """Whether it had been called with a held-out case, whose sizes its own words could tell."""
    began = seen.ordered[: len(seen.cases) + 1] if seen.load_ms else []
    cases = problem.manifest.cases
    return any(number < len(cases) and cases[number].is_held_out for number in began)


def _how_it_failed(seen: Contest, where: str, saw_held_out: bool) -> str:
    if seen.how is HowEnded.ERROR and saw_held_out:
        return f"failed {where}. Its own words are not shown: they could tell the sizes of held-out cases."
    if seen.how is HowEnded.ERROR:
        return f"failed {where}: {seen.words}"
    if seen.how is HowEnded.NOT_STOPPED:
        return f"ran {where} while it was stopped between two calls."
    if seen.how is HowEnded.BAD_ANSWER:
        return f"sent an answer of its own {where}."
    # A process that lives on without its channel is ended by the judge, whose signal says nothing about it.
    how = "closed its channel" if seen.outcome.cancelled else how_it_ended(seen.outcome)
    return f"{how} {where} before it had answered."


def _where(problem: FunctionProblem, seen: Contest) -> str:
    done = len(seen.cases)
    if not seen.load_ms:
        return "while it was loaded"
    if done >= len(seen.ordered):
        return "after its last case"
    return f"in case {problem.manifest.cases[seen.ordered[done]].name}"


def baseline_measurements(
    problem: FunctionProblem, runs: Sequence[Contest], key: str, measured_at: str, cases: TimedCases = None
) -> list[MeasurementReport]:
    """The reference's times in these cases; None: in all that are not too short to be timed. Each run is one
    process."""
    shared = {"shared": True, "key": key, "measured_at": measured_at}
    timed = _measurements(problem, runs, Role.BASELINE)
    return [one.model_copy(update=shared) for one in timed if _is_timed(problem, one.case, one.median_ms, cases)]


def _is_timed(problem: FunctionProblem, case: str, baseline_ms: float, cases: TimedCases) -> bool:
    """Whether the case is among those that are timed. Where none are fixed, the baseline's time decides."""
    return case in cases if cases is not None else baseline_ms > _floors_ms(problem, LEAST_GO_MS)[case]


def candidate_measurements(
    problem: FunctionProblem, runs: Sequence[Contest], baseline: Sequence[MeasurementReport] | None
) -> list[MeasurementReport]:
    """The solution's times, of the cases that the baseline has: all solutions are compared over the same ones."""
    timed = _measurements(problem, runs, Role.CANDIDATE)
    if baseline is None:
        least_ms = _floors_ms(problem, LEAST_MS)
        return [one for one in timed if one.median_ms > least_ms[one.case]]
    named = {one.case for one in baseline}
    return [one for one in timed if one.case in named]


def has_drifted(problem: FunctionProblem, runs: Sequence[Contest], later: Contest, cases: TimedCases = None) -> bool:
    """Whether a later process of a baseline has another time in any case that is timed."""
    known, again = ({one.case: one for one in _measurements(problem, seen, Role.BASELINE)} for seen in (runs, [later]))
    if lacks_a_case(problem, runs, cases):
        return True
    timed = [one for one in known.values() if _is_timed(problem, one.case, statistics.median(one.runs_ms), cases)]
    return any(one.case not in again or _differ(one, again[one.case]) for one in timed)


def _differ(known: MeasurementReport, later: MeasurementReport) -> bool:
    known_ms, later_ms = (statistics.median(one.runs_ms) for one in (known, later))
    least_ms = DEVICE_DRIFT_MS if known.device.get("clock_by") == "device" else 0.0
    return abs(later_ms - known_ms) > max(MOST_DRIFT * known_ms, least_ms)


def lacks_a_case(problem: FunctionProblem, runs: Sequence[Contest], cases: TimedCases) -> bool:
    """Whether the baseline was timed before its cases were fixed, and took one of them for too short."""
    timed = {one.case for one in _measurements(problem, runs, Role.BASELINE)}
    return any(case.name in (cases or ()) and case.name not in timed for case in problem.manifest.cases)


def too_short(problem: FunctionProblem, timed: Sequence[MeasurementReport], peaks: Peaks) -> list[Finding]:
    """The flag of the first case whose time is shorter than the device allows."""
    bounds_ms = {case.name: _bound_ms(case, peaks) for case in problem.manifest.timed_cases}
    found = [(one, below_roofline(one.median_ms, bounds_ms[one.case], f"In case {one.case} ")) for one in timed]
    return [_without_bound(flag) if is_held_out(one.case) else flag for one, flag in found if flag is not None][:1]


def _without_bound(flag: Finding) -> Finding:
    """The bound would tell the size of a held-out case."""
    return replace(flag, detail="In a held-out case the time is less than the device needs at its peaks.")


def _bound_ms(case: Case, peaks: Peaks) -> float | None:
    """The roofline at the peak of the fastest arithmetic that the tolerances admit. Bytes that may lie in the L2 cache
    do not count: inputs are written right before a call, or inside the clock."""
    peak_gflops = peaks.gflops.get(case.fastest_dtype)
    is_in_cache = not (case.bytes and peaks.l2_bytes and case.bytes > CACHES * peaks.l2_bytes)
    moved_bytes = None if is_in_cache or not peaks.gbps else case.bytes
    return least_ms(case.flops if peak_gflops else None, moved_bytes, peak_gflops, peaks.gbps)


def _floors_ms(problem: FunctionProblem, go_ms: float) -> dict[str, float]:
    """The least time of a call by case: on a CPU its share of a go's time."""
    if problem.device == "gpu":
        return {case.name: LEAST_MS for case in problem.manifest.cases}
    return {case.name: go_ms / case.input_sets for case in problem.manifest.cases}


def _measurements(problem: FunctionProblem, runs: Sequence[Contest], role: Role) -> list[MeasurementReport]:
    replies: dict[int, list[CaseReply]] = {}
    for seen in runs:
        for reply in seen.cases:
            replies.setdefault(reply.case, []).append(reply)
    found = [measurement(problem.manifest.cases[number], of, role) for number, of in replies.items()]
    return [one for one in found if one is not None]


def measurement(case: ManifestCase, replies: Sequence[CaseReply], role: Role) -> MeasurementReport | None:
    """None for a case that was not answered rightly in every process, is too short, does not rank, or was not timed by
    one clock in all processes."""
    if case.ranks is False or any(_has_no_time(one) for one in replies):
        return None
    clocks = {one.device.clock if one.device else "" for one in replies}
    if len(clocks) > 1:
        return None
    devices = [one.device for one in replies if one.device is not None]
    n_sets = 1 if devices else case.input_sets
    calls_ms = [_calls_ms(one, n_sets) for one in replies]
    least_ms = LEAST_MS / n_sets
    runs_ms = [max(least_ms, statistics.median(calls)) for calls in calls_ms]
    clock = _on_device(runs_ms, devices) if devices else _on_host(runs_ms, n_sets, replies)
    if clock.median > MAX_TIME_MS:
        return None
    share, slack_ms = (DEVICE_PRECISION, DEVICE_SLACK_MS) if clocks == {"device"} else (PRECISION, 0.0)
    noisy = sum(not _is_precise(calls, share, slack_ms) for calls in calls_ms) if len(replies) > 1 else 0
    # By the host's clock a solution has the upper end, so that nobody gains by being timed so.
    takes_upper = clocks == {"host"} and role is Role.CANDIDATE
    upper_ms = max(*runs_ms, clock.median + HOST_ERROR_MS if clock.high is None else clock.high)
    return MeasurementReport(
        role=role,
        case=case.name,
        median_ms=min(upper_ms, MAX_TIME_MS) if takes_upper else clock.median,
        ci_low_ms=clock.low,
        ci_high_ms=clock.high,
        runs_ms=runs_ms,
        calls_ms=[[max(MIN_TIME_MS, one) for one in calls] for calls in calls_ms],
        clock=Clock.OUTSIDE if n_sets == 1 else Clock.IN_PROCESS,
        work_checked=True,
        witness=Witness.SEEN,
        device={
            "call_overhead_us": round(statistics.median(one.overhead_ns for one in replies) / 1e3, 2),
            **({"noisy_processes": float(noisy)} if noisy else {}),
            **(_device_facts(case, replies, devices, calls_ms) if devices else _host_facts(case, replies)),
        },
    )


def _device_facts(
    case: ManifestCase,
    replies: Sequence[CaseReply],
    devices: Sequence[DeviceFacts],
    calls_ms: Sequence[Sequence[float]],
) -> dict[str, Any]:
    """Facts of a case on a GPU: its clock, the figures beside the time, and Tensara's figures of the same calls."""
    launch_us = statistics.median(ns for one in replies for ns in one.go_ns) / 1e3
    facts: dict[str, Any] = {"clock_by": devices[0].clock}
    if facts["clock_by"] == "device":
        facts["launch_us"] = round(launch_us, 2)
    else:
        facts["why_host"] = next((one.why_host for one in devices if one.why_host), "as the baseline")
    if n_thrown := sum(one.n_disturbed for one in devices):
        facts["disturbed_calls"] = float(n_thrown)
    as_tensara_ms = mean_as_tensara(calls_ms[0])
    facts["as_tensara_ms"] = round(as_tensara_ms, 5)
    if case.flops:
        facts["as_tensara_gflops"] = round(case.flops / as_tensara_ms / 1e6, 5)
        facts["as_tensara_2025_gflops"] = round(rate_as_tensara_2025(calls_ms[0], case.flops), 5)
    return facts


def _host_facts(case: ManifestCase, replies: Sequence[CaseReply]) -> dict[str, Any]:
    return {
        "go_to_done_us": round(statistics.median(ns for one in replies for ns in one.go_ns) / 1e3, 2),
        "inputs_inside_clock": "1/256 of the cache lines",
        **_set_facts(case, replies),
    }


def _on_host(runs_ms: Sequence[float], n_sets: int, replies: Sequence[CaseReply]) -> MedianInterval:
    """The interval over processes, wider on both sides by half of what the cost of a call varied when it was
    calibrated: it was subtracted from all."""
    clock = median_interval(runs_ms)
    if clock.low is None or clock.high is None:
        return clock
    cost_ms = statistics.median(one.overhead_spread_ns for one in replies) / 2 / n_sets / 1e6
    return MedianInterval(clock.median, max(MIN_TIME_MS, clock.low - cost_ms), clock.high + cost_ms)


def _on_device(runs_ms: Sequence[float], devices: Sequence[DeviceFacts]) -> MedianInterval:
    """The interval over processes and over those in which the cost of a call was calibrated. No narrower than a tick of
    the device's events."""
    clock = processes_interval(runs_ms, [ns / 1e6 for ns in devices[0].overheads_ns])
    if clock.low is None or clock.high is None:
        return clock
    least_ms = min(clock.low, clock.median - EVENT_TICK_MS)
    return MedianInterval(clock.median, max(MIN_TIME_MS, least_ms), max(clock.high, clock.median + EVENT_TICK_MS))


def _has_no_time(reply: CaseReply) -> bool:
    return reply.complaint is not None or not reply.clock_ns or reply.is_short


def _set_facts(case: ManifestCase, replies: Sequence[CaseReply]) -> dict[str, float]:
    if case.input_sets == 1:
        return {}
    return {"input_sets": float(case.input_sets), "one_set_ms": round(one_set_ms(replies), 6)}


def _calls_ms(reply: CaseReply, n_sets: int) -> list[float]:
    """The time of a call in each go, to the nanosecond."""
    return [round((one - reply.overhead_ns) / n_sets / 1e6, 6) for one in reply.clock_ns]


def _is_precise(calls_ms: Sequence[float], share: float, slack_ms: float) -> bool:
    median_ms, low_ms, high_ms = median_interval(calls_ms)
    if low_ms is None or high_ms is None or median_ms <= 0:
        return False
    return max(high_ms - median_ms, median_ms - low_ms) <= max(slack_ms, share * median_ms)
