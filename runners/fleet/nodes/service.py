"""Takes nodes out of service and back: drain, maintenance, disable, revoke, enable; and renews their tokens."""

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.rejudging.void_results import continue_voidings, start_voiding
from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Voiding
from leaderboard.models.audit import record
from leaderboard.models.audit_values import edit_detail
from runners.fleet.attempts.claim import digest_of
from runners.fleet.attempts.returns import give_back
from runners.fleet.models import Attempt, AttemptState, Node, Service
from runners.fleet.nodes.enrol import PREFIX

MAX_REASON = 500


def _check(user: Any) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser takes nodes out of service and back.")


@transaction.atomic
def renew_token(user: Any, node: Node) -> str:
    """Make a new token, which cannot be read again. The old one stops working at once."""
    _check(user)
    _refuse_gone(node)
    secret = PREFIX + secrets.token_urlsafe(32)
    Node.objects.filter(pk=node.pk).update(token_digest=digest_of(secret))
    record(user, "renew token", node)
    return secret


def disable(user: Any, node: Node, reason: str) -> None:
    """Give the node no more work. It may finish its present work. The reason is public."""
    _stop(user, node, Service.DISABLED, "disable", reason)


def drain(user: Any, node: Node, reason: str = "") -> None:
    """Give the node no more work, so that it ends empty. The reason is public."""
    _stop(user, node, Service.DRAINING, "drain", reason or "It finishes its work and takes no more.")


def maintain(user: Any, node: Node, note: str, back_at: datetime | None = None) -> None:
    """Give the node no more work for maintenance. The note and the expected end are public."""
    if back_at is not None and back_at <= timezone.now():
        raise Refused("in_the_past", "The expected end of the maintenance has passed. Give a later time, or none.")
    _stop(user, node, Service.MAINTENANCE, "maintenance", note, back_at)


@transaction.atomic
def enable(user: Any, node: Node, reason: str = "") -> None:
    """Give the node work again. Raises Conflict if it is revoked."""
    _check(user)
    _refuse_gone(node)
    record(
        user, "enable", node, reason, **_set_service(node, service=Service.IN_SERVICE, disabled_reason="", back_at=None)
    )


@transaction.atomic
def revoke(user: Any, node: Node, reason: str) -> None:
    """Trust the node no more, for good: its token stops working, and the jobs that it holds go back to the queue."""
    _stop(user, node, Service.REVOKED, "revoke node", reason)
    Node.objects.filter(pk=node.pk).update(token_digest=digest_of(secrets.token_urlsafe(32)))
    for attempt in Attempt.objects.filter(node=node, state=AttemptState.LEASED).select_related("job", "node"):
        give_back(attempt)


MAX_STEPS = 4
"""Steps of a voiding that the request itself takes. The site's worker takes the others."""


def revoke_and_void(
    user: Any, node: Node, reason: str, since: datetime | None = None, until: datetime | None = None
) -> Voiding:
    """Revoke the node, if it is not, and void the results that it made in the period. The reason is public."""
    with transaction.atomic():
        if not Node.objects.filter(pk=node.pk, service=Service.REVOKED).exists():
            revoke(user, node, reason)
        voiding = start_voiding(user, node.slug, reason, since, until)
    continue_voidings(MAX_STEPS)
    voiding.refresh_from_db()
    return voiding


@transaction.atomic
def _stop(user: Any, node: Node, service: Service, act: str, reason: str, back_at: datetime | None = None) -> None:
    _check(user)
    if not reason.strip():
        raise Refused("reason_needed", "Give a reason. It is shown on the node's page.")
    _refuse_revoked(node) if service is Service.REVOKED else _refuse_gone(node)
    detail = _set_service(node, service=service, disabled_reason=reason.strip()[:MAX_REASON], back_at=back_at)
    record(user, act, node, reason, **detail)


def _set_service(node: Node, **values: Any) -> dict[str, Any]:
    """Store the values. Returns the audit's detail: the old ones and the new ones."""
    held = Node.objects.select_for_update().filter(pk=node.pk)
    before = held.values(*values).get()
    held.update(**values)
    return edit_detail(before, values)


def _refuse_gone(node: Node) -> None:
    """Raises Conflict for a node that is revoked, or has left: only revoking and voiding are left to do."""
    _refuse_revoked(node)
    if Node.objects.filter(pk=node.pk, service=Service.RETIRED).exists():
        raise Conflict("retired", f"{node.slug} has left. Let the machine join again, or enrol it as a new node.")


def _refuse_revoked(node: Node) -> None:
    if Node.objects.filter(pk=node.pk, service=Service.REVOKED).exists():
        raise Conflict("revoked", f"{node.slug} is revoked for good. Enrol the machine as a new node.")
