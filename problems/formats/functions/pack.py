"""Makes records and packs from folders of function problems, alone or among those of other kinds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused, raise_all
from problems.formats.functions.folder import (
    DEFAULT_GROUP,
    STATEMENT_NAME,
    FunctionFolder,
    function_folders,
    read_folder,
)
from problems.formats.functions.naming import named_by_statement
from problems.spec.errors import RecordError
from problems.spec.function.manifest import Manifest
from problems.spec.function.problem import LANGUAGES_ON, FunctionProblem, function_from
from problems.spec.function.signature import FUNCTION_NAME, python_signature
from problems.spec.profile import Profile
from problems.spec.record import REFERENCE, ProblemRecord
from problems.spec.solution import FileSolution, SourceFile

ManifestOf = Callable[[Path], Manifest]
"""Makes the manifest of a problem's folder in a sandbox; raises PackRefused."""


def read_function_directory(root: Path, manifest_of: ManifestOf, release: str = "internal") -> ProblemPack:
    """Read a tree of problems, those of other kinds among them, into a pack.

    Raises PackRefused with the faults of all function problems.
    """
    functions: dict[Path, ProblemRecord] = {}
    faults: list[PackRefused] = []
    for path in function_folders(root):
        try:
            functions[path] = read_problem(path, manifest_of)
        except PackRefused as refused:
            faults.append(refused)
    raise_all(faults)
    return read_problem_directory(root, release, functions)


def read_problem(path: Path, manifest_of: ManifestOf) -> FunctionProblem:
    """Read one problem's folder. Raises PackRefused."""
    folder = read_folder(path)
    return record_of(folder, manifest_of(path))


def record_of(folder: FunctionFolder, made: Manifest) -> FunctionProblem:
    """The record of a folder. Raises PackRefused."""
    head = dict(folder.head)
    manifest = named_by_statement(made, head.get("parameters"))
    device = head.get("device") or ("gpu" if manifest.arrays == "torch" else "cpu")
    fields: dict[str, Any] = {
        "task_id": folder.slug,
        "date": str(head.get("date") or ""),
        "prompt": folder.statement,
        "metadata": _metadata(folder),
        "group": str(head.get("group") or DEFAULT_GROUP),
        "definition": folder.definition.model_dump(),
        "manifest": manifest.model_dump(),
        "device": device,
        "languages": head.get("languages") or _languages(device),
    }
    if "time_limit_seconds" in head:
        fields["time_limit_seconds"] = head["time_limit_seconds"]
    return _with_baselines(folder, _problem(folder, fields))


def _languages(device: Any) -> list[str]:
    """All that a device can run; none on a device that the record will refuse."""
    return [language for name, languages in LANGUAGES_ON.items() if name == device for language in languages]


def _metadata(folder: FunctionFolder) -> dict[str, Any]:
    head = folder.head
    podium = {
        "title": str(head.get("title") or ""),
        "limits": head.get("limits") or {},
        "known_bad": [one.model_dump() for one in folder.known_bad],
    }
    difficulty = head.get("difficulty")
    return {
        "difficulty": str(difficulty).lower() if difficulty is not None else None,
        "tags": head.get("tags") or [],
        "podium": podium,
    }


def _problem(folder: FunctionFolder, fields: dict[str, Any]) -> FunctionProblem:
    try:
        return function_from(fields, Profile.PODIUM)
    except RecordError as error:
        raise PackRefused("bad_record", f"{folder.path / STATEMENT_NAME}: {error}") from error


def _with_baselines(folder: FunctionFolder, problem: FunctionProblem) -> FunctionProblem:
    reference = folder.reference or reference_solution(problem)
    compiled = compiled_solution(problem) if folder.reference is None else None
    files = {REFERENCE: reference, "compiled": compiled, "expert": folder.expert}
    solutions = {name: _solution(folder, problem, file, name) for name, file in files.items() if file is not None}
    if not solutions:
        return problem
    own = {"baseline_solution": solutions.pop(REFERENCE, None), "other_baselines": solutions}
    return function_from(problem.model_dump() | own, Profile.PODIUM)


def _solution(folder: FunctionFolder, problem: FunctionProblem, file: SourceFile, name: str) -> dict[str, Any]:
    if reason := problem.rules().why_bad([file]):
        raise PackRefused("bad_baseline", f"{folder.path}: the baseline `{name}` cannot be a solution: {reason}")
    return FileSolution(task_id=problem.task_id, files=[file]).model_dump()


def reference_solution(problem: FunctionProblem) -> SourceFile | None:
    """The class's reference as a solution in Python; None if the problem does not allow Python."""
    return _by_the_class(problem, "the reference", "")


def compiled_solution(problem: FunctionProblem) -> SourceFile | None:
    """The same by torch.compile; None if the problem does not allow Python or has no tensors on a GPU."""
    if problem.device != "gpu" or problem.manifest.arrays != "torch":
        return None
    return _by_the_class(problem, "the reference by torch.compile", ", is_compiled=True")


def _by_the_class(problem: FunctionProblem, what: str, options: str) -> SourceFile | None:
    if "python" not in problem.languages and "triton" not in problem.languages:
        return None
    manifest = problem.manifest
    names = ", ".join(one.name for one in manifest.parameters)
    device = "cuda" if problem.device == "gpu" else "cpu"
    content = (
        '"""The problem\'s reference as a solution: made from its definition when it was packed."""\n\n'
        "from inside.reference import Reference\n\n"
        f"DEFINITION = {problem.definition.content!r}\n"
        f"reference = Reference(DEFINITION, {device!r}{options})\n\n\n"
        f"{python_signature(manifest.parameters)}:\n"
        f'    """`{FUNCTION_NAME}` by {what}."""\n'
        f"    reference({names})\n"
    )
    return SourceFile(path="solution.py", content=content)
