"""Compares a profiled or printed time, a claim made in the contestant's process, with observations made outside.

A contradiction becomes a flag. The pass counts, but the time does not rank until a person has decided. The rules
compare with the problem's own reference under the same harness, so that a harness's oddities affect both alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from problems.formats.compute_eval.timing import AnyTimingMode, chosen
from problems.spec.command.timing_mode import CustomTimingMode, RegionTimingMode, times_by_wall_clock
from runners.agent.devices.record import DeviceRecord
from runners.agent.judges.judgement import Finding
from runners.agent.profilers.facts import ProfileFacts, RangeFacts

START_NOISE_MS, INTERPRETED_START_NOISE_MS = 250.0, 5000.0
"""Honest difference between the wall times of two starts of a CUDA program. A Python program also imports its packages
and compiles its kernels at its start, and their number differs between solutions."""
NOISE_SHARE = 0.15
CROWD_NOISE_MS, CROWD_NOISE_SHARE = 400.0, 0.6
"""Honest difference of processor time beside other programs. Of sixteen starts at once each took 0.6 s, one start alone
took 0.25 s. A core whose hardware thread neighbour is busy works at about two thirds of its speed."""
KERNEL_SHARE, CROWD_KERNEL_SHARE = 0.05, 0.25
"""Honest growth of the kernels outside the timed ones, as a share."""
CLOCK_MS, CROWD_CLOCK_MS = 1.0, 250.0
"""Tolerance for the summed wall time of all ranges. The second value holds beside programs that start and compute."""
MUCH_SLOWER, CROWD_MUCH_SLOWER = 1.5, 3.0
"""Honest ratio of the ranges' wall time to the reference's. Beside twenty programs on sixteen hardware threads it was
2.1. Beside others, the flag `host_work` also bounds work that was moved to the host."""
TIME_SHARE, CROWD_TIME_SHARE = 0.01, 0.03
"""Two times of the same code often differ by this share, alone and beside others. A candidate that saves less is not
compared by the ranges' wall time. Beside others, the kernels outside the timed ones may grow by this share of the timed
ones."""
GAPS_SHARE = 0.4
"""The driver counts gaps between short kernels as activity: a third of the time of a run with 118,000 kernels."""
FEW_LAUNCHES = 8.0
SMALLEST_MS = 0.05


@dataclass(frozen=True)
class Observed:
    """One benchmark's time and its observations. `wall_ms`, measured by the node, excludes waits for the device."""

    time_ms: float
    wall_ms: float
    facts: ProfileFacts | None = None
    device: DeviceRecord | None = None
    cpu_ms: float = 0.0
    among_others: bool = False
    """Whether other programs started and computed beside it. Its wall time then says little."""


@dataclass(frozen=True)
class _Timed:
    """The ranges or kernels that the timing mode names, summed up."""

    kernel_ms: float
    launches: int
    instances: int
    unclosed: int
    wall_ms: float
    busy_ms: float
    late_ms: float


def findings(
    mode: AnyTimingMode,
    candidate: Observed,
    reference: Observed | None,
    *,
    work_checked: bool = False,
    plain_wall_ms: float | None = None,
    start_noise_ms: float = START_NOISE_MS,
) -> list[Finding]:
    """Flags of the candidate's time. `plain_wall_ms` is the wall time of a run without the profiler."""
    if isinstance(mode, CustomTimingMode):
        return list(_printed(candidate, reference, start_noise_ms))
    if candidate.facts is None:
        return []
    found = list(_alone(mode, candidate.facts))
    if plain_wall_ms is not None and plain_wall_ms > candidate.wall_ms * (1 + NOISE_SHARE) + start_noise_ms:
        words = f"Without the profiler the run took {plain_wall_ms:.0f} ms, under it {candidate.wall_ms:.0f} ms."
        found.append(Finding("slower_unwatched", words))
    if reference is not None and reference.facts is not None:
        found += _compared(mode, candidate, candidate.facts, reference, reference.facts, work_checked=work_checked)
        if candidate.time_ms < reference.time_ms and _is_crowded(candidate, reference):
            found += _moved_to_the_host(candidate, reference, start_noise_ms)
        elif candidate.time_ms < reference.time_ms:
            theirs = _timed(mode, reference.facts)
            found += _not_seen(candidate, reference, max(0.0, theirs.wall_ms - theirs.busy_ms), start_noise_ms)
    return found


