"""Turns what a checker saw into a verdict, reports per case and measurements."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from problems.spec.case import Case
from problems.spec.function.manifest import ManifestCase
from problems.spec.function.problem import FunctionProblem
from runners.agent.judges.function.as_tensara import mean_as_tensara, rate_as_tensara_2025
from runners.agent.judges.function.contest import Contest, Reply
from runners.agent.judges.function.sets import LEAST_GO_MS, many_sets_disagree, one_set_ms
from runners.agent.judges.function.timed_cases import TimedCases
from runners.agent.judges.judgement import Finding
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
from scoring.median import MedianInterval, median_interval
from scoring.throughput import least_ms

MOST_PLACES = 5
REFUSED = "refused"
"""How a contest ends whose own sizes the problem does not take."""
LEAST_MS = 0.02
"""The cost of a go itself is not known better: a shorter one counts as this one."""
DEVICE_EVENTS = "device_events_ms"
"""The fact that has a time by device events alone."""
PRECISION = 0.005
"""In a `ranked` timing each process calls until the 95 % interval of its median is within this share of it."""
MOST_DRIFT = 0.03
"""A baseline whose single process differs by a larger share is timed anew."""
EVENTS_SPREADS, EVENTS_SHARE, EVENTS_SLACK_NS = 3.0, 0.05, 50_000.0
"""How far device events may be from the clock: by so many calibrated spreads, a share of the time, and nanoseconds."""
OTHER_PROCESSES = 3
"""One process of so many with other events is a flag: one of six moves no median, and on a busy machine the cost of a
call differs from process to process by more than a few calibrations show."""
UNDISTURBED = 10
"""One call of so many is taken to be undisturbed: other programs on the machine lengthen the clock's times alone."""


def case_reports(problem: FunctionProblem, seen: Contest) -> list[CaseReport]:
    """One report for each case that was called; the case at which the contestant ended has its verdict."""
    reports = [case_report(problem, one) for one in seen.cases]
    if seen.how not in ("", REFUSED) and len(reports) < len(seen.ordered):
        ended = problem.manifest.cases[seen.ordered[len(reports)]]
        verdict, _ = ended_verdict(problem, seen)
        reports.append(CaseReport(name=ended.name, verdict=verdict))
    return reports


def case_report(problem: FunctionProblem, reply: Reply) -> CaseReport:
    """The report on one case. Never holds inputs."""
    case = problem.manifest.cases[reply["case"]]
    public: dict[str, Any] = {"n_calls": reply["n_calls"]}
    if "setup_ms" in reply:
        public["setup_ms"] = round(float(reply["setup_ms"]), 3)
    organiser = {name: round(float(reply[name]), 3) for name in ("prepare_ms", "check_ms")}
    team: dict[str, Any] = {f"sample_{name}": words for name, words in reply.get("values", {}).items()}
    for name, key in (("largest_difference", "largest"), ("mean_difference", "mean")):
        if reply.get(key) not in (None, ""):
            team[name] = reply[key]
    if reply["verdict"] != "passed":
        team |= {
            "message": reply["message"],
            "shapes": ", ".join(f"{name} {'×'.join(map(str, axes))}" for name, axes in case.shapes.items()),
        }
        team |= {name: reply[name] for name in ("n_wrong", "n_total") if name in reply}
        if reply.get("first_wrong"):
            team["first_wrong"] = _places(reply["first_wrong"])
    groups = ((public, Audience.PUBLIC), (team, Audience.TEAM), (organiser, Audience.ORGANISER))
    fields = [_field(name, value, audience) for values, audience in groups for name, value in values.items()]
    return CaseReport(name=case.name, verdict=Verdict(reply["verdict"]), fields=fields)


def _field(name: str, value: Any, audience: Audience) -> CaseField:
    return CaseField(name=name, value=value[:1000] if isinstance(value, str) else value, audience=audience)


def _places(first_wrong: Iterable[tuple[str, list[int], str, str]]) -> str:
    return "; ".join(
        f"{output}[{', '.join(map(str, index))}] is {actual}, expected {expected}"
        for output, index, expected, actual in list(first_wrong)[:MOST_PLACES]
    )


