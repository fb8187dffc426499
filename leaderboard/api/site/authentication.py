"""Authenticates requests by API tokens in the Authorization header."""

from typing import Any

from django.utils import timezone
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from leaderboard.accounts.staff_mfa import NEEDED, lacks_second_factor
from leaderboard.models import ApiToken
from leaderboard.models.accounts.token import PREFIX, digest_of


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer pdm_…`. A token that is wrong, expired or revoked is refused with words, never ignored."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        kind, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            return None
        token = ApiToken.find(secret.strip())
        if token is None:
            raise exceptions.AuthenticationFailed(_why_refused(secret.strip()), code="bad_token")
        if lacks_second_factor(token.user):
            raise exceptions.AuthenticationFailed(NEEDED, code="second_factor_needed")
        return token.user, token

    def authenticate_header(self, _request: Request) -> str:
        return 'Bearer realm="Podium"'


def _why_refused(secret: str) -> str:
    if not secret.startswith(PREFIX):
        return f"This is not an API token of this site: those begin with {PREFIX}."
    token = ApiToken.objects.select_related("user").filter(digest=digest_of(secret)).first()
    if token is None:
        return "This API token is not known here. Make one on your account page."
    if token.revoked_at:
        return f"This API token was revoked on {token.revoked_at:%Y-%m-%d}. Make a new one on your account page."
    if token.expires_at <= timezone.now():
        return f"This API token expired on {token.expires_at:%Y-%m-%d}. Make a new one on your account page."
    return "The account of this API token is disabled."
