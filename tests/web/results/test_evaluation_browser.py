"""The author's view of a submission, in a real browser: failures, own submissions and notifications in each look."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.actions.accounts import notify
from leaderboard.models import Delivery, Webhook
from tests import factories
from tests.requirements import requires
from tests.web.results.test_evaluation import failing_build, failing_test, wrong_answer
from tests.web.site.test_browser import FEW_LOOKS, LOOKS, Visit, page_faults

pytestmark = [requires("chromium"), pytest.mark.rest]


def log_of_deliveries(user: Any, submission: Any) -> None:
    notify.set_mail(user, is_on=True)
    notify.new_feed(user)
    hook = notify.new_webhook(user, "https://hooks.example.org/podium?room=board", None)
    off = notify.new_webhook(user, "https://old.example.org/a/rather/long/path/that/has/to/be/folded/somewhere", None)
    Webhook.objects.filter(pk=off.pk).update(is_on=False, off_reason="10 deliveries in a row could not be sent.")
    Delivery.objects.create(user=user, submission=submission, state="sent", n_tries=1, ended_at=timezone.now())
    Delivery.objects.create(user=user, webhook=hook, submission=submission, status=503, error="It answered 503.")
    Delivery.objects.create(
        user=user, webhook=off, submission=submission, state="failed", n_tries=7, error="timed out",
        ended_at=timezone.now(),
    )  # fmt: skip


def test_their_pages_are_clean(chromium: Any, live_site: Any) -> None:
    site, url = live_site
    pages = {"own-submissions": reverse("own_submissions"), "notifications": reverse("notifications")}
    for judge in (failing_test, failing_build, wrong_answer):
        made = factories.release(1, f"small-{judge.__name__}".replace("_", "-"))
        stored = factories.judged_submission(
            site.cast.entrant, made, factories.offer(made), judge, n_samples=1, script=f"exit 1 # {judge.__name__}"
        )
        pages[judge.__name__.replace("_", "-")] = stored.evaluations.get().get_absolute_url()
    log_of_deliveries(site.cast.owner, site.judged)
    pages["passed"] = site.evaluation.get_absolute_url()
    pages["release-about"] = reverse("release_about", args=[site.release.slug])
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("owner")
    assert "\n".join(page_faults(visit, pages, FEW_LOOKS)) == ""


def test_an_author_asks_to_be_told_and_reads_the_secret_once(chromium: Any, live_site: Any, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = True
    _, url = live_site
    visit = Visit(chromium, url, *LOOKS["light"])
    visit.sign_in("owner")
    page = visit.page
    visit.open(reverse("account"))
    page.get_by_role("link", name="Notifications").click()
    page.get_by_role("button", name="Turn mails on").click()
    page.get_by_text("Mails are on.").wait_for()
    page.get_by_label("Address").fill("http://127.0.0.1:9/hook")
    page.get_by_role("button", name="Add the webhook").click()
    assert page.locator("#secret").inner_text().startswith("pdmhook_")
    visit.open(reverse("account"))
    page.get_by_role("link", name="My submissions").click()
    page.get_by_label("State").select_option("accepted")
    page.wait_for_url("**state=accepted**")
    assert page.locator("tbody tr").count() == 1
    assert visit.complaints == []