def _is_crowded(candidate: Observed, reference: Observed) -> bool:
    return candidate.among_others or reference.among_others


def _alone(mode: AnyTimingMode, facts: ProfileFacts) -> Iterator[Finding]:
    timed = _timed(mode, facts)
    if timed.launches == 0 and not (facts.memcpy_ms or facts.memset_ms):
        yield Finding("no_device_work", "Nothing ran on the device in what was timed.")
    if timed.unclosed:
        yield Finding("open_range", f"Timed ranges that were entered and never left: {timed.unclosed}.")
    if 0 < timed.launches < timed.instances:
        yield Finding("idle_ranges", f"{timed.instances} timed ranges hold only {timed.launches} launches.")
    if facts.dropped_records:
        yield Finding("dropped_records", f"The profiler lost {facts.dropped_records} records.")


def _compared(
    mode: AnyTimingMode,
    candidate: Observed,
    facts: ProfileFacts,
    reference: Observed,
    known: ProfileFacts,
    *,
    work_checked: bool,
) -> Iterator[Finding]:
    own, theirs = _timed(mode, facts), _timed(mode, known)
    yield from _structure(mode, own, theirs, facts, known)
    if not work_checked and own.launches * FEW_LAUNCHES < theirs.launches / max(1, len(known.kernels)):
        yield Finding("few_launches", f"{own.launches} launches were timed; the reference's were {theirs.launches}.")
    if candidate.time_ms < reference.time_ms:
        crowded = _is_crowded(candidate, reference)
        yield from _escaped(mode, own, theirs, facts, known, crowded=crowded)
        factor, slack_ms = (CROWD_MUCH_SLOWER, CROWD_CLOCK_MS) if crowded else (MUCH_SLOWER, CLOCK_MS)
        if candidate.time_ms < (1 - (CROWD_TIME_SHARE if crowded else TIME_SHARE)) * reference.time_ms:
            yield from _by_the_clock(mode, own, theirs, factor, slack_ms)
    yield from _unseen_work(candidate, facts, reference, known)


def _structure(
    mode: AnyTimingMode, own: _Timed, theirs: _Timed, facts: ProfileFacts, known: ProfileFacts
) -> Iterator[Finding]:
    if isinstance(mode, RegionTimingMode) and mode.include is not None and own.instances != theirs.instances:
        yield Finding(
            "other_ranges", f"The timed ranges were entered {own.instances} times; the reference's {theirs.instances}."
        )
    if facts.unfinished > known.unfinished:
        yield Finding("cut_short", "A process that used the device ended before the profiler's last word.")
    if facts.processes > known.processes:
        yield Finding(
            "other_processes", f"{facts.processes} processes used the device; the reference's were {known.processes}."
        )


def _escaped(
    mode: AnyTimingMode,
    own: _Timed,
    theirs: _Timed,
    facts: ProfileFacts,
    known: ProfileFacts,
    *,
    crowded: bool,
) -> Iterator[Finding]:
    """Flags work that was moved out of the timed part."""
    saved_ms = theirs.kernel_ms - own.kernel_ms
    outside_ms, usual_ms = facts.kernel_ms - own.kernel_ms, known.kernel_ms - theirs.kernel_ms
    grown_ms = outside_ms - usual_ms
    noise_ms = KERNEL_SHARE * usual_ms
    if crowded:
        noise_ms = max(CROWD_KERNEL_SHARE * usual_ms, CROWD_TIME_SHARE * theirs.kernel_ms)
    if saved_ms > 0 and grown_ms > max(0.25 * saved_ms, SMALLEST_MS, noise_ms):
        yield Finding(
            "work_outside",
            f"{saved_ms:.4g} ms less kernel time than the reference is timed, but {grown_ms:.4g} ms more ran beside.",
        )
    if times_by_wall_clock(mode) and own.late_ms > theirs.late_ms + max(SMALLEST_MS, 0.05 * own.wall_ms):
        yield Finding("late_work", f"{own.late_ms:.4g} ms of the timed ranges' work ran after they had ended.")


def _by_the_clock(
    mode: AnyTimingMode, own: _Timed, theirs: _Timed, factor: float, slack_ms: float
) -> Iterator[Finding]:
    """Flags less kernel time in ranges that last longer by the wall clock."""
    kernel_time = isinstance(mode, RegionTimingMode) and mode.time_type == "kernel"
    if kernel_time and own.wall_ms > factor * theirs.wall_ms + slack_ms:
        yield Finding(
            "slower_by_the_clock",
            f"The timed ranges lasted {own.wall_ms:.4g} ms by the clock, the reference's {theirs.wall_ms:.4g} ms,"
            " though the kernel time is less.",
        )


