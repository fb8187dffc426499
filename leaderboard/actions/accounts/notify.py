"""Change how an account is told that submissions have ended. Each change writes its audit entry."""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import Delivery, Entrant, NotificationSettings, Webhook
from leaderboard.models.accounts.notification import FEED_PREFIX, MAX_WEBHOOKS, new_nonce
from leaderboard.models.accounts.token import digest_of
from leaderboard.models.audit import record
from leaderboard.notifications.outgoing import why_bad_url

TESTS_A_MINUTE = 3


@transaction.atomic
def set_mail(user: Any, *, is_on: bool) -> None:
    """Turn mails on or off. Raises Refused if the account has no address."""
    if is_on and not user.email:
        raise Refused("no_mail_address", "Your account has no e-mail address: add one first.")
    row, _ = NotificationSettings.objects.get_or_create(user=user)
    if NotificationSettings.objects.filter(pk=row.pk, by_mail=not is_on).update(by_mail=is_on):
        record(user, "mail on" if is_on else "mail off", row)


@transaction.atomic
def new_feed(user: Any) -> str:
    """Make the address of the account's feed and return its secret. An earlier address stops working."""
    secret = FEED_PREFIX + secrets.token_urlsafe(32)
    row, _ = NotificationSettings.objects.get_or_create(user=user)
    NotificationSettings.objects.filter(pk=row.pk).update(
        feed_digest=digest_of(secret), feed_hint=secret[: len(FEED_PREFIX) + 4], feed_made_at=timezone.now()
    )
    record(user, "make feed", row)
    return secret


@transaction.atomic
def revoke_feed(user: Any) -> bool:
    """The feed's address stops working. Returns whether there was one."""
    rows = NotificationSettings.objects.filter(user=user, feed_digest__isnull=False)
    if not rows.update(feed_digest=None, feed_hint="", feed_made_at=None):
        return False
    record(user, "revoke feed", NotificationSettings.objects.get(user=user))
    return True


@transaction.atomic
def new_webhook(user: Any, url: str, entrant: Entrant | None) -> Webhook:
    """Raises Refused or NotAllowed."""
    if reason := why_bad_url(url, allow_private=settings.WEBHOOK_PRIVATE):
        raise Refused("bad_address", reason)
    if entrant is not None and not entrant.has_member(user):
        raise NotAllowed("not_your_entrant", "Only its team is told of an entrant's submissions.")
    if Webhook.objects.filter(user=user).count() >= MAX_WEBHOOKS:
        raise Refused("too_many_webhooks", f"An account has at most {MAX_WEBHOOKS} webhooks: delete one first.")
    made = Webhook.objects.create(user=user, url=url, entrant=entrant)
    record(user, "add webhook", made, entrant=entrant.slug if entrant else None)
    return made


@transaction.atomic
def switch_webhook(user: Any, webhook: Webhook, *, is_on: bool) -> None:
    """Turn it on or off."""
    changed = Webhook.objects.filter(pk=webhook.pk, is_on=not is_on)
    if changed.update(is_on=is_on, off_reason="", n_failed=0):
        record(user, "webhook on" if is_on else "webhook off", webhook)


@transaction.atomic
def new_secret(user: Any, webhook: Webhook) -> str:
    """Give it another secret and return that. The earlier one signs nothing any more."""
    webhook.nonce = new_nonce()
    webhook.save(update_fields=["nonce"])
    record(user, "new webhook secret", webhook)
    return webhook.secret


@transaction.atomic
def delete_webhook(user: Any, webhook: Webhook) -> None:
    """Delete it with the log of its deliveries."""
    record(user, "delete webhook", webhook)
    webhook.delete()


def send_test(user: Any, webhook: Webhook) -> Delivery:
    """Queue a message without a submission, which is tried once. Raises Refused."""
    since = timezone.now() - timedelta(minutes=1)
    if Delivery.objects.filter(user=user, submission=None, created_at__gt=since).count() >= TESTS_A_MINUTE:
        raise Refused("too_many_tests", "Wait a minute before the next test.")
    return Delivery.objects.create(user=user, webhook=webhook)
