"""In a real browser: the framed board in a page of another site, and the pages about the numbers and the API."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from tests.patience import SOON
from tests.requirements import requires

pytestmark = [requires("chromium"), pytest.mark.rest]
SCREENSHOTS = os.environ.get("PODIUM_SCREENSHOTS", "")


@pytest.fixture(params=[("light", 1280), ("dark", 1280), ("dark", 390)], ids=lambda one: f"{one[0]}-{one[1]}")
def window(request: Any, chromium: Any, live_site: Any) -> Any:
    """A page with `.complaints`, what its console said of errors."""
    colours, width = request.param
    context = chromium.new_context(
        base_url=live_site[1], viewport={"width": width, "height": 900}, color_scheme=colours
    )
    context.set_default_timeout(1e3 * SOON)
    page = context.new_page()
    page.name, page.complaints = f"{colours}-{width}", []
    page.on("console", lambda m: m.type in {"error", "warning"} and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    context.close()


def _look(page: Any, name: str, full_page: bool = True) -> None:
    """Nothing is wider than the window; keep a picture if asked to."""
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{page.name}.png", full_page=full_page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


def test_pages_fit_and_do_not_complain(window: Any, live_site: Any) -> None:
    site = live_site[0]
    slug = site.release.slug
    for name in ("coverage", "changelog", "release_about"):
        window.goto(reverse(name, args=[slug]))
        _look(window, name)
    window.goto(site.cast.entrant.get_absolute_url())
    window.locator("img[src$='.svg'][height='22']").first.scroll_into_view_if_needed()
    _look(window, "entrant")
    window.goto(reverse("about"))
    window.get_by_role("link", name="SOL score").first.click()
    assert window.url.endswith("#sol-score")
    _look(window, "formulas")
    assert window.complaints == []


def test_the_api_page_wears_the_sites_frame(window: Any) -> None:
    window.goto("/api/")
    window.locator("#operations-releases-releases_board_retrieve").wait_for()
    _look(window, "api-list")
    window.locator("#operations-submissions-submissions_create button").first.click()
    window.get_by_text("Send a solutions pack, a zip of folders, or typed code.").wait_for()
    _look(window, "api-operation", full_page=False)
    assert window.get_by_role("link", name="Releases").first.is_visible()
    assert window.complaints == []


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


def test_another_site_frames_the_board_and_no_other_page(window: Any, live_site: Any) -> None:
    site, address = live_site
    slug = site.release.slug
    frames = "".join(
        f'<iframe src="{address}{path}" width="360" height="480"></iframe>'
        for path in (reverse("framed_board", args=[slug]), reverse("board", args=[slug]))
    )
    with _other_site(frames) as other:
        window.goto(other)
        _framed(window)


def _framed(window: Any) -> None:
    window.frame_locator("iframe").first.get_by_text("The whole board on Podium").wait_for()
    assert window.frame_locator("iframe").nth(1).locator("table").count() == 0
    _look(window, "framed")
    assert any("frame-ancestors" in one for one in window.complaints), "the board itself refuses a frame"
