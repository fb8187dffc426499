"""Counts the memory traffic of a benchmark's timed kernels by the GPU's hardware counters, with Nsight Compute.

ncu measures each launch by itself, here without flushing the caches. It repeats a launch if its counters do not fit
into one pass. It counts kernels only: copies and fills are known from CUPTI.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from problems.formats.compute_eval.timing import chosen
from problems.spec.command.problem import CommandProblem
from problems.spec.command.timing_mode import KernelsTimingMode, RegionTimingMode, TimingMode
from runners.agent.profilers.base import Attachment, Reading
from runners.agent.profilers.cupti import FAILED
from runners.agent.profilers.facts import Traffic
from runners.agent.profilers.ncu import (
    OWN_SHARE,
    TIMES,
    attachment,
    failure_of,
    first_run,
    log_of,
    lost_launches,
    ncu_command,
    refusal_in,
)
from runners.agent.profilers.ncu_csv import TIME, DamagedTable, Launch, read_launches
from runners.agent.profilers.ncu_tool import require_ncu
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Clock

L2_WRITES = ("lts__t_sectors_op_write.sum", "lts__t_sectors_op_red.sum", "lts__t_sectors_op_atom.sum")
"""Sectors of the L2 cache that stores, reductions and atomic operations reach. An output may be made by any of them."""
L2_READ = "lts__t_sectors_op_read.sum"
DRAM_READ, DRAM_WRITTEN = "dram__sectors_read.sum", "dram__sectors_write.sum"
WRITES = (TIME, *L2_WRITES)
ALL = (*WRITES, L2_READ, DRAM_READ, DRAM_WRITTEN)
SECTOR_BYTES = 32
MOST_SECONDS = 300.0
"""Time limit of the whole run, so that a benchmark of very many launches does not hold the device for long."""


class NcuCounters:
    """Counts the traffic of one problem's benchmark. Raises ProfilerUnavailable if ncu is not installed."""

    clock = Clock.SELF  # its times only show whether the benchmark worked as it did when it was timed
    waits_at_gate = False
    patience = 10.0
    for_graphs = None

    def __init__(self, problem: CommandProblem, metrics: Sequence[str]) -> None:
        """`metrics` is WRITES or ALL."""
        self._tool = require_ncu()
        self._mode, self._metrics = problem.timing_mode, metrics
        limit_seconds = problem.effective_benchmark_timeout_seconds * self.patience * OWN_SHARE
        self._seconds = math.ceil(min(limit_seconds, MOST_SECONDS))
        self.name = f"ncu {self._tool.version}, counters"

    def attach(self, shell: str, notes: Path) -> Attachment:
        """See `Timer.attach`."""
        metrics = ",".join(self._metrics)
        command = ncu_command(self._tool, self._mode, notes / TIMES, "--metrics", metrics, caches="none")
        return attachment(self._tool, first_run(command, shell, notes, self._seconds) + "exit 0\n", notes)

    def own_failure(self, notes: Path, outcome: Outcome) -> str:
        """See `Timer.own_failure`."""
        return failure_of(self._tool, notes, outcome)

    def read(self, problem: CommandProblem, notes: Path, outcome: Outcome) -> Reading:
        """See `Timer.read`. A run without a timed launch has a traffic of 0."""
        complaint = self.own_failure(notes, outcome)
        if complaint:
            return Reading(None, complaint, by_timer=True)
        try:
            log = log_of(notes, TIMES)
            launches = read_launches(log)
        except DamagedTable as error:
            return Reading(None, FAILED.format(f"{error}; the profile was rejected"))
        timed = [one for one in launches if is_timed(problem.timing_mode, one)]
        complaint = refusal_in(log) or lost_launches(problem.timing_mode, launches) or _uncounted(timed)
        if complaint:
            return Reading(None, FAILED.format(complaint))
        traffic = traffic_of(timed)
        return Reading(traffic.kernel_ms, traffic=traffic)


def is_timed(mode: TimingMode, launch: Launch) -> bool:
    """Whether the mode's time includes the launch."""
    if isinstance(mode, RegionTimingMode):
        return any(chosen(mode, name) for name in launch.ranges)
    return chosen(mode, launch.kernel) if isinstance(mode, KernelsTimingMode) else True


def traffic_of(launches: Sequence[Launch]) -> Traffic:
    """The sum over launches. Each must have the metrics in WRITES; an amount that some launch lacks is None."""
    written = [_bytes(launches, metric) for metric in L2_WRITES]
    return Traffic(
        launches=len(launches),
        kernel_ms=sum(one.metrics[TIME] for one in launches) / 1e6,
        l2_written_bytes=sum(amount or 0.0 for amount in written),
        l2_read_bytes=_bytes(launches, L2_READ),
        dram_read_bytes=_bytes(launches, DRAM_READ),
        dram_written_bytes=_bytes(launches, DRAM_WRITTEN),
    )


def _bytes(launches: Sequence[Launch], metric: str) -> float | None:
    sectors = [one.metrics.get(metric) for one in launches]
    known = [one for one in sectors if one is not None]
    return SECTOR_BYTES * sum(known) if len(known) == len(sectors) else None


def _uncounted(launches: Sequence[Launch]) -> str:
    """The reason why the traffic is not known, or "" if it is."""
    missing = next((metric for metric in WRITES if any(metric not in one.metrics for one in launches)), "")
    return f"ncu gave no value of {missing} for some of {len(launches)} kernel launches" if missing else ""
