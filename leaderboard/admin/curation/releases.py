"""Releases in the admin: import, offer on tracks, verify on a node, publish, freeze, export."""

import io
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse

from leaderboard.actions.curation import curate
from leaderboard.actions.curation.adopt_rules import adopt_rules, may_adopt
from leaderboard.actions.curation.audit import audit
from leaderboard.actions.curation.baselines import submit_baselines
from leaderboard.actions.curation.carry import carry
from leaderboard.actions.curation.front_page import put_on_front_page, take_off_front_page
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.admin.audited import AuditedAdmin
from leaderboard.admin.base import Act, BoundedJSONField, Outcome, ReasonForm
from leaderboard.admin.curation import effects, release_page
from leaderboard.admin.curation.rejudges import OF_RELEASE, ROUND_OF_RELEASE
from leaderboard.admin.curation.revisions import ANSWER, DELETE
from leaderboard.admin.dashboard import unverified_releases
from leaderboard.admin.drafts import new_page, weights_page
from leaderboard.admin.drafts.urls import DraftPages
from leaderboard.admin.entrants.usernames import UsernamesField
from leaderboard.imports.import_results import ImportTarget, import_results
from leaderboard.models import Entrant, Track
from leaderboard.standings import rankable
from leaderboard.standings.scores import touch_release
from problems.actions.drafts import HEAD_FIELDS, rewrite
from problems.actions.releases import cases_of
from problems.models import PROMISES, RANKING_FIELDS, Release, ReleaseState
from problems.sealing import why_too_early
from problems.spec.ranking import offered_ks
from problems.spec.site.release import why_bad_case_weights, why_bad_weights

EDITABLE = (
    "title", "description", "is_public", "results_are_public", "invited", "invited_may_read", "licence", "authors",
    "dataset_card", "shows_first_failure", "transcripts_are_public", "opens_at", "closes_at", "hidden_until",
    "reveals_at", "max_samples",
)  # fmt: skip
EDITABLE_DRAFT = ("slug", *EDITABLE, "question_policy", "question_samples", *RANKING_FIELDS, *PROMISES)


FACTS = (
    "datapack_release", "revision", "previous", "digest", "profile", "unverified_reason", "created_at", "published_at",
    "frozen_at", "pack_metadata",
)  # fmt: skip


class TracksForm(forms.Form):
    tracks = forms.ModelMultipleChoiceField(Track.objects.all(), widget=forms.CheckboxSelectMultiple)


class PublishForm(forms.Form):
    unverified_reason = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Only where a problem is not verified: why it is published all the same. Its pages show it.",
    )


class ReleaseForm(forms.ModelForm[Release] if TYPE_CHECKING else forms.ModelForm):  # type: ignore[misc]
    """Its pass@k can be computed, by as many samples of a problem as the largest k, and it closes after it opens."""

    invited = UsernamesField("Who may see it while it is private.")

    def clean_weights(self) -> Any:
        weights = self.cleaned_data["weights"]
        groups = set(self.instance.problems.values_list("group", flat=True))
        if isinstance(weights, dict) and (reason := why_bad_weights(weights, groups)):
            raise forms.ValidationError(f"It {reason}.")
        return weights

    def clean_case_weights(self) -> Any:
        weights = self.cleaned_data["case_weights"] or {}
        if isinstance(weights, dict) and (reason := why_bad_case_weights(weights, cases_of(self.instance))):
            raise forms.ValidationError(f"It {reason}.")
        return weights

    def clean(self) -> dict[str, Any] | None:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        release = self.instance
        ks = offered_ks(said.get("ks", release.ks), said.get("primary_metric", release.primary_metric))
        if said.get("max_samples", max(ks)) < max(ks):
            self.add_error("max_samples", f"Its pass@{max(ks)} needs as many samples a problem.")
        if not release.is_draft and "reveals_at" in self.changed_data:
            self._check_reveals(said.get("reveals_at"))
        opens, closes = said.get("opens_at"), said.get("closes_at")
        if opens and closes and closes <= opens:
            words = f"It opens at {opens:%Y-%m-%d %H:%M} UTC and must close later. Correct one of the two dates."
            self.add_error("closes_at", words)
        return said

    def _check_reveals(self, asked: Any) -> None:
        """Answers that were told stay told, and a published release says when it tells the rest."""
        if not self.instance.questions_are_sealed:
            self.add_error("reveals_at", "Nothing of it is sealed any more, so it cannot be changed.")
        elif asked is None:
            self.add_error("reveals_at", "Its questions are sealed. Say when what rests on them is shown.")
        elif words := why_too_early(self.instance, asked):
            self.add_error("reveals_at", words)


