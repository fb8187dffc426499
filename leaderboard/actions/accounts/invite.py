"""Invites people to sign up: an organiser hands an invitation on, or the site mails one to an address it trusts."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils import timezone

from leaderboard.errors import NotAllowed, Refused, TooMuch
from leaderboard.models import Invitation
from leaderboard.models.audit import record

MAILS_PER_DAY = 3
"""Limit of mails to one address."""
MAILED_FOR = timedelta(days=1)


def invite(user: Any, *, days: int, email: str = "", note: str = "") -> tuple[Invitation, str]:
    """Returns the invitation and its secret, for the organiser to hand on. Raises NotAllowed."""
    if not getattr(user, "is_staff", False):
        raise NotAllowed("organisers_only", "Only an organiser invites people.")
    row, secret = Invitation.issue(user, timezone.now() + timedelta(days=days), email=email, note=note)
    record(user, "invite", row, note, email=email)
    return row, secret


def mail_invitation(email: str, sign_up_url: str) -> None:
    """Mail an invitation that only this address may use. Raises Refused, TooMuch, or OSError if no mail can be sent."""
    if email.rpartition("@")[2].lower() not in settings.SIGNUP_DOMAINS:
        domains = ", ".join(settings.SIGNUP_DOMAINS)
        raise Refused("other_domain", f"This site mails invitations to addresses of {domains}. Ask an organiser.")
    recent = Invitation.objects.filter(email__iexact=email, invited_by=None, created_at__gt=timezone.now() - MAILED_FOR)
    if recent.count() >= MAILS_PER_DAY:
        raise TooMuch("too_many_mails", "This address has had several invitations today. Use one, or ask tomorrow.")
    row, secret = Invitation.issue(None, timezone.now() + MAILED_FOR, email=email)
    record(None, "mail invitation", row, email=email)
    _message(email, secret, sign_up_url).send()


def _message(email: str, secret: str, sign_up_url: str) -> EmailMessage:
    body = (
        f"Sign up at {sign_up_url} with this address and the invitation below.\n\n    {secret}\n\n"
        "It can be used once, within a day. If you did not ask for it, do nothing.\n"
    )
    connection = get_connection(**settings.MAIL, timeout=10)
    return EmailMessage("Your invitation to Podium", body, settings.MAIL_FROM, [email], connection=connection)
