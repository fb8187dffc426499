"""The OpenAPI description and its page."""

import json
import re

import pytest
from django.test import Client

from leaderboard.api import urls as leaderboard_urls
from runners.fleet.api import urls as fleet_urls

pytestmark = pytest.mark.django_db
NAMED = re.compile(r"<\w+:(\w+)>")


def test_the_schema_describes_every_endpoint_and_no_node_api() -> None:
    answer = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    paths = json.loads(answer.content)["paths"]
    routes = [*leaderboard_urls.ROUTES, *fleet_urls.ROUTES]
    assert paths.keys() == {"/api/v1/" + NAMED.sub(r"{\1}", route).replace("{pk}", "{id}") for route, _ in routes}
    assert "/api/v1/releases/{slug}/board" in paths
    assert not [path for path in paths if "node/" in path]


def test_what_is_sent_is_described_as_what_is_taken() -> None:
    answer = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    sent = json.loads(answer.content)["components"]["schemas"]["UploadRequest"]["properties"]
    assert sent["file"]["format"] == "binary"
    assert sent["release"]["minLength"] == 1


def test_the_page_has_no_inline_script_and_loads_from_this_host_alone() -> None:
    page = Client().get("/api/").content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", page)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "onload=" not in page


def test_the_pages_script_is_served_as_javascript() -> None:
    page = Client().get("/api/").content.decode()
    script = next(src for src in re.findall(r'<script src="([^"]+)"', page) if "script" in src.rpartition("?")[2])
    answer = Client().get(script.replace("&amp;", "&"))
    assert answer.headers["Content-Type"].startswith("application/javascript")
    assert b"SwaggerUIBundle" in answer.content
