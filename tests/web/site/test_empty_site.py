"""A site on its first day: what a visitor and an organiser find."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from tests import factories
from tests.factories import Cast
from tests.markup import markup

pytestmark = pytest.mark.django_db


def test_the_empty_front_page_names_no_command(client: Any, cast: Cast) -> None:
    page = markup(client.get("/"))
    assert "No release is published yet" in page
    assert "manage.py" not in page
    assert "Set the site up" not in page
    client.force_login(cast.organiser)
    assert "Set the site up" in markup(client.get("/"))


def steps(client: Any) -> dict[str, Any]:
    return {step.title: step for step in client.get(reverse("admin:index")).context["steps"]}


def test_a_fresh_site_leads_its_organiser_from_node_to_release(client: Any, cast: Cast) -> None:
    client.force_login(cast.organiser)
    found = steps(client)
    assert list(found) == ["Node", "Track", "Release"]
    assert found["Node"].command == ".venv/bin/python manage.py add_node this-machine"
    assert found["Release"].command == ".venv/bin/python manage.py import_release problems.tar.gz"
    assert not any(step.is_done for step in found.values())
    node = factories.NodeFactory(slug="gpu-1", last_seen_at=None)
    assert "gpu-1 is enrolled and was never seen" in steps(client)["Node"].state
    node.last_seen_at = timezone.now()
    node.save()
    found = steps(client)
    assert found["Node"].is_done
    assert found["Track"].command == ".venv/bin/python manage.py add_track --from-node gpu-1"
    made = factories.release(1, publish=False)
    assert "test-1 is a draft, offered on no track" in steps(client)["Release"].state
    factories.offer(made)
    found = steps(client)
    assert (found["Track"].is_done, found["Release"].state) == (True, "test-1 is a draft: verify and publish it")
    assert "Set this site up" in markup(client.get(reverse("admin:index")))


def test_the_panel_goes_when_a_release_is_published(client: Any, cast: Cast) -> None:
    factories.release(1)
    client.force_login(cast.organiser)
    assert steps(client) == {}
    assert "Set this site up" not in markup(client.get(reverse("admin:index")))
