"""Join tokens: machines that come and go make themselves nodes, within what an organiser has allowed."""

import logging
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from leaderboard.errors import Conflict, NotAllowed, Refused
from leaderboard.models import Track
from leaderboard.models.audit import record
from runners.fleet.attempts.claim import digest_of
from runners.fleet.attempts.returns import give_back
from runners.fleet.errors import NodeRefused
from runners.fleet.models import Attempt, AttemptState, JoinToken, Node, Service
from runners.fleet.nodes.enrol import add_node
from runners.fleet.nodes.service import revoke, revoke_and_void
from runners.wire.protocol import Stage

PREFIX = "pdj_"
LONGEST = timedelta(days=30)
MOST_NODES = 10_000
FAILURES_PER_MINUTE = 10
"""Refused joins of one address within a minute. Further ones are refused unread."""
RETIRED_AFTER = timedelta(hours=1)
"""A joined node that was not seen for so long has gone."""
NAME_CHARACTERS = 80

logger = logging.getLogger(__name__)


@transaction.atomic
def make_token(
    user: Any,
    name: str,
    tracks: Sequence[Track],
    stages: Iterable[Stage],
    most_nodes: int,
    expires_at: datetime,
    judged_again: float = 0.02,
) -> tuple[JoinToken, str]:
    """Make a join token, which cannot be read again. `user` None is the site's own shell."""
    _check(user)
    if slugify(name) != name:
        raise Refused("bad_slug", f"{name!r} is not a slug; use lower-case letters, digits and hyphens.")
    if JoinToken.objects.filter(name=name).exists():
        raise Conflict("token_exists", f"Join token {name!r} exists already. Choose another name.")
    if not tracks or not 1 <= most_nodes <= MOST_NODES or not 0 <= judged_again <= 1:
        words = f"Name a track, 1 to {MOST_NODES} nodes and a share from 0 to 1 that is judged again."
        raise Refused("bad_join_token", words)
    if not timezone.now() < expires_at <= timezone.now() + LONGEST:
        raise Refused("bad_expiry", f"A join token ends within {LONGEST.days} days from now.")
    secret = PREFIX + secrets.token_urlsafe(32)
    made = JoinToken.objects.create(
        name=name, token_digest=digest_of(secret), stages=sorted({Stage(one).value for one in stages}),
        most_nodes=most_nodes, expires_at=expires_at, judged_again=judged_again,
    )  # fmt: skip
    made.tracks.set(tracks)
    record(user, "add join token", made, tracks=[one.slug for one in tracks], most_nodes=most_nodes)
    return made, secret


def join(token_digest: str, name: str, address: str) -> tuple[Node, str]:
    """Make a node of the token. Returns it and its own token.

    Raises NodeRefused: 401 (unknown_join_token), 403 (too_many_nodes), 429 (too_many_joins).
    """
    key = f"join-refused:{digest_of(address)}"
    if cache.get(key, 0) >= FAILURES_PER_MINUTE:
        raise NodeRefused(429, "too_many_joins", "Too many refused joins from this address. Try again in a minute.")
    try:
        return _join(token_digest, name)
    except NodeRefused as refused:
        cache.add(key, 0, 60)
        cache.incr(key)
        record(None, "refuse join", f"node {slugify(name)[:NAME_CHARACTERS]}", refused.error.code, address=address)
        raise


@transaction.atomic
def _join(token_digest: str, name: str) -> tuple[Node, str]:
    token = JoinToken.objects.select_for_update(no_key=True).filter(token_digest=token_digest).first()
    if token is None or not token.is_open:
        raise NodeRefused(401, "unknown_join_token", "No join token of this site that still holds. Ask an organiser.")
    _retire_gone(token)
    if in_service(token).count() >= token.most_nodes:
        words = f"Join token {token} allows {token.most_nodes} nodes at once, and as many are in service."
        raise NodeRefused(403, "too_many_nodes", words)
    stages = [Stage(one) for one in token.stages]
    node, secret = add_node(None, _free_name(name), token.tracks.all(), stages, title=f"joined by {token}")
    Node.objects.filter(pk=node.pk).update(joined_by=token, last_seen_at=timezone.now())
    record(None, "join", node, token=token.name)
    return node, secret


def leave(node: Node) -> None:
    """Retire a joined node at its own request. An enrolled one stays as it is."""
    if node.joined_by_id is not None:
        _retire(node, "It has left.")


def retire_gone() -> int:
    """Retire the joined nodes that were not seen for an hour. Returns their number."""
    return sum(map(_retire_gone, JoinToken.objects.filter(nodes__in=_gone()).distinct()))


@transaction.atomic
def revoke_token(user: Any, token: JoinToken, reason: str, *, voids: bool = False) -> int:
    """End the token and all its nodes with their leases; `voids` also voids their results. Returns their number."""
    _check(user)
    if not reason.strip():
        raise Refused("reason_needed", "Give a reason. It is shown on the pages of its nodes.")
    JoinToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    nodes = list(token.nodes.all() if voids else in_service(token))
    for node in nodes:
        if voids:
            revoke_and_void(user, node, reason)
        else:
            revoke(user, node, reason)
    record(user, "revoke join token", token, reason, nodes=[node.slug for node in nodes], voided=voids)
    return len(nodes)


def _check(user: Any) -> None:
    if user is not None and not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser makes and revokes join tokens.")


def in_service(token: JoinToken) -> QuerySet[Node]:
    """The nodes of the token that have not gone."""
    return token.nodes.exclude(service__in=[Service.RETIRED, Service.REVOKED])


def _gone() -> QuerySet[Node]:
    seen = timezone.now() - RETIRED_AFTER
    there = Node.objects.exclude(service__in=[Service.RETIRED, Service.REVOKED])
    return there.filter(Q(last_seen_at__lt=seen) | Q(last_seen_at=None, created_at__lt=seen), joined_by__isnull=False)


def _retire_gone(token: JoinToken) -> int:
    gone = list(_gone().filter(joined_by=token))
    for node in gone:
        _retire(node, "It was not seen for an hour.")
    return len(gone)


@transaction.atomic
def _retire(node: Node, reason: str) -> None:
    """Its name stays taken, its token stops working, and its leases go back."""
    there = Node.objects.filter(pk=node.pk).exclude(service__in=[Service.RETIRED, Service.REVOKED])
    ended = {
        "service": Service.RETIRED,
        "disabled_reason": reason,
        "token_digest": digest_of(secrets.token_urlsafe(32)),
    }
    if there.update(**ended):
        for attempt in Attempt.objects.filter(node=node, state=AttemptState.LEASED).select_related("job", "node"):
            give_back(attempt)
        record(None, "retire node", node, reason)


def _free_name(name: str) -> str:
    """The name as a slug that no node has or had."""
    base = slugify(name)[:NAME_CHARACTERS].strip("-") or "node"
    taken = set(Node.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    if base not in taken:
        return base
    return next(one for n in range(2, len(taken) + 3) if (one := f"{base}-{n}") not in taken)
