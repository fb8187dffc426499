"""The part of a problem that a model may read: the same as any participant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from problems.spec.record import ProblemRecord
from problems.spec.solution import SourceFile


@dataclass(frozen=True)
class Asked:
    """A problem without anything that is held out. `facts` are its public facts, as the API gives them."""

    task_id: str
    kind: str
    group: str
    statement: str
    files: Sequence[SourceFile]
    starters: Mapping[str, Sequence[SourceFile]]
    facts: Mapping[str, Any]
    is_strict: bool = False
    """Whether it is of a pack in ComputeEval's own profile, whose replies are read by ComputeEval's rules alone."""

    @property
    def starter_paths(self) -> list[str]:
        return list(dict.fromkeys(file.path for files in self.starters.values() for file in files))


def of_record(record: ProblemRecord, *, is_strict: bool) -> Asked:
    """Reads a problem of a pack; its held-out files are left out."""
    visible = [one.file for one in record.files if not one.is_held_out]
    return Asked(
        record.task_id, record.kind, str(record.group), record.prompt, visible, record.starters, record.public_facts(),
        is_strict,
    )  # fmt: skip


def of_detail(detail: Mapping[str, Any]) -> Asked:
    """Reads the API's description of a problem."""
    files = [*detail["context_files"], *detail["visible_test_files"]]
    starters = {language: _files(rows) for language, rows in detail["starters"].items()}
    strict = detail.get("profile", "") == "compute-eval"
    return Asked(
        detail["task_id"], detail["kind"], detail["group"], detail["statement"], _files(files), starters, detail, strict
    )


def _files(rows: Sequence[Mapping[str, str]]) -> list[SourceFile]:
    return [SourceFile(path=row["path"], content=row["content"]) for row in rows]
