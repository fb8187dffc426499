"""Measures the judge of function problems on this machine: a call that does nothing, and a sample beside its calls."""

import statistics
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from benchmarks.figures import BenchFigure, show
from problems.formats.functions.inside.loaded import load
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import record_from
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.devices.lanes import Lanes
from runners.agent.ground.events import Progress
from runners.agent.ground.native import default_cache_directory
from runners.agent.job.building import build
from runners.agent.job.environment import NodeEnvironment
from runners.agent.job.job import Job
from runners.agent.judges.function.checkers import Checkers
from runners.agent.judges.function.contest import Contest, contest
from runners.agent.judges.function.contestants import Contestants, Entry
from runners.agent.judges.function.inside.orders import CallSample, HowEnded
from runners.agent.judges.function.inside.plan import Plan
from runners.agent.judges.function.subject import FunctionSubject
from runners.agent.sandbox import open_backend
from runners.wire.job import JobRules
from runners.wire.protocol import Capabilities, ResourceLimits

CALL_LIMIT_US, SAMPLE_LIMIT_MS = 60.0, 150.0
CALLS, SAMPLES = 400, 20
DEFINITION = """\
import numpy as np
from podium_functions import Array, Case, Exact, FunctionProblem


class Nothing(FunctionProblem):
    parameters = (Array("x", "int32", "in", (1,)), Array("y", "int32", "out", (0,)))
    accuracy = Exact("nothing is computed")
    cases = (Case("empty"),)

    def inputs(self, case, rng):
        return {"x": rng.integers(0, 99, 1, np.int32)}

    def reference(self, case, x):
        return np.empty(0, np.int32)
"""
SOLUTIONS = {
    "cpp": '#include <cstdint>\nextern "C" void solution(const int32_t*, int32_t*) {}\n',
    "py": "def solution(x, y):\n    pass\n",
}


def problem() -> ProblemRecord:
    """A problem whose outputs are empty, so that the solution that does nothing passes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "def.py")
        path.write_text(DEFINITION)
        facts = load(str(path)).facts() | {"is_run": True}
    record = {
        "kind": "function", "type": "function", "schema_version": 1, "task_id": "functions/nothing",
        "date": "2026-01-01", "prompt": "Nothing.", "metadata": {}, "group": "benchmarks", "device": "cpu",
        "definition": {"path": "def.py", "content": DEFINITION}, "manifest": facts, "languages": ["cpp", "python"],
    }  # fmt: skip
    return record_from(record, Profile.PODIUM)


class JudgedSample:
    """A warm checker, and contestants of one language before it."""

    def __init__(self, environment: NodeEnvironment, suffix: str) -> None:
        self._environment = environment
        record = problem()
        files = FileSolution(
            task_id=record.task_id, files=[SourceFile(path=f"solution.{suffix}", content=SOLUTIONS[suffix])]
        )
        job = Job(
            record,
            sha256(record.to_line()).hexdigest(),
            files,
            rules=JobRules(limits=ResourceLimits(memory_bytes=1 << 30)),
            image=environment.image_for(""),
        )
        subject = FunctionSubject.of(job)
        order = subject.build_order
        self._entry = Entry(subject) if order is None else Entry(subject, build(environment, order, Progress()).product)
        self._checkers = Checkers(environment)
        self._contestants = Contestants(environment)
        environment.closing.callback(self._checkers.close)
        environment.closing.callback(self._contestants.close)

    def sample(self, n_calls: int) -> tuple[Contest, float]:
        """One sample, and its milliseconds from the start of its sandbox to its end."""
        plan = Plan(n_calls, n_calls, enough_seconds=60, longest_seconds=60, budget_seconds=60)
        subject = self._entry.subject
        order = CallSample(subject.stub, [0], None, plan, plan)
        lanes = self._environment.lanes
        with (
            lanes.benchmark(subject.place) as seat,
            self._checkers.at(seat, subject, Progress()) as checker,
        ):
            began = time.perf_counter()
            seen = contest(self._contestants, checker, self._entry, seat, order, Progress())
            elapsed_ms = (time.perf_counter() - began) * 1e3
        if seen.how is not HowEnded.NOT or seen.cases[0].complaint is not None:
            raise RuntimeError(f"the empty solution did not pass: {seen}")
        return seen, elapsed_ms


def beyond_calls_ms(judged: JudgedSample) -> float:
    """Milliseconds of a sample of two calls less those that these calls took, their preparing and checking included."""
    seen, elapsed_ms = judged.sample(1)
    case = seen.cases[0]
    # The second call alone is in `clock_ns`; the first took as long.
    calls_ms = 2 * sum(case.clock_ns) / 1e6
    return elapsed_ms - (case.prepare_ms + case.check_ms + calls_ms)


def run() -> list[BenchFigure]:
    """Calls of one long sample each, and the median of many short samples."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        sandbox = open_backend("bubblewrap", default_cache_directory())
        environment = NodeEnvironment.open("here", folder, sandbox, Lanes(1, 1), Capabilities())
        try:
            native, python = JudgedSample(environment, "cpp"), JudgedSample(environment, "py")
            for words, judged, limit in (("C++", native, CALL_LIMIT_US), ("Python", python, None)):
                seen, _ = judged.sample(CALLS)
                us = statistics.median(seen.cases[0].go_ns) / 1e3
                figures.append(BenchFigure(f"empty call from go to done, {words}", us, "µs", limit, "max"))
                case = seen.cases[0]
                parts = {"prepare": case.prepare_ms, "check": case.check_ms}
                figures += [
                    BenchFigure(f"  its {part} beside the clock", ms / (CALLS + 1) * 1e3, "µs", None, "max")
                    for part, ms in parts.items()
                ]
            samples_ms = [beyond_calls_ms(native) for _ in range(SAMPLES)]
            sample_ms = statistics.median(samples_ms)
            figures.append(BenchFigure("sample in C++ beyond build and calls", sample_ms, "ms", SAMPLE_LIMIT_MS, "max"))
        finally:
            environment.close()
    return figures


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
