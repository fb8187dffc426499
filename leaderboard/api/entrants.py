"""Entrants: everybody's to read, one's own to make."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.actions.entrants.create_entrant import create_entrant
from leaderboard.api.site.base import ApiList, ApiView, found
from leaderboard.entrants.entrant_rules import OWN_KINDS, why_bad_name
from leaderboard.models import Entrant
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.visibility import visible_entrants


class EntrantSerializer(serializers.ModelSerializer[Entrant]):
    url = serializers.URLField(required=False, allow_blank=True, help_text="Its home page.")

    class Meta:
        model = Entrant
        fields: ClassVar = [
            "slug", "name", "kind", "organisation", "description", "url", "open_weights", "is_verified",
            "publishes_code", "created_at",
        ]  # fmt: skip
        read_only_fields: ClassVar = ["slug", "is_verified", "created_at"]


class NewEntrantSerializer(EntrantSerializer):
    """The fields of a new entrant that a person may set; baselines are an organiser's."""

    kind = serializers.ChoiceField(choices=[(kind.value, kind.label) for kind in OWN_KINDS], default=EntrantKind.MODEL)

    def validate_name(self, name: str) -> str:
        if reason := why_bad_name(name, self.context["request"].user):
            raise serializers.ValidationError(reason)
        return name


class EntrantList(ApiList):
    serializer_class = EntrantSerializer
    parameters = (OpenApiParameter("mine", bool, description="Only those you may submit for."),)

    def get_queryset(self) -> QuerySet[Entrant]:
        if "mine" in self.request.query_params:
            if not self.request.user.is_authenticated:
                raise exceptions.NotAuthenticated
            return Entrant.objects.submittable_by(self.request.user)
        return visible_entrants(self.request.user)

    @extend_schema(tags=["entrants"], parameters=[*parameters])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The entrants: models, agents, people, baselines."""
        return super().get(request, *args, **kwargs)

    @extend_schema(tags=["entrants"], request=NewEntrantSerializer, responses={201: EntrantSerializer})
    def post(self, request: Request) -> Response:
        """Make an entrant of your own."""
        wanted = NewEntrantSerializer(data=request.data, context={"request": request})
        wanted.is_valid(raise_exception=True)
        entrant = create_entrant(request.user, **wanted.validated_data)
        return Response(EntrantSerializer(entrant).data, status.HTTP_201_CREATED)


class EntrantDetail(ApiView):
    @extend_schema(tags=["entrants"], responses=EntrantSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One entrant."""
        return Response(EntrantSerializer(found(visible_entrants(request.user), "entrant", slug=slug)).data)
