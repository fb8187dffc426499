"""Problems of a draft are left out, brought back and moved, many at a time."""

import pytest

from problems.actions import draft_places
from problems.actions.draft_places import moved
from problems.actions.releases import ReleaseRefused, publish
from problems.models import Problem, Release
from tests import factories, packs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
N = 8


@pytest.fixture
def draft() -> Release:
    return factories.release(N, publish=False, problem=lambda n: packs.problem(f"a/{n}"))


def rows(draft: Release, *numbers: int) -> list[Problem]:
    found = Problem.with_left_out.select_related("release").filter(release=draft)
    by_name = {one.task_id: one for one in found}
    return [by_name[f"a/{n}"] for n in numbers]


def order(draft: Release) -> str:
    return "".join(name[2:] for name in draft.problems.order_by("position").values_list("task_id", flat=True))


@pytest.mark.parametrize(
    ("chosen", "place", "after"),
    [
        ([1], 1, [1, 2, 3, 4]),
        ([1], 3, [2, 3, 1, 4]),
        ([4], 1, [4, 1, 2, 3]),
        ([4, 2], 1, [2, 4, 1, 3]),
        ([1, 2], 3, [3, 4, 1, 2]),
        ([1, 2], 4, [3, 4, 1, 2]),
        ([1, 2, 3, 4], 2, [1, 2, 3, 4]),
    ],
)
def test_the_block_begins_at_the_place_and_keeps_its_order(chosen: list[int], place: int, after: list[int]) -> None:
    assert moved([1, 2, 3, 4], chosen, place) == after


def test_many_are_moved_and_the_pack_follows(draft: Release) -> None:
    digest = draft.digest
    before = draft_places.move_to(6, *rows(draft, 0, 3))
    assert order(draft) == "12456037"
    assert before == [one.pk for one in rows(draft, *range(N))]
    draft.refresh_from_db()
    assert draft.digest != digest
    draft_places.move_to(1, *rows(draft, 0))
    draft_places.move_to(4, *rows(draft, 3))
    draft.refresh_from_db()
    assert (order(draft), draft.digest) == ("01234567", digest)


@pytest.mark.parametrize("place", [0, -1, N + 1])
def test_a_place_that_the_draft_has_not_is_refused(draft: Release, place: int) -> None:
    with pytest.raises(ReleaseRefused, match="has the places 1 to 8"):
        draft_places.move_to(place, *rows(draft, 1))
    assert order(draft) == "01234567"


def test_one_that_is_left_out_is_not_moved_and_stays_behind_its_neighbour(draft: Release) -> None:
    draft_places.leave_out(*rows(draft, 0, 3))
    with pytest.raises(ReleaseRefused, match="Problem a/3 is no part of"):
        draft_places.move_to(1, *rows(draft, 3, 4))
    draft_places.move_to(6, *rows(draft, 2))
    assert order(draft) == "145672"
    draft_places.bring_back(*rows(draft, 0, 3))
    assert order(draft) == "01456723", "a/3 stood behind a/2, and a/0 at the beginning"


def test_leaving_out_many_is_all_or_nothing(draft: Release) -> None:
    draft_places.leave_out(*rows(draft, 2))
    with pytest.raises(ReleaseRefused, match=r"Problem a/2 is left out already\."):
        draft_places.leave_out(*rows(draft, 1, 2, 3))
    assert order(draft) == "0134567"
    with pytest.raises(ReleaseRefused, match=r"Problems a/0, a/1, a/3, a/4, a/5 and 2 more are in the draft already\."):
        draft_places.bring_back(*rows(draft, *range(N)))
    assert order(draft) == "0134567"


def test_what_is_brought_back_was_changed_for_its_verification(draft: Release) -> None:
    draft_places.leave_out(*rows(draft, 1, 2))
    draft_places.bring_back(*rows(draft, 1, 2))
    since = [one.graded_since for one in rows(draft, 0, 1, 2)]
    assert since[0] is None
    assert None not in since[1:]


def test_a_published_release_has_no_places_to_change(draft: Release) -> None:
    publish(draft)
    some = rows(draft, 1, 2)
    for change in (lambda: draft_places.leave_out(*some), lambda: draft_places.bring_back(*some),
                   lambda: draft_places.move_to(1, *some)):  # fmt: skip
        with pytest.raises(ReleaseRefused, match="its problems never change"):
            change()
