"""In a real browser: formulas become MathML, and KaTeX is loaded only where there is one."""

from typing import Any

import pytest
from django.urls import reverse

from tests import factories
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]
BAD = "\\(\\bad{x}\\) \\(\\href{javascript:alert(1)}{x}\\)"
MATHS = "Sum $\\sum_i x_i$ and $5 or $6. `$code$`\n\n\\[ \\frac{a}{b} \\]\n\n" + BAD


def _problem(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    return fields | {"prompt": MATHS if n == 0 else "No formula here."}


def test_formulas_are_set_where_there_are_some(
    chromium: Any, transactional_db: Any, live_server: Any, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    made = factories.release(2, problem=_problem, is_public=True)
    first, second = made.problems.order_by("position")
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    page, asked = visit.page, []
    page.on("request", lambda request: asked.append(request.url))
    visit.open(reverse("problem", args=[made.slug, second.slug]))
    assert not any("katex" in url for url in asked)
    visit.open(reverse("problem", args=[made.slug, first.slug]))
    page.locator("math").first.wait_for(state="attached")
    assert page.locator("span.math math").count() >= 2
    assert page.locator("span.math.display math[display=block]").count() == 1
    assert page.locator("code.math", has_text="\\bad{x}").count() == 1, "what cannot be set stays as its source"
    assert page.locator(".statement a[href^=javascript]").count() == 0
    assert "$5 or $6" in page.locator("main").inner_text()
    assert page_faults(visit, {"formulas": reverse("problem", args=[made.slug, first.slug])}) == []
    visit.context.close()
