"""Nodes in the admin: enrol, grant, make tracks, take out of service and back, revoke; jobs and attempts."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.actions.rejudging.rejudge import RejudgeScope
from leaderboard.admin.audited import AuditedAdmin
from leaderboard.admin.base import Act, NoFields, Outcome, ReadOnlyAdmin, ReasonForm, admin_link
from leaderboard.admin.curation.effects import of_voiding_node
from leaderboard.admin.curation.rejudges import started
from leaderboard.errors import Refused
from leaderboard.models import Track
from problems.models import Release
from problems.spec.numbered import numbered
from runners.fleet import dashboard, first_run
from runners.fleet.models import Attempt, AttemptState, Job, Node, NodeGrant, Service
from runners.fleet.nodes import enrol, join_admin, service
from runners.fleet.nodes.start_lines import notes, start_lines
from runners.wire.protocol import Stage

ID_DIGITS = 19
__all__ = ["join_admin"]
first_run.register()
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
    words = f"Node {node} is enrolled. Start its agent so; the token is not shown again:"
    return [words, *start_lines(node.slug, secret), *notes()]


def _renew(request: HttpRequest, node: Node, _said: dict[str, Any]) -> Outcome:
    secret = service.renew_token(request.user, node)
    return [f"The old token has stopped working. {ONCE}", f"PODIUM_NODE_TOKEN={secret}"]


class MaintenanceForm(ReasonForm):
    back_at = forms.DateTimeField(
        required=False,
        label="Back at (UTC)",
        help_text="When it is expected back, as 2026-12-01 14:00. Shown publicly.",
    )


class VoidForm(ReasonForm):
    since = forms.DateTimeField(
        required=False, label="Since (UTC)", help_text="Results recorded from then on. Empty: from the first one."
    )
    until = forms.DateTimeField(required=False, label="Until (UTC)", help_text="Empty: to the last one.")


class RejudgeNodeForm(forms.Form):
    release = forms.ModelChoiceField(Release.objects.exclude(state="draft"), required=False, empty_label="All releases")
    counted_only = forms.BooleanField(required=False, label="Counted submissions only")
    reason = forms.CharField(max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


def _disable(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    service.disable(request.user, node, said["reason"])
    return [f"{node} gets no more work."]


def _drain(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    service.drain(request.user, node, said["reason"])
    return [f"{node} finishes its work and gets no more. Its page shows what it still runs."]


def _maintain(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    service.maintain(request.user, node, said["reason"], said["back_at"])
    return [f"{node} is in maintenance. Enable it when it is back."]


def _enable(request: HttpRequest, node: Node, _said: dict[str, Any]) -> Outcome:
    service.enable(request.user, node)
    return [f"{node} gets work again."]


def _revoke(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    service.revoke(request.user, node, said["reason"])
    return [f"{node} is revoked: its token has stopped working, and its jobs are queued again. Its results stay."]


def _void(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    voiding = service.revoke_and_void(request.user, node, said["reason"], said["since"], said["until"])
    rest = "" if voiding.done_at else " The site's worker voids the others within minutes."
    return [f"{node} is revoked. {voiding.n_results:,} results are void and their samples queued again.{rest}"]


def _rejudge(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    return started(
        request, RejudgeScope(said["release"], node=node.slug, counted_only=said["counted_only"]), said["reason"]
    )


def _tracks_form(node: Node) -> type[forms.Form]:
    """A choice of the tracks that the node's hardware could serve; empty if it has not reported any."""
    try:
        drafts = enrol.track_drafts(node)
    except Refused:
        return NoFields
    known = set(Track.objects.filter(slug__in=[one.slug for one in drafts]).values_list("slug", flat=True))
    choices = [(one.slug, f"{one.title}: {one.slug}{' (exists)' if one.slug in known else ''}") for one in drafts]

    class TracksForm(forms.Form):
        tracks = forms.MultipleChoiceField(
            choices=choices,
            initial=[one.slug for one in drafts if one.fields["device"] == drafts[0].fields["device"]],
            widget=forms.CheckboxSelectMultiple,
            help_text="Those that do not exist are made. The node may serve every one that is ticked.",
        )

    return TracksForm


def _make_tracks(request: HttpRequest, node: Node, said: dict[str, Any]) -> Outcome:
    drafts = [one for one in enrol.track_drafts(node) if one.slug in said.get("tracks", ())]
    return [f"{node} serves {track}: {track.title}" for track in enrol.make_tracks(request.user, node, drafts)]


def _in_service(node: Node) -> bool:
    return node.service == Service.IN_SERVICE


def _not_revoked(node: Node) -> bool:
    return node.service not in (Service.RETIRED, Service.REVOKED)


class GrantInline(admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable when Django runs
    model = NodeGrant
    extra = 0


class HealthFilter(admin.SimpleListFilter):
    title = "health"
    parameter_name = "health"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("ill", "Ill")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Node]) -> QuerySet[Node]:
        return queryset.filter(pk__in=dashboard.ill_nodes().values("pk")) if self.value() == "ill" else queryset


