"""Reads what is to be graded: a problem pack, and the samples of one or more solutions packs."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from problems.formats.compute_eval.directory import SPEC_NAME, read_problem_directory
from problems.formats.compute_eval.packs import PackRecord, ProblemPack, read_problem_pack, read_solution_pack
from problems.formats.errors import PackRefused
from problems.formats.submission import Catalogue, SampleDraft, read_samples
from problems.spec.problem import PROBLEM_SCHEMA_VERSION
from problems.spec.skips import Hardware, compute_eval_skip
from problems.spec.solution import FileSolution, Solution, parse_solution
from runners.protocol import JUDGE_VERSION

PROBLEM_PACKS = "*-problems.tar.gz"
SOLUTION_PACKS = "*-solutions.tar.gz"


@dataclass(frozen=True)
class Sample:
    """One sample to grade. `inputs_digest` changes with everything that its result depends on."""

    pack: str
    """Datapack name."""
    draft: SampleDraft
    record: PackRecord
    skip_reason: str
    inputs_digest: str

    @property
    def key(self) -> tuple[str, int]:
        return self.draft.task_id, self.draft.index

    @property
    def solution(self) -> Solution:
        """As the graded row shows it; without files where the record holds what cannot be written."""
        return parse_solution(self.draft.record) if self.draft.record else FileSolution(task_id=self.draft.task_id)


@dataclass(frozen=True)
class Pack:
    """The samples of one solutions pack, in the order of its lines, and what its reader has to tell."""

    name: str
    groups: list[str] | None
    samples: tuple[Sample, ...]
    notices: tuple[str, ...]


def read_problems(source: Path, solutions: Sequence[Path]) -> ProblemPack:
    """A problem pack, a folder of problems, or a folder of packs that has the one the solutions answer.

    Raises PackRefused.
    """
    if not source.is_dir():
        return _checked(read_problem_pack(source))
    packs = sorted(source.glob(PROBLEM_PACKS))
    if packs and next(source.rglob(SPEC_NAME), None) is None:
        return _checked(read_problem_pack(_matching(packs, solutions)))
    return _checked(read_problem_directory(source))


def _checked(pack: ProblemPack) -> ProblemPack:
    for record in pack.records:
        version = record.problem.schema_version
        if version != PROBLEM_SCHEMA_VERSION:
            raise PackRefused(
                "wrong_schema",
                f"task `{record.problem.task_id}` has schema_version {version}, not {PROBLEM_SCHEMA_VERSION}",
            )
    return pack


def _matching(packs: Sequence[Path], solutions: Sequence[Path]) -> Path:
    release = read_solution_pack(solutions[0], solutions[0].name).metadata.release
    found = next((pack for pack in packs if pack.name == PROBLEM_PACKS.replace("*", release)), None)
    if found is None:
        raise PackRefused("no_problems", f"{packs[0].parent} has no {release}-problems.tar.gz")
    return found


def solution_files(sources: Sequence[Path]) -> list[Path]:
    """The files named, and for a folder the solutions packs in it. Raises PackRefused where one has none."""
    files: list[Path] = []
    for source in sources:
        found = sorted(source.glob(SOLUTION_PACKS)) if source.is_dir() else [source]
        if not found:
            raise PackRefused("no_solutions", f"the folder {source} holds no {SOLUTION_PACKS}")
        files += found
    return files


@dataclass(frozen=True)
class Reader:
    """Turns solutions packs into samples; `options` is whatever else a result depends on."""

    problems: ProblemPack
    hardware: Hardware
    options: str
    strict: bool

    def read(self, files: Sequence[Path]) -> list[Pack]:
        """All packs. Raises PackRefused."""
        catalogue = Catalogue.of_pack(self.problems)
        records = {record.problem.task_id: record for record in self.problems.records}
        packs = [self._read_one(file, catalogue, records) for file in files]
        names = [pack.name for pack in packs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise PackRefused("same_name", f"two solutions packs are called {twice!r}; rename one of the files")
        if self.strict and len({frozenset(pack.groups or []) for pack in packs}) > 1:
            raise PackRefused("different_groups", "the solutions packs have different groups; evaluate them apart")
        return packs

    def _read_one(self, file: Path, catalogue: Catalogue, records: dict[str, PackRecord]) -> Pack:
        try:
            draft = read_samples(file, file.name, catalogue, strict=self.strict)
            groups = _groups(file, self.problems)
        except PackRefused as refused:
            raise PackRefused(refused.code, f"{file}: {refused.message}") from refused
        selected = set(catalogue.task_ids(groups or None))
        samples = [
            self._sample(draft.name, one, records[one.task_id]) for one in draft.samples if one.task_id in selected
        ]
        notices = [*draft.notices, *draft.unknown]
        if not samples:
            words = draft.unknown[0].message if draft.unknown else "its samples are not of its groups."
            raise PackRefused("nothing_to_grade", f"{file} has no sample for these problems: {words}")
        told = [f"{draft.name}: {f'line {one.line}: ' if one.line else ''}{one.message}" for one in notices]
        left_out = len(draft.samples) - len(samples)
        if left_out:
            told.append(f"{draft.name}: {left_out} samples are of groups that the pack does not list; not graded.")
        return Pack(draft.name, groups, tuple(samples), tuple(told))

    def _sample(self, pack: str, draft: SampleDraft, record: PackRecord) -> Sample:
        skip = skip_reason(record, self.hardware)
        parts = [hashlib.sha256(record.line).hexdigest(), draft.content_sha256, skip, self.options, JUDGE_VERSION]
        return Sample(pack, draft, record, skip, hashlib.sha256(json.dumps(parts).encode()).hexdigest())


def _groups(file: Path, problems: ProblemPack) -> list[str] | None:
    if not file.name.endswith(".gz"):
        return None
    return read_solution_pack(file, file.name, problems.profile).metadata.groups


def skip_reason(record: PackRecord, hardware: Hardware) -> str:
    """Why this machine cannot run the problem, or "": ComputeEval's rules; problems of the CPU types always run."""
    problem = record.problem
    return "" if problem.type in ("cpp", "python") else compute_eval_skip(problem, hardware)
