"""Turns one task's folder into the record of a command problem."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from problems.formats.pmpp.building import REFERENCE, STUDENT, build_command
from problems.formats.pmpp.checkout import MAKEFILE, TaskFolder
from problems.formats.pmpp.counts import printed_counts
from problems.formats.pmpp.errors import TaskRefused
from problems.formats.pmpp.functions import defined
from problems.formats.pmpp.makefile import Makefile
from problems.formats.pmpp.notes import architecture_idiom, notes_on
from problems.formats.pmpp.program import SOURCES, Program, program_of
from problems.formats.pmpp.tolerances import HEADER, HEADER_NAME, hardened
from problems.spec.command.problem import CommandProblem, problem_from
from problems.spec.errors import RecordError
from problems.spec.profile import Profile

STUDENT_TARGET, REFERENCE_TARGET = "test_student", "test_reference"
SOURCE_BYTES = 500_000
OUTPUT_BYTES = 200_000
STEP_SECONDS = 180.0
_IDLE_WORDS = frozenset({"single", "turn", "eval", "multiturn"})
Files = Mapping[str, str]


@dataclass(frozen=True)
class Imported:
    """A problem with what an organiser should know about it."""

    problem: CommandProblem
    architecture: str
    """How the Makefile chose an architecture; empty if it chose none."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Parts:
    """A task's files by their role, as path to text."""

    context: Files
    tests: Files
    reference: Files
    counts: str
    notes: tuple[str, ...]


def imported_task(task: TaskFolder, release: str) -> Imported:
    """The problem that a task becomes. Raises TaskRefused."""
    name = f"{task.name}/{MAKEFILE}"
    makefile = Makefile(task.text(MAKEFILE, "Makefile"), name)
    programs = [program_of(makefile, target, task.texts, name) for target in (STUDENT_TARGET, REFERENCE_TARGET)]
    student, reference = programs
    _check(task, student, reference, name)
    parts = _parts(task, student, reference)
    record = _record(task, student, parts, release)
    try:
        problem = problem_from(record, Profile.PODIUM)
    except RecordError as error:
        raise TaskRefused(task.name, str(error), "Change the task") from error
    return Imported(problem, architecture_idiom(makefile), parts.notes)


def _check(task: TaskFolder, student: Program, reference: Program, name: str) -> None:
    task.text(STUDENT, "skeleton")
    task.text(REFERENCE, "reference")
    if STUDENT not in student.sources:
        raise TaskRefused(name, f"`{STUDENT_TARGET}` is not linked from {STUDENT}", f"Add {STUDENT} to its rule")
    if REFERENCE not in reference.sources:
        raise TaskRefused(name, f"`{REFERENCE_TARGET}` is not linked from {REFERENCE}", f"Add {REFERENCE} to its rule")
    if STUDENT in reference.sources:
        raise TaskRefused(name, f"`{REFERENCE_TARGET}` is linked from {STUDENT}", f"Take {STUDENT} out of its rule")
    if not _harness(student):
        raise TaskRefused(name, f"`{STUDENT_TARGET}` has no tests", "Add the tests' source to its rule")
    if REFERENCE in student.sources and any("-rdc=true" in unit.compiler for unit in student.units):
        reason = "the test links the reference with -rdc=true, so a solution could call its device functions"
        raise TaskRefused(name, reason, "Compile it without -rdc=true")


def _harness(student: Program) -> list[str]:
    return [source for source in student.sources if source not in (STUDENT, REFERENCE)]


def _parts(task: TaskFolder, student: Program, reference: Program) -> _Parts:
    own = [source for source in student.sources if source != STUDENT]
    presented = [source for source in reference.sources if source not in _harness(student)]
    visible = _headers(task, [STUDENT])
    held_out = [*own, *(path for path in _headers(task, own) if path not in visible)]
    needed = [path for path in _headers(task, presented) if path not in visible]
    if shared := [path for path in needed if path in held_out]:
        reason = f"the reference and the tests include {shared[0]}, which the skeleton does not"
        raise TaskRefused(f"{task.name}/{REFERENCE}", reason, f"Include it in {STUDENT}, too")
    harness = {path: task.text(path, "source") for path in held_out if path != REFERENCE}
    tests, notes = _hardened(harness)
    text = "\n".join(harness.values())
    linked = ["the test links the reference; its functions are hidden from solutions"] if REFERENCE in own else []
    return _Parts(
        context={path: task.texts[path] for path in visible},
        tests=tests | ({REFERENCE: task.texts[REFERENCE]} if linked else {}),
        reference={STUDENT: _presented(task, student, presented)} | {path: task.texts[path] for path in needed},
        counts=printed_counts(text),
        notes=(*linked, *notes, *notes_on(task, text)),
    )


