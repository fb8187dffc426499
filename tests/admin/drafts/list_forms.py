"""The forms of a draft's list and of the copy page, as an organiser's browser sends them."""

from collections.abc import Sequence
from html import unescape
from typing import Any

from django.urls import reverse

from problems.models import Problem, Release
from tests.admin.pages import signed_in, text
from tests.admin.sent_form import sent_by


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:problems_release_{name}", args=arguments)


def shown(answer: Any) -> list[str]:
    """The task_ids of the page's rows."""
    return [one.problem.task_id for one in answer.context["rows"]]


def listed(user: Any, release: Release, query: str = "") -> Any:
    return signed_in(user).get(address("draft", release.pk) + query)


def words(answer: Any) -> str:
    return unescape(text(answer))


def opened_list(user: Any, path: str) -> dict[str, Any]:
    return dict(sent_by(text(signed_in(user).get(path)), "chosen"))


def choose(user: Any, release: Release, act: str, rows: Sequence[Problem] = (), query: str = "", **said: Any) -> Any:
    """Tick rows on the list, and press the button of an act: the page that tells the effect."""
    fields = opened_list(user, address("draft", release.pk) + query)
    fields |= {"problem": [row.pk for row in rows], "act": act, **said}
    return signed_in(user).post(address("draft_chosen", release.pk) + query, fields)


def choose_copies(user: Any, draft: Release, query: str, rows: Sequence[Problem] = (), **said: Any) -> Any:
    path = address("draft_copy", draft.pk) + query
    fields = opened_list(user, path) | {"problem": [row.pk for row in rows], "act": "copy", **said}
    return signed_in(user).post(path, fields)


def confirm(user: Any, effect: Any) -> Any:
    """Press the button of the page that told an effect; the page that comes next."""
    assert effect.status_code == 200, words(effect)
    fields = sent_by(text(effect), "confirm") | {"confirmed": "1"}
    address = effect.wsgi_request.get_full_path()
    return signed_in(user).post(address, fields, follow=True)
