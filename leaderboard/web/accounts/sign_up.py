"""Signing up: open to everybody, with an invitation, or closed; and the page that mails invitations."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import SignupForm
from allauth.decorators import rate_limit
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.cache import never_cache

from leaderboard.actions.accounts.delete_account import is_retired
from leaderboard.actions.accounts.invite import mail_invitation
from leaderboard.entrants.name_records import why_refused
from leaderboard.errors import Refused
from leaderboard.models import Invitation, NameKind
from leaderboard.models.audit import record

NOT_VALID = "This invitation is not valid: it is mistyped, was used, or has expired."


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002 - the base class's signature
        return bool(settings.SIGNUP != "closed")

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """django-axes counts wrong passwords by name and address. allauth's count by name alone would let anybody
        lock anybody out. Its limits on sign-ins by address, and on codes of a second factor, stay."""

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Refuses also the names of deleted accounts, which the audit keeps."""
        name: str = super().clean_username(username, shallow=shallow)
        if is_retired(name):
            raise forms.ValidationError("This username was that of an account that was deleted. Choose another.")
        if reason := why_refused(NameKind.USER, name):
            raise forms.ValidationError(reason)
        return name


class Invited(forms.Form):
    """A sign-up form; unless sign-up is open, with an invitation, which the new account uses up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.SIGNUP != "open":
            self.fields["invitation"] = forms.CharField(
                max_length=100, help_text=_where_from(), widget=forms.TextInput(attrs={"autocomplete": "off"})
            )
            self.order_fields(["invitation"])

    def clean_invitation(self) -> Invitation:
        found = Invitation.find(self.cleaned_data["invitation"])
        if found is None:
            raise forms.ValidationError(NOT_VALID)
        return found

    def clean(self) -> Any:
        cleaned = super().clean()
        invitation, email = self.cleaned_data.get("invitation"), self.cleaned_data.get("email") or ""
        if invitation and invitation.email and invitation.email.lower() != email.lower():
            self.add_error("email", "Use the address that the invitation was made for.")
        return cleaned

    def try_save(self, request: HttpRequest) -> Any:
        """The new user, or a response. Of two sign-ups at once, one gets the invitation, and one the name."""
        invitation = self.cleaned_data.get("invitation")
        with transaction.atomic():
            if reason := why_refused(NameKind.USER, self.cleaned_data.get("username", "")):
                messages.error(request, reason)
                return None, redirect("account_signup")
            if invitation is None:
                return super().try_save(request)  # type: ignore[misc]  # of allauth's form, the next base
            if not invitation.claim():
                messages.error(request, NOT_VALID)
                return None, redirect("account_signup")
            user, response = super().try_save(request)  # type: ignore[misc]
            Invitation.objects.filter(pk=invitation.pk).update(used_by=user)
            record(user, "accept invitation", invitation)
        return user, response


class SignUpForm(Invited, SignupForm):
    """Signing up with a password."""


def _where_from() -> str:
    if settings.SIGNUP != "domain":
        return "An organiser gives you one."
    words = "An organiser gives you one, or the site <a href='{}'>mails you one</a>."
    return format_html(words, reverse("request_invitation"))


class InvitationForm(forms.Form):
    email = forms.EmailField(label="Your e-mail address")


@never_cache
@rate_limit(action="signup")  # type: ignore[no-untyped-call, untyped-decorator]  # of allauth
def request_invitation(request: HttpRequest) -> HttpResponse:
    """Mail an invitation to an address of the domains that may sign up."""
    if settings.SIGNUP != "domain":
        raise Http404("This site mails no invitations.")
    form = InvitationForm(request.POST or None, label_suffix="")
    if form.is_valid() and _mail(form):
        messages.success(request, "An invitation is on its way to you. It can be used once, within a day.")
        return redirect("account_signup")
    context = {"form": form, "domains": settings.SIGNUP_DOMAINS}
    return render(request, "podium/accounts/request_invitation.html", context, status=422 if form.errors else 200)


def _mail(form: InvitationForm) -> bool:
    try:
        mail_invitation(form.cleaned_data["email"], settings.SITE_URL + reverse("account_signup"))
    except Refused as refusal:
        form.add_error("email", refusal.message)
    except OSError:  # and what smtplib raises
        form.add_error(None, "The mail could not be sent just now. Try again later, or ask an organiser.")
    return not form.errors