def _printed(candidate: Observed, reference: Observed | None, start_noise_ms: float) -> Iterator[Finding]:
    """Flags a printed time that the node's clock contradicts, unless the reference's own is as odd."""
    is_odd = reference is not None and reference.time_ms > reference.wall_ms + CLOCK_MS
    if candidate.time_ms > candidate.wall_ms + CLOCK_MS and not is_odd:
        words = f"{candidate.time_ms:.4g} ms were printed, but the whole run took {candidate.wall_ms:.4g} ms."
        yield Finding("longer_than_the_run", words)
    if reference is not None and candidate.time_ms < reference.time_ms:
        yield from _not_seen(candidate, reference, 0.0, start_noise_ms)


def _not_seen(candidate: Observed, reference: Observed, hidden_ms: float, start_noise_ms: float) -> Iterator[Finding]:
    """Flags a saving that the wall time of the whole run does not show. `hidden_ms` of it may stay unseen."""
    saved_ms = reference.time_ms - candidate.time_ms
    seen_ms = reference.wall_ms - candidate.wall_ms
    slack_ms = start_noise_ms + NOISE_SHARE * reference.wall_ms + hidden_ms
    if saved_ms - seen_ms > slack_ms:
        yield Finding(
            "saving_not_seen",
            f"{saved_ms:.4g} ms are claimed to be saved, but the whole run took {-seen_ms:.0f} ms longer"
            if seen_ms < 0
            else f"{saved_ms:.4g} ms are claimed to be saved, but the whole run only took {seen_ms:.0f} ms less.",
        )


def _moved_to_the_host(candidate: Observed, reference: Observed, start_noise_ms: float) -> Iterator[Finding]:
    """Flags work that was moved to the host. Beside other programs only processor time shows it."""
    more_ms = candidate.cpu_ms - reference.cpu_ms
    if more_ms > start_noise_ms + CROWD_NOISE_MS + CROWD_NOISE_SHARE * reference.cpu_ms:
        yield Finding(
            "host_work",
            f"Less time is claimed than the reference's, but it took {more_ms:.0f} ms more processor time.",
        )


def _unseen_work(
    candidate: Observed, facts: ProfileFacts, reference: Observed, known: ProfileFacts
) -> Iterator[Finding]:
    """Flags device activity that the driver counted and the profiler did not."""
    own, usual = _unrecorded_ms(candidate, facts), _unrecorded_ms(reference, known)
    if own is None or usual is None or candidate.device is None or candidate.device.busy_ms is None:
        return
    resolution_ms = candidate.device.busy_resolution_ms
    if own > MUCH_SLOWER * max(0.0, usual) + 2 * resolution_ms + GAPS_SHARE * candidate.device.busy_ms:
        yield Finding(
            "unrecorded_work",
            f"The device was busy for {candidate.device.busy_ms:.0f} ms (give or take {resolution_ms:.0f} ms);"
            f" the profile accounts for {facts.busy_ms:.0f} ms.",
        )


def _unrecorded_ms(observed: Observed, facts: ProfileFacts) -> float | None:
    if observed.device is None or observed.device.busy_ms is None:
        return None
    return observed.device.busy_ms - facts.busy_ms


def _timed(mode: AnyTimingMode, facts: ProfileFacts) -> _Timed:
    if isinstance(mode, RegionTimingMode):
        return _sum_of([one for name, one in facts.ranges.items() if chosen(mode, name)])
    return _Timed(facts.kernel_ms, facts.launches, 0, 0, facts.busy_ms, facts.busy_ms, 0.0)


def _sum_of(ranges: list[RangeFacts]) -> _Timed:
    return _Timed(
        kernel_ms=sum(one.kernel_ms for one in ranges),
        launches=sum(one.launches for one in ranges),
        instances=sum(one.instances for one in ranges),
        unclosed=sum(one.unclosed for one in ranges),
        wall_ms=sum(one.wall_ms for one in ranges),
        busy_ms=sum(one.busy_ms for one in ranges),
        late_ms=sum(one.late_ms for one in ranges),
    )
