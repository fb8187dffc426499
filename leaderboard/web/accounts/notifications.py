"""How an account is told that its submissions have ended: mail, webhooks with the log of deliveries, and a feed."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.actions.accounts import notify
from leaderboard.errors import Refused
from leaderboard.models import Entrant, NotificationSettings, Webhook
from leaderboard.models.accounts.notification import MAX_WEBHOOKS, recent
from leaderboard.notifications.feed import atom_of
from leaderboard.notifications.outgoing import MAX_URL_CHARACTERS

SHOWN_DELIVERIES = 50


class WebhookForm(forms.Form):
    url = forms.CharField(
        max_length=MAX_URL_CHARACTERS, label="Address", widget=forms.URLInput,
        help_text="The site posts JSON there. Redirects are not followed.",
    )  # fmt: skip
    entrant = forms.ModelChoiceField(
        Entrant.objects.none(), required=False, empty_label="all entrants of mine", label="Submissions of"
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"label_suffix": ""}))
        self.fields["entrant"].queryset = Entrant.objects.submittable_by(user)  # type: ignore[attr-defined]


def _page(request: HttpRequest, form: WebhookForm | None = None, status: int = 200, **shown: Any) -> HttpResponse:
    user: Any = request.user
    context = {
        "current": "notifications",
        "preferences": NotificationSettings.objects.filter(user=user).first(),
        "webhooks": Webhook.objects.filter(user=user).select_related("entrant"),
        "deliveries": recent(user)[:SHOWN_DELIVERIES],
        "form": form or WebhookForm(user=user),
        "max_webhooks": MAX_WEBHOOKS,
    }
    return render(request, "podium/accounts/notifications.html", context | shown, status=status)


@login_required
@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    return _page(request)


@login_required
@require_POST
def switch_mail(request: HttpRequest) -> HttpResponse:
    is_on = request.POST.get("on") == "1"
    try:
        notify.set_mail(request.user, is_on=is_on)
        messages.success(request, f"Mails are {'on' if is_on else 'off'}.")
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("notifications")


@login_required
@require_POST
@never_cache
def new_feed(request: HttpRequest) -> HttpResponse:
    """The address is in this one answer and nowhere else."""
    address = settings.SITE_URL + reverse("personal_feed", args=[notify.new_feed(request.user)])
    return _page(request, status=201, feed_address=address)


@login_required
@require_POST
def revoke_feed(request: HttpRequest) -> HttpResponse:
    if notify.revoke_feed(request.user):
        messages.success(request, "The address of your feed does not work any more.")
    return redirect("notifications")


@require_safe
def personal_feed(request: HttpRequest, token: str) -> HttpResponse:  # noqa: ARG001 - its address alone opens it
    """The ended submissions of an account's entrants, for a feed reader, which cannot sign in."""
    found = NotificationSettings.of_feed(token)
    if found is None:
        raise Http404("There is no such feed. Its address may have been revoked.")
    answer = HttpResponse(atom_of(found.user), content_type="application/atom+xml; charset=utf-8")
    answer["Cache-Control"] = "private, max-age=60"
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex"
    return answer


@login_required
@require_POST
@never_cache
def new_webhook(request: HttpRequest) -> HttpResponse:
    """The secret is in this one answer and nowhere else."""
    form = WebhookForm(request.POST, user=request.user)
    if not form.is_valid():
        return _page(request, form, 422)
    try:
        made = notify.new_webhook(request.user, form.cleaned_data["url"].strip(), form.cleaned_data["entrant"])
    except Refused as refusal:
        form.add_error("url", refusal.message)
        return _page(request, form, 422)
    return _page(request, status=201, secret=made.secret, made=made)


def _own(request: HttpRequest, pk: int) -> Webhook:
    return get_object_or_404(Webhook, pk=pk, user_id=request.user.pk)


@login_required
@require_POST
@never_cache
def new_webhook_secret(request: HttpRequest, pk: int) -> HttpResponse:
    """The secret is in this one answer and nowhere else."""
    webhook = _own(request, pk)
    return _page(request, status=201, secret=notify.new_secret(request.user, webhook), made=webhook)


@login_required
@require_POST
def switch_webhook(request: HttpRequest, pk: int) -> HttpResponse:
    is_on = request.POST.get("on") == "1"
    notify.switch_webhook(request.user, _own(request, pk), is_on=is_on)
    messages.success(request, f"The webhook is {'on' if is_on else 'off'}.")
    return redirect("notifications")


@login_required
@require_POST
def test_webhook(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        notify.send_test(request.user, _own(request, pk))
        messages.success(request, "A test is on its way: reload this page in a few seconds to see what came of it.")
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("notifications")


@login_required
@require_POST
def delete_webhook(request: HttpRequest, pk: int) -> HttpResponse:
    notify.delete_webhook(request.user, _own(request, pk))
    messages.success(request, "The webhook is deleted.")
    return redirect("notifications")
