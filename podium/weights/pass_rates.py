"""Reads pass rates by group: from graded rows, or from a CSV or JSON file that states them."""

import csv
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from problems.formats.compute_eval.directory import read_problem_directory
from problems.formats.compute_eval.packs import read_problem_pack
from problems.formats.graded_rows import GradedRow, read_graded_rows
from problems.spec.errors import explain
from problems.spec.kinds import NODE_KINDS, Kind

CSV_HEADER = ["group", "problems", "pass_rate"]
_UNJUDGED = ("skipped", "platform_error")


class Unusable(ValueError):
    """The pass rates cannot be read. The message says what to do."""


class GroupRate(BaseModel):
    """The coding problems of a group, and the share of samples that pass, 0 to 1; None without a result."""

    model_config = ConfigDict(extra="forbid")

    problems: int = Field(ge=1)
    pass_rate: float | None = Field(default=None, ge=0, le=1)


Rates = Mapping[str, GroupRate]
"""Pass rates by group."""
_RATES: TypeAdapter[dict[str, GroupRate]] = TypeAdapter(dict[str, GroupRate])


@dataclass(frozen=True)
class PassRateSource:
    """A file and its pass rates."""

    name: str
    sha256: str
    rates: Rates


@dataclass(frozen=True)
class CodingProblems:
    """The group of each coding problem of a release, and the task ids of its questions."""

    groups: Mapping[str, str]
    questions: frozenset[str]


def coding_problems(pack: Path) -> CodingProblems:
    """Read a problem pack or a folder of command problems. Raises PackRefused."""
    read = read_problem_directory(pack) if pack.is_dir() else read_problem_pack(pack)
    specs = [record.problem for record in read.records]
    return CodingProblems(
        {one.task_id: str(one.group) for one in specs if one.kind in NODE_KINDS},
        frozenset(one.task_id for one in specs if one.kind not in NODE_KINDS),
    )


def read_source(path: Path, known: CodingProblems | None) -> PassRateSource:
    """Read a `.csv` or `.json` file of rates, or graded rows. Raises Unusable or PackRefused."""
    content = path.read_bytes()
    if path.suffix == ".csv":
        rates = _stated(_csv_rows(path, content), path)
    elif path.suffix == ".json":
        rates = _stated(_json(path, content), path)
    else:
        rates = _graded([line.row for line in read_graded_rows(path)], path, known)
    return PassRateSource(path.name, hashlib.sha256(content).hexdigest(), rates)


def combined(sources: Sequence[PassRateSource], known: CodingProblems | None) -> Rates:
    """The mean of the sources' rates of each group, each source counting the same. Raises Unusable.

    The numbers of problems are those of the pack if it is known; otherwise the sources must agree on them.
    """
    sizes = _sizes(sources, known)
    given = {group: [one.rates[group].pass_rate for one in sources if group in one.rates] for group in sizes}
    judged = {group: [rate for rate in rates if rate is not None] for group, rates in given.items()}
    return {
        group: GroupRate(problems=n, pass_rate=fmean(judged[group]) if judged[group] else None)
        for group, n in sizes.items()
    }


def _sizes(sources: Sequence[PassRateSource], known: CodingProblems | None) -> dict[str, int]:
    """The number of problems of each group."""
    if known is not None:
        groups = list(known.groups.values())
        _check_groups(sources, groups)
        return {group: groups.count(group) for group in dict.fromkeys(groups)}
    sizes: dict[str, int] = {}
    for source in sources:
        for group, rate in source.rates.items():
            if sizes.setdefault(group, rate.problems) != rate.problems:
                words = f"group {group} has {sizes[group]} problems in one file and {rate.problems} in {source.name}"
                raise Unusable(f"{words}; give the pack with --problems")
    return sizes


def _check_groups(sources: Sequence[PassRateSource], groups: Sequence[str]) -> None:
    for source in sources:
        if unknown := sorted(source.rates.keys() - set(groups)):
            raise Unusable(f"{source.name}: the pack has no coding problem of the groups {', '.join(unknown)}")


def _csv_rows(path: Path, content: bytes) -> dict[str, dict[str, Any]]:
    rows = csv.DictReader(io.StringIO(_text(path, content)))
    if rows.fieldnames != CSV_HEADER:
        raise Unusable(f"{path}: its first line must be `{','.join(CSV_HEADER)}`")
    read = list(rows)
    groups = [row["group"] for row in read]
    if twice := next((group for group in groups if groups.count(group) > 1), None):
        raise Unusable(f"{path}: group {twice} stands there twice")
    return {row["group"]: {"problems": row["problems"], "pass_rate": row["pass_rate"] or None} for row in read}


def _json(path: Path, content: bytes) -> Any:
    try:
        return json.loads(_text(path, content))
    except ValueError as error:
        raise Unusable(f"{path}: is no JSON: {error}") from error


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(f"{path}: is not in UTF-8") from error


def _stated(data: Any, path: Path) -> Rates:
    try:
        return _RATES.validate_python(data)
    except ValidationError as error:
        raise Unusable(f"{path}: {explain(error)}") from error


def _graded(rows: Sequence[GradedRow], path: Path, known: CodingProblems | None) -> Rates:
    """The mean over a group's problems of each one's share of passing samples."""
    passes: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row, group in _coding_rows(rows, path, known):
        of_problem = passes[group][row.task_id]
        if not row.skipped and row.verdict not in _UNJUDGED:
            of_problem.append(row.passed)
    return {group: _rate(list(of_group.values())) for group, of_group in passes.items()}


def _rate(samples: Sequence[Sequence[bool]]) -> GroupRate:
    shares = [fmean(one) for one in samples if one]
    return GroupRate(problems=len(samples), pass_rate=fmean(shares) if shares else None)


def _coding_rows(
    rows: Sequence[GradedRow], path: Path, known: CodingProblems | None
) -> Iterator[tuple[GradedRow, str]]:
    """The rows of coding problems with the problem's group."""
    for row in rows:
        if known is None and row.problem.get("kind", Kind.COMMAND) in NODE_KINDS:
            yield row, _own_group(row, path)
        elif known is not None and row.task_id not in known.questions:
            if row.task_id not in known.groups:
                raise Unusable(f"{path}: task_id `{row.task_id}` is not in the pack")
            yield row, known.groups[row.task_id]


def _own_group(row: GradedRow, path: Path) -> str:
    group = row.problem.get("group")
    if not isinstance(group, str) or not group:
        raise Unusable(f"{path}: the row of `{row.task_id}` names no group; give the pack with --problems")
    return group
