"""The admin as an organiser's browser uses it."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def act(user: User, model: str, name: str, row: Any = None, **said: Any) -> Any:
    """Press a button: POST its form. `model` is `<app>_<model>`."""
    ends = ("list_act", [name]) if row is None else ("act", [row.pk, name])
    return signed_in(user).post(reverse(f"admin:{model}_{ends[0]}", args=ends[1]), said)


def text(answer: Any) -> str:
    return str(answer.content.decode())
