"""A site's rules for the files of a problem."""

import posixpath
from collections.abc import Iterator, Sequence

from problems.spec.errors import Fault
from problems.spec.paths import spelling_key, why_bad_path
from problems.spec.record import ProblemRecord
from problems.spec.solution import SourceFile

NO_REFERENCE = "no reference solution, so that nothing verifies the problem and no speedup can be told"


def path_faults(at: tuple[int | str, ...], files: Sequence[SourceFile]) -> Iterator[Fault]:
    """Bad paths, and paths that stand twice."""
    seen: set[str] = set()
    for n, file in enumerate(files):
        path = posixpath.normpath(file.path) if file.path else ""
        if reason := why_bad_path(path):
            yield Fault((*at, n, "path"), reason)
        elif spelling_key(path) in seen:
            yield Fault((*at, n, "path"), f"the path {file.path!r} stands twice")
        seen.add(spelling_key(path))


def solution_faults(record: ProblemRecord) -> Iterator[Fault]:
    """Faults of the solutions that the problem brings: its references, starters and known-bad ones."""
    podium = ("metadata", "podium")
    for name, solution in record.baselines.items():
        at: tuple[str, ...] = ("baseline_solution",) if name == "reference" else ("other_baselines", name)
        yield from path_faults((*at, "files"), solution.files)
    yield from path_faults((*podium, "starter"), record.podium.starter)
    names = [one.name for one in record.podium.known_bad]
    for n, bad in enumerate(record.podium.known_bad):
        yield from path_faults((*podium, "known_bad", n, "files"), bad.files)
        if not bad.name.strip() or names.index(bad.name) != n:
            yield Fault((*podium, "known_bad", n, "name"), "must be a name of its own")
        if not bad.files:
            yield Fault((*podium, "known_bad", n, "files"), "must not be empty")
