"""A form that edits a row is refused if somebody changed the row since it was opened; edits are audited by value."""

import html
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.models import AuditEntry, Clarification, Entrant, Track
from problems.models import Release
from runners.fleet.models import Node
from tests import factories
from tests.admin.pages import act, opened, signed_in, text
from tests.admin.sent_form import sent_by

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def cast() -> factories.Cast:
    return factories.Cast.make()


@pytest.fixture
def second(cast: Any) -> User:
    return User.objects.create_superuser("second", password="x")


def _address(row: Any) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def _opened(user: User, row: Any) -> dict[str, str]:
    return sent_by(text(signed_in(user).get(_address(row))), f"{row._meta.model_name}_form")


def _save(user: User, row: Any, said: dict[str, str]) -> Any:
    return signed_in(user).post(_address(row), said)


def test_a_release_made_private_stays_private(cast: Any, second: User) -> None:
    made = factories.release(1)
    Release.objects.filter(pk=made.pk).update(is_public=True)
    ours, theirs = _opened(cast.organiser, made), _opened(second, made)
    assert "is_public" in ours
    ours.pop("is_public")
    assert _save(cast.organiser, made, ours).status_code == 302
    answer = _save(second, made, theirs | {"description": "Typed by the second."})
    page = html.unescape(text(answer))
    assert "was changed while you edited it: is public. By" in page
    assert f"{cast.organiser.username} at" in page and "is_public: yes → no" in page
    assert "Typed by the second." in page
    made.refresh_from_db()
    assert (made.is_public, made.description) == (False, ours["description"])
    assert [one.actor for one in AuditEntry.objects.filter(action="edit")] == [cast.organiser]
    again = sent_by(text(answer), "release_form") | {"description": "Typed by the second."}
    assert _save(second, made, again).status_code == 200, "the refused page is still stale"
    assert _save(second, made, _opened(second, made) | {"description": "Typed by the second."}).status_code == 302
    made.refresh_from_db()
    assert (made.is_public, made.description) == (False, "Typed by the second.")


def test_a_licence_is_not_lost(cast: Any, second: User) -> None:
    made = factories.release(1)
    ours, theirs = _opened(cast.organiser, made), _opened(second, made)
    _save(cast.organiser, made, ours | {"licence": "MIT"})
    assert _save(second, made, theirs | {"title": "Another title"}).status_code == 200
    made.refresh_from_db()
    assert made.licence == "MIT" and made.title != "Another title"


def test_invited_users_are_not_lost(cast: Any, second: User) -> None:
    made = factories.release(1)
    ours, theirs = _opened(cast.organiser, made), _opened(second, made)
    _save(cast.organiser, made, ours | {"invited": cast.stranger.username})
    assert _save(second, made, theirs | {"title": "Another title"}).status_code == 200
    assert list(made.invited.all()) == [cast.stranger]
    entry = AuditEntry.objects.get(action="edit")
    assert entry.told == f"invited: nothing → {cast.stranger.username}"


def _rows(cast: factories.Cast) -> dict[Any, tuple[Any, dict[str, Any]]]:
    """For each model whose rows are edited in the admin: a row, and a change that somebody else makes of it."""
    node: Any = factories.NodeFactory()  # type: ignore[no-untyped-call]
    address = EmailAddress.objects.create(user=cast.owner, email="owner@example.org")
    return {
        Release: (factories.release(1), {"description": "Changed."}),
        Track: (factories.offer(factories.release(1, "test-2")), {"title": "Changed."}),
        Entrant: (cast.entrant, {"organisation": "Changed."}),
        User: (cast.owner, {"is_active": False}),
        Group: (Group.objects.create(name="judges"), {"name": "changed"}),
        Node: (node, {"title": "Changed."}),
        EmailAddress: (address, {"verified": True}),
    }


def _editable(user: User) -> list[Any]:
    """The registered models whose change form has a field, for a user who may do everything."""
    request = RequestFactory().get("/")
    request.user = user
    found = []
    for model, one in admin.site._registry.items():
        row = model(pk=1)
        shown = set(flatten_fieldsets(one.get_fieldsets(request, row)))
        fixed = set(one.get_readonly_fields(request, row))
        if one.has_change_permission(request) and shown - fixed:
            found.append(model)
    return found


def test_every_form_of_the_admin_refuses_a_stale_post(cast: Any, second: User) -> None:
    rows = _rows(cast)
    assert set(_editable(second)) == set(rows)
    for model, (row, changes) in rows.items():
        sent = _opened(second, row)
        model.objects.filter(pk=row.pk).update(**changes)
        before = AuditEntry.objects.count()
        answer = _save(second, row, sent)
        assert answer.status_code == 200 and "was changed while you edited it" in text(answer), model
        kept = model.objects.get(pk=row.pk)
        assert {name: getattr(kept, name) for name in changes} == changes, model
        assert AuditEntry.objects.count() == before
        without = {name: value for name, value in _opened(second, row).items() if name != "opened"}
        assert "does not say which state" in text(_save(second, row, without)), model
        assert _save(second, row, _opened(second, row)).status_code == 302, model
        assert AuditEntry.objects.count() == before, f"{model}: a save that changes nothing is no edit"


