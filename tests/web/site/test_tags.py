"""Tags that write markup for many pages: what has no value is left out, and nothing typed becomes markup."""

from typing import Any

import pytest
from django import forms
from django.template import Context, Template

from leaderboard.boards.problem_choice import Facet
from leaderboard.results.measurements import provenance_rows

HOSTILE = '"><script>&'


def drawn(source: str, **context: Any) -> str:
    return Template("{% load podium %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ""),
        ({"track": "gpu"}, "?track=gpu"),
        ({"track": "gpu", "problem": "scan 2"}, "?problem=scan%202&amp;track=gpu"),
        ({"problem": HOSTILE}, "?problem=%22%3E%3Cscript%3E%26"),
    ],
)
def test_parameters_are_quoted_and_those_without_a_value_left_out(values: dict[str, str], expected: str) -> None:
    assert drawn("{% parameters problem=problem track=track %}", **values) == expected


def test_ticks_stand_side_by_side_and_the_chosen_are_ticked() -> None:
    page = drawn('{% ticks "tags" facets|counted chosen %}', facets=[Facet("a", 2), Facet(HOSTILE, 1)], chosen=("a",))
    assert page.startswith('<label><input type="checkbox" name="tags" value="a" checked> a (2)</label><label>')
    assert page.count("checked") == 1
    assert "<script>" not in page


def test_a_choice_has_its_first_option_and_the_chosen_one() -> None:
    source = '{% choice "Tag" "tag" facets|counted chosen every="all" %}'
    page = drawn(source, facets=[Facet("a", 2), Facet(HOSTILE, 1)], chosen="a")
    assert '<option value="">all</option>' in page
    assert '<option value="a" selected>a (2)</option>' in page
    assert page.count("selected") == 1
    assert "<script>" not in page


def test_only_fields_that_the_form_has_are_drawn() -> None:
    class Named(forms.Form):
        name = forms.CharField(label=HOSTILE)

    page = drawn('{% field_groups form "team name" %}', form=Named())
    assert page.count("<input") == 1
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("that declare `flops` or `bytes`", "that declare <code>flops</code> or <code>bytes</code>"),
        ("not `closed", "not `closed"),
        (f"`{HOSTILE}`{HOSTILE}", "<code>&quot;&gt;&lt;script&gt;&amp;</code>&quot;&gt;&lt;script&gt;&amp;"),
    ],
)
def test_words_in_backticks_are_code(text: str, expected: str) -> None:
    assert drawn("{{ text|coded }}", text=text) == expected


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("2026-11-23T14:32:35.908684+00:00", "2026-11-23 14:32:35 UTC"),
        ("2026-11-23T16:32:35+02:00", "2026-11-23 14:32:35 UTC"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_times_of_a_provenance_are_written_to_the_second(stored: str, shown: str) -> None:
    assert provenance_rows({"started_at": stored, "build_cached": True}) == [
        ("Build from cache", "yes"),
        ("Started", shown),
    ]
