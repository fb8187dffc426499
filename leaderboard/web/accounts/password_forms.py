"""The forms that change a password, with the offer to end what signs in without it."""

from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.db import transaction

from leaderboard.actions.accounts.end_tokens import end_tokens, n_tokens_of


class EndsTokens(forms.Form):
    """Offers to end the tokens of an account that has some; saving ends them in one transaction with the change."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        n_tokens = n_tokens_of(self.user)  # type: ignore[attr-defined]  # of allauth's form, the next base
        if n_tokens:
            self.fields["end_tokens"] = forms.BooleanField(
                required=False,
                label=f"Also end my tokens ({n_tokens})",
                help_text="API and PMPP tokens go on working with a new password. Tick if somebody else may have one.",
            )

    @transaction.atomic
    def save(self) -> None:
        super().save()  # type: ignore[misc]
        if self.cleaned_data.get("end_tokens"):
            end_tokens(self.user, self.user)  # type: ignore[attr-defined]


class ChangePasswordForm(EndsTokens, allauth_forms.ChangePasswordForm):
    """The form for an account with a password."""


class SetPasswordForm(EndsTokens, allauth_forms.SetPasswordForm):
    """The form for an account that signs in elsewhere and has no password yet."""
