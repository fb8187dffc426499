"""Reads the sets of each form into function problems' folders. A set's code runs in the sandbox alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from podium.problems.sandboxed import CallBounds, SandboxedAnswer, SandboxedCall, call_each
from problems.formats.compute_eval.packs import ProblemPack
from problems.formats.errors import PackRefused
from problems.formats.flashinfer import writing as flashinfer_writing
from problems.formats.flashinfer.checkout import SetDefinitionFile, definition_files
from problems.formats.flashinfer.records import Dialect
from problems.formats.functions.folder import SUFFIXES, function_folders, read_folder
from problems.formats.kernelbench import records as kernelbench_records
from problems.formats.kernelbench import writing as kernelbench_writing
from problems.formats.kernelbench.checkout import SetFile, set_files
from problems.formats.leetgpu import reading as leetgpu
from problems.formats.pmpp.packs import read_pmpp_checkout
from problems.formats.problem_sets import ProblemRead, SetRead
from problems.formats.set_files import read_text, slug_of
from problems.spec.errors import explain
from runners.agent.sandbox import Sandbox

SetFormat = Literal["kernelbench", "flashinfer", "sol-execbench", "leetgpu", "tensara", "pmpp"]
WARM = (SandboxedCall("kernelbench_inside.warm:warm"),)
MAKE_IT_END = "make it end by itself, and soon, with less memory"
WANTS_THE_NETWORK = ("URLError", "gaierror", "Network is unreachable", "no internet connection", "Name or service not")
SOL_TERMS = "SOL-ExecBench's data may be used for evaluation and not be passed on: keep this pack to yourself."


def read_set(form: SetFormat, root: Path, device: str, sandbox: Sandbox, bounds: CallBounds | None = None) -> SetRead:
    """Read a set. Raises PackRefused if nothing can be read at all."""
    readers: Mapping[str, Callable[[], SetRead]] = {
        "kernelbench": lambda: _kernelbench(root, device, sandbox, bounds),
        "flashinfer": lambda: _definitions(root, device, "flashinfer", ""),
        "sol-execbench": lambda: _definitions(root, device, "sol-execbench", SOL_TERMS),
        "leetgpu": lambda: _leetgpu(root, device, sandbox, bounds),
        "tensara": lambda: _tensara(root),
    }
    return _with_unique_slugs(readers[form]())


def _with_unique_slugs(read: SetRead) -> SetRead:
    """Refuse what would have the slug of an earlier problem."""
    taken: set[str] = set()
    kept = []
    for one in read.problems:
        is_second = one.slug in taken and not one.refused
        words = f"another problem is called `{one.slug}`, too"
        kept.append(refused(one.slug, one.source, words, "rename one of them") if is_second else one)
        taken.add(one.slug)
    return SetRead(kept, read.terms)


def refused(slug: str, source: str, why: str, remedy: str, line: int = 0) -> ProblemRead:
    """A problem that is not read. Where it wanted the network, the remedy says that there is none."""
    if any(words in why for words in WANTS_THE_NETWORK):
        remedy = "it runs without a network: put what it needs into the set's files"
    return ProblemRead(slug, source, {}, refused=why, line=line, remedy=remedy)


def _kernelbench(root: Path, device: str, sandbox: Sandbox, bounds: CallBounds | None) -> SetRead:
    files = set_files(root)
    jobs = [
        SandboxedCall("kernelbench_inside.describe:description", (one.text, one.settings))
        for one in files
        if not one.refused
    ]
    described = iter(call_each(sandbox, jobs, warm=WARM, bounds=bounds))
    answers = [None if one.refused else next(described) for one in files]
    return SetRead([_kernelbench_problem(*pair, device) for pair in zip(files, answers, strict=True)])


def _kernelbench_problem(file: SetFile, answer: SandboxedAnswer | None, device: str) -> ProblemRead:
    try:
        cases = _cases(file, answer)
        files = kernelbench_writing.folder_of(file, cases, device)
    except _NotRead as fault:
        return refused(file.slug, file.source, fault.why, fault.remedy, fault.line)
    except PackRefused as fault:
        return refused(file.slug, file.source, fault.message, "make the settings alike")
    notes = list(dict.fromkeys(note for case in cases for note in case.notes))
    return ProblemRead(file.slug, file.source, files, notes)


class _NotRead(ValueError):
    """A file that is no problem: the reason, what would help, and the line."""

    def __init__(self, why: str, remedy: str, line: int = 0) -> None:
        self.why, self.remedy, self.line = why, remedy, line
        super().__init__(why)


def _cases(file: SetFile, answer: SandboxedAnswer | None) -> Sequence[kernelbench_records.Case]:
    """The cases that the sandbox describes, one for each setting. Raises _NotRead."""
    if answer is None:
        raise _NotRead(file.refused, file.remedy, file.line)
    if answer.fault:
        raise _NotRead(answer.fault, MAKE_IT_END)
    try:
        found = kernelbench_records.DescribedModel.model_validate(answer.result)
    except ValidationError as error:
        raise _NotRead(f"its description {explain(error)}", "use other names or sizes") from error
    if found.refused is not None:
        raise _NotRead(found.refused.why, found.refused.remedy, found.refused.line)
    if len(found.cases) != len(file.settings):
        raise _NotRead("its description lacks a setting", "import each setting as a problem")
    return found.cases


def _definitions(root: Path, device: str, dialect: Dialect, terms: str) -> SetRead:
    return SetRead([_definition(root, one, device, dialect) for one in definition_files(root, dialect)], terms)


def _definition(root: Path, file: SetDefinitionFile, device: str, dialect: Dialect) -> ProblemRead:
    slug = flashinfer_writing.slug(file.definition) if file.definition else slug_of(file.source)
    if file.definition is None:
        return refused(slug, file.source, file.refused, file.remedy, file.line)
    try:
        written = flashinfer_writing.folder_of(root, file, dialect, device)
    except PackRefused as fault:
        return refused(slug, file.source, fault.message, "correct the definition or its workload", fault.line or 0)
    return ProblemRead(slug, file.source, written.files, written.notes)


def _leetgpu(root: Path, device: str, sandbox: Sandbox, bounds: CallBounds | None) -> SetRead:
    paths = leetgpu.challenge_files(root)
    texts: dict[Path, str] = {}
    unread: dict[Path, str] = {}
    for path in paths:
        try:
            texts[path] = read_text(path)
        except PackRefused as fault:
            unread[path] = fault.message
    jobs = [SandboxedCall("leetgpu_inside.describe:description", (text,)) for text in texts.values()]
    answers = dict(zip(texts, call_each(sandbox, jobs, warm=WARM, bounds=bounds), strict=True))
    problems = [
        _challenge(root, path, texts[path], answers[path], device)
        if path in texts
        else refused(slug_of(path.parent.name), str(path.relative_to(root)), unread[path], "correct the file")
        for path in paths
    ]
    return SetRead(problems, leetgpu.TERMS)


def _challenge(root: Path, path: Path, text: str, answer: SandboxedAnswer, device: str) -> ProblemRead:
    slug, source = slug_of(path.parent.name), str(path.relative_to(root))
    if answer.fault:
        return refused(slug, source, answer.fault, MAKE_IT_END)
    try:
        found = leetgpu.DescribedChallenge.model_validate(answer.result)
    except ValidationError as error:
        return refused(slug, source, f"its description {explain(error)}", "use other names or sizes")
    if found.refused is not None:
        return refused(slug, source, found.refused.why, found.refused.remedy, found.refused.line)
    try:
        return ProblemRead(slug, source, *leetgpu.folder_of(path, text, found, device))
    except PackRefused as fault:
        return refused(slug, source, fault.message, "give it tests")


def read_pmpp(root: Path, release: str) -> tuple[SetRead, ProblemPack]:
    """The tasks of a checkout in the layout of PMPP: command problems. Nothing of it runs. Raises PackRefused."""
    imported = read_pmpp_checkout(root, release)
    rows = []
    for one in imported.tasks:
        notes = [*(f"dropped {file.path}: {file.reason}" for file in one.dropped), *one.notes]
        slug, source = slug_of(one.name), f"{one.group}/{one.name}"
        rows.append(ProblemRead(slug, source, {}, () if one.refused else notes, refused=one.refused))
    return SetRead(rows), imported.pack


def _tensara(root: Path) -> SetRead:
    """Folders with a `def.py` and a `problem.md`, which are function problems as they are."""
    paths = function_folders(root)
    if not paths:
        raise PackRefused("no_problems", f"{root} holds no folder with a def.py; give the folder of the problems")
    return SetRead([_tensara_problem(root, path) for path in paths])


def _tensara_problem(root: Path, path: Path) -> ProblemRead:
    source = str(path.relative_to(root))
    try:
        folder = read_folder(path)
        kept = [one for one in sorted(path.rglob("*")) if one.is_file() and one.suffix in (*SUFFIXES, ".md", ".json")]
        return ProblemRead(folder.slug, source, {str(one.relative_to(path)): read_text(one) for one in kept})
    except PackRefused as fault:
        return refused(slug_of(path.name), source, fault.message, "correct the folder", fault.line or 0)
