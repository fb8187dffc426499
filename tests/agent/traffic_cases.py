"""Made-up runs of ten timed calls that each read 200 MB and write 100 MB, and the counts of solutions and reference."""

from pathlib import Path
from typing import Any

from problems.spec.command.problem import CommandProblem
from runners.agent.judges.command import traffic
from runners.agent.judges.command.counting import Counted
from runners.agent.judges.command.runs import BenchmarkRun
from runners.agent.judges.command.timing import Series, Timed
from runners.agent.profilers.base import Attachment, Reading, Timer
from runners.agent.profilers.facts import ProfileFacts, RangeFacts, Traffic
from runners.agent.sandbox.policy import Outcome
from runners.wire.protocol import Clock, Peaks
from tests.agent.cupti_stand_in import ran
from tests.agent.machine import shell_problem

MB = 1_000_000
N_CALLS = 10
PEAKS = Peaks(gbps=4000.0, l2_bytes=50 << 20)
REGION = {"type": "region", "include": ["bench_region"], "time_type": "kernel"}
BY_WALL = {**REGION, "time_type": "wall_clock"}
KERNELS, GPU = {"type": "kernels"}, {"type": "gpu"}
RANGE = RangeFacts(
    instances=N_CALLS, unclosed=0, wall_ms=2.0, kernel_ms=1.0, launches=N_CALLS, memcpy_ms=0.0, memset_ms=0.0,
    busy_ms=1.0, late_ms=0.0, foreign_launches=0, uploaded_before_bytes=200 * MB, downloaded_after_bytes=100 * MB,
)  # fmt: skip
FACTS = ProfileFacts(
    processes=1, unfinished=0, dropped_records=0, kernel_ms=1.0, launches=N_CALLS, memcpy_ms=5.0, memset_ms=1.0,
    busy_ms=7.0, outside_ms=0.0, outside_launches=0, copied_bytes=300 * MB, filled_bytes=0, uploaded_bytes=200 * MB,
    downloaded_bytes=100 * MB, kernels={"solve": N_CALLS}, ranges={"bench_region": RANGE},
)  # fmt: skip
NAIVE = Traffic(
    N_CALLS, 1.0, l2_written_bytes=9000.0 * MB, l2_read_bytes=90_000.0 * MB, dram_read_bytes=9e9, dram_written_bytes=9e9
)
LIBRARY = Traffic(N_CALLS, 0.2, l2_written_bytes=N_CALLS * 100.0 * MB)
EMPTY = Traffic(N_CALLS, 0.01, l2_written_bytes=320.0)
FIRST_ONLY = Traffic(N_CALLS, 0.02, l2_written_bytes=100.0 * MB)


class Profiled:
    """A timer that is only named here."""

    clock, waits_at_gate, patience, name = Clock.IN_PROCESS, False, 1.0, "profiled"
    for_graphs: Timer | None = None

    def attach(self, shell: str, _notes: Path) -> Attachment:
        return Attachment(shell)

    def read(self, _problem: CommandProblem, _notes: Path, _outcome: Outcome) -> Reading:
        raise NotImplementedError

    def own_failure(self, _notes: Path, _outcome: Outcome) -> str:
        return ""


def series(time_ms: float, facts: ProfileFacts | None = FACTS) -> Series:
    return Series([BenchmarkRun(ran(), Reading(time_ms, facts=facts))])


def timed(time_ms: float = 0.2, facts: ProfileFacts = FACTS, reference: ProfileFacts | None = FACTS) -> Timed:
    return Timed(Profiled(), series(time_ms, facts), series(1.0, reference))


def problem(mode: dict[str, Any] = REGION, **podium: Any) -> CommandProblem:
    return shell_problem(benchmark_command="./bench", timing_mode=mode, metadata={"podium": podium})


def checked(
    own: Traffic | None,
    run: Timed | None = None,
    reference: Traffic | None = NAIVE,
    mode: dict[str, Any] = REGION,
    **podium: Any,
) -> traffic.TrafficCheck:
    run = run or timed()
    theirs = Counted(reference, "" if reference else "no counters")
    bounds = traffic.bounds_of(problem(mode, **podium), run, theirs)
    return traffic.check(bounds, run, Counted(own, "" if own else "it failed"), theirs, PEAKS)
