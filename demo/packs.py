"""`python -m demo.packs FOLDER TARGET`: a solutions pack of each demo entrant of a release, for `podium evaluate`."""

import argparse
from pathlib import Path

from demo.entrants import DemoEntrant, load_entrants, solution_pack
from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack, read_problem_pack
from problems.formats.errors import PackRefused
from problems.formats.set_solutions import converted
from problems.spec.function.problem import FunctionProblem
from problems.spec.solution import FileSolution


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demo.packs", description=__doc__)
    parser.add_argument("folder", type=Path, help="As examples/showcase: a release with a folder of entrants.")
    parser.add_argument("target", type=Path, help="Where the packs go.")
    arguments = parser.parse_args()
    for path in write_packs(arguments.folder, arguments.target):
        print(path)  # noqa: T201 - what was made


def write_packs(folder: Path, target: Path) -> list[Path]:
    """`<entrant>-solutions.tar.gz` for each; equal samples give equal bytes."""
    pack = problems_of(folder)
    names = [record.problem.task_id for record in pack.records]
    task_ids = {name.replace("/", "-").lower(): name for name in names}  # folders bear the problems' slugs
    target.mkdir(parents=True, exist_ok=True)
    made = []
    for entrant in load_entrants(folder / "entrants"):
        path = target / f"{entrant.slug}-solutions.tar.gz"
        path.write_bytes(solution_pack(entrant, str(pack.metadata.release), task_ids, adapted(entrant, pack)))
        made.append(path)
    return made


def adapted(entrant: DemoEntrant, pack: ProblemPack) -> list[FileSolution]:
    """The entrant's solutions of other platforms' forms, as samples. Raises PackRefused."""
    problems = [record.problem for record in pack.records]
    functions = {one.task_id: one for one in problems if isinstance(one, FunctionProblem)}
    found = []
    for form, folder in entrant.adapted.items():
        for one in converted(form, folder, functions):
            if one.solution is None:
                raise PackRefused("not_adapted", f"{folder / one.source}: {one.refused}")
            found.append(one.solution)
    return found


def problems_of(folder: Path) -> ProblemPack:
    """The release: the folder's pack of problems if it has one, as of functions that need torch to be packed.

    Raises PackRefused.
    """
    return packed_problems(folder) or read_problem_directory(folder)


def packed_problems(folder: Path) -> ProblemPack | None:
    """The committed pack of a release whose functions need torch to be packed. Raises PackRefused."""
    packed = next(iter(folder.glob("*-problems.tar.gz")), None)
    return read_problem_pack(packed) if packed else None


if __name__ == "__main__":
    main()
