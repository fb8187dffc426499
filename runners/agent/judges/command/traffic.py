"""Compares a time, and the bytes that the timed part wrote, with the problem's compulsory traffic.

The problem declares that traffic, or its harness's copies show it (docs/decisions/0015). Amounts are bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from problems.formats.compute_eval.timing import AnyTimingMode, chosen
from problems.spec.command.problem import CommandProblem
from problems.spec.command.timing_mode import GpuTimingMode, RegionTimingMode, times_by_wall_clock
from runners.agent.judges.command.counting import Counted
from runners.agent.judges.command.findings import bandwidth_finding
from runners.agent.judges.command.timing import Timed
from runners.agent.judges.judgement import Finding
from runners.agent.profilers.facts import ProfileFacts, RangeFacts, Traffic
from runners.wire.protocol import Peaks
from scoring.traffic import Copies, Outputs, bandwidth_floor_ms, outputs_of

MUCH_LONGER, LAUNCH_MS = 3.0, 0.01
"""Honest growth of the kernels' time under the counters: a factor, and milliseconds for each launch."""
NOTHING_SHOWN = (
    "the problem declares no `output_bytes`, and its harness copies nothing to the host after the timed part"
)
NO_FACTS = "the reference has no profiled time here"

NOTHING_COPIED = Copies()
LONGEST_REASON = 300

Facts = dict[str, float | str]


@dataclass(frozen=True)
class Bounds:
    """The bytes that the timed part must move and write. `why_not` is set if the writes cannot be checked."""

    problem: CommandProblem
    shown: Copies = NOTHING_COPIED
    """The harness's copies, as far as they bound anything."""
    outputs: Outputs | None = None
    why_not: str = ""
    reference: ProfileFacts | None = None


@dataclass(frozen=True)
class TrafficCheck:
    """Flags of the candidate's time, and the values to store with both measurements."""

    findings: list[Finding] = field(default_factory=list)
    facts: Facts = field(default_factory=dict)
    baseline_facts: Facts = field(default_factory=dict)


def bounds_of(problem: CommandProblem, timed: Timed, reference: Counted) -> Bounds:
    """The bounds of a problem's timed part, from its declaration or from the copies in the reference's run.

    Copies count at most as much as the reference moves. Nothing is checked that the reference itself does not keep.
    """
    mode, declared = problem.timing_mode, problem.podium
    observed = timed.baseline.observed if timed.baseline else None
    facts = observed.facts if observed else None
    traffic = reference.traffic
    if traffic is None or facts is None:
        return Bounds(problem, why_not=reference.why_not or NO_FACTS)
    written_bytes = _written_bytes(mode, facts, facts, traffic)
    shown = shown_copies(mode, facts).within(traffic.l2_read_bytes or 0.0, written_bytes)
    outputs, why_not = outputs_of(declared.output_bytes, shown), ""
    if outputs is None:
        why_not = NOTHING_SHOWN
    elif not outputs.are_covered_by(written_bytes):
        why_not = f"the reference itself writes {_mb(written_bytes)} of {_mb(outputs.size_bytes)} of outputs"
    return Bounds(problem, shown, outputs, why_not, facts)


def check(bounds: Bounds, timed: Timed, own: Counted, reference: Counted, peaks: Peaks) -> TrafficCheck:
    """Compare the candidate with the bounds. `own` has no traffic if `bounds.why_not` is set or counting it failed."""
    candidate = timed.candidate.observed
    if candidate is None or candidate.facts is None:
        return TrafficCheck()
    found = [] if bounds.problem.podium.bytes else _below_bandwidth(bounds.shown, candidate.time_ms, peaks)
    answer = "yes"
    if bounds.why_not:
        answer = f"no: {bounds.why_not}"
    elif own.traffic is None:
        answer = f"no: {own.why_not}"
        words = f"The reference's writes could be counted, but not the solution's: {own.why_not}."
        found.append(Finding("fails_counted", words))
    else:
        found += _by_counters(bounds, candidate.facts, own.traffic)
    facts: Facts = {**_traffic_facts(own.traffic), **_copy_facts(bounds), "writes_checked": answer[:LONGEST_REASON]}
    return TrafficCheck(found, facts, _traffic_facts(reference.traffic))


