"""The page to submit a file: what it says before anything is sent, and what stays after a refusal."""

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import DailyUse, Submission
from tests import factories, packs
from tests.factories import Cast
from tests.markup import markup

AJAX = {"X-Requested-With": "XMLHttpRequest"}


@pytest.fixture
def shop(cast: Cast, client: Any) -> Any:
    made = factories.release(8)
    track = factories.offer(made)
    client.force_login(cast.owner)
    return made, track


def zip_of(*task_folders: str) -> SimpleUploadedFile:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for folder in task_folders:
            archive.writestr(f"{folder}/solution.sh", "exit 0\n")
    return SimpleUploadedFile("mine.zip", target.getvalue())


def post(client: Any, shop: Any, file: Any = None, headers: Any = None, **changes: Any) -> Any:
    made, track = shop
    fields = {"release": made.slug, "entrant": "alpha", "tracks": [track.slug], "counted": "on"}
    fields["file"] = file or zip_of("Shell_0", "Shell_5")
    return client.post(reverse("submit"), fields | changes, headers=headers or {})


def test_check_only_says_what_the_file_has_and_stores_nothing(client: Any, shop: Any) -> None:
    answer = post(client, shop, check="1", coverage="partial", note="warm", licence="MIT")
    text = markup(answer)
    assert answer.status_code == 200
    assert "The site would take this." in text
    assert "2 samples of 2 of 8 problems" in text
    assert "it will not be ranked on the board" in text
    assert 'value="warm"' in text
    assert 'value="MIT"' in text
    assert "Choose the file again" in text
    assert not Submission.objects.exists()
    assert not DailyUse.objects.exists()


def test_two_of_eight_problems_are_sent_only_once_it_is_said_as_what(client: Any, shop: Any) -> None:
    text = markup(post(client, shop))
    assert "samples of 2 of 8 problems" in text
    assert not Submission.objects.exists()
    post(client, shop, coverage="partial", licence="Apache-2.0")
    stored = Submission.objects.get()
    assert (stored.is_full, stored.licence) == (False, "Apache-2.0")
    assert "Apache-2.0" in markup(client.get(stored.get_absolute_url()))
    assert "Apache-2.0" in markup(client.get(stored.evaluations.first().get_absolute_url()))


def test_a_licence_that_is_not_stated_is_shown_as_that(client: Any, shop: Any) -> None:
    post(client, shop, coverage="full")
    stored = Submission.objects.get()
    assert stored.is_full
    assert "not stated" in markup(client.get(stored.get_absolute_url()))


def test_the_report_lists_every_fault_with_its_line(client: Any, shop: Any) -> None:
    rows = [packs.line(packs.solution(one, "x")) for one in ("CUDA/998", "Shell/0", "CUDA/999")]
    file = SimpleUploadedFile("mine.jsonl", b"".join(rows))
    text = markup(post(client, shop, file, AJAX, check="1", coverage="partial"))
    assert "<html" not in text
    assert "would refuse" in text
    for line in ("Line 1", "Line 3"):
        assert line in text
    assert "list of problems" in text


def test_a_refused_upload_says_as_much_as_a_check(client: Any, shop: Any) -> None:
    rows = [packs.line(packs.solution(one, "x")) for one in ("CUDA/998", "Shell/0", "CUDA/999")]
    answer = post(client, shop, SimpleUploadedFile("mine.jsonl", b"".join(rows)))
    text = markup(answer)
    assert answer.status_code == 422
    assert "Not sent." in text
    assert "Line 3" in text
    assert "does not say whether that is meant" in text
    assert not Submission.objects.exists()


def test_the_link_of_a_release_page_names_its_release(client: Any, shop: Any) -> None:
    factories.release(2, "test-2")
    page = markup(client.get(reverse("board", args=[shop[0].slug])))
    assert f"{reverse('submit')}?release={shop[0].slug}" in page


def test_a_script_gets_the_address_or_the_refusal_alone(client: Any, shop: Any) -> None:
    refused = post(client, shop, SimpleUploadedFile("a.txt", b"hello"), AJAX)
    assert refused.status_code == 422
    assert "neither a solutions pack" in markup(refused)
    assert "<html" not in markup(refused)
    sent = post(client, shop, headers=AJAX, coverage="partial")
    assert (sent.status_code, sent["Location"]) == (201, Submission.objects.get().get_absolute_url())


