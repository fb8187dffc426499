"""The account's pages, in the order of the navigation that they share."""

from collections.abc import Sequence

from django.urls import reverse

_PAGES: Sequence[tuple[str, str]] = (
    ("Entrants", "account"),
    ("My submissions", "own_submissions"),
    ("Teams", "teams"),
    ("API tokens", "tokens"),
    ("Sign-in methods", "sign_in_methods"),
    ("Quota", "quota"),
    ("Notifications", "notifications"),
    ("Your data", "account_data"),
)


def account_nav(current: str) -> list[tuple[str, str, bool]]:
    """Title, address, and whether it is the page that is open."""
    return [(title, reverse(name), name == current) for title, name in _PAGES]
