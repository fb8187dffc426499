"""Mails, webhooks and feeds about submissions that have ended."""

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from typing import Any, ClassVar

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard import settings as site_settings
from leaderboard.actions.accounts import notify
from leaderboard.actions.submissions.cancel import cancel
from leaderboard.models import Delivery, Submission, Track, Webhook
from leaderboard.notifications import deliver, outgoing
from leaderboard.notifications.announce import announce_ended
from leaderboard.site.redaction import redacted
from problems.models import Release
from runners.fleet import tasks
from tests import factories
from tests.factories import Cast
from tests.markup import markup


class Receiver(BaseHTTPRequestHandler):
    answers: ClassVar[list[int]] = []
    got: ClassVar[list[tuple[dict[str, str], bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((dict(self.headers), body))
        self.send_response(self.answers.pop(0) if self.answers else 204)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[str]:
    Receiver.answers, Receiver.got = [], []
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook?a=1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def made(db: Any) -> Release:
    return factories.release(1)


@pytest.fixture
def track(made: Release) -> Track:
    return factories.offer(made)


@pytest.fixture(autouse=True)
def private_allowed(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = True
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}


def ended(cast: Cast, made: Release, track: Track, script: str = "exit 0") -> Submission:
    stored = factories.judged_submission(cast.entrant, made, track, script=script, n_samples=1)
    announce_ended()
    return stored


def make_due() -> None:
    Delivery.objects.filter(state="pending").update(next_try_at=timezone.now())


def test_a_webhook_is_told_once_with_a_signature(cast: Cast, made: Release, track: Track, receiver: str) -> None:
    webhook = notify.new_webhook(cast.teammate, receiver, cast.entrant)
    stored = ended(cast, made, track)
    assert announce_ended() == 0
    assert deliver.deliver_due() == 1
    assert deliver.deliver_due() == 0
    ((headers, body),) = Receiver.got
    signed = f"{headers['X-Podium-Timestamp']}.".encode() + body
    expected = hmac.new(webhook.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Podium-Signature"] == f"sha256={expected}"
    told = json.loads(body)
    assert told["event"] == headers["X-Podium-Event"] == "submission.ended"
    assert told["delivery"] == headers["X-Podium-Delivery"] == str(Delivery.objects.get().pk)
    assert told["submission"]["id"] == stored.pk
    assert told["submission"]["verdicts"] == {"passed": 1}
    assert webhook.secret not in body.decode()


def test_it_tries_again_later_with_the_same_id_and_follows_no_redirect(
    cast: Cast, made: Release, track: Track, receiver: str
) -> None:
    notify.new_webhook(cast.owner, receiver, None)
    ended(cast, made, track)
    Receiver.answers = [500, 302]
    deliver.deliver_due()
    first = Delivery.objects.get()
    assert (first.state, first.status) == ("pending", 500)
    assert first.next_try_at > timezone.now() + timedelta(seconds=20)
    make_due()
    deliver.deliver_due()
    assert "redirects are not followed" in Delivery.objects.get().error
    make_due()
    deliver.deliver_due()
    assert Delivery.objects.get().state == "sent"
    assert len({headers["X-Podium-Delivery"] for headers, _ in Receiver.got}) == 1


def test_it_gives_up_at_last_and_turns_off_what_never_answers(cast: Cast, made: Release, track: Track) -> None:
    notify.new_webhook(cast.owner, "http://127.0.0.1:9/", None)
    Webhook.objects.update(n_failed=deliver.OFF_AFTER - 1)
    ended(cast, made, track)
    for _ in range(len(deliver.BACKOFF) + 1):
        make_due()
        deliver.deliver_due()
    assert Delivery.objects.get().state == "failed"
    assert not Webhook.objects.get().is_on
    ended(cast, made, track, "exit 3")
    assert Delivery.objects.count() == 1


def test_those_who_left_the_team_are_told_nothing(cast: Cast, made: Release, track: Track, receiver: str) -> None:
    notify.new_webhook(cast.teammate, receiver, None)
    ended(cast, made, track)
    cast.entrant.team.memberships.filter(user=cast.teammate).delete()
    deliver.deliver_due()
    assert Delivery.objects.get().error == "You are no longer in the entrant's team."
    assert not Receiver.got
    ended(cast, made, track, "exit 3")
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
     "2002:7f00:1::", "0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.168.1.1"],
)  # fmt: skip
def test_addresses_that_are_not_public_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not outgoing.is_public(ip_address(address))

    def looked_up(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in ("8.8.8.8", address)]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with pytest.raises(outgoing.AddressRefused, match="not public"):
        outgoing.post("https://hook.example.org/", b"{}", {}, allow_private=False)


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org", "https://u:p@example.org/", "https://", "http://localhost/x", "http://127.0.0.1:8000/",
     "http://[::1]/", "https://example.org/\nX: y", "http://example.org:99999/"],
)  # fmt: skip
def test_bad_webhook_addresses_are_refused_at_the_field(client: Client, cast: Cast, settings: Any, url: str) -> None:
    settings.WEBHOOK_PRIVATE = False
    client.force_login(cast.owner)
    answer = client.post(reverse("new_webhook"), {"url": url})
    assert answer.status_code == 422
    assert not Webhook.objects.exists()


