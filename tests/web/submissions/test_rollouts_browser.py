"""In a real browser: rollouts side by side are clean in every look, and an organiser's note is kept without scripts."""

from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Submission
from problems.models import Release
from runners.wire.protocol import LogText, StepReport, Verdict
from tests import factories
from tests.patience import SOON
from tests.requirements import requires
from tests.web.site.test_browser import LOOKS, Visit, page_faults
from tests.web.submissions.test_rollouts import generated

pytestmark = [requires("chromium"), pytest.mark.rest]

STORY = (
    "We need one thread for each element.\n\nA thread whose index is past the end must not write.\n"
    + "Then the grid is rounded up, and the last block is partly idle. " * 4
)
MESSAGES = [
    {"role": "system", "content": "You write GPU code."},
    {"role": "user", "content": "# Task\n\nAdd two vectors of length n.\n" + "A very long line of words. " * 20},
    {"role": "assistant", "content": STORY + "\n```cpp\n__global__ void add(const float* a, float* b) {}\n```"},
]
LOGS = ["solution.cu(12): error: identifier “x” is undefined\n", "/tmp/a.o: undefined reference to `f(float*)'\n"]


@pytest.fixture
def stored(transactional_db: Any, settings: Any) -> Submission:
    """Four samples of each problem: two fail to build, each in its way."""
    settings.ALLOWED_HOSTS = ["*"]
    cast = factories.Cast.make()
    made = factories.release(2)
    factories.offer(made)
    usage = {"prompt_tokens": 812, "completion_tokens": 4071}
    found = generated(cast.entrant, made, 4, judged=_judged, messages=MESSAGES, usage=usage)
    factories.UserFactory(username="second", is_staff=True)
    return found


def _judged(evaluation: Any) -> Any:
    index = evaluation.sample.index
    if index < 2:
        return factories.report()
    failed = factories.report(Verdict.BUILD_FAILED)
    return failed.model_copy(update={"steps": [StepReport(name="build", log=LogText(text=LOGS[index - 2]))]})


def _pages(stored: Submission, made: Release) -> dict[str, str]:
    return {
        "rollouts-organiser": reverse("rollouts", args=[stored.pk]),
        "rollout-organiser": reverse("rollouts", args=[stored.pk], query={"problem": "shell-0"}),
        "failures-organiser": reverse("submission_failures", args=[stored.pk]),
        "release-failures": reverse("release_failures", args=[made.slug]),
        "release-submissions-organiser": reverse("release_submissions", args=[made.slug]),
    }


def test_rollouts_and_failures_are_clean(chromium: Any, live_server: Any, stored: Submission) -> None:
    visit = Visit(chromium, live_server.url, *LOOKS["light"])
    visit.sign_in("organiser")
    faults = page_faults(visit, _pages(stored, stored.release))
    visit.context.close()
    assert faults == [], "\n".join(faults)


@pytest.mark.rest
def test_samples_stand_side_by_side_and_below_each_other_on_a_phone(
    chromium: Any, live_server: Any, stored: Submission
) -> None:
    tops = {}
    for look in ("light", "phone"):
        visit = Visit(chromium, live_server.url, *LOOKS[look])
        visit.sign_in("owner")
        visit.open(reverse("rollouts", args=[stored.pk], query={"problem": "shell-0"}))
        tops[look] = {round(one.bounding_box()["y"]) for one in visit.page.locator(".samples > article").all()}
        visit.context.close()
    assert (len(tops["light"]), len(tops["phone"])) == (1, 4)


@pytest.mark.rest
def test_a_note_is_kept_without_javascript(chromium: Any, live_server: Any, client: Any, stored: Submission) -> None:
    client.force_login(factories.UserFactory(username="organiser"))
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.set_default_timeout(1e3 * SOON)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(reverse("rollouts", args=[stored.pk], query={"problem": "shell-1"}))
    sample = page.locator("#sample-3")
    sample.get_by_label("down").check()
    sample.get_by_label("Words").fill("It declares no x because the statement names none.")
    sample.get_by_role("button", name="Keep").click()
    page.wait_for_url("**problem=shell-1#sample-3")
    assert page.locator("#sample-3").get_by_label("Words").input_value().startswith("It declares no x")
    context.close()
