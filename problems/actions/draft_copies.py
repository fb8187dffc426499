"""Copies problems of another release into a draft."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max

from problems.actions.drafts import fields_of, hold_draft, record_with, rewrite
from problems.actions.releases import ReleaseRefused, check_columns, problem_row, problem_slug
from problems.formats.compute_eval.packs import PackRecord
from problems.models import Problem, ProblemBlob, Release
from problems.spec.profile import Profile


@dataclass
class DraftCopies:
    """The result of copying: a record for each problem that can be copied, and the reasons why the others cannot."""

    records: list[tuple[Problem, PackRecord]] = field(default_factory=list)
    refused: list[tuple[Problem, str]] = field(default_factory=list)


def foreseen_copies(release: Release, sources: Sequence[Problem]) -> DraftCopies:
    """Foresees the result of `copy_problems`. The sources have their release with them."""
    found, taken = DraftCopies(), _taken(release, "task_id")
    for source in sources:
        try:
            if source.task_id in taken:
                raise ReleaseRefused(f"a problem with this task_id {taken[source.task_id]}")
            found.records.append((source, record_with(fields_of(source.spec), Profile(release.profile))))
        except ReleaseRefused as refused:
            found.refused.append((source, str(refused)))
    return found


@transaction.atomic
def copy_problems(release: Release, sources: Sequence[Problem]) -> list[Problem]:
    """Add copies of another release's problems at the end of a draft, in this order. Returns the copies.

    Those that a draft of its profile cannot have, or whose task_id it has, are left: see `foreseen_copies`.
    Raises ReleaseRefused.
    """
    held = hold_draft(release)
    copies = foreseen_copies(held, sources).records
    last = Problem.with_left_out.filter(release=held).aggregate(last=Max("position"))["last"]
    free, slugs, made = 0 if last is None else last + 1, set(_taken(held, "slug")), []
    for position, (_, record) in enumerate(copies, free):
        row = problem_row(held, position, _free_slug(record.problem.task_id, slugs), record)
        check_columns(row, f"Problem {row.task_id}"[:100])
        slugs.add(row.slug)
        made.append(row)
    Problem.objects.bulk_create(made, batch_size=200)
    _copy_blobs({source.pk: row for (source, _), row in zip(copies, made, strict=True)})
    rewrite(held)
    release.refresh_from_db()
    return made


def _taken(release: Release, name: str) -> dict[str, str]:
    """The values of a column in the draft, and where the problem is that has each."""
    rows = Problem.with_left_out.filter(release=release).values_list(name, "is_left_out")
    return {value: "is left out of this draft" if left_out else "is in this draft" for value, left_out in rows}


def _free_slug(task_id: str, taken: Collection[str]) -> str:
    base = slug = problem_slug(task_id)[:190]
    number = 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _copy_blobs(copy_of: dict[int, Problem]) -> None:
    rows = list(ProblemBlob.objects.filter(problem__in=list(copy_of)))
    for row in rows:
        row.pk, row.problem = None, copy_of[row.problem_id]
        row._state.adding = True
    ProblemBlob.objects.bulk_create(rows, batch_size=500)