def test_a_grant_made_meanwhile_makes_a_node_s_page_stale(cast: Any, second: User) -> None:
    node: Any = factories.NodeFactory()  # type: ignore[no-untyped-call]
    sent = _opened(second, node)
    factories.grant(node, factories.offer(factories.release(1)))
    assert "was changed while you edited it: node grants" in text(_save(second, node, sent))


def test_an_edit_says_old_and_new_values_and_no_secret(cast: Any) -> None:
    made, secret = factories.release(1), "pdm_" + "a" * 40
    _save(cast.organiser, made, _opened(cast.organiser, made) | {"licence": f"MIT {secret}"})
    entry = AuditEntry.objects.get(action="edit")
    assert entry.told == "licence: nothing → MIT (secret)"
    assert secret not in str(entry.detail)
    _save(cast.organiser, cast.owner, _opened(cast.organiser, cast.owner) | {"email": "new@example.org"})
    assert AuditEntry.objects.first().told == "email: (not shown) → (not shown)"  # type: ignore[union-attr]
    page = text(signed_in(cast.organiser).get(reverse("admin:problems_release_history", args=[made.pk])))
    assert "licence: nothing → MIT (secret)" in page


def test_an_entrant_s_own_page_refuses_a_stale_save(cast: Any) -> None:
    address = reverse("edit_entrant", args=[cast.entrant.slug])
    said = {"name": cast.entrant.name, "kind": cast.entrant.kind, "open_weights": "unknown"}
    page = text(signed_in(cast.owner).get(address))
    sent = said | {"opened": page.split('name="opened" value="')[1].split('"')[0], "description": "Typed."}
    Entrant.objects.filter(pk=cast.entrant.pk).update(publishes_code=True)
    answer = signed_in(cast.owner).post(address, sent)
    assert answer.status_code == 422 and "Typed." in text(answer)
    assert "was changed while you edited it: publishes code" in text(answer)
    assert Entrant.objects.get(pk=cast.entrant.pk).publishes_code


def test_a_later_answer_does_not_overwrite_one_that_was_not_seen(cast: Any, second: User) -> None:
    problem = factories.release(1).problems.get()
    asked = Clarification.objects.create(problem=problem, asked_by=cast.owner, text="Is n even?")
    address = reverse("admin:leaderboard_clarification_act", args=[asked.pk, "answer"])
    opened = text(signed_in(second).get(address)).split('name="opened" value="')[1].split('"')[0]
    mine = text(signed_in(cast.organiser).get(address)).split('name="opened" value="')[1].split('"')[0]
    said = {"shown_to": "asker", "public_text": ""}
    done = act(cast.organiser, "leaderboard_clarification", "answer", asked, answer="Yes.", opened=mine, **said)
    assert "Answered" in text(done)
    late = act(second, "leaderboard_clarification", "answer", asked, answer="No.", opened=opened, **said)
    assert late.status_code == 422 and "was changed while you edited it: answer" in text(late)
    asked.refresh_from_db()
    assert asked.answer == "Yes."


def test_rights_of_a_group_are_audited_by_name(cast: Any, second: User) -> None:
    group = Group.objects.create(name="judges")
    rights = list(Permission.objects.filter(codename__in=["view_flag", "view_decision", "view_entrant"]))
    group.permissions.set(rights[:2])
    browser = signed_in(cast.organiser)
    said = opened(browser, _address(group)) | {"name": "judges", "permissions": [one.pk for one in rights]}
    assert browser.post(_address(group), said).status_code == 302
    told = AuditEntry.objects.get(action="edit").told
    assert "permissions: " in told and " → " in told and str(rights[2].name) in told


def test_a_new_account_s_password_is_not_in_the_audit(cast: Any) -> None:
    secret = "a-long-Secret-9471"
    said = {"username": "newcomer", "password1": secret, "password2": secret, "usable_password": "true"}
    assert signed_in(cast.organiser).post(reverse("admin:auth_user_add"), said).status_code == 302
    entry = AuditEntry.objects.get(action="add")
    assert "newcomer" in entry.told and secret not in str(entry.detail)


def test_a_save_writes_only_the_columns_that_were_changed(cast: Any) -> None:
    made = factories.release(1)
    said = _opened(cast.organiser, made) | {"licence": "MIT"}
    with CaptureQueriesContext(connection) as seen:
        assert _save(cast.organiser, made, said).status_code == 302
    writes = [one["sql"] for one in seen if one["sql"].startswith('UPDATE "problems_release"')]
    assert len(writes) == 1
    assert writes[0].split(" WHERE ")[0] == """UPDATE "problems_release" SET "licence" = 'MIT'"""
