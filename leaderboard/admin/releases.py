"""Releases in the admin: import, offer on tracks, verify on a node, publish, freeze, export; and errata on problems."""

import io
from typing import Any

from django import forms
from django.contrib import admin
from django.http import FileResponse, HttpRequest

from leaderboard.actions import curate
from leaderboard.actions.carry import carry
from leaderboard.actions.decide import void_problem
from leaderboard.actions.import_results import Place, import_results
from leaderboard.actions.tracks import offer
from leaderboard.actions.verify import verification_report, verify
from leaderboard.admin.base import Act, AuditedAdmin, Outcome, ReadOnlyAdmin, ReasonForm
from leaderboard.models import Decision, Entrant, Track
from leaderboard.models.decision import DecisionKind
from problems.models import Problem, Release, ReleaseState

EDITABLE = ("title", "description", "is_public", "invited", "opens_at", "closes_at", "hidden_until")
EDITABLE_DRAFT = ("slug", *EDITABLE, "primary_metric", "timing_policy", "ks")


class ImportForm(forms.Form):
    pack = forms.FileField(help_text="A problem pack (.tar.gz): metadata.json and problems.jsonl.")
    slug = forms.SlugField(required=False, help_text="The release's address; made from its name when left empty.")


class TracksForm(forms.Form):
    tracks = forms.ModelMultipleChoiceField(Track.objects.all(), widget=forms.CheckboxSelectMultiple)


def _offered_track(release: Release) -> type[forms.Form]:
    offered = Track.objects.filter(on_releases__release=release)

    class TrackForm(forms.Form):
        track = forms.ModelChoiceField(offered, empty_label=None)

    return TrackForm


def _results_form(release: Release) -> type[forms.Form]:
    class ResultsForm(_offered_track(release)):  # type: ignore[misc]
        entrant = forms.ModelChoiceField(Entrant.objects.public(), empty_label=None)
        graded = forms.FileField(help_text="Graded rows of `podium evaluate` (whole or lean) or of ComputeEval.")

    return ResultsForm


def _import_results(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    place = Place(said["entrant"], release, said["track"])
    done = import_results(request.user, place, said["graded"].file, said["graded"].name)
    return [f"{done.n_stored} results stored as submission #{done.submission.pk}; {done.n_known} were here already."]


def _import(request: HttpRequest, _row: None, said: dict[str, Any]) -> Outcome:
    report = curate.import_release(request.user, said["pack"].file, said["slug"] or None)
    return [
        *report.lines,
        f"Release {report.release.slug} is a {report.release.state}. Next: offer it on a track, verify it.",
    ]


def _offer(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    for track in said["tracks"]:
        offer(request.user, release, track)
    return [f"{release} is offered on {track}." for track in said["tracks"]]


def _verify(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    """Asking again while a node works shows how far it is: the submissions are the same ones."""
    track: Track = said["track"]
    verify(request.user, release, track)
    report = verification_report(release, track)
    if report.pending:
        return [*report.lines, f"{report.pending} evaluations to come. Run this again to see how far it is."]
    return [
        *report.lines,
        "Verified: all is as it should be." if report.passed else "NOT verified: see the lines above.",
    ]


def _publish(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    lines = _standing_of_verification(release)
    curate.publish(request.user, release)
    return [*lines, f"{release} is published. Its problems never change again."]


def _standing_of_verification(release: Release) -> list[str]:
    places = release.on_tracks.select_related("track")
    found = {place.track.slug: verification_report(release, place.track).passed for place in places}
    return [f"On {slug}: {'verified' if passed else 'NOT verified'}." for slug, passed in found.items()]


def _freeze(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    curate.freeze(request.user, release)
    return [f"{release} is frozen. It takes no more submissions."]


def _carry(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    made = carry(request.user, release)
    return [f"#{one.pk} {one.entrant}: {one.get_state_display()}" for one in made] or [
        "No submission was counted before."
    ]


def _export(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    target = io.BytesIO()
    curate.export(request.user, release, target)
    target.seek(0)
    return FileResponse(target, as_attachment=True, filename=f"{release.datapack_release}-problems.tar.gz")


def _is_offered(release: Release) -> bool:
    return release.on_tracks.exists()


@admin.register(Release)
class ReleaseAdmin(AuditedAdmin):
    list_display = ("slug", "title", "state", "is_public", "revision", "created_at")
    list_filter = ("state", "is_public")
    search_fields = ("slug", "title", "datapack_release")
    filter_horizontal = ("invited",)
    list_acts = (
        Act(
            "import", "Import a pack", "The pack is checked whole; the same content again changes nothing.", _import,
            form=lambda _row: ImportForm,
        ),
    )  # fmt: skip
    acts = (
        Act(
            "offer", "Offer on tracks", "Which problems a track skips follows from its hardware.", _offer,
            form=lambda _row: TracksForm,
        ),
        Act(
            "verify", "Verify on a node",
            "A node runs the references, empty solutions and the known-bad ones; each must end as expected.", _verify,
            form=_offered_track, offered=_is_offered,
        ),
        Act(
            "import-results", "Import results",
            "Graded rows measured elsewhere, on the track's own hardware; shown as imported. Nothing is queued.",
            _import_results, form=_results_form,
            offered=lambda release: release.state == ReleaseState.PUBLISHED and _is_offered(release),
        ),
        Act(
            "publish", "Publish", "From then on problems, metric and timing policy never change.", _publish,
            offered=lambda release: release.state == ReleaseState.DRAFT,
        ),
        Act(
            "carry", "Carry results over", "Counted submissions of the last revision; results that hold are reused.",
            _carry, offered=lambda release: release.previous_id is not None and not release.is_draft,
        ),
        Act(
            "freeze", "Freeze", "It takes no more submissions, for good.", _freeze,
            offered=lambda release: release.state == ReleaseState.PUBLISHED,
        ),
        Act("export", "Export", "The pack holds held-out tests and references: keep it private.", _export),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - releases come from packs
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:  # noqa: ARG002
        editable = EDITABLE_DRAFT if obj is None or obj.is_draft else EDITABLE
        fields = [*self.opts.fields, *self.opts.many_to_many]
        return [field.name for field in fields if field.name not in editable and field.name != "id"]


def _void(request: HttpRequest, problem: Problem, said: dict[str, Any]) -> Outcome:
    void_problem(request.user, problem, said["reason"])
    return [f"{problem} is void: it leaves every denominator of {problem.release} at once."]


def _is_not_void(problem: Problem) -> bool:
    return not Decision.objects.filter(problem=problem, kind=DecisionKind.PROBLEM_VOIDED).exists()


@admin.register(Problem)
class ProblemAdmin(ReadOnlyAdmin):
    list_display = ("task_id", "title", "release", "group", "kind", "difficulty", "has_baseline")
    list_filter = ("release", "group")
    search_fields = ("task_id", "title")
    list_select_related = ("release",)
    exclude = ("record",)
    acts = (
        Act(
            "void", "Void (erratum)", "A faulty problem leaves every score of its release, with a public note.", _void,
            form=lambda _row: ReasonForm, offered=_is_not_void,
        ),
    )  # fmt: skip
