"""Tracks, as anybody may see them."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from leaderboard.api.site.base import ApiList
from leaderboard.models import Track


class TrackSerializer(serializers.ModelSerializer[Track]):
    class Meta:
        model = Track
        fields: ClassVar = [
            "slug", "title", "device", "hardware_name", "compute_capability", "toolkit", "image", "image_policy",
            "peaks",
        ]  # fmt: skip


@extend_schema(tags=["fleet"])
class TrackList(ApiList):
    """A track, on which results are comparable: hardware, toolkit and image policy."""

    serializer_class = TrackSerializer
    queryset = Track.objects.all()
