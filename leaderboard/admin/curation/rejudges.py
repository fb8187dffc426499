"""Rejudges in the admin: start one, watch it, see what would change, apply or drop it."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from leaderboard.actions.rejudging import measure_anew
from leaderboard.actions.rejudging.apply_rejudge import apply
from leaderboard.actions.rejudging.rejudge import RejudgeScope, drop, start
from leaderboard.admin import dashboard
from leaderboard.admin.base import Act, Outcome, OwnPageAdmin, ReasonForm
from leaderboard.admin.curation import effects
from leaderboard.admin.dashboard import Panel, PanelLine
from leaderboard.curation import rejudging, rounds
from leaderboard.errors import Refused
from leaderboard.models import Rejudge, RejudgeState, ReleaseTrack, Track
from leaderboard.models.curation.rejudge import Change
from leaderboard.models.curation.rejudge import RejudgeOutcome as ItemOutcome
from problems.models import Problem, Release, ReleaseState

MAX_TASK_IDS = 20_000
"""Characters of the form's list of problems."""


class WhyForm(forms.Form):
    reason = forms.CharField(
        max_length=2000, widget=forms.Textarea(attrs={"rows": 2}), help_text="For organisers: why it is judged again."
    )


class RejudgeReleaseForm(forms.Form):
    track = forms.ModelChoiceField(Track.objects.all(), required=False, empty_label="All tracks")
    task_ids = forms.CharField(
        required=False, max_length=MAX_TASK_IDS, label="Problems", widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Task ids, one a line; empty for all problems.",
    )  # fmt: skip
    counted_only = forms.BooleanField(required=False, label="Counted submissions only")
    reason = WhyForm.base_fields["reason"]


class RejudgeForm(RejudgeReleaseForm):
    release = forms.ModelChoiceField(Release.objects.exclude(state="draft"), required=False, empty_label="All releases")
    node = forms.SlugField(required=False, help_text="Only the results that this node made.")
    field_order = ("release", "track", "task_ids", "node", "counted_only", "reason")


def started(request: HttpRequest, scope: RejudgeScope, reason: str) -> HttpResponseBase:
    """Start it and go to its page."""
    made = start(request.user, scope, reason)
    return HttpResponseRedirect(reverse("admin:leaderboard_rejudge_change", args=[made.pk]))


def _problems(release: Release | None, text: str) -> list[Problem]:
    """The problems of these task ids. Raises Refused with the ids that the release lacks."""
    wanted = dict.fromkeys(text.split())
    if not wanted:
        return []
    if release is None:
        raise Refused("release_needed", "Task ids belong to a release: choose the release too.")
    found = list(release.problems.filter(task_id__in=wanted).only("release", "task_id"))
    if lacking := wanted.keys() - {one.task_id for one in found}:
        some = ", ".join(sorted(lacking)[:5])
        raise Refused("unknown_problem", f"{release.slug} has no problem {some}. Correct or remove the line.")
    return found


def _scope(release: Release | None, said: dict[str, Any]) -> RejudgeScope:
    problems = _problems(release, said["task_ids"])
    return RejudgeScope(release, said["track"], problems, said.get("node", ""), said["counted_only"])


