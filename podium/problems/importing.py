"""Packs the problems that were read from another's set."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from podium.problems.readers import MAKE_IT_END, WARM, refused
from podium.problems.sandboxed import CallBounds, SandboxedAnswer, SandboxedCall, call_each
from problems.formats.compute_eval.packs import ProblemPack, write_solution_pack
from problems.formats.errors import PackRefused
from problems.formats.functions.pack import read_function_directory, read_problem
from problems.formats.problem_sets import ProblemRead, SetRead
from problems.spec.errors import explain
from problems.spec.function.manifest import Manifest
from problems.spec.pack import SolutionPackMetadata
from problems.spec.solution import FileSolution
from runners.agent.sandbox import Sandbox


class _DefinitionFault(BaseModel):
    """A fault of a definition as the sandbox tells it."""

    line: int = 0
    what: Annotated[str, Field(max_length=2000)]
    remedy: Annotated[str, Field(max_length=2000)]


def pack_of(
    read: SetRead, release: str, sandbox: Sandbox, gpu_uuids: tuple[str, ...], bounds: CallBounds | None = None
) -> tuple[SetRead, ProblemPack | None]:
    """The report with problems refused whose definitions do not run, and the pack of the others if there are any.

    Raises PackRefused.
    """
    manifests = _manifests(read.readable, sandbox, gpu_uuids, bounds)
    kept: list[ProblemRead] = []
    with tempfile.TemporaryDirectory(prefix="podium-set-") as place:
        root = Path(place)
        known: dict[Path, Manifest] = {}
        for one in read.problems:
            made = one if one.refused else manifests[one.slug]
            if isinstance(made, Manifest):
                made = _tried(one, root / one.slug, made, known)
            kept.append(made)
        pack = read_function_directory(root, known.__getitem__, release) if known else None
        return replace(read, problems=kept), pack


def _tried(one: ProblemRead, folder: Path, manifest: Manifest, known: dict[Path, Manifest]) -> ProblemRead:
    """Write the problem's folder, or refuse it if no record can be made of it."""
    write_folder(folder, one.files)
    try:
        read_problem(folder, lambda _: manifest)
    except PackRefused as fault:
        shutil.rmtree(folder)
        words = fault.message.replace(f"{folder}/", "").replace(str(folder), one.source)
        return refused(one.slug, one.source, words, "correct the file", fault.line or 0)
    known[folder] = manifest
    return one


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a problem's files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_references(target: Path, pack: ProblemPack) -> None:
    """Write the problems' references as a solutions pack: as samples they pass."""
    problems = [record.problem for record in pack.records]
    write_solutions(target, pack, [one.reference for one in problems if isinstance(one.reference, FileSolution)])


def write_solutions(target: Path, pack: ProblemPack, solutions: Sequence[FileSolution]) -> None:
    """Write a solutions pack for a problem pack."""
    fields = {"release": pack.metadata.release, "total_count": len(solutions)}
    metadata = SolutionPackMetadata.model_validate(fields, context={"profile": pack.profile})
    write_solution_pack(target, metadata, [one.to_line() for one in solutions])


def _manifests(
    problems: Sequence[ProblemRead], sandbox: Sandbox, gpu_uuids: tuple[str, ...], bounds: CallBounds | None
) -> dict[str, Manifest | ProblemRead]:
    """The manifest of each problem by its slug, or the problem refused because it has none."""
    files = {f"definitions/{one.slug}/def.py": one.files["def.py"] for one in problems}
    device = "cuda" if gpu_uuids else "cpu"
    jobs = [
        SandboxedCall(
            "inside.make_manifest:answer", (f"definitions/{one.slug}/def.py", device), {"fake": not gpu_uuids}
        )
        for one in problems
    ]
    warm = WARM if not gpu_uuids else ()
    answers = call_each(sandbox, jobs, warm=warm, files=files, gpu_uuids=gpu_uuids, bounds=bounds)
    return {one.slug: _manifest(one, answer) for one, answer in zip(problems, answers, strict=True)}


def _manifest(one: ProblemRead, answer: SandboxedAnswer) -> Manifest | ProblemRead:
    if answer.fault:
        return refused(one.slug, one.source, answer.fault, MAKE_IT_END)
    try:
        if isinstance(answer.result, dict) and "error" in answer.result:
            error = _DefinitionFault.model_validate(answer.result["error"])
            words = f"in its `def.py`{f', line {error.line}' if error.line else ''}: {error.what}"
            return refused(one.slug, one.source, words, error.remedy)
        return Manifest.model_validate(answer.result)
    except ValidationError as error:
        return refused(one.slug, one.source, f"its manifest {explain(error)}", "use other names or sizes")
