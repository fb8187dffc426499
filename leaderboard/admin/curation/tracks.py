"""Tracks in the admin: what a track stands for is fixed once a release is offered on it."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from leaderboard.actions.curation import curate
from leaderboard.admin.audited import AuditedAdmin
from leaderboard.admin.base import Act, Outcome
from leaderboard.models import Track

ALWAYS_EDITABLE = frozenset({"title", "peaks"})
_FORM_FIELDS = ("slug", "title", "device", "hardware_name", "compute_capability", "toolkit", "image")


class TrackForm(forms.ModelForm[Track] if TYPE_CHECKING else forms.ModelForm):  # type: ignore[misc]
    """Every field that says what the track is."""

    slug = forms.CharField(max_length=100, help_text="As nvidia-h200-cuda13.0.")

    class Meta:
        model = Track
        fields = _FORM_FIELDS


def _add(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    track = curate.add_track(request.user, {name: said[name] for name in _FORM_FIELDS})
    return [f"Track {track.slug} is made. Grant it to nodes, then offer releases on it."]


@admin.register(Track)
class TrackAdmin(AuditedAdmin):
    list_display = ("slug", "title", "device", "hardware_name", "toolkit", "image_policy")
    list_filter = ("device", "image_policy")
    search_fields = ("slug", "title", "hardware_name")
    list_acts = (
        Act(
            "add", "Add a track", "To make one from a node's own hardware, use the button on the node.", _add,
            form=lambda _row: TrackForm,
        ),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the act above checks more
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:  # noqa: ARG002
        if obj is None or not obj.on_releases.exists():
            return ["slug", "created_at"]
        return [field.name for field in self.opts.fields if field.name not in ALWAYS_EDITABLE and field.name != "id"]