def test_a_host_that_answers_byte_by_byte_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "TOTAL_SECONDS", 0.5)
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            while not stop.wait(0.1):
                try:
                    connection.sendall(b"H")
                except OSError:
                    return

    threading.Thread(target=drip, daemon=True).start()
    port = listener.getsockname()[1]
    with pytest.raises((OSError, outgoing.http.client.HTTPException)):
        outgoing.post(f"http://127.0.0.1:{port}/", b"{}", {}, allow_private=True)
    stop.set()
    listener.close()


def test_mail_goes_to_those_who_turned_it_on(cast: Cast, made: Release, track: Track) -> None:
    notify.set_mail(cast.owner, is_on=True)
    stored = factories.judged_submission(cast.entrant, made, track, n_samples=1)
    tasks.notify()
    (message,) = mail.outbox
    assert message.to == [cast.owner.email]
    assert message.subject == f"Submission #{stored.pk} of Alpha is done"
    assert "1 passed" in str(message.body)


def test_without_a_mail_server_mails_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_settings, "MAIL_URL", "")
    assert site_settings._mail() == {"backend": "django.core.mail.backends.console.EmailBackend"}


def test_a_cancelled_submission_is_told_too(cast: Cast, made: Release, track: Track) -> None:
    notify.set_mail(cast.owner, is_on=True)
    stored = factories.submission(cast.entrant, made, track)
    assert announce_ended() == 0
    cancel(cast.owner, stored)
    announce_ended()
    deliver.deliver_due()
    assert "cancelled" in mail.outbox[0].subject


def test_a_mail_server_that_is_down_delays_the_mail_and_nothing_else(
    cast: Cast, made: Release, track: Track, settings: Any
) -> None:
    settings.MAIL = {"backend": "django.core.mail.backends.smtp.EmailBackend", "host": "127.0.0.1", "port": 9}
    notify.set_mail(cast.owner, is_on=True)
    stored = ended(cast, made, track)
    deliver.deliver_due()
    assert stored.state == "done"
    assert Delivery.objects.get().state == "pending"
    settings.MAIL = {"backend": "django.core.mail.backends.locmem.EmailBackend"}
    make_due()
    deliver.deliver_due()
    assert len(mail.outbox) == 1


def test_there_is_a_bound_on_mails_of_a_day(cast: Cast, made: Release, track: Track, monkeypatch: Any) -> None:
    monkeypatch.setattr("leaderboard.notifications.announce.MAILS_A_DAY", 1)
    notify.set_mail(cast.owner, is_on=True)
    for n in range(2):
        ended(cast, made, track, f"exit {n}")
    deliver.deliver_due()
    assert len(mail.outbox) == 1


def test_a_feed_is_read_by_its_address_until_it_is_revoked(
    client: Client, cast: Cast, made: Release, track: Track
) -> None:
    stored = ended(cast, made, track)
    secret = notify.new_feed(cast.owner)
    answer = client.get(reverse("personal_feed", args=[secret]))
    assert answer["Content-Type"].startswith("application/atom+xml")
    assert f"Submission #{stored.pk} of Alpha is done" in markup(answer)
    assert "1 of 1 samples passed" in markup(answer)
    assert secret not in markup(answer)
    assert client.get(reverse("personal_feed", args=[secret + "x"])).status_code == 404
    notify.revoke_feed(cast.owner)
    assert client.get(reverse("personal_feed", args=[secret])).status_code == 404
    assert secret not in redacted(f"GET /feeds/{secret}/submissions.atom")


def test_the_page_shows_each_secret_once_and_the_log(client: Client, cast: Cast, receiver: str) -> None:
    client.force_login(cast.owner)
    page = reverse("notifications")
    answer = client.post(reverse("new_webhook"), {"url": receiver})
    secret = Webhook.objects.get().secret
    assert secret in markup(answer)
    assert answer["Cache-Control"].startswith("max-age=0")
    assert secret not in markup(client.get(page))
    client.post(reverse("test_webhook", args=[Webhook.objects.get().pk]))
    deliver.deliver_due()
    assert Receiver.got[0][0]["X-Podium-Event"] == "test"
    assert "a test" in markup(client.get(page))
    client.post(reverse("new_webhook_secret", args=[Webhook.objects.get().pk]))
    assert Webhook.objects.get().secret != secret
    client.post(reverse("switch_mail"), {"on": "1"})
    assert cast.owner.notification_settings.by_mail
