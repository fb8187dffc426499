"""Permissions of requests: reading is open, changing needs an account and a token of the right scope."""

from rest_framework import permissions
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.errors import NotAllowed
from leaderboard.models import ApiToken
from leaderboard.models.accounts.token import Scope


class HasScope(permissions.BasePermission):
    """Reading is open to all (rows are filtered by who asks); changing needs an account, and a token that may."""

    def has_permission(self, request: Request, _view: APIView) -> bool:
        reading = request.method in permissions.SAFE_METHODS
        if isinstance(request.auth, ApiToken):
            _check_scope(request.auth, Scope.READ if reading else Scope.SUBMIT)
        return reading or bool(request.user and request.user.is_authenticated)


def _check_scope(token: ApiToken, needed: Scope) -> None:
    if needed not in token.scopes:
        has = ", ".join(token.scopes) or "none"
        raise NotAllowed("scope_missing", f"This needs an API token with scope {needed.value}; this one has: {has}.")
