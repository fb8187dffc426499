"""Reads the demo's entrants: a folder each, with the samples of every problem and the verdicts they must get.

Replies to questions lie in one file, `answers.jsonl`.
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from problems.formats.compute_eval.packs import write_solution_pack
from problems.spec.pack import SolutionPackMetadata
from problems.spec.question.rules import ANSWER_PATH
from problems.spec.solution import FileSolution, SourceFile

ANSWERS_NAME = "answers.jsonl"


@dataclass(frozen=True)
class DemoEntrant:
    """One entrant as its folder describes it; `expected` maps (problem slug, sample index) to a verdict."""

    slug: str
    title: str
    kind: str
    organisation: str
    description: str
    folder: Path
    expected: Mapping[tuple[str, int], str]
    replies: Sequence[tuple[str, str]]
    """task_id and text of each reply to a question."""
    adapted: Mapping[str, Path]
    """Folders of solutions in another platform's form, by the form."""


def load_entrants(root: Path) -> list[DemoEntrant]:
    """Every folder of `root` that has an entrant.yaml, in the order of their names."""
    return [_load(path) for path in sorted(root.glob("*/entrant.yaml"))]


def _load(path: Path) -> DemoEntrant:
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    return DemoEntrant(
        slug=fields["name"],
        title=fields["title"],
        kind=fields["kind"],
        organisation=fields["organisation"],
        description=fields["description"].strip(),
        folder=path.parent,
        expected={
            (slug, index): verdict
            for slug, verdicts in fields["expected"].items()
            for index, verdict in enumerate(verdicts)
        },
        replies=list(_replies(path.parent / ANSWERS_NAME)),
        adapted={form: path.parent / folder for form, folder in fields.get("adapted", {}).items()},
    )


def _replies(path: Path) -> Iterator[tuple[str, str]]:
    """Each line names an exercise as `chapter/exercise` and has the replies to it."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        fields = json.loads(line)
        for text in fields["replies"]:
            yield f"qa-{fields['exercise'].replace('/', '-')}", text


def solution_pack(
    entrant: DemoEntrant, datapack_release: str, task_ids: Mapping[str, str], adapted: Sequence[FileSolution] = ()
) -> bytes:
    """The entrant's samples as a solutions datapack; `task_ids` maps problem slugs to the ids inside packs."""
    lines = [*_lines(entrant, task_ids), *(one.to_line() for one in adapted)]
    metadata = SolutionPackMetadata.model_construct(
        release=datapack_release, total_count=len(lines), created_at="2026-01-01T00:00:00", groups=None
    )
    target = io.BytesIO()
    write_solution_pack(target, metadata, lines)
    return target.getvalue()


def _lines(entrant: DemoEntrant, task_ids: Mapping[str, str]) -> Iterator[bytes]:
    """One line for each sample that has a folder; a sample without one was never handed in."""
    for slug, index in sorted(entrant.expected):
        folder = sample_folder(entrant.folder / slug, index)
        if folder.is_dir():
            yield FileSolution(task_id=task_ids[slug], files=_files(folder)).to_line()
    for task_id, text in entrant.replies:
        yield FileSolution(task_id=task_id, files=[SourceFile(path=ANSWER_PATH, content=text)]).to_line()


def sample_folder(problem: Path, index: int) -> Path:
    """The folder named by the index; the only sample of a problem may lie in the problem's folder itself."""
    has_one = index == 0 and any(path.is_file() for path in problem.glob("*"))
    return problem if has_one else problem / str(index)


def _files(folder: Path) -> list[SourceFile]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return [
        SourceFile(path=path.relative_to(folder).as_posix(), content=path.read_text(encoding="utf-8")) for path in paths
    ]
