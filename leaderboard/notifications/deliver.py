"""Sends what is due, one delivery after the other, and tries again later what could not be sent."""

import hashlib
import hmac
import http.client
import json
import logging
import smtplib
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import F, QuerySet
from django.utils import timezone

from leaderboard.models import Delivery, DeliveryState, Webhook
from leaderboard.notifications import outgoing, words
from leaderboard.notifications.announce import team_of

logger = logging.getLogger(__name__)
BACKOFF = tuple(timedelta(seconds=one) for one in (30, 120, 600, 3600, 6 * 3600, 24 * 3600))
"""Pauses after the first, second … failed try. A try that fails after the last is the last."""
LEASE = timedelta(seconds=60)
"""A try that has not ended by then was cut off with its worker. The delivery is then tried again."""
TURN_SECONDS = 15.0
SHARE_S = 5.0
"""Seconds of a turn after which an account whose addresses are slow waits for the next one."""
MAIL_SECONDS = 10.0
KEPT = timedelta(days=30)
OFF_AFTER = 10
"""Deliveries in a row that failed for good, after which a webhook is turned off."""
GONE = 410
_NOT_IN_TEAM = "You are no longer in the entrant's team."


class NeverSent(Exception):
    """No later try can help; the text says why."""


def deliver_due(seconds: float = TURN_SECONDS) -> int:
    """Send what is due until `seconds` have passed. Returns how many were tried."""
    ends_at, n = time.monotonic() + seconds, 0
    spent: defaultdict[int, float] = defaultdict(float)
    Delivery.objects.filter(ended_at__lt=timezone.now() - KEPT).delete()
    while time.monotonic() < ends_at and (delivery := _claimed([user for user, s in spent.items() if s > SHARE_S])):
        began = time.monotonic()
        _try(delivery)
        spent[delivery.user_id] += time.monotonic() - began
        n += 1
    return n


def _claimed(left_out: Sequence[int]) -> Delivery | None:
    """The next due delivery, which this worker alone tries now. Those tried least come first. `left_out`: user ids."""
    now = timezone.now()
    rows = Delivery.objects.select_related("user", "webhook", "submission__entrant", "submission__release")
    for one in (
        rows.exclude(user_id__in=left_out)
        .filter(state=DeliveryState.PENDING, next_try_at__lte=now)
        .order_by("n_tries", "next_try_at")[:5]
    ):
        mine = Delivery.objects.filter(pk=one.pk, state=DeliveryState.PENDING, next_try_at=one.next_try_at)
        if mine.update(next_try_at=now + LEASE, n_tries=F("n_tries") + 1):
            one.n_tries += 1
            return one
    return None


def _try(delivery: Delivery) -> None:
    try:
        status = _sent(delivery)
    except (NeverSent, ValueError) as error:  # a header that no mail may have is a ValueError
        _fail(delivery, str(error))
    except (OSError, http.client.HTTPException, smtplib.SMTPException) as error:
        _later(delivery, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, None)
    else:
        if status is None or 200 <= status < 300:
            _end(delivery, DeliveryState.SENT, "", status)
            _webhook_of(delivery).update(n_failed=0)
        elif status == GONE:
            _fail(delivery, "It answered 410 Gone.", status)
            _turn_off(delivery, "The address answered 410 Gone.")
        else:
            redirect = ": redirects are not followed" if 300 <= status < 400 else ""
            _later(delivery, f"It answered {status}{redirect}.", status)


def _sent(delivery: Delivery) -> int | None:
    """Send it once; the status of a webhook's answer."""
    submission, user = delivery.submission, delivery.user
    if not user.is_active:
        raise NeverSent("The account is closed.")
    if submission and not team_of(submission.entrant).filter(pk=user.pk).exists():
        raise NeverSent(_NOT_IN_TEAM)
    if delivery.webhook is not None:
        return _post(delivery, delivery.webhook)
    if submission is None or not user.email:
        raise NeverSent("The account has no mail address.")
    connection = get_connection(**settings.MAIL, timeout=MAIL_SECONDS)
    subject, text = words.title(submission), words.mail_text(submission)
    EmailMessage(
        " ".join(subject.split()), text, settings.MAIL_FROM, [user.email],
        headers={"Message-ID": f"<{delivery.pk}@podium>", "Auto-Submitted": "auto-generated"}, connection=connection,
    ).send()  # fmt: skip
    return None


def _post(delivery: Delivery, webhook: Webhook) -> int:
    if not webhook.is_on:
        raise NeverSent("The webhook is turned off.")
    body = json.dumps(words.payload(delivery), ensure_ascii=False).encode()
    try:
        return outgoing.post(
            webhook.url, body, headers_of(delivery, webhook, body), allow_private=settings.WEBHOOK_PRIVATE
        )
    except outgoing.AddressRefused as refused:
        raise NeverSent(str(refused)) from refused


def headers_of(delivery: Delivery, webhook: Webhook, body: bytes) -> dict[str, str]:
    """The signature is over the time and the body, so that an old message cannot be sent again as a new one."""
    sent_at = str(int(time.time()))
    return {
        "Content-Type": "application/json",
        "User-Agent": "Podium",
        "X-Podium-Event": words.ENDED if delivery.submission_id else words.TEST,
        "X-Podium-Delivery": str(delivery.pk),
        "X-Podium-Timestamp": sent_at,
        "X-Podium-Signature": f"sha256={signature(webhook.secret, sent_at, body)}",
    }


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 in hex over `<timestamp>.<body>`."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def _later(delivery: Delivery, error: str, status: int | None) -> None:
    if delivery.n_tries > len(BACKOFF) or delivery.submission_id is None:
        _fail(delivery, error, status)
        return
    due = timezone.now() + BACKOFF[delivery.n_tries - 1]
    Delivery.objects.filter(pk=delivery.pk).update(next_try_at=due, error=error[:300], status=status)


def _fail(delivery: Delivery, error: str, status: int | None = None) -> None:
    _end(delivery, DeliveryState.FAILED, error, status)
    if delivery.submission_id is None:
        return
    _webhook_of(delivery).update(n_failed=F("n_failed") + 1)
    if _webhook_of(delivery).filter(n_failed__gte=OFF_AFTER).exists():
        _turn_off(delivery, f"{OFF_AFTER} deliveries in a row could not be sent.")


def _turn_off(delivery: Delivery, reason: str) -> None:
    _webhook_of(delivery).filter(is_on=True).update(is_on=False, off_reason=reason)
    logger.warning("webhook %s is turned off: %s", delivery.webhook_id, reason)


def _webhook_of(delivery: Delivery) -> "QuerySet[Webhook]":
    """Its webhook; none of a mail."""
    return Webhook.objects.filter(deliveries=delivery)


def _end(delivery: Delivery, state: DeliveryState, error: str, status: int | None) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        state=state, error=error[:300], status=status, ended_at=timezone.now()
    )
