"""`manage.py first_admin EMAIL`: the first organiser, without a password; the link that sets one is printed once.

The link's address is `--address`, else the site's (PODIUM_SITE_URL). On this machine PORT wins where it is set, because
it says where the site was started.
"""

import os
from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse

from leaderboard.models.audit import record


class Command(BaseCommand):
    help = "Create the first organiser and print a one-time link that sets the password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--address", default="", help="Where the site answers, as http://127.0.0.1:9000.")
        parser.add_argument("--force", action="store_true", help="Even though there is an organiser already.")

    def handle(self, *_: Any, email: str, address: str, force: bool, **__: Any) -> None:
        _check_email(email)
        site = _checked_address(address) if address else site_address(os.environ.get("PORT", ""))
        with transaction.atomic():
            if User.objects.filter(is_superuser=True, is_active=True).exists() and not force:
                raise CommandError("There is an organiser already. Ask them, or add --force to make another.")
            user = _make(email)
        self.stdout.write(f"Organiser {user.username} is made. This link sets the password, once.")
        self.stdout.write(f"If the site answers elsewhere than at {site}, open the same path there:")
        self.stdout.write(password_link(user, site))


def _check_email(email: str) -> None:
    try:
        validate_email(email)
    except ValidationError as error:
        raise CommandError(f"{email!r} is not an email address.") from error
    if User.objects.filter(email__iexact=email).exists():
        raise CommandError(f"There is an account with {email} already. Sign in with it, or reset its password.")


def _make(email: str) -> User:
    user = User.objects.create_user(_free_name(email.partition("@")[0]), email, is_staff=True, is_superuser=True)
    record(None, "first admin", user)
    return user


def _free_name(wanted: str) -> str:
    name, number = wanted, 2
    while User.objects.filter(username=name).exists():
        name, number = f"{wanted}{number}", number + 1
    return name


def _checked_address(address: str) -> str:
    if not address.startswith(("http://", "https://")):
        raise CommandError(f"--address is {address!r}; it must start with http:// or https://.")
    return address.rstrip("/")


def site_address(port: str) -> str:
    """The site's address; on this machine with the given port, if there is one."""
    url = urlsplit(settings.SITE_URL)
    if port.isdecimal() and url.scheme == "http" and url.hostname in ("127.0.0.1", "localhost"):
        return f"http://{url.hostname}:{port}"
    return str(settings.SITE_URL)


def password_link(user: User, site: str) -> str:
    """Works until the password is set, and no longer than PASSWORD_RESET_TIMEOUT."""
    names = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return f"{site}{reverse('account_reset_password_from_key', kwargs=names)}"
