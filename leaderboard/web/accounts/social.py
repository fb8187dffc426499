"""Signing in with GitHub or an OpenID provider, where one is configured; the rules for signing up hold there too."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from allauth.account.utils import filter_users_by_email
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.forms import SignupForm
from allauth.socialaccount.providers.github.views import oauth2_login as github_login
from allauth.socialaccount.providers.openid_connect.views import login as openid_login
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from leaderboard.models.audit import record
from leaderboard.web.accounts.sign_up import Invited


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Where signing up needs an invitation, the form asks for it.

        A person with an account of this address here is asked too, and can go back and sign in to that account.
        """
        if settings.SIGNUP != "open" or not super().is_auto_signup_allowed(request, sociallogin):
            return False
        return not any(filter_users_by_email(one.email) for one in sociallogin.email_addresses)

    def authenticate_by_email(self, sociallogin: Any) -> Any:
        """An account that never proved the address could be somebody else's: only a verified address is a link."""
        found = super().authenticate_by_email(sociallogin)
        if found is None:
            return None
        user, email = found
        known = EmailAddress.objects.filter(user_id=user.pk, email__iexact=email, verified=True)
        return found if known.exists() else None

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        user = super().save_user(request, sociallogin, form)
        record(user, "sign_up", user, provider=sociallogin.account.provider)
        return user


class SocialSignUpForm(Invited, SignupForm):
    """Signing up with an account elsewhere, which gives the name and address to begin with."""


def _onward(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view, whose redirect to the provider becomes a page that leads there at once.

    Browsers hold redirects after a form to the policy `form-action 'self'`, and a provider may redirect further.
    """

    def led(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        answer = view(request, **kwargs)
        address = answer.headers.get("Location", "")
        if not urlsplit(address).netloc:
            return answer
        return render(request, "socialaccount/onward.html", {"address": address, "host": urlsplit(address).netloc})

    return led


urlpatterns = [
    path("github/login/", _onward(github_login), name="github_login"),
    path("oidc/<str:provider_id>/login/", _onward(openid_login), name="openid_connect_login"),
]
