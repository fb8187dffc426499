"""Judges a reference against itself on this machine, round after round: which figures a quiet machine gives.

`python -m benchmarks reference_noise [--rounds 12]`. Each round judges four CPU functions under `quick`, whose baseline
is timed anew. It prints the ratio over the four with its interval as boards show it, and how many times have the flag
`busy_host`. On an idle machine at least 90 % of the times have no flag, and every ratio is in the band.
"""

import argparse
import math
import os
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from leaderboard.standings.noise import BAND, MOST_APART, Ratio, ratio_of  # noqa: E402 - it imports models
from problems.formats.functions.inside.loaded import load  # noqa: E402
from problems.spec.profile import Profile  # noqa: E402
from problems.spec.record import ProblemRecord  # noqa: E402
from problems.spec.records import record_from  # noqa: E402
from problems.spec.solution import FileSolution, SourceFile  # noqa: E402
from runners.agent.devices.lanes import Lanes  # noqa: E402
from runners.agent.ground.native import default_cache_directory  # noqa: E402
from runners.agent.job.environment import NodeEnvironment  # noqa: E402
from runners.agent.judges.judgement import Assignment  # noqa: E402
from runners.agent.judges.registry import Judges  # noqa: E402
from runners.agent.judges.report import Finished  # noqa: E402
from runners.agent.sandbox import open_backend  # noqa: E402
from runners.wire.protocol import Capabilities, MeasurementReport, ResourceLimits, Role  # noqa: E402

LEAST_UNFLAGGED = 0.9
SIZES = 200_000, 1_000_000, 4_000_000, 8_000_000
DEFINITION = """\
import numpy as np
from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance


class Scale(FunctionProblem):
    parameters = (Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"))
    accuracy = Tolerance(rtol=1e-5, atol=1e-6, reason="one rounding")
    cases = (Case("all", n=SIZE),)

    def inputs(self, case, rng):
        return {"x": rng.standard_normal(case.n, dtype=np.float32)}

    def reference(self, case, x):
        return np.sqrt(np.abs(x)) * np.float32(3)
"""
SOLUTION = """\
#include <cmath>
#include <cstddef>
extern "C" void solution(const float* x, float* y, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] = 3 * std::sqrt(std::fabs(x[i]));
}
"""


def problem(size: int) -> ProblemRecord:
    text, files = DEFINITION.replace("SIZE", str(size)), [{"path": "solution.cpp", "content": SOLUTION}]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "def.py")
        path.write_text(text)
        facts = load(str(path)).facts() | {"is_run": True}
    task_id = f"functions/{size}"
    record = {
        "kind": "function", "type": "function", "schema_version": 1, "task_id": task_id, "date": "2026-01-01",
        "prompt": "Scale.", "metadata": {}, "group": "benchmarks", "device": "cpu", "manifest": facts,
        "definition": {"path": "def.py", "content": text}, "languages": ["cpp"],
        "baseline_solution": {"type": "file", "task_id": task_id, "files": files},
    }  # fmt: skip
    return record_from(record, Profile.PODIUM)


def judged(judges: Judges, record: ProblemRecord) -> Finished:
    files = FileSolution(task_id=record.task_id, files=[SourceFile(path="solution.cpp", content=SOLUTION)])
    facts: dict[str, Any] = {"limits": ResourceLimits(memory_bytes=2 << 30), "needs_baseline": True}
    return judges.judge(Assignment(record, sha256(record.to_line()).hexdigest(), files, **facts))


def ln_of(done: Finished) -> float | None:
    """The logarithm of the speedup; None without both times."""
    times: dict[Role, MeasurementReport] = {one.role: one for one in done.report.measurements}
    if len(times) < len(Role):
        return None
    return math.log(times[Role.BASELINE].median_ms / times[Role.CANDIDATE].median_ms)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    records = [problem(size) for size in SIZES]
    ratios: list[Ratio] = []
    n_flagged = n_all = 0
    with tempfile.TemporaryDirectory(prefix="podium-noise-") as folder:
        Path(folder).chmod(0o755)
        box = open_backend("bubblewrap", default_cache_directory())
        environment = NodeEnvironment.open("here", Path(folder), box, Lanes(1, 1), Capabilities())
        began = time.monotonic()
        for number in range(1, rounds + 1):
            judges = Judges(environment)  # which keep no baseline of an earlier round
            done = [judged(judges, record) for record in records]
            flagged = sum(any(flag.code == "busy_host" for flag in one.report.flags) for one in done)
            n_flagged, n_all = n_flagged + flagged, n_all + len(done)
            lns = [ln for one in done if (ln := ln_of(one)) is not None]
            found = ratio_of(lns, [0.0] * len(lns))
            if found is not None:
                ratios.append(found)
                words = f"{found.ratio:.3f} ({found.low:.3f} to {found.high:.3f}){', noisy' if found.is_noisy else ''}"
                print(
                    f"{number:3}  {words}  {flagged} of {len(done)} flagged  load {os.getloadavg()[0]:.1f}", flush=True
                )
        seconds = time.monotonic() - began
        environment.close()
    share = 1 - n_flagged / n_all
    n_noisy = sum(one.is_noisy for one in ratios)
    print(f"ratios from {min(one.ratio for one in ratios):.3f} to {max(one.ratio for one in ratios):.3f}")
    print(f"ends at most {max(one.high / one.low for one in ratios):.2f} × apart, allowed {MOST_APART} ×")
    print(f"{n_noisy} of {len(ratios)} rounds noisy outside {BAND[0]} to {BAND[1]}")
    print(f"{share:.0%} of {n_all} times unflagged, on an idle machine at least {LEAST_UNFLAGGED:.0%}; {seconds:.0f} s")
    return int(share < LEAST_UNFLAGGED or n_noisy > 0)


if __name__ == "__main__":
    sys.exit(main())
