"""The comparison of entrants: its figures, its choices, what bad addresses get, and who may see it."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.curation.decide import void_problem
from problems.models import Release
from tests import factories
from tests.factories import Cast
from tests.made_once import of_module, part
from tests.markup import markup


def _make() -> tuple[Cast, Release]:
    cast = Cast.make()
    return cast, factories.board_of_two(cast)


made_site = of_module(_make)
cast, board = part(0), part(1)


def _get(client: Any, release: Release, *slugs: str, **more: str) -> Any:
    asked = {"release": release.slug, **dict(zip("abcdefgh", slugs, strict=False)), **more}
    return client.get(reverse("compare"), asked)


def _slugs(cast: Cast) -> tuple[str, str]:
    return cast.entrant.slug, cast.strangers_entrant.slug


def test_the_page_tells_differences_wins_and_who_passed_what(client: Any, cast: Cast, board: Release) -> None:
    text = " ".join(markup(_get(client, board, *_slugs(cast))).split())
    assert "−50.0" in text  # points: passes 2 of 4 problems less
    assert "They differ in pass@1 on 2 of 4 problems." in text
    assert "Problem number 0" in text
    assert "Problem number 2" not in text
    whole = markup(_get(client, board, *_slugs(cast), all="1"))
    assert "Problem number 2" in whole


def test_without_a_release_the_page_is_a_form_of_boards_then_of_entrants(
    client: Any, cast: Cast, board: Release
) -> None:
    first, second = _slugs(cast)
    asked = client.get(reverse("compare"), {"a": first, "b": second})
    assert asked.status_code == 200
    text = markup(asked)
    value = f"{board.slug}/cpu-test"
    assert f'<option value="{value}">' in text
    assert f'<input type="hidden" name="entrant" value="{first}">' in text
    chosen = client.get(reverse("compare"), {"board": value}, follow=True)
    assert f'name="entrant" value="{first}"' in markup(chosen)
    compared = client.get(reverse("compare"), {"board": value, "entrant": [first, second]}, follow=True)
    assert "They differ in pass@1 on 2 of 4 problems." in " ".join(markup(compared).split())


def test_the_form_lists_no_board_that_the_user_may_not_see(client: Any, cast: Cast, board: Release) -> None:
    Release.objects.filter(pk=board.pk).update(hidden_until=timezone.now() + timedelta(days=1))
    assert "No board has results yet" in markup(client.get(reverse("compare")))
    client.force_login(cast.organiser)
    assert f"{board.slug}/cpu-test" in markup(client.get(reverse("compare")))


def test_the_order_asked_for_is_kept(client: Any, cast: Cast, board: Release) -> None:
    first, second = _slugs(cast)
    assert "+50.0" in markup(_get(client, board, second, first))


def test_ticked_rows_and_letters_name_the_same(client: Any, cast: Cast, board: Release) -> None:
    asked = {"release": board.slug, "entrant": list(_slugs(cast))}
    assert "−50.0" in markup(client.get(reverse("compare"), asked))


def test_a_voided_problem_counts_for_nobody(client: Any, cast: Cast, board: Release) -> None:
    void_problem(cast.organiser, board.problems.get(slug="shell-0"), "Wrong test.")
    factories.rank(board, board.on_tracks.get().track)
    text = " ".join(markup(_get(client, board, *_slugs(cast))).split())
    assert "−33.3" in text
    assert "They differ in pass@1 on 1 of 4 problems." in text


@pytest.mark.parametrize("name", ["differences", "groups", "speedups"])
def test_each_figure_has_its_drawing(name: str, client: Any, cast: Cast, board: Release) -> None:
    asked = {"release": board.slug, **dict(zip("ab", _slugs(cast), strict=True))}
    figure = client.get(reverse("compare_chart", args=[name]), asked).json()
    assert figure["data"]
    assert figure["layout"]["xaxis"]


def test_the_forest_plot_has_the_difference_of_the_page(client: Any, cast: Cast, board: Release) -> None:
    asked = {"release": board.slug, **dict(zip("ab", _slugs(cast), strict=True))}
    (point,) = client.get(reverse("compare_chart", args=["differences"]), asked).json()["data"]
    assert point["x"] == [-0.5]


@pytest.mark.parametrize("slugs", [(), ("alpha",), ("alpha", "nobody")])
def test_too_few_entrants_get_the_form_and_no_figures(slugs: tuple[str, ...], client: Any, board: Release) -> None:
    answer = _get(client, board, *slugs)
    text = markup(answer)
    assert answer.status_code == 200
    assert "Choose 2 to 6 entrants" in text
    assert "Who passed what" not in text
    assert ("There is no entrant <code>nobody</code>" in text) == ("nobody" in slugs)
    asked = {"release": board.slug, **dict(zip("ab", slugs, strict=False))}
    assert client.get(reverse("compare_chart", args=["groups"]), asked).status_code == 404


def test_bad_addresses_are_not_found(client: Any, cast: Cast, board: Release) -> None:
    assert client.get(reverse("compare"), {"board": "no-such/cpu-test"}, follow=True).status_code == 404
    assert client.get(reverse("compare"), {"release": "no-such"}).status_code == 404
    asked = {"release": board.slug, **dict(zip("ab", _slugs(cast), strict=True))}
    assert client.get(reverse("compare_chart", args=["no-such"]), asked).status_code == 404


def test_hidden_results_are_not_compared(client: Any, cast: Cast, board: Release, far_future: Any) -> None:
    Release.objects.filter(pk=board.pk).update(hidden_until=far_future)
    assert "Who passed what" not in markup(_get(client, board, *_slugs(cast)))
    client.force_login(cast.owner)
    assert "Who passed what" not in markup(_get(client, board, *_slugs(cast)))
    client.force_login(cast.organiser)
    assert "Who passed what" in markup(_get(client, board, *_slugs(cast)))


def test_the_number_of_queries_does_not_grow(
    client: Any, cast: Cast, board: Release, django_assert_max_num_queries: Any
) -> None:
    _get(client, board, *_slugs(cast))
    with django_assert_max_num_queries(16):
        _get(client, board, *_slugs(cast))


def test_the_boards_ticks_lead_to_the_comparison(client: Any, cast: Cast, board: Release) -> None:
    text = markup(client.get(reverse("board", args=[board.slug])))
    for slug in _slugs(cast):
        assert f'form="compare" name="entrant" value="{slug}"' in text
    assert f'<form id="compare" method="get" action="{reverse("compare")}"' in text
    assert 'name="entrant"' not in markup(client.get(reverse("home")))
