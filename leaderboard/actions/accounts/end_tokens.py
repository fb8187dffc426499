"""End everything that signs in for an account without its password."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from leaderboard.models import ApiToken, PmppToken
from leaderboard.models.audit import record


@transaction.atomic
def end_tokens(actor: Any, user: Any) -> int:
    """Revoke the user's API tokens and PMPP tokens; returns how many."""
    rows = (model.objects.filter(user=user, revoked_at=None) for model in (ApiToken, PmppToken))
    ended = sum(one.update(revoked_at=timezone.now()) for one in rows)
    record(actor, "end_tokens", user, ended=ended)
    return ended


def n_tokens_of(user: Any) -> int:
    """The number of the account's tokens that work now."""
    valid = {"user": user, "revoked_at": None, "expires_at__gt": timezone.now()}
    return sum(model.objects.filter(**valid).count() for model in (ApiToken, PmppToken))
