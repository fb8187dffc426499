"""In a real browser: the framed board in a page of another site, and the API's page in this site's frame."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.urls import reverse

from tests.requirements import requires
from tests.web.site.test_browser import EACH_WIDTH, LOOKS, Visit

pytestmark = [requires("chromium"), pytest.mark.rest]
OF_SWAGGER = ("nested-interactive", "landmark-main-is-top-level", "landmark-no-duplicate-main", "landmark-unique")
"""Faults of Swagger UI itself: a link within the button of an operation, and a main part within the page's own."""


@pytest.fixture
def visit(chromium: Any, live_site: Any) -> Iterator[Visit]:
    made = Visit(chromium, live_site[1], *LOOKS["light"])
    yield made
    made.context.close()


def open_an_operation(visit: Visit) -> None:
    visit.page.locator("#operations-releases-releases_board_retrieve").wait_for()
    visit.page.locator("#operations-submissions-submissions_create button").first.click()
    visit.page.get_by_text("Send a solutions pack, a zip of folders, or typed code.").wait_for()


def test_the_api_page_wears_the_sites_frame(visit: Visit) -> None:
    for looks in EACH_WIDTH:
        for look in visit.looks_of("/api/", looks):
            if look == looks[0]:
                open_an_operation(visit)
            visit.keep_picture(f"api-{look}")
            assert visit.page.get_by_role("link", name="Releases").first.is_visible()
            assert visit.overflow() <= 0
            assert visit.complaints == []
            assert [fault for fault in visit.axe_faults(look) if not fault.startswith(OF_SWAGGER)] == []


@contextmanager
def _other_site(page: str) -> Iterator[str]:
    """The address of a server of another origin whose every page is this one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_another_site_frames_the_board_and_no_other_page(visit: Visit, live_site: Any) -> None:
    site, address = live_site
    slug = site.release.slug
    frames = "".join(
        f'<iframe src="{address}{path}" width="360" height="480"></iframe>'
        for path in (reverse("framed_board", args=[slug]), reverse("board", args=[slug]))
    )
    with _other_site(frames) as other:
        for look in LOOKS:
            visit.emulate(look)
            visit.page.goto(other)
            visit.page.frame_locator("iframe").first.get_by_text("The whole board on Podium").wait_for()
            visit.keep_picture(f"framed-{look}")
            assert visit.page.frame_locator("iframe").nth(1).locator("table").count() == 0
            assert any("frame-ancestors" in one for one in visit.complaints), "the board itself refuses a frame"
            visit.complaints.clear()
