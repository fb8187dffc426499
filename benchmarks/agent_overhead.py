"""Measures what the agent adds to an evaluation's own commands, with bubblewrap and the witness at work."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import BenchFigure, show
from problems.spec.command.problem import CommandProblem, problem_from
from problems.spec.profile import Profile
from problems.spec.solution import FileSolution, SourceFile
from runners.agent import capabilities
from runners.agent.devices.lanes import Lanes
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.registry import Judges
from runners.agent.sandbox import choose
from runners.wire.protocol import Verdict

EVALUATIONS = 40
LIMIT_MS = 60.0
BUILD, TEST = "g++ -o test.out solution.cpp test/main.cpp", "./test.out"
MAIN = "int solve(int);\nint main() { return solve(20) == 41 ? 0 : 1; }\n"


def run() -> list[BenchFigure]:
    """Each sample is new, so every build happens; the agent and bare commands take turns on the same sources."""
    sandbox = choose("bubblewrap")
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        known = capabilities.find_out(sandbox)
        environment = NodeEnvironment.open("bench", Path(folder), sandbox, Lanes(1, 1), known)
        try:
            pairs = [_pair(Judges(environment), Path(folder), n) for n in range(EVALUATIONS)]
        finally:
            environment.close()
    overheads_ms = [graded - bare for graded, bare in pairs]
    return [
        BenchFigure("agent overhead per evaluation, median", statistics.median(overheads_ms), "ms", LIMIT_MS, "max"),
        BenchFigure("the same, slowest of 40", max(overheads_ms), "ms", None, "max"),
        BenchFigure("bare commands, median", statistics.median(bare for _, bare in pairs), "ms", None, "max"),
    ]


def _pair(judges: Judges, folder: Path, number: int) -> tuple[float, float]:
    """Milliseconds of one evaluation by the agent, and of its bare commands on the same machine just after."""
    source = f"// {number}\nint solve(int n) {{ return 2 * n + 1; }}\n"
    problem = _problem()
    solution = FileSolution(task_id=problem.task_id, files=[SourceFile(path="solution.cpp", content=source)])
    started = time.perf_counter()
    finished = judges.judge(Job(problem, "0" * 64, solution))
    graded_ms = (time.perf_counter() - started) * 1000
    if finished.report.verdict != Verdict.PASSED:
        raise RuntimeError(f"the measured sample came to {finished.report.verdict}: {finished.report.reason}")
    return graded_ms, _bare_ms(folder / f"bare-{number}", source)


def _problem() -> CommandProblem:
    record: dict[str, Any] = {
        "type": "cpp",
        "task_id": "bench/overhead",
        "date": "2026-01-01",
        "prompt": "",
        "metadata": {},
        "group": "bench",
        "compute_capability": None,
        "test_files": [{"path": "test/main.cpp", "content": MAIN}],
        "build_command": BUILD,
        "test_command": TEST,
    }
    return problem_from(record, Profile.PODIUM)


def _bare_ms(workspace: Path, source: str) -> float:
    (workspace / "test").mkdir(parents=True)
    (workspace / "solution.cpp").write_text(source)
    (workspace / "test" / "main.cpp").write_text(MAIN)
    started = time.perf_counter()
    for command in (BUILD, TEST):
        subprocess.run(["bash", "-c", command], cwd=workspace, check=True)
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