def _by_counters(bounds: Bounds, facts: ProfileFacts, traffic: Traffic) -> Iterator[Finding]:
    mode, outputs = bounds.problem.timing_mode, bounds.outputs
    written_bytes = _written_bytes(mode, facts, bounds.reference, traffic)
    if outputs is not None and not outputs.are_covered_by(written_bytes):
        yield _not_written(outputs, written_bytes)
    timed_ms, counted_ms = _kernel_ms(mode, facts), traffic.kernel_ms
    if counted_ms > MUCH_LONGER * timed_ms + LAUNCH_MS * traffic.launches:
        words = f"The timed kernels took {timed_ms:.4g} ms, and {counted_ms:.4g} ms when their writes were counted."
        yield Finding("slower_counted", words)


def shown_copies(mode: AnyTimingMode, facts: ProfileFacts) -> Copies:
    """The copies before and after the timed part. If all kernels are timed, these are all of the run's copies."""
    if not isinstance(mode, RegionTimingMode):
        return Copies(facts.uploaded_bytes, facts.downloaded_bytes)
    ranges = _ranges(mode, facts)
    return Copies(
        max((one.uploaded_before_bytes for one in ranges), default=0),
        max((one.downloaded_after_bytes for one in ranges), default=0),
    )


def _below_bandwidth(shown: Copies, time_ms: float, peaks: Peaks) -> list[Finding]:
    """The flag of a time that the shown copies contradict. `floors` compares with declared bytes."""
    floor_ms = bandwidth_floor_ms(shown.total_bytes, peaks.gbps)
    if floor_ms is None or time_ms >= floor_ms:
        return []
    return [bandwidth_finding(time_ms, floor_ms, shown.total_bytes)]


def _not_written(outputs: Outputs, written_bytes: float) -> Finding:
    source = "declares" if outputs.are_declared else "shows by its copies"
    words = f"The timed part wrote {_mb(written_bytes)} to the L2 cache; the problem {source}"
    return Finding("outputs_not_written", f"{words} {_mb(outputs.size_bytes)} of outputs.")


def _written_bytes(mode: AnyTimingMode, facts: ProfileFacts, reference: ProfileFacts | None, traffic: Traffic) -> float:
    """The bytes that the timed part writes on the device.

    Copies and fills count if they are a part of the time. In sums of kernel times they are not, and count as far as the
    reference makes them, too.
    """
    if isinstance(mode, RegionTimingMode):
        own, theirs = _beside(mode, facts), _beside(mode, reference) if reference else 0.0
        return traffic.l2_written_bytes + (own if times_by_wall_clock(mode) else min(own, theirs))
    if isinstance(mode, GpuTimingMode):
        more = _on_device(facts) - (_on_device(reference) if reference else 0)
        return traffic.l2_written_bytes + max(0, more)
    return traffic.l2_written_bytes


def _beside(mode: RegionTimingMode, facts: ProfileFacts) -> float:
    return sum(one.copied_bytes + one.filled_bytes for one in _ranges(mode, facts))


def _on_device(facts: ProfileFacts) -> int:
    """Bytes of the copies that are not between host and device."""
    return facts.copied_bytes - facts.uploaded_bytes - facts.downloaded_bytes


def _kernel_ms(mode: AnyTimingMode, facts: ProfileFacts) -> float:
    if not isinstance(mode, RegionTimingMode):
        return facts.kernel_ms
    return sum(one.kernel_ms for one in _ranges(mode, facts))


def _ranges(mode: RegionTimingMode, facts: ProfileFacts) -> list[RangeFacts]:
    return [one for name, one in facts.ranges.items() if chosen(mode, name)]


def _traffic_facts(traffic: Traffic | None) -> Facts:
    if traffic is None:
        return {}
    names = "l2_written_bytes", "l2_read_bytes", "dram_written_bytes", "dram_read_bytes"
    values = {name: getattr(traffic, name) for name in names}
    return {name: float(value) for name, value in values.items() if value is not None}


def _copy_facts(bounds: Bounds) -> Facts:
    facts: Facts = {}
    if bounds.reference is not None:
        facts["uploaded_bytes"] = float(bounds.shown.uploaded_bytes)
        facts["downloaded_bytes"] = float(bounds.shown.downloaded_bytes)
    if bounds.outputs is not None:
        facts["output_bytes"] = float(bounds.outputs.size_bytes)
    return facts


def _mb(amount: float) -> str:
    return f"{amount / 1e6:.4g} MB"
