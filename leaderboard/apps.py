"""The Django app and what it connects at start, and the admin with its own site."""

from typing import Any

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.core.management import call_command
from django.db.models.signals import post_migrate


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    label = "leaderboard"
    default = True
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from leaderboard.accounts import sign_in_audit  # noqa: F401
        from leaderboard.admin import accounts  # noqa: F401 - the framework has registered its own by now
        from leaderboard.entrants import name_records  # noqa: F401
        from leaderboard.site import checks, guards, kept_connections  # noqa: F401

        guards.register()
        kept_connections.connect()
        post_migrate.connect(_make_cache_table, sender=self)


def _make_cache_table(using: str, **_: Any) -> None:
    """Make the table of the database cache, which has no migration. Nothing happens where another cache is set."""
    call_command("createcachetable", database=using, verbosity=0)


class PodiumAdminConfig(admin_apps.AdminConfig):
    """Django's admin, whose default site is Podium's."""

    default = False
    default_site = "leaderboard.admin.site.podium_site"
