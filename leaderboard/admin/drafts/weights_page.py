"""Calibrates a draft's weights: submissions and ε are chosen, the weights shown beside today's, then stored."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from leaderboard.actions.problems import calibrate
from leaderboard.admin.base import ActingAdmin
from leaderboard.admin.drafts.pages import draft_or_404, page
from leaderboard.curation.calibration import MOST_SOURCES, CalibrationBases, CannotCalibrate, Pair, WeightCalibration
from leaderboard.errors import Refused
from leaderboard.site.stale_forms import OPENED, hidden_input
from problems.actions.releases import ReleaseRefused
from problems.models import Release
from problems.spec.kinds import NODE_KINDS
from scoring.weights import EPSILON


class CalibrationForm(forms.Form):
    sources = forms.MultipleChoiceField(
        label="Submissions", widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose the submissions to calibrate with."},
    )  # fmt: skip
    epsilon = forms.FloatField(
        label="ε", min_value=0, max_value=1000, initial=EPSILON,
        help_text="Added to each group's share of failures, so that a group that every sample passes still counts.",
    )  # fmt: skip

    def __init__(self, *args: Any, ground: CalibrationBases, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: Any = self.fields["sources"]
        choices.choices = [(one.key, one.name) for one in ground.sources]

    @property
    def chosen(self) -> set[str]:
        """The keys that are ticked, whatever else is wrong."""
        return set(self["sources"].value() or ())

    @property
    def pairs(self) -> set[Pair]:
        said = (one.partition("-") for one in self.cleaned_data["sources"])
        return {(int(submission), int(track)) for submission, _, track in said}


def has_coding_problems(release: Release) -> bool:
    return release.is_draft and release.problems.filter(kind__in=NODE_KINDS).exists()


def weights(admin: ActingAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """GET offers submissions. POST shows the weights; POST of `store` stores what was shown."""
    release = draft_or_404(pk)
    ground = CalibrationBases(release)
    if request.method != "POST":
        return _page(admin, request, ground, CalibrationForm(ground=ground))
    form = CalibrationForm(request.POST, ground=ground)
    if not form.is_valid():
        return _page(admin, request, ground, form, status=422)
    faults: Sequence[str] = ()
    try:
        if "store" in request.POST and _stored(request, release, form):
            return redirect("admin:problems_release_change", release.pk)
    except (Refused, ReleaseRefused) as refused:
        faults = (str(refused),)
    try:
        found = ground.calibrated(form.pairs, form.cleaned_data["epsilon"])
        return _page(admin, request, ground, form, found, faults, 422 if faults else 200)
    except CannotCalibrate as error:
        return _page(admin, request, ground, form, None, [str(error)], 422)


def _stored(request: HttpRequest, release: Release, form: CalibrationForm) -> WeightCalibration:
    token = request.POST.get(OPENED, "")
    done = calibrate.calibrate(request.user, release, form.pairs, form.cleaned_data["epsilon"], token)
    messages.success(request, f"{release} has the calibrated weights of {len(done.groups)} groups.")
    return done


def _page(
    admin: ActingAdmin, request: HttpRequest, ground: CalibrationBases, form: CalibrationForm,
    found: WeightCalibration | None = None, faults: Sequence[str] = (), status: int = 200,
) -> HttpResponse:  # fmt: skip
    release = ground.release
    return page(
        admin, request, "weights", f"Weights of {release}", status,
        release=release, form=form, sources=ground.sources, is_cut=len(ground.sources) == MOST_SOURCES,
        most=MOST_SOURCES, found=found, faults=faults,
        opened=hidden_input(calibrate.token_of(found)) if found else "",
    )  # fmt: skip
