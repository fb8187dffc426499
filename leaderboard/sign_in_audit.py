"""Audit entries for changes of how somebody signs in, which allauth signals; the name for which a failed try counts."""

from collections.abc import Mapping
from typing import Any

from allauth.mfa.signals import authenticator_added, authenticator_removed
from allauth.socialaccount.signals import social_account_added, social_account_removed
from django.dispatch import receiver
from django.http import HttpRequest

from leaderboard.models.audit import record


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
    """For django-axes: in small letters, because accounts are found by names and addresses in any letters."""
    given = credentials or {}
    names = (given.get("username"), given.get("login"), given.get("email"), request.POST.get("login"))
    return str(next((one for one in names if one), "")).strip().lower()
