"""Podium's side: the same definitions, read through its format, and the same solutions, judged as a node does."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.functions_gpu import Candidate, judged
from benchmarks.tensara_rival.solutions import Solution
from podium.evaluation.judges import local_judges
from podium.functions.manifests import ManifestMaker
from problems.formats.errors import PackRefused
from problems.formats.functions.pack import read_problem
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import SourceFile
from runners.agent.judges.registry import Judges
from runners.wire.protocol import TimingPolicy, Verdict


@dataclass(frozen=True)
class PodiumEngine:
    """Podium's judges on this machine, over a folder of Tensara's problems."""

    judges: Judges
    problems: Path
    timing: TimingPolicy
    read: dict[str, FunctionProblem | str] = field(default_factory=dict)
    """Problems by slug: as packed on this machine, or the reason why one cannot be read."""

    def row(self, solution: Solution, repeat: int) -> dict[str, Any]:
        problem = self._problem(solution.problem)
        if isinstance(problem, str):
            return {"verdict": "not read", "credited": False, "reason": problem, "seconds": None, "ms": {}}
        file = SourceFile(path=f"solution{solution.path.suffix}", content=solution.content(repeat))
        one = Candidate(solution.name, file)
        return row_of(judged(self.judges, problem, one, is_trial=False, policy=self.timing)) | {"timing": self.timing}

    def _problem(self, slug: str) -> FunctionProblem | str:
        if slug not in self.read:
            uuids = tuple(gpu.uuid for gpu in self.judges.environment.capabilities.gpus)
            try:
                make = ManifestMaker(self.judges.environment.sandbox, uuids)
                self.read[slug] = read_problem(self.problems / slug, make)
            except PackRefused as refused:
                self.read[slug] = refused.message
        return self.read[slug]


@contextmanager
def podium_engine(problems: Path, sandbox: str, timing: TimingPolicy) -> Iterator[PodiumEngine]:
    """Podium's engine, which cleans its GPU and is warm when this ends."""
    with local_judges(sandbox, 1, bounded=False) as judges:
        yield PodiumEngine(judges, problems, timing)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """`credited`: it passed and nothing is flagged. Only cases long enough to rank have a time."""
    times = {case: ms for case, ms in row.get("ms", {}).items() if case in row.get("baseline_ms", {})}
    is_credited = row["verdict"] == Verdict.PASSED and not row["flags"]
    return {
        "verdict": row["verdict"],
        "credited": is_credited,
        "reason": row["reason"] or ", ".join(row.get("flags", [])),
        "seconds": None if row["verdict"] == "fault" else row["seconds"],
        "ms": times,
        "published_ms": statistics.geometric_mean(times.values()) if is_credited and times else None,
        **{key: row[key] for key in ("build_ms", "runs_ms", "baseline_ms", "speedup", "flags", "device") if key in row},
    }
