"""Judges the demo's references against themselves on this machine: how many times are flagged `busy_host`, and whether
the reference stands at 1 ×.

`python -m benchmarks reference_noise [--rounds 3] [--policy ranked] [--loops 2] [--only cpp/]`. Each round judges every
timed reference of the demo as a solution, with a baseline timed anew, and tells the ratio as a board does, over the
times without a flag. It exits with 1 unless at least 90 % of the times have no flag, each round's interval includes 1,
and none is noisy, as on a machine that runs nothing else. `--loops` runs so many busy loops beside it. `--raw` names a
file for one line of JSON for each reference.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from demo.releases import load_releases  # noqa: E402 - Django must be set up first
from leaderboard.standings.reference_noise.noise import Ratio, ratio_of  # noqa: E402
from problems.spec.kinds import NODE_KINDS  # noqa: E402
from problems.spec.record import ProblemRecord  # noqa: E402
from problems.spec.solution import FileSolution  # noqa: E402
from runners.agent.devices.lanes import Lanes  # noqa: E402
from runners.agent.ground.native import default_cache_directory  # noqa: E402
from runners.agent.job.environment import NodeEnvironment  # noqa: E402
from runners.agent.job.job import Job  # noqa: E402
from runners.agent.judges.registry import Judges  # noqa: E402
from runners.agent.sandbox import open_backend  # noqa: E402
from runners.wire.job import JobRules  # noqa: E402
from runners.wire.protocol import Capabilities, MeasurementReport, Role, TimingPolicy  # noqa: E402

LEAST_UNFLAGGED = 0.9
HOST = "host_lost_share", "host_others_cores"


@dataclass(frozen=True)
class Seen:
    """One reference against itself."""

    task_id: str
    verdict: str
    is_flagged: bool
    pairs: Sequence[tuple[float, float]]
    """The medians of candidate and baseline in ms, by case."""
    halves: Sequence[float]
    """Half the width of the interval of their ratio, as a logarithm, by case."""
    host: dict[str, dict[str, float]]
    """The share of a role's time that others took, and the cores that they kept busy."""
    seconds: float

    @property
    def ln(self) -> float:
        return sum(math.log(other / own) for own, other in self.pairs) / len(self.pairs)

    @property
    def half(self) -> float:
        return math.hypot(*self.halves) / len(self.halves)


def judged(judges: Judges, record: ProblemRecord, policy: TimingPolicy) -> Seen:
    reference = record.reference
    assert isinstance(reference, FileSolution)
    rules = JobRules(timing_policy=policy)
    began = time.monotonic()
    done = judges.judge(Job(record, sha256(record.to_line()).hexdigest(), reference, rules)).report
    times = {(one.role, one.case): one for one in done.measurements}
    pairs = [(one, times.get((Role.BASELINE, one.case))) for one in done.measurements if one.role is Role.CANDIDATE]
    known = [(own, other) for own, other in pairs if other is not None]
    return Seen(
        record.task_id,
        done.verdict.value,
        any(flag.code == "busy_host" for flag in done.flags),
        [(own.median_ms, other.median_ms) for own, other in known],
        [math.hypot(half(own), half(other)) for own, other in known],
        {
            one.role.value: {name: float(one.device[name]) for name in HOST if name in one.device}
            for one in done.measurements
        },
        time.monotonic() - began,
    )


def half(one: MeasurementReport) -> float:
    return math.log(one.ci_high_ms / one.ci_low_ms) / 2 if one.ci_low_ms and one.ci_high_ms else 0.0


def told(ratio: Ratio | None) -> str:
    if ratio is None:
        return "no time without a flag"
    ends = f" ({ratio.low:.3f} to {ratio.high:.3f})" if ratio.low and ratio.high else ""
    return f"{ratio.ratio:.3f}{ends}{', noisy' if ratio.is_noisy else ''}"


def holds_1(ratio: Ratio | None) -> bool:
    return ratio is not None and not ratio.is_noisy and (ratio.low or 0.0) <= 1 <= (ratio.high or math.inf)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--policy", type=TimingPolicy, choices=list(TimingPolicy), default=TimingPolicy.QUICK)
    parser.add_argument("--loops", type=int, default=0)
    parser.add_argument("--only", default="", help="start of the task ids to judge")
    parser.add_argument("--raw", type=Path)
    given = parser.parse_args()
    seen: list[Seen] = []
    ratios: list[Ratio | None] = []
    with tempfile.TemporaryDirectory(prefix="podium-noise-") as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        box = open_backend("bubblewrap", default_cache_directory())
        found = [one.problem for release in load_releases(box) for one in release.pack.records]
        asked = [one for one in found if one.kind in NODE_KINDS and one.task_id.startswith(given.only)]
        records = [one for one in asked if isinstance(one.reference, FileSolution)]
        environment = NodeEnvironment.open("here", Path(folder), box, Lanes(1, 1), Capabilities())
        stack.callback(environment.close)
        stack.enter_context(busy_loops(given.loops))
        for number in range(1, given.rounds + 1):
            judges = Judges(environment)  # which keep no baseline of an earlier round
            done = [one for record in records if (one := judged(judges, record, given.policy)).pairs]
            seen += done
            if given.raw:
                given.raw.write_text("".join(json.dumps(vars(one)) + "\n" for one in seen))
            quiet = [one for one in done if not one.is_flagged]
            ratio = ratio_of([one.ln for one in quiet], [one.half for one in quiet])
            ratios.append(ratio)
            print(f"{number:3}  {told(ratio)}  {len(done) - len(quiet)} of {len(done)} flagged", end="  ")
            print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    share = 1 - sum(one.is_flagged for one in seen) / len(seen)
    far = sorted(abs(one.ln) for one in seen if not one.is_flagged)
    print(f"{share:.0%} of {len(seen)} times without a flag; {sum(one.seconds for one in seen):.0f} s")
    if far:
        print(f"of those without a flag, 9 in 10 lie within {math.expm1(far[int(0.9 * (len(far) - 1))]):.1%} of 1 ×")
    return int(share < LEAST_UNFLAGGED or not all(map(holds_1, ratios)))


if __name__ == "__main__":
    sys.exit(main())
