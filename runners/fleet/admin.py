"""Nodes in the admin: enrol (the token is shown once), grant, disable with a reason, make tracks; jobs and attempts."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from leaderboard.admin.base import Act, AuditedAdmin, Outcome, ReadOnlyAdmin, ReasonForm
from leaderboard.models import Track
from runners.fleet import enrol
from runners.fleet.models import Attempt, Job, Node, NodeGrant
from runners.wire.protocol import Stage

ONCE = "Copy it now; it is not shown again:"


class NodeForm(forms.Form):
    slug = forms.SlugField(help_text="The node's name, for example gpu-1.")
    title = forms.CharField(required=False, max_length=200)
    tracks = forms.ModelMultipleChoiceField(Track.objects.all(), required=False, widget=forms.CheckboxSelectMultiple)
    stages = forms.MultipleChoiceField(
        choices=[(stage.value, stage.value) for stage in Stage],
        initial=[Stage.BOTH],
        widget=forms.CheckboxSelectMultiple,
    )


def _add(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    stages = [Stage(name) for name in said["stages"]]
    node, secret = enrol.add_node(request.user, said["slug"], said["tracks"], stages, said["title"])
    return [f"Node {node} is enrolled. {ONCE}", f"PODIUM_NODE_TOKEN={secret}"]


def _renew(request: HttpRequest, node: Node, _said: dict[str, Any]) -> Outcome:
    return [f"The old token has stopped working. {ONCE}", f"PODIUM_NODE_TOKEN={enrol.renew_token(request.user, node)}"]


def _disable(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    enrol.disable(request.user, node, said["reason"])
    return [f"{node} gets no more work."]


def _enable(request: HttpRequest, node: Node, _said: dict[str, Any]) -> Outcome:
    enrol.enable(request.user, node)
    return [f"{node} gets work again."]


def _make_tracks(request: HttpRequest, node: Node, _said: dict[str, Any]) -> Outcome:
    return [f"{node} serves {track}: {track.title}" for track in enrol.tracks_of(request.user, node)]


class GrantInline(admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable when Django runs
    model = NodeGrant
    extra = 0


@admin.register(Node)
class NodeAdmin(AuditedAdmin):
    list_display = ("slug", "title", "is_online", "last_seen_at", "disabled_reason", "obstacle")
    readonly_fields = (
        "slug", "disabled_reason", "obstacle", "capabilities", "protocol_version", "last_seen_at", "created_at",
    )  # fmt: skip
    fields = ("slug", "title", *readonly_fields[1:])
    inlines = (GrantInline,)
    list_acts = (
        Act("add", "Add a node", "It gets a token of its own, shown once.", _add, form=lambda _row: NodeForm),
    )  # fmt: skip
    acts = (
        Act(
            "tracks", "Make tracks from its hardware", "One per GPU model, else one for its CPU; it may serve them.",
            _make_tracks,
        ),
        Act(
            "disable", "Disable", "It gets no more work. It may finish its present work.", _disable,
            form=lambda _row: ReasonForm, offered=lambda node: not node.disabled_reason,
        ),
        Act("enable", "Enable", "It gets work again.", _enable, offered=lambda node: bool(node.disabled_reason)),
        Act("renew", "Renew token", "The old token stops working at once.", _renew),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the act above makes the token
        return False

    @admin.display(boolean=True)
    def is_online(self, node: Node) -> bool:
        return node.is_online


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "evaluation",
        "trial",
        "pmpp_run",
        "track",
        "stage",
        "state",
        "priority",
        "n_attempts",
        "n_given_back",
        "queued_at",
    )
    list_filter = ("state", "stage", "track")
    list_select_related = ("evaluation", "trial", "pmpp_run", "track")
    show_full_result_count = False


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = ("id", "job", "node", "number", "state", "work_stage", "leased_at", "ended_at", "fault")
    list_filter = ("state", "node")
    list_select_related = ("job", "node")
    exclude = ("token_digest",)
    show_full_result_count = False
