"""Pages of a demo alone: links that sign in once, and the guide on its front page."""

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import reverse

from demo.seed import _sign_in_link
from tests import factories
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(settings) -> None:
    settings.DEMO = True


@pytest.fixture
def organiser() -> User:
    return User.objects.create_user("demo-organiser", is_staff=True, is_superuser=True)


def signed_in(client: Client) -> str | None:
    return client.session.get("_auth_user_id")


@pytest.mark.usefixtures("demo")
def test_a_link_signs_its_user_in_once(client, organiser) -> None:
    link = _sign_in_link(organiser)
    assert client.get(link).headers["Location"] == reverse("admin:index")
    assert signed_in(client) == str(organiser.pk)
    other = Client()
    again = other.get(link)
    assert again.status_code == 410
    assert b"prints new links" in again.content
    assert signed_in(other) is None


@pytest.mark.usefixtures("demo")
def test_a_mistyped_link_and_one_for_another_account_sign_nobody_in(client, organiser) -> None:
    stranger = User.objects.create_user("stranger")
    key = default_token_generator.make_token(stranger)
    of_organiser = _sign_in_link(organiser).rstrip("/").rpartition("/")[0]
    for link in (f"{of_organiser}/{key}/", f"{of_organiser}/x/", "/demo/sign-in/!!/x/", "/demo/sign-in/zz9/x/"):
        assert client.get(link).status_code == 410
    assert signed_in(client) is None


@pytest.mark.usefixtures("demo")
def test_an_account_that_was_closed_has_no_link(client, organiser) -> None:
    link = _sign_in_link(organiser)
    User.objects.filter(pk=organiser.pk).update(is_active=False)
    assert client.get(link).status_code == 410


def test_elsewhere_there_are_no_such_links_and_no_guide(client, organiser) -> None:
    assert client.get(_sign_in_link(organiser)).status_code == 404
    assert signed_in(client) is None
    assert b"three short walks" not in client.get("/").content


@pytest.mark.usefixtures("demo")
def test_the_guide_says_where_each_walk_begins(client, organiser) -> None:
    assert b"The first board appears here" in client.get("/").content
    release = factories.release(1)
    factories.offer(release)
    page = markup(client.get("/"))
    assert reverse("board", args=[release.slug]) in page
    assert page.count("link that the terminal printed") == 2
    client.force_login(organiser)
    page = markup(client.get("/"))
    assert reverse("problem", args=[release.slug, release.problems.get().slug]) in page
    assert "Open the administration" in page
