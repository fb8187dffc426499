"""In a real browser: the pages of a GPU release are clean too, in light, dark and on a phone."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.requirements import requires
from tests.web.gpu_site import make_gpu_site
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def test_every_page_of_a_gpu_release_is_clean(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any, tmp_path: Path
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    gpu = make_gpu_site(factories.Cast.make(), tmp_path)
    slug = gpu.release.slug
    pages = {
        "gpu-home": reverse("home"),
        "gpu-board": reverse("board", args=[slug]),
        "gpu-problems": reverse("problems", args=[slug]),
        "gpu-problem": reverse("problem", args=[slug, gpu.problem(1).slug]),
        "gpu-skipped": reverse("problem", args=[slug, gpu.problem(5).slug]),
        "gpu-submission": gpu.timed.submission.get_absolute_url(),
        "gpu-evaluation": gpu.timed.get_absolute_url(),
        "gpu-entrant": gpu.timed.submission.entrant.get_absolute_url(),
    }
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    faults = page_faults(visit, pages)
    visit.context.close()
    assert faults == [], "\n".join(faults)
