"""Reads the inputs: a problem pack, and the samples of one or more solutions packs."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podium.remote.upload import CannotSend, opened_pack
from problems.formats.compute_eval.directory import SPEC_NAME, read_problem_directory
from problems.formats.compute_eval.packs import PackRecord, ProblemPack, read_problem_pack, read_solution_pack
from problems.formats.errors import PackRefused
from problems.formats.submission import Catalogue, IncomingSample, read_samples
from problems.spec.command.command_record import PROBLEM_SCHEMA_VERSION
from problems.spec.command.problem import CommandProblem
from problems.spec.command.skips import compute_eval_skip
from problems.spec.hardware import Hardware
from problems.spec.record import ProblemRecord
from problems.spec.solution import FileSolution, Solution, parse_solution
from runners.wire.protocol import JUDGE_VERSIONS

PROBLEM_PACKS = "*-problems.tar.gz"
SOLUTION_PACKS = "*-solutions.tar.gz"


@dataclass(frozen=True)
class SampleToGrade:
    """One sample to grade. `inputs_digest` is a digest of all inputs of its result."""

    pack: str
    """Datapack name."""
    incoming: IncomingSample
    record: PackRecord
    skip_reason: str
    inputs_digest: str

    @property
    def key(self) -> tuple[str, int]:
        return self.incoming.task_id, self.incoming.index

    @property
    def problem(self) -> ProblemRecord:
        return self.record.problem

    @property
    def solution(self) -> Solution:
        """The solution as the graded row shows it, without files if the record cannot be read."""
        return (
            parse_solution(self.incoming.record)
            if self.incoming.record
            else FileSolution(task_id=self.incoming.task_id)
        )


@dataclass(frozen=True)
class Pack:
    """The samples of one solutions pack, in the order of its lines, and the reader's notices."""

    name: str
    source: Path
    """The file, or the folder of solutions."""
    groups: list[str] | None
    samples: tuple[SampleToGrade, ...]
    notices: tuple[str, ...]


def read_problems(source: Path, solutions: Sequence[Path]) -> ProblemPack:
    """Read a problem pack, a folder of problems, or a folder of packs that contains the solutions' problem pack.

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
        if isinstance(record.problem, CommandProblem) and version != PROBLEM_SCHEMA_VERSION:
            raise PackRefused(
                "wrong_schema",
                f"task `{record.problem.task_id}` has schema_version {version}, not {PROBLEM_SCHEMA_VERSION}",
            )
    return pack


def _matching(packs: Sequence[Path], solutions: Sequence[Path]) -> Path:
    if solutions[0].is_dir():
        raise PackRefused("no_problems", f"{solutions[0]} does not name a release: name its problem pack")
    release = read_solution_pack(solutions[0], solutions[0].name).metadata.release
    found = next((pack for pack in packs if pack.name == PROBLEM_PACKS.replace("*", release)), None)
    if found is None:
        raise PackRefused("no_problems", f"{packs[0].parent} has no {release}-problems.tar.gz")
    return found


def solution_files(sources: Sequence[Path]) -> list[Path]:
    """The named files, the solutions packs in named folders, and folders of solutions. Raises PackRefused."""
    files: list[Path] = []
    for source in sources:
        found = sorted(source.glob(SOLUTION_PACKS)) if source.is_dir() else [source]
        if not found and not any(child.is_dir() for child in source.iterdir()):
            words = f"the folder {source} holds no {SOLUTION_PACKS} and no folders <task>/<sample>/<files>"
            raise PackRefused("no_solutions", words)
        files += found or [source]
    return files


@dataclass(frozen=True)
class Reader:
    """Makes samples from solutions packs. `options` are the other inputs of a result."""

    problems: ProblemPack
    hardware: Hardware
    options: str
    strict: bool

    def read(self, files: Sequence[Path]) -> list[Pack]:
        """Read all packs. Raises PackRefused."""
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
            with opened_pack(file) as (name, content):
                incoming = read_samples(content, name, catalogue, strict=self.strict)
            groups = _groups(file, self.problems)
        except CannotSend as refused:
            raise PackRefused("bad_folder", str(refused)) from refused
        except PackRefused as refused:
            raise PackRefused(refused.code, f"{file}: {refused.message}") from refused
        selected = set(catalogue.task_ids(groups or None))
        samples = [
            self._sample(incoming.name, one, records[one.task_id])
            for one in incoming.samples
            if one.task_id in selected
        ]
        notices = [*incoming.notices, *incoming.unknown]
        if not samples:
            words = incoming.unknown[0].message if incoming.unknown else "its samples are not of its groups."
            raise PackRefused("nothing_to_grade", f"{file} has no sample for these problems: {words}")
        told = [f"{incoming.name}: {f'line {one.line}: ' if one.line else ''}{one.message}" for one in notices]
        left_out = len(incoming.samples) - len(samples)
        if left_out:
            told.append(f"{incoming.name}: {left_out} samples are of groups that the pack does not list; not graded.")
        return Pack(incoming.name, file, groups, tuple(samples), tuple(told))

    def _sample(self, pack: str, incoming: IncomingSample, record: PackRecord) -> SampleToGrade:
        skip, version = skip_reason(record, self.hardware), JUDGE_VERSIONS[record.problem.kind]
        parts = [hashlib.sha256(record.line).hexdigest(), incoming.content_sha256, skip, self.options, version]
        return SampleToGrade(pack, incoming, record, skip, hashlib.sha256(json.dumps(parts).encode()).hexdigest())


def _groups(file: Path, problems: ProblemPack) -> list[str] | None:
    if not file.name.endswith(".gz"):
        return None
    return read_solution_pack(file, file.name, problems.profile).metadata.groups


def skip_reason(record: PackRecord, hardware: Hardware) -> str:
    """The reason why this machine cannot run the problem, or "": values that no machine can keep, ComputeEval's rules
    for a command problem, and a GPU for a function problem that needs one. CPU problems always run otherwise."""
    problem = record.problem
    if problem.unusable:
        return problem.unusable
    if isinstance(problem, CommandProblem):
        return "" if problem.type in ("cpp", "python") else compute_eval_skip(problem, hardware)
    return problem.why_skipped(hardware) if hardware.device == "cpu" else ""