def _work_under_way(_request: HttpRequest, node: Node) -> list[str]:
    n = Attempt.objects.filter(node=node, state=AttemptState.LEASED).count()
    tracks = Track.objects.filter(grants__node=node).distinct()
    alone = [one.slug for one in tracks if not one.grants.exclude(node=node).filter(node__disabled_reason="").exists()]
    lines = [f"{numbered(n, 'evaluation', 'runs')} on it now."]
    return [*lines, f"No other node in service serves {', '.join(alone)}: work there waits."] if alone else lines


@admin.register(Node)
class NodeAdmin(AuditedAdmin):
    list_display = ("slug", "title", "is_online", "last_seen_at", "service", "disabled_reason", "obstacle", "page")
    list_filter = (HealthFilter, "service", "grants__track")
    search_fields = ("slug", "title", "disabled_reason", "obstacle")
    readonly_fields = (
        "slug", "service", "disabled_reason", "back_at", "obstacle", "capabilities", "protocol_version",
        "last_seen_at", "created_at",
    )  # fmt: skip
    fields = ("slug", "title", *readonly_fields[1:])
    inlines = (GrantInline,)
    list_acts = (
        Act("add", "Add a node", "It gets a token of its own, shown once.", _add, form=lambda _row: NodeForm),
    )  # fmt: skip
    acts = (
        Act(
            "tracks", "Make a track of what it can do",
            "A track for each GPU model and for its CPU, by its last hello.", _make_tracks,
            form=_tracks_form, offered=_not_revoked,
        ),
        Act(
            "drain", "Drain", "It finishes its present work and gets no more.", _drain, form=lambda _row: ReasonForm,
            offered=_in_service, effect=_work_under_way,
        ),
        Act(
            "maintain", "Maintenance", "It gets no more work until you enable it.", _maintain,
            form=lambda _row: MaintenanceForm, offered=_not_revoked, effect=_work_under_way,
        ),
        Act(
            "disable", "Disable", "It gets no more work. It may finish its present work.", _disable,
            form=lambda _row: ReasonForm, offered=lambda node: node.service != Service.DISABLED and _not_revoked(node),
            effect=_work_under_way,
        ),
        Act(
            "enable", "Enable", "It gets work again.", _enable,
            offered=lambda node: bool(node.disabled_reason) and _not_revoked(node),
        ),
        Act("renew", "Renew token", "The old token stops working at once.", _renew, offered=_not_revoked),
        Act(
            "rejudge", "Rejudge its results",
            "What it judged is judged again in shadow. Nothing changes until you apply it.", _rejudge,
            form=lambda _row: RejudgeNodeForm,
        ),
        Act(
            "revoke", "Revoke",
            "Its token stops working for good, and its jobs go back to the queue. Its results stay.", _revoke,
            form=lambda _row: ReasonForm, offered=_not_revoked, effect=_work_under_way,
        ),
        Act(
            "void", "Revoke and void its results",
            "Its token stops working for good. Its results stop counting and stay readable; their samples run again.",
            _void, form=lambda _row: VoidForm, effect=of_voiding_node,
        ),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the act above makes the token
        return False

    @admin.display(boolean=True, description="online")
    def is_online(self, node: Node) -> bool:
        return node.is_online


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "work",
        "track",
        "stage",
        "state",
        "priority",
        "n_attempts",
        "n_given_back",
        "n_unbegun",
        "queued_at",
    )
    list_filter = ("state", "stage", "track")
    list_select_related = ("evaluation", "trial", "pmpp_run", "track")
    search_fields = ("=evaluation__id",)
    search_help_text = "By an evaluation's number."

    @admin.display(description="for")
    def work(self, job: Job) -> str:
        return admin_link(job.evaluation) if job.evaluation_id else str(job.trial or job.pmpp_run)

    def get_search_results(
        self, _request: HttpRequest, queryset: QuerySet[Job], search_term: str
    ) -> tuple[QuerySet[Job], bool]:
        words = search_term.strip()
        if not words:
            return queryset, False
        fits = words.isdecimal() and len(words) < ID_DIGITS
        return (queryset.filter(evaluation=int(words)) if fits else queryset.none()), False


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "job_link", "node_link", "number", "state", "work_stage", "leased_at", "ended_at", "fault",
    )  # fmt: skip
    list_filter = ("state", "node")
    list_select_related = ("job", "node")
    search_fields = ("fault", "node__slug")
    exclude = ("token_digest",)

    @admin.display(description="job")
    def job_link(self, attempt: Attempt) -> str:
        return admin_link(attempt.job)

    @admin.display(description="node", ordering="node__slug")
    def node_link(self, attempt: Attempt) -> str:
        return admin_link(attempt.node)