BUSY_DEVICE = Finding(
    "busy_device",
    "The device was busy while the checker prepared calls: work of the solution may have run outside of them.",
)


def findings(problem: FunctionProblem, runs: Sequence[Contest]) -> list[Finding]:
    """What a person should look at before a time counts."""
    replies = [one for seen in runs for one in seen.cases if one["clock_ns"] and not one["is_short"]]
    slow = any(one["n_slow_writes"] * 2 > len(one["clock_ns"]) for one in replies)
    found = [BUSY_DEVICE] if slow and runs[0].is_on_gpu else []
    return [*found, *_other_events(problem, replies), *many_sets_disagree(problem, replies)]


def events_disagree(reply: Reply) -> bool:
    """Whether the contestant's own device events contradict the clock by more than they do for a known solution."""
    if "whole_ms" not in reply:
        return False
    told_ns = statistics.median(reply["whole_ms"]) * 1e6 + reply["gap_ns"] + reply["overhead_ns"]
    clock_ns = statistics.median(reply["clock_ns"])
    slack_ns = (
        EVENTS_SPREADS * reply["gap_spread_ns"] + EVENTS_SHARE * (clock_ns - reply["overhead_ns"]) + EVENTS_SLACK_NS
    )
    undisturbed_ns = sorted(reply["clock_ns"])[len(reply["clock_ns"]) // UNDISTURBED]
    return bool(clock_ns < told_ns - slack_ns or undisturbed_ns > told_ns + slack_ns)


def _other_events(problem: FunctionProblem, replies: Sequence[Reply]) -> list[Finding]:
    """A flag if so many processes disagree about a case that a median over processes would move with them."""
    for number, case in enumerate(problem.manifest.cases):
        own = [one for one in replies if one["case"] == number]
        other = [one for one in own if events_disagree(one)]
        if other and len(other) * OTHER_PROCESSES >= len(own):
            clock_ms = (statistics.median(other[0]["clock_ns"]) - other[0]["overhead_ns"]) / 1e6
            words = (
                f"In case {case.name} the checker's clock shows {clock_ms:.4g} ms, device events in the solution's own"
            )
            return [Finding("other_events", f"{words} process {statistics.median(other[0]['whole_ms']):.4g} ms.")]
    return []


def verdict_of(problem: FunctionProblem, seen: Contest) -> tuple[Verdict, str]:
    """The verdict and its reason. A wrong answer counts before an early end in a later case."""
    for reply in seen.cases:
        if reply["verdict"] != "passed":
            case = problem.manifest.cases[reply["case"]]
            return Verdict.WRONG_ANSWER, f"Case {case.name}: {reply['message']}"
    if seen.how == REFUSED:
        return Verdict.INVALID, f"It was not run. {seen.words}"
    if seen.how:
        return ended_verdict(problem, seen)
    return Verdict.PASSED, ""


def ended_verdict(problem: FunctionProblem, seen: Contest) -> tuple[Verdict, str]:
    """The verdict on a contestant that ended before its time."""
    where = _where(problem, seen)
    if seen.outcome.memory_exceeded:
        return Verdict.MEMORY_EXCEEDED, f"The solution used more memory than it may {where}."
    if seen.how == "late" or seen.outcome.timed_out:
        limit = problem.time_limit_seconds
        return Verdict.TIMED_OUT, f"The solution did not answer {where}; all calls of one process may take {limit:g} s."
    return Verdict.TEST_FAILED, f"The solution {_how_it_failed(seen, where)}"


def _how_it_failed(seen: Contest, where: str) -> str:
    if seen.how == "error":
        return f"failed {where}: {seen.words}"
    if seen.how == "not_stopped":
        return f"ran {where} while it was stopped between two calls."
    if seen.how == "bad_answer":
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
    return case in cases if cases is not None else baseline_ms >= _shares(problem, LEAST_GO_MS)[case]


def candidate_measurements(
    problem: FunctionProblem, runs: Sequence[Contest], baseline: Sequence[MeasurementReport] | None
) -> list[MeasurementReport]:
    """The solution's times, of the cases that the baseline has: all solutions are compared over the same ones."""
    timed = _measurements(problem, runs, Role.CANDIDATE)
    if baseline is None:
        least_ms = _shares(problem, LEAST_MS)
        return [one for one in timed if one.median_ms > least_ms[one.case]]
    named = {one.case for one in baseline}
    return [one for one in timed if one.case in named]


def has_drifted(problem: FunctionProblem, runs: Sequence[Contest], later: Contest, cases: TimedCases = None) -> bool:
    """Whether a later process of a baseline has another time in any case that is timed: by device events, which nobody
    forges there, where they are told. By the clock two processes in Python often differ by 0.1 ms."""
    known, again = (
        {one.case: _drift_ms(one) for one in _measurements(problem, seen, Role.BASELINE)} for seen in (runs, [later])
    )
    if lacks_a_case(problem, runs, cases):
        return True
    timed = {case: ms for case, ms in known.items() if _is_timed(problem, case, ms, cases)}
    return any(case not in again or abs(again[case] / ms - 1) > MOST_DRIFT for case, ms in timed.items())


def lacks_a_case(problem: FunctionProblem, runs: Sequence[Contest], cases: TimedCases) -> bool:
    """Whether the baseline was timed before its cases were fixed, and took one of them for too short."""
    timed = {one.case for one in _measurements(problem, runs, Role.BASELINE)}
    return any(case.name in (cases or ()) and case.name not in timed for case in problem.manifest.cases)


def _drift_ms(one: MeasurementReport) -> float:
    return float(one.device.get(DEVICE_EVENTS, statistics.median(one.runs_ms)))


def too_short(problem: FunctionProblem, timed: Sequence[MeasurementReport], peaks: Peaks) -> list[Finding]:
    """The flag of the first case whose time is shorter than the device allows."""
    bounds_ms = {case.name: _bound_ms(case, peaks) for case in problem.manifest.timed_cases}
    found = [below_roofline(one.median_ms, bounds_ms[one.case], f"In case {one.case} ") for one in timed]
    return [one for one in found if one is not None][:1]


def _bound_ms(case: Case, peaks: Peaks) -> float | None:
    """The roofline at the peak of the fastest arithmetic that the tolerances admit. Bytes that may lie in the L2 cache
    do not count: inputs are written right before a call, or inside the clock."""
    peak_gflops = peaks.gflops.get(case.fastest_dtype)
    is_in_cache = not (case.bytes and peaks.l2_bytes and case.bytes > CACHES * peaks.l2_bytes)
    moved_bytes = None if is_in_cache or not peaks.gbps else case.bytes
    return least_ms(case.flops if peak_gflops else None, moved_bytes, peak_gflops, peaks.gbps)


def _shares(problem: FunctionProblem, go_ms: float) -> dict[str, float]:
    """By case, the share that a call has of a go's time."""
    return {case.name: go_ms / case.input_sets for case in problem.manifest.cases}


def _measurements(problem: FunctionProblem, runs: Sequence[Contest], role: Role) -> list[MeasurementReport]:
    replies: dict[int, list[Reply]] = {}
    for seen in runs:
        for reply in seen.cases:
            replies.setdefault(reply["case"], []).append(reply)
    found = [measurement(problem.manifest.cases[number], of, role) for number, of in replies.items()]
    return [one for one in found if one is not None]


def measurement(case: ManifestCase, replies: Sequence[Reply], role: Role) -> MeasurementReport | None:
    """None for a case that was not answered rightly in every process, is too short or does not rank."""
    if case.ranks is False or any(_has_no_time(one) for one in replies):
        return None
    calls_ms = [_calls_ms(one, case.input_sets) for one in replies]
    least_ms = LEAST_MS / case.input_sets
    runs_ms = [max(least_ms, statistics.median(calls)) for calls in calls_ms]
    clock = median_interval(runs_ms)
    if clock.median > MAX_TIME_MS:
        return None
    told_ms = _told_ms(case, replies)
    low_ms, high_ms = _interval(case, clock, replies)
    noisy = sum(not _is_precise(calls) for calls in calls_ms) if len(replies) > 1 else 0
    return MeasurementReport(
        role=role,
        case=case.name,
        median_ms=max(least_ms, refined_ms(clock.median, low_ms, high_ms, told_ms)),
        ci_low_ms=low_ms,
        ci_high_ms=high_ms,
        runs_ms=runs_ms,
        calls_ms=[[max(MIN_TIME_MS, one) for one in calls] for calls in calls_ms],
        clock=Clock.OUTSIDE if case.input_sets == 1 else Clock.IN_PROCESS,
        work_checked=True,
        witness=Witness.SEEN,
        device={
            "call_overhead_us": round(statistics.median(one["overhead_ns"] for one in replies) / 1e3, 2),
            "go_to_done_us": round(statistics.median(ns for one in replies for ns in one["go_ns"]) / 1e3, 2),
            "inputs_inside_clock": "all" if replies[0]["copies_all"] else "1/256 of the cache lines",
            **({"noisy_processes": float(noisy)} if noisy else {}),
            **_set_facts(case, replies),
            **_event_facts(case, replies),
            **({} if told_ms is None else {"clock_ms": round(clock.median, 6)}),
        },
    )


def _interval(case: ManifestCase, clock: MedianInterval, replies: Sequence[Reply]) -> tuple[float | None, float | None]:
    """The interval over processes, wider on both sides by half of what the cost of a go varied when it was calibrated:
    it was subtracted from all."""
    if clock.low is None or clock.high is None:
        return None, None
    cost_ms = statistics.median(one["overhead_spread_ns"] for one in replies) / 2 / case.input_sets / 1e6
    return max(MIN_TIME_MS, clock.low - cost_ms), clock.high + cost_ms


def refined_ms(clock_ms: float, low_ms: float | None, high_ms: float | None, told_ms: float | None) -> float:
    """The time by device events, as far as the published interval admits it; the clock's median if either is missing.
    The events are the contestant's, so they never lead out of the interval."""
    if told_ms is None or low_ms is None or high_ms is None:
        return clock_ms
    return min(max(told_ms, low_ms), high_ms)


def _told_ms(case: ManifestCase, replies: Sequence[Reply]) -> float | None:
    """The time of a call by device events, with what runs beside the default stream; None if a process told none."""
    if any("whole_ms" not in one for one in replies):
        return None
    processes_ms = [
        statistics.median(
            max(events_ms, whole_ms - one["whole_gap_ns"] / 1e6)
            for events_ms, whole_ms in zip(one["events_ms"], one["whole_ms"], strict=True)
        )
        for one in replies
    ]
    return float(statistics.median(processes_ms)) / case.input_sets


def _has_no_time(reply: Reply) -> bool:
    return reply["verdict"] != "passed" or not reply["clock_ns"] or reply["is_short"]


def _set_facts(case: ManifestCase, replies: Sequence[Reply]) -> dict[str, float]:
    if case.input_sets == 1:
        return {}
    return {"input_sets": float(case.input_sets), "one_set_ms": round(one_set_ms(replies), 6)}


def _event_facts(case: ManifestCase, replies: Sequence[Reply]) -> dict[str, float]:
    """The times by device events alone: the median, and the mean as Tensara's engine makes it."""
    if any("events_ms" not in one for one in replies):
        return {}
    told_ms = [[ms / case.input_sets for ms in one["events_ms"]] for one in replies]
    as_tensara_ms = mean_as_tensara(told_ms[0])
    median_ms = statistics.median(ms for calls in told_ms for ms in calls)
    facts = {DEVICE_EVENTS: median_ms, "as_tensara_ms": as_tensara_ms}
    if case.flops:
        facts["as_tensara_gflops"] = case.flops / as_tensara_ms / 1e6
        facts["as_tensara_2025_gflops"] = rate_as_tensara_2025(told_ms[0], case.flops)
    return {name: round(value, 5) for name, value in facts.items()}


def _calls_ms(reply: Reply, n_sets: int) -> list[float]:
    """The time of a call in each go, to the nanosecond."""
    return [round((one - reply["overhead_ns"]) / n_sets / 1e6, 6) for one in reply["clock_ns"]]


def _is_precise(calls_ms: Sequence[float]) -> bool:
    median_ms, low_ms, high_ms = median_interval(calls_ms)
    if low_ms is None or high_ms is None or median_ms <= 0:
        return False
    return max(high_ms - median_ms, median_ms - low_ms) <= PRECISION * median_ms
