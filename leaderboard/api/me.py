"""GET /api/v1/me: the account that the request is made with."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.site.base import ApiView
from leaderboard.models import ApiToken, Entrant


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    is_organiser = serializers.BooleanField()
    scopes = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Null when signed in by session."
    )
    token_expires_at = serializers.DateTimeField(allow_null=True)
    entrants = serializers.ListField(child=serializers.CharField(), help_text="Slugs of entrants you may submit for.")


class MeView(ApiView):
    @extend_schema(responses=MeSerializer, tags=["me"])
    def get(self, request: Request) -> Response:
        """Your account, your token's scopes and the entrants you may submit for."""
        if not request.user.is_authenticated:
            raise exceptions.NotAuthenticated
        token = request.auth if isinstance(request.auth, ApiToken) else None
        facts = {
            "username": request.user.get_username(),
            "is_organiser": request.user.is_staff,
            "scopes": token.scopes if token else None,
            "token_expires_at": token.expires_at if token else None,
            "entrants": list(Entrant.objects.submittable_by(request.user).values_list("slug", flat=True)),
        }
        return Response(MeSerializer(facts).data)
