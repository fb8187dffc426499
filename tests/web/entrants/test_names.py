"""Names that imitate are refused, honest ones stand, and those that look alike today are listed to organisers."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.entrants.create_entrant import create_entrant
from leaderboard.actions.entrants.teams import create_team
from leaderboard.entrants import name_records
from leaderboard.errors import Refused, TooMuch
from leaderboard.models import ApiToken, Entrant, NameSkeleton
from leaderboard.models.accounts.token import Scope
from leaderboard.models.entrants.names import skeleton, why_imitates
from tests.admin.pages import opened
from tests.factories import PASSWORD, Cast, EntrantFactory, UserFactory, team_of
from tests.markup import markup

pytestmark = pytest.mark.django_db

HONEST = (
    "Альфа", "Модель 3", "Ελλάδα", "深度求索", "東京カナひらがな", "ラーメンAI", "카카오 模型", "Qwen2.5（千问）",
    "नमूना", "نموذج", "GPT-4o", "C++ agent", "Café", "Verified Kernels Lab", "Reference Labs", "Administration",
    "Baselined",
)  # fmt: skip
LIKE_ALPHA = ("AIpha", "АIpha", "Αlpha", "Аlphа", "Al\u200bpha", "Ａｌｐｈａ", "𝐀lpha", "Alpha ✓", "Alpha ✓ verified",
              "Alpha (verified)", "✅ Alpha official", "Alpha · verified", "Alpha, verified",
              "Alpha / official", "Alpha | certified", "Alpha.", "¡Alpha!", "“Alpha”", "Alpha …", "ALPHA ☑",
              "[official] Alpha")  # fmt: skip
RESERVED = ("admin", "ADMIN", "Adm1n", "аdmin", "p0dium", "Podium admin", "Podium-Team ✓ official", "verified",
            "REFERENCE", "Base1ine", "Beta ✓ verified")  # fmt: skip


@pytest.mark.parametrize("name", LIKE_ALPHA)
def test_a_name_like_anothers_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Refused):
        create_entrant(cast.stranger, name)


@pytest.mark.parametrize("name", RESERVED)
def test_a_name_of_the_sites_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Refused):
        create_entrant(cast.stranger, name)
    with pytest.raises(Refused):
        create_team(cast.stranger, name)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_name_stands(cast: Cast, name: str) -> None:
    made = create_entrant(cast.stranger, name, organisation=name)
    assert made.slug
    assert name in markup(Client().get(made.get_absolute_url()))
    assert create_team(cast.stranger, name).slug


def test_the_organiser_names_baselines_as_they_are(cast: Cast) -> None:
    assert create_entrant(cast.organiser, "Baseline", "baseline")


def test_an_entrant_may_be_named_like_the_owners_own(cast: Cast) -> None:
    create_entrant(cast.stranger, "Model 1")
    assert create_entrant(cast.stranger, "Model l")


def test_a_rename_to_a_name_like_anothers_is_refused_and_an_old_name_stays(client: Any, cast: Cast) -> None:
    mine = EntrantFactory(name="Alpha official", slug="old", owner=cast.stranger)
    client.force_login(cast.stranger)
    address = reverse("edit_entrant", args=["old"])
    said = {"kind": "model", "organisation": "New Lab", "url": "", "description": "", "open_weights": "unknown"}
    assert client.post(address, said | {"name": mine.name} | opened(client, address)).status_code == 302
    answer = client.post(address, said | {"name": "AIpha"} | opened(client, address))
    assert answer.status_code == 422
    assert "looks like one that somebody else has" in markup(answer)


def test_an_organisation_is_shared_but_not_imitated(cast: Cast) -> None:
    EntrantFactory(name="One", slug="one", organisation="Illium", owner=cast.owner)
    assert create_entrant(cast.stranger, "Two", organisation="ILLIUM")
    with pytest.raises(Refused, match="looks like"):
        create_entrant(cast.stranger, "Three", organisation="lllium")


def sign_up(client: Any, **changes: str) -> Any:
    fields = {"username": "newcomer", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    return client.post(reverse("account_signup"), fields | changes)


@pytest.mark.parametrize("name", ["admin", "Admin", "аdmin", "0wner", "Owner", "оwner", "support", "ｏwner"])
def test_an_account_is_not_named_like_another(client: Any, cast: Cast, name: str) -> None:
    n_users = User.objects.count()
    sign_up(client, username=name)
    assert User.objects.count() == n_users


def test_the_account_that_comes_second_by_a_moment_is_refused(client: Any, cast: Cast, monkeypatch: Any) -> None:
    ask = name_records.why_refused
    asked: list[str] = []

    def then_another_comes(*given: Any, **more: Any) -> str:
        reason = ask(*given, **more)
        if not asked:
            UserFactory(username="newc0mer")
        asked.append(reason)
        return reason

    monkeypatch.setattr("leaderboard.web.accounts.sign_up.why_refused", then_another_comes)
    sign_up(client)
    assert not User.objects.filter(username="newcomer").exists()


def test_names_that_look_alike_are_listed_to_organisers_alone(client: Any, cast: Cast) -> None:
    EntrantFactory(name="AIpha", slug="aipha", owner=cast.stranger)
    UserFactory(username="admin")
    address = reverse("admin:leaderboard_nameskeleton_changelist")
    assert client.get(address).status_code == 302
    client.force_login(cast.stranger)
    assert client.get(address).status_code in (302, 403)
    client.force_login(cast.organiser)
    page = markup(client.get(address))
    assert ">AIpha<" in page
    assert ">Alpha<" in page
    assert ">admin<" in page
    assert "Stranger&#x27;s model" not in page
    assert address in markup(client.get(reverse("admin:leaderboard_entrant_changelist")))


def test_a_name_that_goes_is_free(cast: Cast) -> None:
    gone = EntrantFactory(name="Gone", slug="gone", owner=cast.owner)
    gone.delete()
    assert not NameSkeleton.objects.filter(name="Gone").exists()
    assert create_entrant(cast.stranger, "G0ne")


def test_a_new_name_is_compared_by_an_index(cast: Cast, django_assert_max_num_queries: Any) -> None:
    started = time.process_time()
    assert why_imitates("x" * 150) == ""
    assert skeleton("m" * 150) == "rn" * 150
    assert time.process_time() - started < 0.5
    with django_assert_max_num_queries(25):
        create_entrant(cast.stranger, "Gamma")


def test_an_account_has_a_bounded_number_of_entrants(client: Any, cast: Cast, settings: Any) -> None:
    settings.ENTRANTS_PER_ACCOUNT = 3  # the stranger has one
    create_entrant(cast.stranger, "Second")
    create_entrant(cast.stranger, "Third", team=team_of("Crew", cast.stranger))
    with pytest.raises(TooMuch, match="at most 3 entrants"):
        create_entrant(cast.stranger, "Fourth")
    client.force_login(cast.stranger)
    answer = client.post(reverse("new_entrant"), {"name": "Fifth", "kind": "model", "open_weights": "unknown"})
    assert answer.status_code == 422
    assert "at most 3 entrants" in markup(answer)
    assert not Entrant.objects.filter(name__in=["Fourth", "Fifth"]).exists()
    for number in range(4):
        create_entrant(cast.organiser, f"Course {number}")


FORMS_OF_OWNER = ("owner", " OWNER ", "owner@example.org", "Owner@Example.ORG", "ｏｗｎｅｒ", "owner\u00a0")


def test_tries_count_for_the_account_however_it_is_named(cast: Cast, settings: Any) -> None:
    settings.AXES_ENABLED = True
    cache.clear()
    names = [FORMS_OF_OWNER[n % len(FORMS_OF_OWNER)] for n in range(11)]
    tries = [{"login": name, "password": "wrong"} for name in names]
    statuses = [Client().post("/accounts/login/", one, REMOTE_ADDR="192.0.2.1").status_code for one in tries]
    assert statuses[-1] == 429


def test_signing_up_does_not_tell_whether_an_address_has_an_account(client: Any, cast: Cast) -> None:
    known = sign_up(Client(), username="first", email="Owner@example.org")
    unknown = sign_up(Client(), username="second", email="nobody@example.org")
    assert (known.status_code, known.url) == (unknown.status_code, unknown.url)
    client.force_login(cast.stranger)
    pages = []
    for email in ("owner@example.org", "nobody-else@example.org"):
        answer = client.post(reverse("account_email"), {"action_add": "", "email": email}, follow=True)
        pages.append((answer.redirect_chain, [str(one).replace(email, "") for one in answer.context["messages"]]))
    assert pages[0] == pages[1]
    address = reverse("account_reset_password")
    for email in ("owner@example.org", "nobody@example.org"):
        assert client.post(address, {"email": email}).status_code == 405


def test_a_new_password_offers_to_end_tokens(client: Any, cast: Cast) -> None:
    client.force_login(cast.owner)
    address = reverse("account_change_password")
    ApiToken.objects.filter(user=cast.owner).delete()
    assert "end_tokens" not in markup(client.get(address))
    _, secret = ApiToken.issue(cast.owner, "build", [Scope.READ], timezone.now() + timedelta(days=1))
    _, others = ApiToken.issue(cast.stranger, "build", [Scope.READ], timezone.now() + timedelta(days=1))
    assert "Also end my tokens (1)" in markup(client.get(address))
    first, second = "a quite new password", "another new password"
    client.post(address, {"oldpassword": PASSWORD, "password1": first, "password2": first})
    assert ApiToken.find(secret)
    said = {"oldpassword": first, "password1": second, "password2": second, "end_tokens": "on"}
    client.post(address, said | {"oldpassword": "wrong"})
    assert ApiToken.find(secret)
    client.post(address, said)
    assert User.objects.get(pk=cast.owner.pk).check_password(second)
    assert ApiToken.find(secret) is None
    assert ApiToken.find(others)


def test_an_organiser_ends_the_tokens_of_an_account(client: Any, cast: Cast) -> None:
    _, secret = ApiToken.issue(cast.owner, "build", [Scope.READ], timezone.now() + timedelta(days=1))
    client.force_login(cast.organiser)
    address = reverse("admin:auth_user_act", args=[cast.owner.pk, "end_tokens"])
    assert ApiToken.find(secret)
    client.post(address)
    assert ApiToken.find(secret) is None


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_who_give_a_name_that_looks_alike_at_once_one_gets_it() -> None:
    people = [UserFactory(username=name) for name in ("first", "second")]
    start = Barrier(2)

    def give(user: Any, name: str) -> bool:
        start.wait()
        try:
            create_entrant(user, name)
        except Refused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as both:
        made = list(both.map(give, people, ("Illium", "lllium")))
    assert sorted(made) == [False, True]
    assert Entrant.objects.count() == 1
