"""Makes and edits draft releases and their problems. Callers check rights and write the audit entry."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max, ProtectedError
from django.utils import timezone

from problems.actions.releases import (
    ReleaseRefused,
    check_columns,
    free_slug,
    keep_audience,
    problem_row,
    problem_slug,
    release_slug,
)
from problems.formats.compute_eval.packs import PackRecord, problem_metadata_for
from problems.models import PROMISES, RANKING_FIELDS, Problem, ProblemBlob, Release, ReleaseState
from problems.spec.digests import grading_digest, pack_digest
from problems.spec.errors import Fault, RecordError, faults_of
from problems.spec.pack import ProblemPackMetadata, parse_problem_metadata
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import parse_record, record_from
from problems.spec.site.problem import problem_faults
from problems.spec.site.question import pattern_faults

RELEASE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""All of a new release's name."""
HEAD_FIELDS = ("title", "description", *RANKING_FIELDS, *PROMISES)
"""The fields of a release that a pack's metadata states."""
_COPIED = (
    "title",
    "description",
    "max_samples",
    "licence",
    "authors",
    "dataset_card",
    *RANKING_FIELDS,
    *PROMISES,
)
_COMPUTED = (
    "task_id", "slug", "kind", "type", "group", "title", "difficulty", "tags", "record", "record_md5",
    "record_sha256", "grading_digest", "build_only", "cases", "has_benchmark", "has_baseline", "timed_work",
    "do_not_release",
)  # fmt: skip
"""Columns of a problem that follow from its record."""


