"""How far other programs on the machine lengthened times that were taken by the wall clock."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from runners.agent.judges.judgement import Finding
from runners.agent.sandbox.policy import Outcome
from runners.agent.sandbox.processes import used_ms

TOLERATED_SHARE, TOLERATED_MS = 0.05, 2.0
"""A run that lost more of its wall time than the larger of the two is disturbed."""
SPARE_RUNS = 3
"""The number of disturbed `ranked` runs of one side that are repeated. After that the time counts, with a flag."""
OTHERS_SHARE = 0.05
"""Beside others that use a smaller share of the processor time, threads wait for each other rather than for others."""


@dataclass(frozen=True)
class HostRecord:
    """Observations of the machine during one run or, as medians, during several. Sleep of the command is no loss."""

    lost_ms: float
    """Wall time that the run lost to other programs, to other virtual machines, and while the machine stood still."""
    lost_share: float
    others_cores: float
    """Number of cores that everything else kept busy."""
    steal_share: float
    """Share of the processor time that the hypervisor gave to other machines."""
    load_1m: float
    """The system's load average at the end of the run."""

    @property
    def is_busy(self) -> bool:
        """Whether the time is too long by more than is tolerated."""
        return self.lost_ms > TOLERATED_MS and self.lost_share > TOLERATED_SHARE

    @property
    def facts(self) -> dict[str, float | str]:
        """The values that are stored with a measurement."""
        return {f"host_{name}": value for name, value in vars(self).items() if name != "lost_ms"}


def host_during(outcome: Outcome) -> HostRecord:
    """The host's record of a run that has just ended."""
    wall_ms = max(outcome.wall_ms, 1e-3)
    work = MachineWork(wall_ms, outcome.cpu_ms, outcome.others_ms, outcome.steal_ms)
    return _recorded(wall_ms, outcome.lost_ms, outcome.stalled_ms, work)


@dataclass(frozen=True)
class MachineWork:
    """Processor time of the whole machine during `wall_ms`: of what is judged and its judge, of others, and stolen."""

    wall_ms: float
    own_ms: float
    others_ms: float
    steal_ms: float


class MachineWatch:
    """Counts the machine's work from its making to `seen`. The agent and these trees of processes are no others."""

    def __init__(self, roots: Sequence[int] = ()) -> None:
        self._first = self._look(roots)

    def seen(self, roots: Sequence[int]) -> MachineWork:
        """`roots` may name trees that began meanwhile."""
        wall_ms, busy_ms, steal_ms, own_ms = (
            after - before for before, after in zip(self._first, self._look(roots), strict=True)
        )
        return MachineWork(wall_ms, own_ms, max(0.0, busy_ms - own_ms), steal_ms)

    @staticmethod
    def _look(roots: Iterable[int]) -> tuple[float, float, float, float]:
        busy_ms, steal_ms = machine_times_ms()
        own_ms = time.process_time() * 1e3 + sum(map(used_ms, roots))
        return time.monotonic() * 1e3, busy_ms, steal_ms, own_ms


def machine_times_ms() -> tuple[float, float]:
    """For how long all cores together have worked, and for how long the hypervisor had them, since the start."""
    with Path("/proc/stat").open() as file:
        fields = file.readline().split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(ticks) * 1e3 / os.sysconf("SC_CLK_TCK") for ticks in fields)
    return user + nice + system + irq + softirq, steal


def host_in_goes(outcome: Outcome, work: MachineWork) -> HostRecord | None:
    """The record of the goes that a judge has timed; None if its supervisor told none."""
    return _recorded(outcome.timed_ms, outcome.lost_ms, outcome.stalled_ms, work) if outcome.timed_ms > 0 else None


def _recorded(timed_ms: float, lost_ms: float, stalled_ms: float, work: MachineWork) -> HostRecord:
    used = work.own_ms + work.others_ms + work.steal_ms
    steal_share = work.steal_ms / used if used else 0.0
    foreign_ms, wall_ms = work.others_ms + work.steal_ms, max(work.wall_ms, 1e-3)
    # threads of the run also wait for each other: no longer than others worked meanwhile is it for those
    waited_ms = min(lost_ms, foreign_ms * timed_ms / wall_ms) if foreign_ms > OTHERS_SHARE * used else 0.0
    lost_ms = min(timed_ms, waited_ms + steal_share * timed_ms + stalled_ms)
    others_cores = work.others_ms / wall_ms
    return HostRecord(lost_ms, lost_ms / timed_ms, others_cores, steal_share, os.getloadavg()[0])


def over(records: Sequence[HostRecord]) -> HostRecord | None:
    """The medians of several runs' records, because their time is a median, too; None without records."""
    if not records:
        return None
    columns = zip(*(vars(record).values() for record in records), strict=True)
    return HostRecord(*map(median, columns))


def disturbance(sides: Mapping[str, HostRecord | None]) -> list[Finding]:
    """A flag of the time if one of these runs, by its words, lost too much."""
    for side, host in sides.items():
        if host is not None and host.is_busy:
            words = f"{side} lost {host.lost_share:.0%} of its wall time to other programs on the machine, which kept"
            return [Finding("busy_host", f"{words} {host.others_cores:.1f} cores busy.")]
    return []
