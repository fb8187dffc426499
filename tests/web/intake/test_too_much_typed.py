"""A form with more typed text than the site takes: words on a page, everywhere on the site."""

from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.markup import markup

pytestmark = pytest.mark.django_db
TOO_MUCH = "x" * (4 * 1024 * 1024 + 1)


def _addresses() -> list[str]:
    draft = factories.release(publish=False)
    problem = draft.problems.all()[0]
    return [
        reverse("submit"),
        reverse("account_login"),
        reverse("admin:problems_release_draft_problem", args=[draft.pk, problem.pk]),
        reverse("admin:problems_release_draft_preview", args=[draft.pk]),
    ]


@pytest.mark.parametrize("as_form", [True, False])
def test_too_much_typed_text_is_answered_by_a_page_in_words(client: Any, cast: Any, as_form: bool) -> None:
    client.force_login(cast.organiser)
    for address in _addresses():
        if as_form:
            answer = client.post(address, {"prompt": TOO_MUCH})
        else:
            kind = "application/x-www-form-urlencoded"
            answer = client.post(address, f"prompt={TOO_MUCH}", content_type=kind)
        text = markup(answer)
        assert answer.status_code == 413, address
        assert "The typed text is larger than 4 MiB" in text
        assert "Nothing was saved" in text


def test_too_many_fields_are_answered_by_a_page_in_words(client: Any, cast: Any) -> None:
    answer = client.post(reverse("account_login"), {f"field-{n}": "" for n in range(2100)})
    assert answer.status_code == 413
    assert "more than 2,000 fields" in markup(answer)


def test_another_request_that_cannot_be_read_has_words_too(client: Any) -> None:
    answer = client.get("/", headers={"host": "no host"})
    assert (answer.status_code, answer.content) == (400, b"The request cannot be read.\n")
