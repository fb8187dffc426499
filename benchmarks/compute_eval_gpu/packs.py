"""Draws problems from a release of a ComputeEval checkout and writes them with their own baselines as solutions."""

import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.compute_eval_gpu.refused import BenchmarkRefused
from problems.formats.compute_eval.packs import (
    PackRecord,
    ProblemPack,
    datapack_name,
    graded_filename,
    read_problem_pack,
    write_problem_pack,
    write_solution_pack,
)
from problems.formats.errors import PackRefused
from problems.spec.command.problem import as_command

LEFT_OUT = "without group cutile and compute capability 10.0"
"""The filter in words. It does not depend on the machine, so a seed draws the same problems everywhere. Both evaluators
skip the problems that a machine cannot run."""


@dataclass(frozen=True)
class Packs:
    """A problems pack and a solutions pack for it, in a folder of their own."""

    release: str
    folder: Path

    @property
    def problems(self) -> Path:
        return self.folder / f"{self.release}-problems.tar.gz"

    @property
    def solutions(self) -> Path:
        return self.folder / f"{self.release}-baselines-solutions.tar.gz"

    @property
    def graded_name(self) -> str:
        """The name that ComputeEval gives to its rows."""
        return graded_filename(datapack_name(self.solutions.name))


def release_pack(checkout: Path, release: str) -> ProblemPack:
    """The release as the checkout has it. Raises BenchmarkRefused."""
    releases = checkout / "data" / "releases"
    if not releases.is_dir():
        raise BenchmarkRefused(f"{checkout} is no checkout of ComputeEval: it has no folder data/releases.")
    path = releases / f"{release}-problems.tar.gz"
    if not path.is_file():
        there = ", ".join(
            sorted(one.name.removesuffix("-problems.tar.gz") for one in releases.glob("*-problems.tar.gz"))
        )
        raise BenchmarkRefused(f"The checkout has no release {release}; it has {there or 'none'}.")
    try:
        return read_problem_pack(path)
    except PackRefused as error:
        raise BenchmarkRefused(f"{path} cannot be read: {error}") from error


def drawn(pack: ProblemPack, n_problems: int, seed: int) -> list[PackRecord]:
    """So many of the usable problems, as `random.seed(seed); random.sample` draws them. Raises BenchmarkRefused."""
    usable = [record for record in pack.records if _is_usable(record)]
    if not 1 <= n_problems <= len(usable):
        raise BenchmarkRefused(f"--problems is {n_problems}; the release has {len(usable)} {LEFT_OUT}.")
    return random.Random(seed).sample(usable, n_problems)


def named(pack: ProblemPack, task_ids: Collection[str]) -> list[PackRecord]:
    """The problems with these ids, in the release's order."""
    return [record for record in pack.records if record.problem.task_id in task_ids]


def _is_usable(record: PackRecord) -> bool:
    problem = as_command(record.problem)
    suits = problem.group != "cutile" and problem.compute_capability != "10.0"
    return suits and problem.baseline_solution is not None


def write(packs: Packs, metadata_bytes: bytes, records: Sequence[PackRecord]) -> None:
    """Write these problems of a release as they stand in it, and their baselines as solutions."""
    packs.folder.mkdir(parents=True, exist_ok=True)
    problems = [json.loads(record.line) for record in records]
    metadata = json.loads(metadata_bytes)
    head = {name: value for name, value in metadata.items() if name != "task_id_hashes"}
    head |= {"total_count": len(problems)}
    write_problem_pack(packs.problems, json.dumps(head).encode(), _lines(problems))
    said = {"release": packs.release, "created_at": head["created_at"], "total_count": len(problems)}
    said |= {"description": "The problems' own baselines.", "groups": head.get("groups")}
    baselines = [problem["baseline_solution"] for problem in problems]
    write_solution_pack(packs.solutions, json.dumps(said).encode(), _lines(baselines))


def _lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