def _start(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    return started(request, _scope(said["release"], said), said["reason"])


def _start_release(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    return started(request, _scope(release, said), said["reason"])


OF_RELEASE = Act(
    "rejudge", "Rejudge", "Its finished evaluations are judged again in shadow. Nothing changes until you apply it.",
    _start_release, form=lambda _row: RejudgeReleaseForm, offered=lambda release: not release.is_draft,
)  # fmt: skip
"""A button on a release."""


def _apply(request: HttpRequest, rejudge: Rejudge, said: dict[str, Any]) -> Outcome:
    done = apply(request.user, rejudge, said["reason"])
    return [f"{n:,} {ItemOutcome(name).label}." for name, n in sorted(done.items())]


def _drop(request: HttpRequest, rejudge: Rejudge, _said: dict[str, Any]) -> Outcome:
    drop(request.user, rejudge)
    return [f"Rejudge #{rejudge.pk} is dropped. Nothing has changed."]


def _offers_round(release: Release) -> bool:
    return release.state == ReleaseState.PUBLISHED and release.on_tracks.exists()


def _round_form(release: Release) -> type[forms.Form]:
    class RoundForm(WhyForm):
        track = forms.ModelChoiceField(Track.objects.filter(on_releases__release=release), empty_label=None)
        field_order = ("track", "reason")

    return RoundForm


def _start_round(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    place = ReleaseTrack.objects.select_related("release", "track").get(release=release, track=said["track"])
    made = measure_anew.start(request.user, place, said["reason"])
    return HttpResponseRedirect(reverse("admin:leaderboard_rejudge_change", args=[made.pk]))


ROUND_OF_RELEASE = Act(
    "measure-anew", "Measure the top anew",
    "One round per track, after closing: the passes near the top are measured a second time, and ranks use that time.",
    _start_round, form=_round_form, offered=_offers_round, effect=effects.of_measuring_anew,
)  # fmt: skip
"""A button on a release."""


def _pause(request: HttpRequest, rejudge: Rejudge, _said: dict[str, Any]) -> Outcome:
    return [f"{measure_anew.pause(request.user, rejudge):,} measurements are withdrawn. Resume the round at any time."]


def _resume(request: HttpRequest, rejudge: Rejudge, _said: dict[str, Any]) -> Outcome:
    return [f"{measure_anew.resume(request.user, rejudge):,} measurements are queued."]


def _may_resume(rejudge: Rejudge) -> bool:
    return rejudge.is_round and rejudge.state == RejudgeState.READY and rounds.lacking(rejudge).exists()


@admin.register(Rejudge)
class RejudgeAdmin(OwnPageAdmin):
    list_display = ("id", "state", "release", "track", "node", "n_evaluations", "reason", "started_by", "started_at")
    list_display_links = ("id", "state")
    list_filter = ("state", "is_round", "is_verification", "release", "track")
    list_select_related = ("release", "track", "started_by")
    list_acts = (
        Act(
            "start", "Start a rejudge",
            "The chosen evaluations are judged again in shadow, behind live work. Nothing changes until you apply it.",
            _start, form=lambda _row: RejudgeForm,
        ),
    )  # fmt: skip
    acts = (
        Act(
            "apply", "Apply",
            "The new results become current, and the boards are ranked again. Old results stay readable.", _apply,
            form=lambda _row: ReasonForm, offered=lambda one: one.state == RejudgeState.READY and not one.is_round,
            effect=effects.of_applying,
        ),
        Act(
            "drop", "Drop", "What still runs is cancelled. Nothing that counts changes.", _drop,
            offered=lambda one: one.is_open and not one.is_round, effect=effects.of_dropping,
        ),
        Act(
            "pause", "Pause", "What was measured stays and counts. The rest can be resumed.", _pause,
            offered=lambda one: one.is_round and one.state == RejudgeState.RUNNING, effect=effects.of_pausing,
        ),
        Act(
            "resume", "Resume", "What has no second measurement is queued again.", _resume,
            offered=_may_resume, effect=effects.of_resuming,
        ),
    )  # fmt: skip

    def page_of(self, request: HttpRequest, object_id: str) -> TemplateResponse:
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404(f"There is no rejudge {object_id}.")
        return TemplateResponse(request, "admin/podium/curation/rejudge.html", self._context(request, row))

    def _context(self, request: HttpRequest, rejudge: Rejudge) -> dict[str, Any]:
        kind = request.GET.get("change", "")
        kind = kind if kind in (Change.VERDICT, Change.TIME) else ""
        offered = [act for act in self.acts if act.offered(rejudge)] if self.may_act(request) else []
        every = Paginator(rejudging.changes(rejudge, kind), rejudging.PAGE_ROWS)
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": str(rejudge).capitalize(),
            "n_lacking": rounds.lacking(rejudge).count() if rejudge.is_round else 0,
            "rejudge": rejudge,
            "problems": rejudge.problems.values_list("task_id", flat=True)[:20],
            "totals": rejudging.totals(rejudge),
            "matrix": rejudging.matrix(rejudge),
            "entrants": rejudging.entrants(rejudge),
            "page": every.get_page(request.GET.get("page")),
            "kind": kind,
            "act_buttons": [(act.label, self._act_url(act, str(rejudge.pk))) for act in offered],
            "back_url": reverse("admin:leaderboard_rejudge_changelist"),
        }


@dashboard.register("leaderboard.view_rejudge")
def _ready() -> Panel:
    rows = Rejudge.objects.filter(state=RejudgeState.READY, is_verification=False, is_round=False)
    return Panel(
        "Rejudges to apply or drop",
        "All their evaluations are judged.",
        reverse("admin:leaderboard_rejudge_changelist", query={"state__exact": "ready", "is_round__exact": 0}),
        dashboard.bounded_count(rows),
        [
            PanelLine(str(one), reverse("admin:leaderboard_rejudge_change", args=[one.pk]), one.reason)
            for one in rows.order_by("-id")[: dashboard.SHOWN_LINES]
        ],
        "No rejudge waits.",
    )