def test_a_release_once_chosen_stays_chosen(client: Any, shop: Any, cast: Cast) -> None:
    older = shop[0]
    newest = factories.release(2, "test-2")
    factories.offer(newest)

    def chosen(answer: Any) -> str:
        return answer.context["release"].slug

    assert chosen(client.get(reverse("submit"))) == newest.slug
    assert chosen(client.get(reverse("submit"), {"release": older.slug})) == older.slug
    assert chosen(post(client, shop, SimpleUploadedFile("a.txt", b"hello"))) == older.slug
    assert chosen(client.get(reverse("submit"))) == older.slug, "as after making an entrant"
    answer = client.post(reverse("submit"), {"choose": "1", "release": newest.slug, "entrant": "alpha", "note": "x"})
    assert answer.url == f"{reverse('submit')}?release={newest.slug}&entrant=alpha"


def test_making_an_entrant_leads_back_to_the_release(client: Any, shop: Any) -> None:
    factories.offer(factories.release(2, "test-2"))
    client.force_login(factories.UserFactory())
    page = client.get(reverse("submit"), {"release": shop[0].slug})
    assert f"{reverse('new_entrant')}?next=submit" in markup(page)
    made = client.post(
        f"{reverse('new_entrant')}?next=submit", {"name": "Mine", "slug": "mine", "kind": "model"}, follow=True
    )
    assert made.context["release"] == shop[0]


def test_a_release_that_is_not_there_is_named_beside_those_that_are(client: Any, shop: Any) -> None:
    answer = client.get(reverse("submit"), {"release": "nothing"})
    assert answer.status_code == 404
    assert "no release “nothing”" in markup(answer)
    assert shop[0].slug in markup(answer)


def test_a_closed_release_is_a_fault_of_the_check(client: Any, shop: Any) -> None:
    type(shop[0]).objects.update(closes_at=timezone.now() - timedelta(days=1))
    text = markup(post(client, shop, check="1", coverage="partial"))
    assert "would refuse" in text
    assert "closed at" in text


def test_the_quota_left_is_shown_before_and_after(client: Any, shop: Any, settings: Any) -> None:
    settings.DAILY_EVALUATIONS = 10
    assert "10 of 10 evaluations" in markup(client.get(reverse("submit")))
    text = markup(post(client, shop, check="1", coverage="partial"))
    assert "It takes 2 evaluations" in text
    assert "after it: 8 evaluations" in text
    settings.DAILY_EVALUATIONS = 1
    assert "more than your account may send today" in markup(post(client, shop, check="1", coverage="full"))


def test_tracks_are_offered_with_their_state(client: Any, shop: Any, cast: Cast) -> None:
    def words() -> str:
        return " ".join(markup(client.get(reverse("submit"))).split())

    assert "no node online: queued until one returns" in words()
    node = factories.NodeFactory()
    factories.grant(node, shop[1])
    assert "1 node online, idle, 0 queued" in words()
    factories.submission(cast.entrant, *shop, n_samples=1)
    assert "1 node online, idle, 8 queued" in words()
    type(node).objects.update(disabled_reason="a new driver")
    assert "no node takes work now" in words()
    refreshed = markup(client.get(reverse("track_states"), {"track": [shop[1].slug, "no-such-track"]}))
    assert refreshed.count("<small") == 1
    assert 'id="track-cpu-test" hx-swap-oob="true"' in refreshed
    assert "no node takes work now" in refreshed


def test_more_tracks_and_jobs_cost_no_more_queries(client: Any, shop: Any, cast: Cast) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("submit"))
        return len(queries)

    client.get(reverse("submit"))
    before = cost()
    for n in range(6):
        factories.grant(factories.NodeFactory(), factories.offer(shop[0], f"cpu-{n}"))
    factories.submission(cast.entrant, *shop)
    assert cost() == before


def test_uploads_and_checks_of_the_page_are_bounded(client: Any, shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from rest_framework.throttling import ScopedRateThrottle

    monkeypatch.setattr(ScopedRateThrottle, "THROTTLE_RATES", {"submit": "1/min"})
    post(client, shop, check="1", coverage="partial")
    assert "Too many uploads and checks" in markup(post(client, shop, coverage="partial"))
    assert not Submission.objects.exists()
