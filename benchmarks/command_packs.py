"""Packs of what a command release says of itself: its references, and its known-bad solutions; and whether it was so.

python -m benchmarks.command_packs write --problems PACK --out DIR        # then `podium evaluate` grades what it wrote
python -m benchmarks.command_packs compare --problems PACK --graded DIR   # a line for each that is not as stated
Use it where no site verifies the release, as on a machine that only has a GPU.
"""

import argparse
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.evaluation.inputs import read_problems
from problems.formats.compute_eval.packs import ProblemPack, write_solution_pack
from problems.spec.pack import SolutionPackMetadata
from problems.spec.record import REFERENCE
from problems.spec.solution import FileSolution

KNOWN_BAD = "known-bad"
CREATED_AT = "2026-01-01T00:00:00"


def stated(pack: ProblemPack) -> Iterator[tuple[str, FileSolution, str, str]]:
    """Pack's name, solution, its name and the verdict it must get."""
    for record in pack.records:
        problem = record.problem
        if problem.baselines:
            yield REFERENCE, problem.baselines[REFERENCE], REFERENCE, "passed"
        for bad in problem.podium.known_bad:
            yield KNOWN_BAD, FileSolution(task_id=problem.task_id, files=bad.files), bad.name, bad.expect


def write(pack: ProblemPack, folder: Path) -> None:
    """`reference-solutions.tar.gz` and `known-bad-solutions.tar.gz`."""
    rows = list(stated(pack))
    folder.mkdir(parents=True, exist_ok=True)
    for name in {row[0] for row in rows}:
        lines = [solution.to_line() for owner, solution, _, _ in rows if owner == name]
        metadata = SolutionPackMetadata.model_construct(
            release=str(pack.metadata.release), total_count=len(lines), created_at=CREATED_AT, groups=None
        )
        target = io.BytesIO()
        write_solution_pack(target, metadata, lines)
        (folder / f"{name}-solutions.tar.gz").write_bytes(target.getvalue())


def compare(pack: ProblemPack, folder: Path) -> None:
    """Print each solution whose verdict is not the stated one, with its reason, and the totals."""
    rows = list(stated(pack))
    totals = Counter[str]()
    for name in sorted({row[0] for row in rows}):
        graded = {}
        for path in folder.glob(f"{name}-graded-solutions.jsonl"):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                graded[_key(row["solution"])] = row["podium"]
        for owner, solution, label, expected in rows:
            if owner != name:
                continue
            found = graded.get(_key(json.loads(solution.to_line())))
            verdict = "not graded" if found is None else found["verdict"]
            totals[f"{name}: {'as stated' if verdict == expected else 'otherwise'}"] += 1
            if verdict != expected:
                reason = "" if found is None else found.get("reason", "")[:300]
                print(f"{solution.task_id} {label}: {verdict}, not {expected}: {reason}")
    print(dict(totals))


def _key(solution: dict[str, Any]) -> str:
    return json.dumps([solution["task_id"], solution["files"]], sort_keys=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command_packs", description=__doc__)
    parser.add_argument("act", choices=("write", "compare"))
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("packs"), help="Folder of the packs.")
    parser.add_argument("--graded", type=Path, default=Path(), help="Folder of the graded files.")
    options = parser.parse_args()
    pack = read_problems(options.problems, [])
    if options.act == "write":
        write(pack, options.out)
    else:
        compare(pack, options.graded)


if __name__ == "__main__":
    main()
