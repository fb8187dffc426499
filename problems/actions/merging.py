"""Brings the problems of a pack into a draft that is there. Callers check rights and write the audit entry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from problems.actions.drafts import (
    HEAD_FIELDS,
    RecordRefused,
    checked_part,
    fields_of,
    free_problem_slug,
    hold_draft,
    overwrite,
    record_with,
    rewrite,
)
from problems.actions.releases import (
    PackUnfit,
    ReleaseRefused,
    check_columns,
    guessable_lines,
    problem_row,
    unfit_problem,
    warning_lines,
)
from problems.formats.compute_eval.packs import PackRecord, ProblemPack
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS
from problems.spec.profile import Profile
from problems.spec.record import ProblemRecord
from problems.texts import differing, texts_of


@dataclass(frozen=True)
class Choices:
    """The chosen parts of a comparison."""

    take_new: bool = True
    replace_changed: bool = True
    leave_out_missing: bool = False


@dataclass(frozen=True)
class New:
    """A problem of the pack that is no part of the draft."""

    record: PackRecord
    left_out: Problem | None = None
    """The draft's row of this task_id, which it leaves out: it is brought back with the pack's record."""

    @property
    def task_id(self) -> str:
        return self.record.problem.task_id


@dataclass(frozen=True)
class Changed:
    """A problem of both that differs."""

    row: Problem
    record: PackRecord
    before: ProblemRecord

    @property
    def task_id(self) -> str:
        return self.row.task_id

    @property
    def regraded(self) -> bool:
        """Whether results depend on what differs: the problem must be verified anew."""
        return checked_part(self.before) != checked_part(self.record.problem)

    @property
    def texts(self) -> tuple[dict[str, str], dict[str, str]]:
        """The fields and files of the draft's problem and of the pack's."""
        return texts_of(fields_of(self.before)), texts_of(fields_of(self.record.problem))

    @property
    def names(self) -> list[str]:
        """The fields and files that differ."""
        return differing(*self.texts)


@dataclass
class PackBesideDraft:
    """A pack beside a draft, in the order of the pack; `missing` are the draft's own in theirs."""

    release: Release
    new: list[New] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    missing: list[Problem] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Warnings, and what of the pack is not taken."""

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.changed or self.missing)


def state_of(release: Release) -> list[Any]:
    """The state that a comparison with the draft rests on: equal as long as nobody changes its problems."""
    rows = Problem.with_left_out.filter(release=release).order_by("position")
    return [list(one) for one in rows.values_list("task_id", "record_md5", "is_left_out")]


def compare(release: Release, pack: ProblemPack) -> PackBesideDraft:
    """Stores nothing. Raises PackUnfit with every fault, or ReleaseRefused if the release is no draft."""
    if not release.is_draft:
        raise ReleaseRefused(f"{release.slug} is {release.state}: its problems never change. Start its next revision.")
    rows = {row.task_id: row for row in Problem.with_left_out.filter(release=release).order_by("position")}
    found = PackBesideDraft(release)
    for record in _records(pack, Profile(release.profile)):
        row = rows.pop(record.problem.task_id, None)
        if row is not None:
            row.release = release
        _place(found, row, record)
    found.missing = [row for row in rows.values() if not row.is_left_out]
    found.lines = [*_head_lines(release, pack), *_weight_lines(release, found), *guessable_lines(pack)]
    found.lines += warning_lines(pack)
    return found


def _records(pack: ProblemPack, profile: Profile) -> Sequence[PackRecord]:
    """The pack's records, as a draft of this profile holds them. Raises PackUnfit."""
    if pack.profile == profile:
        faults = [words for record in pack.records for words in unfit_problem(record.problem)]
        if faults:
            raise PackUnfit(faults)
        return pack.records
    made, faults = [], []
    for record in pack.records:
        try:
            made.append(record_with(fields_of(record.problem), profile))
        except RecordRefused as refused:
            faults.append(
                f"Task `{record.problem.task_id}`, read under the draft's profile {profile.value}: {refused}."
            )
    if faults:
        raise PackUnfit(faults)
    return made


def _place(found: PackBesideDraft, row: Problem | None, record: PackRecord) -> None:
    if row is None or row.is_left_out:
        found.new.append(New(record, row))
    elif row.record_md5 == record.md5 or (before := row.spec).to_line() == record.problem.to_line():
        found.same.append(row.task_id)
    else:
        found.changed.append(Changed(row, record, before))


def _head_lines(release: Release, pack: ProblemPack) -> Iterator[str]:
    """Values of the release itself that the pack states differently from the draft."""
    said = {name: getattr(pack.metadata, name) for name in HEAD_FIELDS}
    other = [name for name, value in said.items() if value and value != getattr(release, name)]
    if other:
        names = ", ".join(name.replace("_", " ") for name in other)
        yield f"Note: the pack says otherwise of the release itself: {names}. The draft keeps its own."


def _weight_lines(release: Release, found: PackBesideDraft) -> Iterator[str]:
    records = [*(one.record for one in found.new), *(one.record for one in found.changed)]
    specs = [one.problem for one in records]
    groups = {str(one.group) for one in specs if one.kind in NODE_KINDS} - release.weights.keys()
    if release.weights and groups:
        names = ", ".join(sorted(groups))
        yield f"Warning: the draft's weights have none for {names}. Its weighted score needs one for each group."


@dataclass(frozen=True)
class Merged:
    """The result of a merge."""

    added: Sequence[Problem]
    replaced: Sequence[Changed]
    left_out: Sequence[Problem]

    @property
    def must_be_verified(self) -> list[Problem]:
        return [*self.added, *(one.row for one in self.replaced if one.regraded)]


@transaction.atomic
def merge(found: PackBesideDraft, chosen: Choices) -> Merged:
    """Do what was chosen of a comparison that was made in this transaction. Raises ReleaseRefused."""
    held = hold_draft(found.release)
    added = [_added(held, one) for one in found.new] if chosen.take_new else []
    replaced = found.changed if chosen.replace_changed else []
    for one in replaced:
        overwrite(one.row, one.record, regraded=one.regraded)
    left_out = found.missing if chosen.leave_out_missing else []
    now = timezone.now()
    gone = [row.pk for row in left_out]
    Problem.with_left_out.filter(pk__in=gone).update(is_left_out=True, graded_since=now)
    rewrite(held)
    return Merged(added, replaced, left_out)


def _added(held: Release, one: New) -> Problem:
    if one.left_out is not None:
        row = one.left_out
        row.is_left_out = False
        overwrite(row, one.record, regraded=True)
        return row
    last = Problem.with_left_out.filter(release=held).order_by("-position").first()
    row = problem_row(held, last.position + 1 if last else 0, free_problem_slug(held, one.task_id), one.record)
    check_columns(row, f"Problem {row.task_id}"[:100])
    row.save()
    return row
