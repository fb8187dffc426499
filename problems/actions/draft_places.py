"""Which problems a draft has, and in which order: they are left out, brought back and moved, one or many at a time."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from problems.actions.drafts import hold_draft, rewrite
from problems.actions.releases import ReleaseRefused
from problems.models import Problem, Release

_NAMED = 5


@transaction.atomic
def leave_out(*problems: Problem) -> None:
    """Take problems out of their draft and keep them there, unseen. Raises ReleaseRefused."""
    _set_left_out(problems, left_out=True)


@transaction.atomic
def bring_back(*problems: Problem) -> None:
    """The opposite: after the problems that they stood behind. They must be verified anew. Raises ReleaseRefused."""
    _set_left_out(problems, left_out=False)


def _set_left_out(problems: Sequence[Problem], *, left_out: bool) -> None:
    held = hold_draft(problems[0].release)
    rows = Problem.with_left_out.filter(release=held, pk__in=[one.pk for one in problems], is_left_out=not left_out)
    known = set(rows.values_list("pk", flat=True))
    if wrong := [one for one in problems if one.pk not in known]:
        where = "left out already" if left_out else "in the draft already"
        raise ReleaseRefused(f"{_names(wrong)} {where}.")
    rows.update(is_left_out=left_out, graded_since=timezone.now())
    for one in problems:
        one.is_left_out = left_out
    rewrite(held)


def _names(problems: Sequence[Problem]) -> str:
    """Problem a/1 is; Problems a/1, a/2 and 7 more are."""
    if len(problems) == 1:
        return f"Problem {problems[0].task_id} is"
    named = ", ".join(one.task_id for one in problems[:_NAMED])
    return f"Problems {named}{f' and {len(problems) - _NAMED} more' if len(problems) > _NAMED else ''} are"


def order_of(release: Release) -> list[int]:
    """The ids of a release's problems in their order, without those that are left out."""
    return list(release.problems.order_by("position").values_list("pk", flat=True))


def moved(order: Sequence[int], chosen: Sequence[int], place: int) -> list[int]:
    """The order once those of `chosen` stand together, in their order, from `place` on; 1 is the first place.

    They come last if fewer places are left.
    """
    known = set(chosen)
    rest = [pk for pk in order if pk not in known]
    at = min(place - 1, len(rest))
    return [*rest[:at], *(pk for pk in order if pk in known), *rest[at:]]


@transaction.atomic
def move_to(place: int, *problems: Problem) -> list[int]:
    """Move problems of one draft together, so that the first of them has this place; see `moved`.

    Returns the order before. Raises ReleaseRefused if one of them is not in the draft, or the draft has no such place.
    """
    held = hold_draft(problems[0].release)
    order = order_of(held)
    if lacking := [one for one in problems if one.pk not in set(order)]:
        raise ReleaseRefused(f"{_names(lacking)} no part of {held.slug} now.")
    if not 1 <= place <= len(order):
        raise ReleaseRefused(f"{held.slug} has the places 1 to {len(order)}: {place} is none of them.")
    _renumber(held, moved(order, [one.pk for one in problems], place))
    rewrite(held)
    return order


@transaction.atomic
def move_problem(problem: Problem, places: int) -> None:
    """Move a problem down by `places`, or up where it is negative; it stops at either end. Raises ReleaseRefused."""
    order = order_of(hold_draft(problem.release))
    at = order.index(problem.pk) if problem.pk in order else 0
    move_to(max(0, min(len(order) - 1, at + places)) + 1, problem)


def _renumber(release: Release, order: Sequence[int]) -> None:
    """Give the problems the positions of `order`; one that is left out stays behind the problem that it stood behind.

    First beyond every position in use, because no two problems may have one even for a moment.
    """
    rows = list(
        Problem.with_left_out.filter(release=release).order_by("position").only("pk", "position", "is_left_out")
    )
    behind: dict[int, list[Problem]] = {0: []}
    last = 0
    for row in rows:
        if row.is_left_out:
            behind[last].append(row)
        else:
            last = row.pk
            behind[last] = [row]
    ordered = [row for pk in (0, *order) for row in behind[pk]]
    for first in (max(rows[-1].position + 1, len(rows)), 0):
        for place, row in enumerate(ordered):
            row.position = first + place
        Problem.with_left_out.bulk_update(rows, ["position"], batch_size=200)