def _hardened(harness: Files) -> tuple[dict[str, str], list[str]]:
    """The tests' files with checks that fail on NaN, and notes on them."""
    checked = {path: hardened(text, path) for path, text in harness.items()}
    files = {path: one.text for path, one in checked.items()}
    if files != harness:
        files[HEADER_NAME] = HEADER
    return files, [one.in_words for one in checked.values() if one.in_words]


def _headers(task: TaskFolder, sources: Sequence[str]) -> list[str]:
    return [path for path in task.included(sources) if not path.endswith(SOURCES)]


def _presented(task: TaskFolder, student: Program, sources: Sequence[str]) -> str:
    """The reference as the one file of a solution, under the name that the tests call."""
    text = "\n".join(task.text(source, "source").rstrip("\n") for source in sources) + "\n"
    harness = " ".join(task.texts[source] for source in _harness(student))
    called = set(re.findall(r"\w+", harness))
    theirs = defined(text)
    lacking = [name for name in defined(task.texts[STUDENT]) if name in called and name not in theirs]
    renamed = [name for name in theirs if name in called and name not in defined(task.texts[STUDENT])]
    if not lacking:
        return text
    if len(lacking) > 1 or len(renamed) != 1:
        reason = f"the tests call {', '.join(lacking)}, which the reference does not define"
        raise TaskRefused(f"{task.name}/{REFERENCE}", reason, "Define it there or in a source of its own")
    return f"#define {renamed[0]} {lacking[0]}\n{text}"


def _record(task: TaskFolder, student: Program, parts: _Parts, release: str) -> dict[str, Any]:
    task_id = f"pmpp/{task.name}"
    skeleton = _listed({STUDENT: task.texts[STUDENT]})
    podium: dict[str, Any] = {
        "title": _title(task),
        "build_only": sorted(parts.tests),
        "starter": skeleton,
        "source_bytes": SOURCE_BYTES,
        "limits": {"output_bytes": OUTPUT_BYTES},
        "known_bad": [{"name": "skeleton", "expect": "test_failed", "files": skeleton}],
    }
    if parts.counts:
        podium["counts"] = parts.counts
    return {
        "type": "cuda_cpp" if student.linker[0] == "nvcc" else "cpp",
        "schema_version": 2,
        "task_id": task_id,
        "date": "",
        "prompt": _prompt(task),
        "metadata": {"tags": _words(task)[1:], "releases": [release], "podium": podium},
        "group": task.chapter,
        "context_files": _listed(parts.context),
        "test_files": _listed(parts.tests),
        "build_command": build_command(student, STUDENT_TARGET, sorted(parts.tests)),
        "test_command": f"./{STUDENT_TARGET}",
        "compute_capability": None,
        "timeout_seconds": STEP_SECONDS,
        "baseline_solution": {
            "schema_version": 1,
            "type": "file",
            "task_id": task_id,
            "files": _listed(parts.reference),
        },
    }


def _listed(files: Files) -> list[dict[str, str]]:
    return [{"path": path, "content": content} for path, content in files.items()]


def _words(task: TaskFolder) -> list[str]:
    return [word for word in re.split(r"[-_]+", task.name) if word and word not in _IDLE_WORDS]


def _title(task: TaskFolder) -> str:
    return " ".join(re.split(r"[-_]+", task.name)[1:]).capitalize() or task.name


def _prompt(task: TaskFolder) -> str:
    """The task's own description and the skeleton."""
    described = task.texts.get("README.md", "").strip() or f"# {_title(task)}"
    skeleton = task.texts[STUDENT].rstrip("\n")
    fence = "````" if "```" in skeleton else "```"
    return f"{described}\n\n## Skeleton\n\nThe solution is one file, `{STUDENT}`.\n\n{fence}cuda\n{skeleton}\n{fence}\n"
