"""How far other programs on the machine lengthened a benchmark that was timed by the wall clock."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from runners.agent.sandbox.policy import Outcome

TOLERATED_SHARE, TOLERATED_MS = 0.05, 2.0
"""A run that lost more of its wall time than the larger of the two is disturbed."""
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
    used_ms = outcome.cpu_ms + outcome.others_ms + outcome.steal_ms
    steal_share = outcome.steal_ms / used_ms if used_ms else 0.0
    foreign_ms = outcome.others_ms + outcome.steal_ms
    waited_ms = min(outcome.lost_ms, foreign_ms) if foreign_ms > OTHERS_SHARE * used_ms else 0.0
    lost_ms = min(wall_ms, waited_ms + steal_share * wall_ms + outcome.stalled_ms)
    return HostRecord(lost_ms, lost_ms / wall_ms, outcome.others_ms / wall_ms, steal_share, os.getloadavg()[0])


def over(records: Sequence[HostRecord]) -> HostRecord | None:
    """The medians of several runs' records, because their time is a median, too; None without records."""
    if not records:
        return None
    columns = zip(*(vars(record).values() for record in records), strict=True)
    return HostRecord(*map(median, columns))
