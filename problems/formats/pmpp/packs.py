"""Turns a checkout of tasks into a problem pack, with a report on every task."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from problems.formats.compute_eval.packs import ProblemPack, problem_metadata_for, problem_pack_from
from problems.formats.errors import PackRefused
from problems.formats.pmpp.checkout import Dropped, license_of, read_task, task_folders
from problems.formats.pmpp.errors import TaskRefused
from problems.formats.pmpp.tasks import Imported, imported_task
from problems.spec.pack import ProblemPackMetadata, parse_problem_metadata
from problems.spec.profile import Profile


@dataclass(frozen=True)
class TaskReport:
    """The result for one task; `refused` says why it is no problem of the pack."""

    name: str
    group: str = ""
    files: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    architecture: str = ""
    counts: str = ""
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class ImportedPack:
    """A pack and a report for every folder, in the order of their names."""

    pack: ProblemPack
    tasks: tuple[TaskReport, ...]

    @property
    def refused(self) -> tuple[TaskReport, ...]:
        return tuple(task for task in self.tasks if task.refused)


def read_pmpp_checkout(root: Path, release: str, begin: Callable[[Path], None] = lambda _folder: None) -> ImportedPack:
    """Read every task of a checkout; `begin` is called with each one's folder before it is read.

    A refused task is left out. Raises PackRefused if none is left.
    """
    reports: list[TaskReport] = []
    lines: list[tuple[str, bytes]] = []
    for folder in task_folders(root):
        begin(folder)
        report, made = _imported(folder, release)
        reports.append(report)
        lines += [(made.problem.task_id, made.problem.to_line())] if made else []
    if not lines:
        raise PackRefused("no_problems", "\n".join(report.refused for report in reports))
    metadata = problem_metadata_for(_metadata(root, release), lines)
    pack = problem_pack_from(metadata.to_bytes(), b"".join(line for _, line in lines))
    return ImportedPack(pack, tuple(reports))


def _imported(folder: Path, release: str) -> tuple[TaskReport, Imported | None]:
    dropped: tuple[Dropped, ...] = ()
    name = folder.resolve().name
    try:
        task = read_task(folder)
        dropped = task.dropped
        made = imported_task(task, release)
    except TaskRefused as refused:
        return TaskReport(name, dropped=dropped, refused=str(refused)), None
    except RecursionError:
        words = f"{name}: a source nests too deeply. Take its longest expression apart."
        return TaskReport(name, dropped=dropped, refused=words), None
    problem = made.problem
    files = (*problem.context_files, *problem.test_files, *problem.podium.starter)
    report = TaskReport(
        name,
        group=problem.group,
        files=tuple(file.path for file in files),
        dropped=dropped,
        architecture=made.architecture,
        counts=problem.podium.counts or "",
        notes=made.notes,
    )
    return report, made


def _metadata(root: Path, release: str) -> ProblemPackMetadata:
    license_text = license_of(root)
    description = f"Imported from a checkout in the layout of PMPP.\n\n{license_text}".strip()
    fields = {"release": release, "total_count": 0, "description": description, "profile": Profile.PODIUM.value}
    return parse_problem_metadata(fields)
