"""The forms of a person's own things: entrants, their teams, API tokens."""

from typing import Any, ClassVar

from django import forms
from django.contrib.auth.models import User

from leaderboard.actions.create_entrant import create_entrant
from leaderboard.entrant_rules import kinds_for, why_bad_name
from leaderboard.models import Entrant
from leaderboard.models.token import Scope

PUBLISHED = "Everybody may then read its solutions, past ones included, with the prompts and replies in their records."
EXPIRY_DAYS = ((30, "30 days"), (90, "90 days"), (365, "a year"))


class EntrantForm(forms.ModelForm):  # type: ignore[type-arg]
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

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        reason = why_bad_name(name) if not self.instance.pk else ""
        if reason or name.startswith("_"):
            raise forms.ValidationError(reason or "Begin with a letter or digit.")
        return name

    def create_for(self, user: Any) -> Entrant:
        """A new one gets its address and owner, which do not change later."""
        return create_entrant(user, **self.cleaned_data)


class TeamForm(forms.Form):
    username = forms.CharField(
        max_length=150, label="Username", help_text="They may then submit for it and see its logs."
    )

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"].strip()
        if not User.objects.filter(username=name, is_active=True).exists():
            raise forms.ValidationError(f"There is no account “{name}”. Usernames are case-sensitive.")
        return name


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What it is for, as “build server”.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=[Scope.READ, Scope.SUBMIT],
        error_messages={"required": "Choose what the token may do."},
    )  # fmt: skip
    days = forms.TypedChoiceField(choices=EXPIRY_DAYS, coerce=int, initial=90, label="Expires after")
