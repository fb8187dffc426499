"""The forms of a person's own things: entrants, teams, transfers, API tokens, the account itself."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from leaderboard.actions.entrants.create_entrant import create_entrant
from leaderboard.entrants.entrant_rules import kinds_for, why_bad_name, why_unprintable
from leaderboard.entrants.name_records import why_refused
from leaderboard.models import Entrant, NameKind, Team
from leaderboard.models.accounts.token import Scope
from leaderboard.models.entrants.ownership import REASON_CHARACTERS
from leaderboard.models.entrants.team import MANAGING, TeamRole
from leaderboard.site.stale_forms import GuardedForm

PUBLISHED = "Everybody may then read its solutions, past ones included, with the prompts and replies in their records."
ROLE_WORDS = (
    "Owners manage the team and its entrants. Members submit for them. Readers see their submissions, code and logs."
)
EXPIRY_DAYS = ((30, "30 days"), (90, "90 days"), (365, "a year"))


class EntrantForm(GuardedForm, forms.ModelForm):  # type: ignore[type-arg]
    """An organiser may also make baselines; system entrants are the site's own."""

    url = forms.URLField(label="Home page", required=False, assume_scheme="https")

    class Meta:
        model = Entrant
        fields: ClassVar = ["name", "kind", "organisation", "url", "description", "open_weights", "publishes_code"]
        labels: ClassVar = {"publishes_code": "Publish solutions"}
        widgets: ClassVar = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"label_suffix": ""}))
        self.fields["kind"].choices = [(kind.value, kind.label) for kind in kinds_for(user)]  # type: ignore[attr-defined]
        self.fields["publishes_code"].help_text = PUBLISHED

        self.user = user
        teams = Team.objects.of(user, MANAGING)
        if self.instance.pk is None and teams.exists():
            self.fields["team"] = forms.ModelChoiceField(
                teams, required=False, label="Belongs to", empty_label="You", help_text="Its owners manage it."
            )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        reason = why_bad_name(name, self.user) if not self.instance.pk else self._why_bad_rename(name)
        if reason or name.startswith("_"):
            raise forms.ValidationError(reason or "Begin with a letter or digit.")
        return name

    def _why_bad_rename(self, name: str) -> str:
        """A name that stands, stays."""
        if reason := why_unprintable(name):
            return reason
        kept = name == self.initial.get("name")
        return "" if kept else why_refused(NameKind.ENTRANT, name, self.user, row_id=self.instance.pk)

    def clean_organisation(self) -> str:
        name: str = self.cleaned_data["organisation"].strip()
        kept = name == self.initial.get("organisation")
        reason = "" if kept else why_refused(NameKind.ORGANISATION, name, self.user, row_id=self.instance.pk)
        if reason:
            raise forms.ValidationError(reason)
        return name

    def create_for(self, user: Any) -> Entrant:
        """A new one gets its address and owner, which do not change later."""
        return create_entrant(user, **self.cleaned_data)


class TeamForm(forms.Form):
    name = forms.CharField(max_length=150, help_text="Its members see it, and organisers.")


class TeamInvitationForm(forms.Form):
    role = forms.ChoiceField(choices=TeamRole.choices, initial=TeamRole.MEMBER, help_text=ROLE_WORDS)
    email = forms.EmailField(
        label="Mail it to", required=False, help_text="Empty: it is shown to you, and you hand it on."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"label_suffix": ""}))
        if not settings.MAIL_URL:  # a mail would be printed in the site's log, with the invitation in it
            del self.fields["email"]


class JoinForm(forms.Form):
    invitation = forms.CharField(
        max_length=100, help_text="It begins with pdt_.", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


class TransferForm(forms.Form):
    """Names a user or a team by its name. Names of teams that the user is not in are taken too."""

    to_kind = forms.ChoiceField(label="To", choices=[("user", "a user"), ("team", "a team")], initial="user")
    to_name = forms.CharField(max_length=150, label="Name", help_text="The username, or the team's name. Case counts.")

    def clean(self) -> Any:
        said = super().clean() or {}
        kind, name = said.get("to_kind"), str(said.get("to_name", "")).strip()
        found = (
            Team.objects.filter(name=name).first()
            if kind == "team"
            else User.objects.filter(username=name, is_active=True).first()
        )
        if name and found is None:
            raise forms.ValidationError(f"There is no {kind} “{name}”.")
        return {"to": found}


class RequestReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="How can organisers check it? For example a public page of yours that names this account.",
    )


class DeleteForm(forms.Form):
    username = forms.CharField(max_length=150, label="Type your username to confirm")

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"label_suffix": ""}))
        self.user = user

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name != self.user.get_username():
            raise forms.ValidationError("This is not your username.")
        return name


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What it is for, as “build server”.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=[Scope.READ, Scope.SUBMIT],
        error_messages={"required": "Choose what the token may do."},
    )  # fmt: skip
    days = forms.TypedChoiceField(choices=EXPIRY_DAYS, coerce=int, initial=90, label="Expires after")
