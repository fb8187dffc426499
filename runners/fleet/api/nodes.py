"""The public list of nodes."""

from typing import Any, ClassVar

from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from leaderboard.api.site.base import ApiList
from runners.fleet.models import AttemptState, Node


class NodeSerializer(serializers.ModelSerializer[Node]):
    is_online = serializers.BooleanField()
    is_enabled = serializers.SerializerMethodField()
    grants = serializers.SerializerMethodField(help_text="The stages that it may serve, as `<track> <stage>`.")
    n_running = serializers.IntegerField(help_text="Attempts that it works on now.")
    hardware = serializers.SerializerMethodField(help_text="The hardware and software that it reported.")

    class Meta:
        model = Node
        fields: ClassVar = [
            "slug", "title", "is_online", "is_enabled", "disabled_reason", "obstacle", "grants", "n_running",
            "hardware", "peaks", "last_drift", "last_seen_at",
        ]  # fmt: skip

    def get_is_enabled(self, node: Node) -> bool:
        return not node.disabled_reason

    def get_grants(self, node: Node) -> list[str]:
        return sorted(f"{grant.track.slug} {grant.stage}" for grant in node.grants.all())

    def get_hardware(self, node: Node) -> dict[str, Any]:
        """The capabilities without the host's name, which only organisers may see."""
        return {key: value for key, value in node.capabilities.items() if key != "hostname"}


@extend_schema(tags=["fleet"])
class NodeList(ApiList):
    """The machines that build and run samples."""

    serializer_class = NodeSerializer

    def get_queryset(self) -> QuerySet[Node]:
        running = Count("attempts", filter=Q(attempts__state=AttemptState.LEASED))
        return Node.objects.annotate(n_running=running).prefetch_related("grants__track")
