"""Turns another's problem set into folders of function problems, and these into a pack."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from podium.problems.sandboxed import Answer, Job, call_each
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.functions.pack import read_function_directory
from problems.formats.kernelbench.checkout import SetFile, set_files
from problems.formats.kernelbench.records import Described
from problems.formats.kernelbench.writing import folder_of
from problems.formats.problem_sets import ProblemRead, SetRead
from problems.spec.errors import explain
from problems.spec.function.manifest import Manifest
from runners.agent.sandbox import Sandbox

WARM = (Job("kernelbench_inside.warm:warm"),)


def read_kernelbench(root: Path, device: str, sandbox: Sandbox) -> SetRead:
    """Read the files of KernelBench's form below a folder. Raises PackRefused if nothing can be read at all."""
    files = set_files(root)
    textual = [one for one in files if not one.refused]
    jobs = [Job("kernelbench_inside.describe:description", (one.text, one.settings)) for one in textual]
    described = iter(call_each(sandbox, jobs, warm=WARM))
    answers = [None if one.refused else next(described) for one in files]
    return SetRead([_kernelbench_problem(*pair, device) for pair in zip(files, answers, strict=True)])


def _kernelbench_problem(file: SetFile, answer: Answer | None, device: str) -> ProblemRead:
    if answer is None:
        return ProblemRead(file.slug, file.source, {}, refused=file.refused, remedy="correct the file")
    if answer.fault:
        return ProblemRead(file.slug, file.source, {}, refused=answer.fault, remedy="make it end by itself, and soon")
    try:
        found = Described.model_validate(answer.result)
    except ValidationError as error:
        words = f"its description {explain(error)}"
        return ProblemRead(file.slug, file.source, {}, refused=words, remedy="use other names or sizes")
    if found.refused is not None:
        refusal = found.refused
        return ProblemRead(
            file.slug, file.source, {}, refused=refusal.why, line=refusal.line, remedy=refusal.remedy
        )  # fmt: skip
    notes = list(dict.fromkeys(note for case in found.cases for note in case.notes))
    return ProblemRead(file.slug, file.source, folder_of(file, found.cases, device), notes)


def pack_of(read: SetRead, release: str, sandbox: Sandbox, gpu_uuids: tuple[str, ...]) -> tuple[SetRead, ProblemPack]:
    """The pack of all problems that can be read, and the report with those that could not be packed refused.

    Raises PackRefused if no problem is left.
    """
    manifests = _manifests(read.readable, sandbox, gpu_uuids)
    kept: list[ProblemRead] = []
    with tempfile.TemporaryDirectory(prefix="podium-set-") as place:
        root = Path(place)
        known: dict[Path, Manifest] = {}
        for one in read.problems:
            made = manifests.get(one.slug)
            if isinstance(made, Manifest):
                write_folder(root / one.slug, one.files)
                known[root / one.slug] = made
            kept.append(one if made is None or isinstance(made, Manifest) else _refused(one, made))
        report = replace(read, problems=kept)
        if not known:
            raise PackRefused("no_problems", "no problem of the set could be read")
        return report, read_function_directory(root, known.__getitem__, release)


def _refused(one: ProblemRead, fault: str) -> ProblemRead:
    return replace(one, files={}, notes=(), refused=fault, remedy="see what the definition made of it does")


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a problem's files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _manifests(
    problems: Sequence[ProblemRead], sandbox: Sandbox, gpu_uuids: tuple[str, ...]
) -> dict[str, Manifest | str]:
    """The manifest of each problem by its slug, or why it has none."""
    files = {f"definitions/{one.slug}/def.py": one.files["def.py"] for one in problems}
    device = "cuda" if gpu_uuids else "cpu"
    jobs = [
        Job("inside.make_manifest:answer", (f"definitions/{one.slug}/def.py", device), {"fake": not gpu_uuids})
        for one in problems
    ]
    answers = call_each(sandbox, jobs, warm=WARM if not gpu_uuids else (), files=files, gpu_uuids=gpu_uuids)
    return {one.slug: _manifest(answer) for one, answer in zip(problems, answers, strict=True)}


def _manifest(answer: Answer) -> Manifest | str:
    if answer.fault:
        return answer.fault
    if isinstance(answer.result, dict) and "error" in answer.result:
        error = answer.result["error"]
        return f"its definition, line {error.get('line')}: {error.get('what')}"[:1000]
    try:
        return Manifest.model_validate(answer.result)
    except ValidationError as error:
        return f"its manifest {explain(error)}"
