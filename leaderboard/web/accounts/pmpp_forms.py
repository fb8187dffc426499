"""The form for a token of PMPP's routes."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

from leaderboard.actions.intake.pmpp_runs import NewToken
from leaderboard.models import Entrant, ReleaseTrack
from leaderboard.web.accounts.account_forms import EXPIRY_DAYS
from problems.models import Release, ReleaseState

MAX_DAILY_RUNS = 50_000


class PmppTokenForm(forms.Form):
    """Offers the user's entrants and the published releases that the user may see, each on its tracks."""

    name = forms.CharField(max_length=100, help_text="What it is for, as “training run 7”.")
    entrant = forms.ModelChoiceField(Entrant.objects.none(), empty_label=None)
    place = forms.ModelChoiceField(ReleaseTrack.objects.none(), empty_label=None, label="Release and track")
    daily_runs = forms.IntegerField(
        min_value=1, max_value=MAX_DAILY_RUNS, initial=5000, label="Runs a day",
        help_text="The most new runs of this token per day (UTC). They also count for your account's quota.",
    )  # fmt: skip
    days = forms.TypedChoiceField(choices=EXPIRY_DAYS, coerce=int, initial=30, label="Expires after")

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"label_suffix": ""}))
        releases = Release.objects.readable_by(user).exclude(state=ReleaseState.DRAFT)
        places = ReleaseTrack.objects.filter(release__in=releases).select_related("release", "track")
        self.fields["entrant"].queryset = Entrant.objects.submittable_by(user)  # type: ignore[attr-defined]
        self.fields["place"].queryset = places.order_by("-release_id", "track__slug")  # type: ignore[attr-defined]

    @property
    def asked(self) -> NewToken:
        said = self.cleaned_data
        return NewToken(
            entrant=said["entrant"],
            release=said["place"].release,
            track=said["place"].track,
            name=said["name"],
            daily_runs=said["daily_runs"],
            expires_at=timezone.now() + timedelta(days=said["days"]),
        )
