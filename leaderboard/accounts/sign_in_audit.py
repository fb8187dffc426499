"""Audit entries for changes of how somebody signs in, which allauth signals; the name for which a failed try counts."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.signals import authenticator_added, authenticator_removed
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.contrib.auth.models import User
from django.db.models import Q
from django.dispatch import receiver
from django.http import HttpRequest

from leaderboard.models.audit import record

MAX_NAME = 254
"""Characters: as long as an address may be."""


@receiver(authenticator_added)
def _factor_added(user: Any, authenticator: Any, **_: Any) -> None:
    record(user, "add_second_factor", user, type=authenticator.type)


@receiver(authenticator_removed)
def _factor_removed(user: Any, authenticator: Any, **_: Any) -> None:
    record(user, "remove_second_factor", user, type=authenticator.type)


@receiver(social_account_added)
def _provider_linked(sociallogin: Any, **_: Any) -> None:
    record(sociallogin.user, "link_provider", sociallogin.user, provider=sociallogin.account.provider)


@receiver(social_account_removed)
def _provider_unlinked(socialaccount: Any, **_: Any) -> None:
    record(socialaccount.user, "unlink_provider", socialaccount.user, provider=socialaccount.provider)


def name_tried(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str:
    """The account's username in small letters, however it was named, for django-axes. Other names have one form."""
    given = credentials or {}
    names = (given.get("username"), given.get("login"), given.get("email"), request.POST.get("login"))
    typed = str(next((one for one in names if one), "")).replace("\0", "").strip()
    folded = unicodedata.normalize("NFKC", typed).casefold().strip()[:MAX_NAME]
    return _username_of(typed[:MAX_NAME]) or _username_of(folded) or folded


def _username_of(name: str) -> str:
    """The oldest of the accounts with one address: all tries by the address count together."""
    found = User.objects.filter(username__iexact=name) if name else User.objects.none()
    user = found.first()
    if user is None and "@" in name:
        listed = EmailAddress.objects.filter(email__iexact=name).values("user")
        user = User.objects.filter(Q(email__iexact=name) | Q(pk__in=listed)).order_by("pk").first()
    return user.username.lower() if user else ""
