"""Releases in the admin: import, offer on tracks, verify on a node, publish, freeze, export; and errata on problems."""

import io
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import FileResponse, HttpRequest

from leaderboard.actions import curate
from leaderboard.actions.baselines import submit_baselines
from leaderboard.actions.carry import carry
from leaderboard.actions.decide import void_problem
from leaderboard.actions.tracks import offer
from leaderboard.actions.verify import verify
from leaderboard.admin.base import Act, AuditedAdmin, BoundedJSONField, Outcome, ReadOnlyAdmin, ReasonForm
from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.models import Decision, Entrant, Track
from leaderboard.models.decision import DecisionKind
from leaderboard.standings import rankable
from leaderboard.standings.scores import touch_release
from leaderboard.verification import missing_lines, traffic_lines, verification_report, verified_lines
from problems.models import PROMISES, RANKING_FIELDS, Problem, Release, ReleaseState
from problems.spec.ranking import offered_ks

EDITABLE = ("title", "description", "is_public", "invited", "opens_at", "closes_at", "hidden_until", "max_samples")
EDITABLE_DRAFT = ("slug", *EDITABLE, *RANKING_FIELDS, *PROMISES)


class ImportForm(forms.Form):
    pack = forms.FileField(help_text="A problem pack (.tar.gz): metadata.json and problems.jsonl.")
    slug = forms.SlugField(required=False, help_text="The release's address; made from its name when left empty.")


class TracksForm(forms.Form):
    tracks = forms.ModelMultipleChoiceField(Track.objects.all(), widget=forms.CheckboxSelectMultiple)


class PublishForm(forms.Form):
    unverified_reason = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Only where a problem is not verified: why it is published all the same. Its pages show it.",
    )


class ReleaseForm(forms.ModelForm[Release] if TYPE_CHECKING else forms.ModelForm):  # type: ignore[misc]
    """Its pass@k can be computed: a submission may have as many samples of a problem as the largest k."""

    def clean(self) -> dict[str, Any] | None:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        release = self.instance
        ks = offered_ks(said.get("ks", release.ks), said.get("primary_metric", release.primary_metric))
        if said.get("max_samples", max(ks)) < max(ks):
            self.add_error("max_samples", f"Its pass@{max(ks)} needs as many samples a problem.")
        return said


class CorrectionForm(forms.ModelForm[Release] if TYPE_CHECKING else forms.ModelForm):  # type: ignore[misc]
    """The ranking fields, as the model checks them."""

    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), help_text="Shown on the release's pages.")

    class Meta:
        model = Release
        fields = RANKING_FIELDS
        field_classes = {"ks": BoundedJSONField, "weights": BoundedJSONField}


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
    place = ImportTarget(said["entrant"], release, said["track"])
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
    verdict = "Verified: all is as it should be." if report.passed else "NOT verified: see the lines above."
    return [*report.lines, *verified_lines(release), *traffic_lines(release), *missing_lines(release), verdict]


def _submit_baselines(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    made = submit_baselines(request.user, release, said["track"])
    return [f"{one.entrant} is submission #{one.pk}." for one in made]


def _publish(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    curate.publish(request.user, release, said["unverified_reason"])
    verified = "every problem is verified" if not release.unverified_reason else "unverified, for the reason given"
    return [f"{release} is published: {verified}. Its problems never change again."]


def _correct(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    curate.correct_ranking(request.user, release, {name: said[name] for name in RANKING_FIELDS}, said["reason"])
    return [f"{release} is ranked by {release.primary_metric} from now on. Its pages show the reason."]


def _needs_correction(release: Release) -> bool:
    return not release.is_draft and bool(rankable.faults(release))


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


def _ranking_errors(release: Release) -> list[str]:
    """The stored errors of tracks that could not be ranked, without those that repeat a fault of the release."""
    places = release.on_tracks.exclude(ranking_error="").select_related("track")
    known = " ".join(rankable.faults(release))
    return [f"{place.track.slug}: {place.ranking_error}" for place in places if place.ranking_error != known]


def _is_offered(release: Release) -> bool:
    return release.on_tracks.exists()


@admin.register(Release)
class ReleaseAdmin(AuditedAdmin):
    form = ReleaseForm
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
            "submit-baselines", "Measure the baselines",
            "A node measures each problem's own solutions like any submission; the board shows them as baselines.",
            _submit_baselines, form=_offered_track,
            offered=lambda release: release.state == ReleaseState.PUBLISHED and _is_offered(release),
        ),
        Act(
            "publish", "Publish",
            "Refused until every problem is verified on some track. From then on problems, metric and timing policy"
            " never change.",
            _publish, form=lambda _row: PublishForm, offered=lambda release: release.state == ReleaseState.DRAFT,
        ),
        Act(
            "correct-ranking", "Correct the ranking", "The release cannot be ranked as it says.", _correct,
            form=lambda _row: CorrectionForm, offered=_needs_correction,
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

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """The page says what stands against ranking the release."""
        release = context["original"]
        for fault in rankable.faults(release) + _ranking_errors(release):
            messages.warning(request, fault)
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if set(form.changed_data) & set(RANKING_FIELDS):
            touch_release(obj)

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