class CorrectionForm(forms.ModelForm[Release] if TYPE_CHECKING else forms.ModelForm):  # type: ignore[misc]
    """The ranking fields, as the model checks them."""

    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), help_text="Shown on the release's pages.")

    class Meta:
        model = Release
        fields = RANKING_FIELDS
        field_classes = dict.fromkeys(("ks", "weights", "case_weights"), BoundedJSONField)

    def clean_case_weights(self) -> Any:
        return self.cleaned_data["case_weights"] or {}


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


def _offer(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    for track in said["tracks"]:
        offer(request.user, release, track)
    return [f"{release} is offered on {track}." for track in said["tracks"]]


def _verify(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    """Queue the checks; the release's page then shows how far they are. Asking again changes nothing."""
    verify(request.user, release, said["track"])
    return HttpResponseRedirect(reverse("admin:problems_release_change", args=[release.pk]) + "#verification")


def _audit(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    """Queue the audit, whose page then shows how far it is."""
    audit(request.user, release, said["track"])
    return HttpResponseRedirect(reverse("audit", args=[release.slug]))


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


def _adopt_rules(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    adopt_rules(request.user, release, said["reason"])
    return [f"{release} is ranked by rules {release.rules} from now on. Its pages show the reason."]


def _put_on_front_page(request: HttpRequest, release: Release, said: dict[str, Any]) -> Outcome:
    put_on_front_page(request.user, release, said["track"])
    return [f"The front page leads with {release} on {said['track']}, wherever a visitor may see results of it."]


def _take_off_front_page(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    take_off_front_page(request.user, release)
    return ["The front page leads with the largest GPU board that has results."]


def _reveal(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    curate.reveal(request.user, release)
    return [f"The results of {release} are shown from now on."]


def _freeze(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    made = curate.freeze(request.user, release)
    lines = [f"{one.track.slug}: snapshot of the board, sha256 {one.sha256}, {one.size_bytes:,} bytes" for one in made]
    return [f"{release} is frozen. It takes no more submissions.", *lines]


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


def _export_redacted(request: HttpRequest, release: Release, _said: dict[str, Any]) -> Outcome:
    target = io.BytesIO()
    curate.export_redacted(request.user, release, target)
    target.seek(0)
    return FileResponse(target, as_attachment=True, filename=f"{release.datapack_release}-public.jsonl")


def _ranking_errors(release: Release) -> list[str]:
    """The stored errors of tracks that could not be ranked, without those that repeat a fault of the release."""
    places = release.on_tracks.exclude(ranking_error="").select_related("track")
    known = " ".join(rankable.faults(release))
    return [f"{place.track.slug}: {place.ranking_error}" for place in places if place.ranking_error != known]


def _is_offered(release: Release) -> bool:
    return release.on_tracks.exists()


class VerifiedFilter(admin.SimpleListFilter):
    title = "verified"
    parameter_name = "verified"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "Not verified")]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[Release]) -> QuerySet[Release]:
        if self.value() != "no":
            return queryset
        return queryset.filter(pk__in=[one.release.pk for one in unverified_releases()])


@admin.register(Release)
class ReleaseAdmin(DraftPages, AuditedAdmin):
    form = ReleaseForm
    change_form_template = "admin/podium/curation/release.html"
    list_display = ("slug", "title", "state", "is_public", "revision", "created_at", "page")
    list_filter = ("state", "is_public", VerifiedFilter)
    search_fields = ("slug", "title", "datapack_release")
    fieldsets = (
        (None, {"fields": ("title", "slug", "state", "description", "licence", "authors", "dataset_card")}),
        (
            "Who may see it",
            {
                "fields": (
                    "is_public",
                    "results_are_public",
                    "invited",
                    "invited_may_read",
                    "shows_first_failure",
                    "transcripts_are_public",
                )
            },
        ),
        ("Dates (UTC)", {"fields": ("opens_at", "closes_at", "hidden_until")}),
        ("Questions", {"fields": ("question_policy", "reveals_at", "question_samples")}),
        ("Ranking", {"fields": (*RANKING_FIELDS, "rules", "max_samples", "correction")}),
        ("Promises", {"fields": PROMISES}),
        ("Facts", {"classes": ("collapse",), "fields": FACTS}),
    )
    list_acts = (
        Act(
            "new-draft", "New draft", "An empty release of profile podium/1. Its problems are made on the site.",
            new_page.new_draft, form=lambda _row: new_page.NewDraftForm,
        ),
        Act("import", "Import a pack", "A report comes first.", new_page.has_own_page),
        Act("pack", "Pack a folder", "Of function problems, or a PMPP checkout.", new_page.has_own_page),
    )  # fmt: skip
    acts = (
        Act(
            "problems", "Edit its problems", "They are made and edited while the release is a draft.",
            new_page.has_own_page, offered=lambda release: release.is_draft,
        ),
        Act(
            "import", "Import a pack into it", "A report comes first.", new_page.has_own_page,
            offered=lambda release: release.is_draft,
        ),
        Act(
            "weights", "Calibrate its weights", "From pass rates of submissions.", new_page.has_own_page,
            offered=weights_page.has_coding_problems,
        ),
        Act(
            "next-revision", "Start the next revision",
            "A draft with the same problems. This release stays as it is; results that still hold can be carried over.",
            new_page.next_revision, offered=lambda release: not release.is_draft, effect=effects.of_next_revision,
        ),
        Act(
            "difference", "Compare with the last revision", "Problem by problem, side by side.",
            new_page.has_own_page, offered=lambda release: release.previous_id is not None,
        ),
        Act(
            "offer", "Offer on tracks", "Which problems a track skips follows from its hardware.", _offer,
            form=lambda _row: TracksForm,
        ),
        Act(
            "verify", "Verify on a node",
            "A node runs the references, empty solutions and the known-bad ones; each must end as expected.", _verify,
            form=_offered_track, offered=_is_offered, effect=effects.of_verifying,
        ),
        Act(
            "audit", "Audit", "A node judges answers that do no work. Drafts are audited when they are verified.",
            _audit, form=_offered_track, offered=lambda release: not release.is_draft and _is_offered(release),
            effect=effects.of_auditing,
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
            effect=effects.of_measuring_baselines,
        ),
        ANSWER,
        Act(
            "publish", "Publish",
            "Refused until every problem is verified on some track. From then on problems, metric and timing policy"
            " never change.",
            _publish, form=lambda _row: PublishForm, offered=lambda release: release.state == ReleaseState.DRAFT,
            effect=effects.of_publishing,
        ),
        Act(
            "front-page", "Put a board on the front page", "In place of the one that the site chooses.",
            _put_on_front_page, form=_offered_track,
            offered=lambda release: not release.is_draft and _is_offered(release), effect=effects.of_front_page,
        ),
        Act(
            "off-front-page", "Take its board off the front page", "The site then chooses one again.",
            _take_off_front_page, offered=lambda release: release.on_tracks.filter(on_front_page=True).exists(),
            effect=effects.of_leaving_front_page,
        ),
        Act(
            "reveal", "Reveal the results", "Results that were hidden are shown from now on.", _reveal,
            offered=lambda release: not release.is_draft and release.results_are_hidden, effect=effects.of_revealing,
        ),
        Act(
            "correct-ranking", "Correct the ranking", "The release cannot be ranked as it says.", _correct,
            form=lambda _row: CorrectionForm, offered=_needs_correction, effect=effects.of_correcting,
            edits=RANKING_FIELDS,
        ),
        Act(
            "adopt-rules", "Move to the newest rules",
            "How scores, intervals and ranks are computed. It cannot go back.",
            _adopt_rules, form=lambda _row: ReasonForm, offered=may_adopt, effect=effects.of_adopting_rules,
        ),
        Act(
            "carry", "Carry results over", "Counted submissions of the last revision; results that hold are reused.",
            _carry, offered=lambda release: release.previous_id is not None and not release.is_draft,
            effect=effects.of_carrying,
        ),
        Act(
            "freeze", "Freeze", "It takes no more submissions, for good.", _freeze,
            offered=lambda release: release.state == ReleaseState.PUBLISHED, effect=effects.of_freezing,
        ),
        ROUND_OF_RELEASE,
        OF_RELEASE,
        DELETE,
        Act(
            "export", "Export", "The pack holds held-out tests and references: keep it private.", _export,
            effect=effects.nothing,
        ),
        Act(
            "export-redacted", "Export for the public",
            "JSON lines of what participants may read: no held-out files, references or answers, and no problem marked"
            " do_not_release.",
            _export_redacted, effect=effects.nothing,
        ),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - releases come from packs
        return False

    def get_urls(self) -> list[URLPattern]:
        verification = self.admin_site.admin_view(self._verification)
        name = "problems_release_verification"
        return [path("<int:pk>/verification/", verification, name=name), *super().get_urls()]

    def _verification(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return release_page.verification(request, get_object_or_404(Release, pk=pk))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """The page begins with the checklist, and says what stood against the last ranking."""
        release = context["original"]
        for fault in _ranking_errors(release):
            messages.warning(request, fault)
        acts = [act.name for act in self.acts if act.offered(release)] if self.may_act(request) else []
        return super().render_change_form(request, context | release_page.page_context(release, acts), *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """A draft's export says what its page says."""
        super().save_model(request, obj, form, change)
        if set(form.changed_data) & {*RANKING_FIELDS, "reveals_at"}:
            touch_release(obj)
        if obj.is_draft and set(form.changed_data) & set(HEAD_FIELDS):
            rewrite(obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:  # noqa: ARG002
        editable = EDITABLE_DRAFT if obj is None or obj.is_draft else EDITABLE
        fields = [*self.opts.fields, *self.opts.many_to_many]
        return [field.name for field in fields if field.name not in editable and field.name != "id"]
