"""Join tokens in the admin: make one, and revoke one with its nodes."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, ReasonForm
from leaderboard.models import Track
from problems.spec.numbered import numbered
from runners.fleet.models import Attempt, AttemptState, JoinToken
from runners.fleet.nodes import joining
from runners.wire.protocol import Stage


class JoinTokenForm(forms.Form):
    name = forms.SlugField(max_length=60, help_text="Results of its nodes show it, for example slurm-cluster.")
    tracks = forms.ModelMultipleChoiceField(Track.objects.all(), widget=forms.CheckboxSelectMultiple)
    stages = forms.MultipleChoiceField(
        choices=[(stage.value, stage.value) for stage in Stage],
        initial=[Stage.BOTH],
        widget=forms.CheckboxSelectMultiple,
    )
    most_nodes = forms.IntegerField(min_value=1, max_value=joining.MOST_NODES, initial=10, label="Most nodes at once")
    expires_at = forms.DateTimeField(label="Ends at (UTC)", help_text="Within 30 days.")
    judged_again = forms.FloatField(
        min_value=0, max_value=1, initial=0.02, label="Share judged again", help_text="By another node: 0.02 for 2 %."
    )


class RevokeForm(ReasonForm):
    voids = forms.BooleanField(required=False, label="Void the results of its nodes, too")


def _make(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    token, secret = joining.make_token(request.user, **{**said, "tracks": list(said["tracks"])})
    return [f"Join token {token}. Start a node so; the token is not shown again:", f"podium node --join {secret}"]


def _revoke(request: HttpRequest, token: JoinToken, said: dict[str, Any]) -> Outcome:
    n = joining.revoke_token(request.user, token, said["reason"], voids=said["voids"])
    return [f"{token} is revoked, with {numbered(n, 'node')}. What ran there is queued again."]


def _its_nodes(_request: HttpRequest, token: JoinToken) -> list[str]:
    n_jobs = Attempt.objects.filter(node__joined_by=token, state=AttemptState.LEASED).count()
    nodes = numbered(joining.in_service(token).count(), "node")
    return [f"{nodes} of it in service, at work on {numbered(n_jobs, 'evaluation')}."]


@admin.register(JoinToken)
class JoinTokenAdmin(ReadOnlyAdmin):
    list_display = ("name", "most_nodes", "judged_again", "expires_at", "revoked_at", "created_at")
    search_fields = ("name",)
    exclude = ("token_digest",)
    list_acts = (
        Act("add", "Make a join token", "Machines become nodes with it.", _make, form=lambda _row: JoinTokenForm),
    )  # fmt: skip
    acts = (
        Act(
            "revoke", "Revoke", "It makes no more nodes, and those that it made are revoked.", _revoke,
            form=lambda _row: RevokeForm, effect=_its_nodes,
        ),
    )  # fmt: skip