class RecordRefused(ReleaseRefused):
    """A problem's record is not valid; `faults` says why, field by field."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{'.'.join(map(str, one.path)) or 'record'}: {one.words}" for one in faults))


@dataclass(frozen=True)
class DraftChange:
    """The result of a change: `changed` is false if the record is the same; `regraded` if results no longer hold."""

    problem: Problem
    changed: bool
    regraded: bool


def new_draft(name: str, title: str) -> Release:
    """An empty draft of profile podium/1. Raises ReleaseRefused."""
    if not RELEASE_NAME.fullmatch(name):
        words = "at most 60 letters, digits, dots, hyphens and underscores, beginning with a letter or digit"
        raise ReleaseRefused(f"{name!r} is no name for a release; use {words}.")
    if first := Release.objects.filter(datapack_release=name).order_by("-revision").first():
        raise ReleaseRefused(
            f"{name} is here already as {first.slug}. Start its next revision, or choose another name."
        )
    metadata = ProblemPackMetadata.model_validate(
        {"release": name, "total_count": 0, "title": title, "profile": Profile.PODIUM},
        context={"profile": Profile.PODIUM},
    )
    release = Release(
        slug=free_slug(release_slug(name)),
        datapack_release=name,
        digest=pack_digest(b""),
        profile=Profile.PODIUM.value,
        pack_metadata=metadata.to_bytes().decode(),
        title=title.strip() or name,
    )
    release.ks = [1]
    check_columns(release, f"Release {name}")
    release.save()
    return release


@transaction.atomic
def next_revision(source: Release) -> Release:
    """A draft with the problems of `source` as they are, for the same people.

    Raises ReleaseRefused if its name has a draft already.
    """
    same_name = Release.objects.filter(datapack_release=source.datapack_release).order_by("-revision")
    if draft := same_name.filter(state=ReleaseState.DRAFT).first():
        raise ReleaseRefused(f"{draft.slug} is a draft of the same name already: edit that, or publish it first.")
    last = same_name[0]
    revision = last.revision + 1
    made = Release(
        slug=free_slug(f"{release_slug(source.datapack_release)}-r{revision}"),
        datapack_release=source.datapack_release,
        revision=revision,
        digest=source.digest,
        profile=source.profile,
        previous=last,
        pack_metadata=source.pack_metadata,
        **{name: getattr(source, name) for name in _COPIED},
    )
    made.save()
    keep_audience(made, source, last)
    rows = list(source.problems.prefetch_related("blobs").order_by("position"))
    blobs = [list(row.blobs.all()) for row in rows]
    for row in rows:
        row.pk, row.release, row.graded_since = None, made, None
        row._state.adding = True
    Problem.objects.bulk_create(rows, batch_size=200)
    for row, its_blobs in zip(rows, blobs, strict=True):
        for blob in its_blobs:
            blob.pk, blob.problem = None, row
    ProblemBlob.objects.bulk_create([one for some in blobs for one in some], batch_size=500)
    return made


def record_with(fields: Mapping[str, Any], profile: Profile) -> PackRecord:
    """The record of decoded JSON, written and read back as the importer does, with values that can work.

    Raises RecordRefused.
    """
    try:
        line = record_from(dict(fields), profile).to_line()
        made = PackRecord(line, parse_record(line, profile))
    except RecordError as error:
        raise RecordRefused([*pattern_faults(fields.get("final_answer_patterns")), *faults_of(error)]) from error
    if faults := problem_faults(made.problem):
        raise RecordRefused(faults)
    return made


@transaction.atomic
def add_problem(release: Release, fields: Mapping[str, Any]) -> Problem:
    """Add a problem at the end of a draft. Raises RecordRefused or ReleaseRefused."""
    held = hold_draft(release)
    record = record_with(fields, Profile(held.profile))
    _check_task_id(held, record.problem.task_id)
    last = Problem.with_left_out.filter(release=held).aggregate(last=Max("position"))["last"]
    row = problem_row(held, 0 if last is None else last + 1, free_problem_slug(held, record.problem.task_id), record)
    check_columns(row, f"Problem {row.task_id}"[:100])
    row.save()
    rewrite(held)
    release.refresh_from_db()
    return row


def fields_of(spec: ProblemRecord) -> dict[str, Any]:
    """A record as decoded JSON, to be edited and read again."""
    return {"kind": spec.kind.value, **spec.model_dump(mode="json")}


@transaction.atomic
def change_problem(problem: Problem, fields: Mapping[str, Any], opened_md5: str) -> DraftChange:
    """Replace the record of a draft's problem, which had the hash `opened_md5` when its editor opened it.

    Raises RecordRefused, or ReleaseRefused if the problem was changed meanwhile.
    """
    held = hold_draft(problem.release)
    row = Problem.objects.filter(pk=problem.pk).first()
    if row is None or row.record_md5 != opened_md5:
        raise ReleaseRefused(
            f"Problem {problem.task_id} was changed or left out while you edited it. Nothing was saved: open it in"
            " another tab, and bring what you typed together with what is there now."
        )
    row.release = held
    before, record = row.spec, record_with(fields, Profile(held.profile))
    if before.to_line() == record.problem.to_line():
        return DraftChange(row, changed=False, regraded=False)
    if record.problem.task_id != row.task_id:
        _check_task_id(held, record.problem.task_id)
    regraded = checked_part(before) != checked_part(record.problem)
    overwrite(row, record, regraded=regraded)
    rewrite(held)
    return DraftChange(row, changed=True, regraded=regraded)


def overwrite(row: Problem, record: PackRecord, *, regraded: bool) -> None:
    is_renamed = record.problem.task_id != row.task_id
    slug = free_problem_slug(row.release, record.problem.task_id) if is_renamed else row.slug
    fresh = problem_row(row.release, row.position, slug, record)
    check_columns(fresh, f"Problem {fresh.task_id}"[:100])
    kept = () if regraded else ("build_only", "grading_digest")  # verifying may have settled them
    for name in _COMPUTED:
        if name not in kept:
            setattr(row, name, getattr(fresh, name))
    if regraded:
        row.graded_since = timezone.now()
    row.save()


def checked_part(spec: ProblemRecord) -> tuple[Any, ...]:
    """The parts of a record that verifying depends on."""
    return grading_digest(spec, spec.withheld), [one.model_dump() for one in spec.podium.known_bad]


@transaction.atomic
def delete_problem(problem: Problem) -> None:
    """Delete a problem that is left out and has never been run. Raises ReleaseRefused."""
    hold_draft(problem.release)
    row = Problem.with_left_out.filter(pk=problem.pk, is_left_out=True).first()
    if row is None:
        raise ReleaseRefused(f"Problem {problem.task_id} is a part of its draft: leave it out first.")
    try:
        with transaction.atomic():
            row.delete()
    except ProtectedError as error:
        raise ReleaseRefused(
            f"Problem {problem.task_id} has been verified, and results are kept for good. It stays left out: nobody"
            " sees it, and it is in no export."
        ) from error


@transaction.atomic
def delete_draft(release: Release) -> None:
    """Delete a draft with its problems. The caller has deleted what needs them. Raises ReleaseRefused."""
    held = hold_draft(release)
    Problem.with_left_out.filter(release=held).delete()
    held.delete()


def hold_draft(release: Release) -> Release:
    """The draft's row, locked until the transaction ends. Raises ReleaseRefused if it is no draft."""
    held = Release.objects.select_for_update().get(pk=release.pk)
    if not held.is_draft:
        raise ReleaseRefused(
            f"{held.slug} is {held.state}: its problems never change. Start its next revision, and edit that."
        )
    return held


def _check_task_id(release: Release, task_id: str) -> None:
    other = Problem.with_left_out.filter(release=release, task_id=task_id).first()
    if other is not None:
        where = "is left out of this draft: bring it back, or delete it" if other.is_left_out else "is in this draft"
        raise RecordRefused([Fault(("task_id",), f"another problem with this task_id {where}")])


def free_problem_slug(release: Release, task_id: str) -> str:
    base = slug = problem_slug(task_id)[:190]
    number = 2
    while Problem.with_left_out.filter(release=release, slug=slug).exists():
        slug, number = f"{base}-{number}", number + 1
    return slug


def rewrite(release: Release) -> None:
    """Make the digest and the pack's metadata those of the draft's problems as they are now."""
    rows = [
        (name, bytes(line)) for name, line in release.problems.order_by("position").values_list("task_id", "record")
    ]
    metadata = parse_problem_metadata(release.pack_metadata.encode()).model_copy(
        update={name: getattr(release, name) for name in HEAD_FIELDS}
    )
    release.digest = pack_digest(b"".join(line for _, line in rows))
    release.pack_metadata = problem_metadata_for(metadata, rows).to_bytes().decode()
    release.save(update_fields=["digest", "pack_metadata"])
