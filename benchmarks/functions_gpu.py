"""Judges a tree of function problems on this machine: their references, bad solutions and entrants, a row for each.

python -m benchmarks.functions_gpu --real --problems examples/functions-gpu/problems \\
    --entrants examples/functions-gpu/entrants --out rows.jsonl --limit-seconds 300
Rows are JSON: problem, entrant, language, verdict, expected verdict, seconds of the sample, and milliseconds by case.
A problem whose class cannot be read has a row with the cause.
"""

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from podium.evaluation.judges import local_judges
from podium.evaluation.run import limits_of
from podium.functions.manifests import ManifestMaker
from problems.formats.errors import PackRefused
from problems.formats.functions.folder import function_folders
from problems.formats.functions.pack import read_problem
from problems.spec.function.problem import FunctionProblem
from problems.spec.record import REFERENCE
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.ground.errors import SandboxFault, UnusableProblem
from runners.agent.job.job import BuildPolicy, Job
from runners.agent.judges.registry import Judges
from runners.wire.job import JobPurpose, JobRules, Sides
from runners.wire.protocol import Report, Role, TimingPolicy
from scoring.sample import sample_speedup


@dataclass(frozen=True)
class Candidate:
    """One solution to judge."""

    entrant: str
    file: SourceFile
    expected: str = ""


def candidates(
    problem: FunctionProblem, folder: Path, entrants: Path | None, what: frozenset[str]
) -> Iterator[Candidate]:
    """The problem's own baselines and bad solutions, and the entrants' solutions in `entrants/NAME/SLUG/`."""
    for name, solution in problem.baselines.items():
        if name in what:
            yield Candidate(name, solution.files[0], "passed")
    for path in sorted(entrants.glob(f"*/{folder.name}/solution.*")) if entrants else ():
        yield Candidate(path.parent.parent.name, SourceFile(path=path.name, content=path.read_text()))
    for bad in problem.podium.known_bad if "known_bad" in what else ():
        yield Candidate(f"known bad: {bad.name}", bad.files[0], bad.expect)


def native_policy(judges: Judges) -> BuildPolicy:
    """Builds for this machine's first GPU, as a track's nodes do."""
    gpus = judges.environment.capabilities.gpus
    return BuildPolicy.for_capability(gpus[0].compute_capability if gpus else "")


def judged(
    judges: Judges, problem: FunctionProblem, one: Candidate, *, is_trial: bool, policy: TimingPolicy
) -> dict[str, Any]:
    """The row of one solution."""
    began = time.monotonic()
    is_compared = one.entrant != REFERENCE and not one.entrant.startswith("known bad")
    rules = JobRules(
        purpose=JobPurpose.TRIAL if is_trial else JobPurpose.GRADE,
        sides=Sides.BOTH if is_compared else Sides.SOLUTION,
        limits=limits_of(problem),
        timing_policy=policy,
    )
    job = Job(
        problem=problem,
        problem_sha256=sha256(problem.to_line()).hexdigest(),
        solution=FileSolution(task_id=problem.task_id, files=[one.file]),
        rules=rules,
        image=judges.environment.image_for(""),
        invalid_reason=problem.rules().why_bad([one.file]),
        build_policy=native_policy(judges),
    )
    row: dict[str, Any] = {"problem": problem.task_id, "entrant": one.entrant, "file": one.file.path}
    try:
        report = judges.judge(job).report
    except (SandboxFault, UnusableProblem) as error:
        return row | {"verdict": "fault", "reason": str(error)[-1500:], "seconds": time.monotonic() - began}
    return row | _facts(report) | {"expected": one.expected, "seconds": round(time.monotonic() - began, 2)}


def _facts(report: Report) -> dict[str, Any]:
    own, base = ({m.case: m for m in report.measurements if m.role is role} for role in (Role.CANDIDATE, Role.BASELINE))
    times = {name: {one: m.median_ms for one, m in side.items()} for name, side in (("own", own), ("base", base))}
    build = next((step for step in report.steps if step.name == "build"), None)
    return {
        "verdict": report.verdict.value,
        "reason": report.reason[:600],
        "build_ms": 0 if build is None or build.cached else round(build.wall_ms),
        "ms": times["own"],
        "interval_ms": {case: (one.ci_low_ms, one.ci_high_ms) for case, one in own.items()},
        "runs_ms": {case: one.runs_ms for case, one in own.items()},
        "cases": {case.name: {field.name: field.value for field in case.fields} for case in report.cases},
        "baseline_ms": times["base"],
        "device": {one: m.device for one, m in own.items()},
        "speedup": sample_speedup(times["base"], times["own"]),
        "flags": [flag.code for flag in report.flags],
        "n_cases": len(report.cases),
    }


def main() -> None:
    options = _options()
    began = time.monotonic()
    what = frozenset(options.what.split(","))
    with local_judges(options.sandbox, 1, bounded=False) as judges, options.out.open("w") as out:
        uuids = tuple(gpu.uuid for gpu in judges.environment.capabilities.gpus)
        make = ManifestMaker(judges.environment.sandbox, uuids if options.real else ())

        def read(folder: Path) -> FunctionProblem | str:
            try:
                return read_problem(folder, make)
            except PackRefused as refused:
                return refused.message

        folders = function_folders(options.problems)[options.shard :: options.shards]
        with ThreadPoolExecutor(options.readers) as pool:
            reading = {pool.submit(read, folder): folder for folder in folders}
            for done in as_completed(reading):
                folder, problem = reading[done], done.result()
                for row in _rows(judges, problem, folder, options, what):
                    print(json.dumps({**row, "at": round(time.monotonic() - began, 1)}), file=out, flush=True)
                    print(f"{row['problem']} {row['entrant']}: {row['verdict']} {row.get('seconds', '')}", flush=True)
                if time.monotonic() - began > options.limit_seconds:
                    print("out of time", flush=True)
                    pool.shutdown(wait=False, cancel_futures=True)
                    break


def _rows(
    judges: Judges, problem: FunctionProblem | str, folder: Path, options: argparse.Namespace, what: frozenset[str]
) -> Iterator[dict[str, Any]]:
    if isinstance(problem, str):
        yield {"problem": folder.name, "entrant": "", "verdict": "not read", "reason": problem}
        return
    for one in candidates(problem, folder, options.entrants, what):
        yield judged(judges, problem, one, is_trial=options.trial, policy=TimingPolicy(options.timing))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--entrants", type=Path)
    parser.add_argument(
        "--what", default="reference,known_bad", help="besides entrants: reference, compiled, expert, known_bad"
    )
    parser.add_argument("--timing", choices=[str(one) for one in TimingPolicy], default="quick")
    parser.add_argument("--real", action="store_true", help="make manifests with real tensors on the GPU")
    parser.add_argument("--trial", action="store_true", help="few calls and no times")
    parser.add_argument("--readers", type=int, default=2, help="definitions read at a time")
    parser.add_argument("--shard", type=int, default=0, help="number of this process, from 0 on")
    parser.add_argument("--shards", type=int, default=1, help="number of processes among which problems are dealt")
    parser.add_argument("--sandbox", default="bubblewrap")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit-seconds", type=float, default=540)
    return parser.parse_args()


if __name__ == "__main__":
    main()
