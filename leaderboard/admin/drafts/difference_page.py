"""A revision against the one before it: per problem, field by field and file by file, side by side."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.pages import page
from problems.actions.drafts import fields_of
from problems.models import Problem, Release
from problems.texts import differing, texts_of

PER_PAGE = 20
CONTEXT_LINES = 3
MAX_LINES = 5000


@dataclass(frozen=True)
class ComparedLine:
    """One row of a table: the line before and after. `kind` is same, changed, added, removed or gap."""

    kind: str
    before_number: int | None = None
    before: str = ""
    after_number: int | None = None
    after: str = ""


@dataclass(frozen=True)
class ChangedPart:
    """A field or a file that differs."""

    name: str
    lines: list[ComparedLine]


@dataclass(frozen=True)
class ProblemPair:
    """A problem of either revision or both; `kind` is added, removed, changed or moved."""

    task_id: str
    kind: str
    before: Problem | None
    after: Problem | None

    @property
    def results_hold(self) -> bool:
        return bool(self.before and self.after and self.before.grading_digest == self.after.grading_digest)

    @property
    def parts(self) -> list[ChangedPart]:
        before, after = (texts_of(fields_of(one.spec)) if one else {} for one in (self.before, self.after))
        return parts_of(before, after)


def parts_of(before: Mapping[str, str], after: Mapping[str, str]) -> list[ChangedPart]:
    """The texts that differ between two problems."""
    return [
        ChangedPart(name, list(side_by_side(before.get(name, ""), after.get(name, ""))))
        for name in differing(before, after)
    ]


def difference(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    release = get_object_or_404(Release.objects.select_related("previous"), pk=pk)
    previous = release.previous
    if previous is None:
        raise Http404(f"{release.slug} is its release's first revision.")
    before, after = _hashes(previous), _hashes(release)
    names = list(dict.fromkeys([*after, *before]))
    differing = [name for name in names if before.get(name) != after.get(name)]
    shown = Paginator(differing, PER_PAGE).get_page(request.GET.get("page"))
    old, new = (_rows(one, shown.object_list) for one in (previous, release))
    pairs = [ProblemPair(name, _kind(name, before, after), old.get(name), new.get(name)) for name in shown.object_list]
    counts = {kind: sum(_kind(name, before, after) == kind for name in differing) for kind in _KINDS}
    return page(
        admin, request, "difference", f"{previous} and {release}",
        release=release, previous=previous, pairs=pairs, page=shown, counts=counts,
        n_same=len(names) - len(differing),
    )  # fmt: skip


_KINDS = ("added", "removed", "changed")


def _kind(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    return "added" if name not in before else "removed" if name not in after else "changed"


def _hashes(release: Release) -> dict[str, str]:
    return dict(release.problems.order_by("position").values_list("task_id", "record_md5"))


def _rows(release: Release, names: Any) -> dict[str, Problem]:
    rows = release.problems.filter(task_id__in=list(names)).select_related("release")
    return {row.task_id: row for row in rows}


def side_by_side(before: str, after: str) -> Iterator[ComparedLine]:
    """The lines that differ, with a few around them. Texts of many lines are not compared."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MAX_LINES:
        yield ComparedLine("gap", before=f"{len(old)} lines", after=f"{len(new)} lines: too long to compare here")
        return
    groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)
    for number, group in enumerate(groups):
        if number:
            yield ComparedLine("gap")
        for tag, i1, i2, j1, j2 in group:
            kind = {"equal": "same", "insert": "added", "delete": "removed"}.get(tag, "changed")
            yield from _lines(kind, old[i1:i2], new[j1:j2], i1, j1)


def _lines(kind: str, old: list[str], new: list[str], at: int, to: int) -> Iterator[ComparedLine]:
    for n in range(max(len(old), len(new))):
        left, right = n < len(old), n < len(new)
        yield ComparedLine(
            kind if left and right else "removed" if left else "added",
            at + n + 1 if left else None, old[n] if left else "",
            to + n + 1 if right else None, new[n] if right else "",
        )  # fmt: skip
