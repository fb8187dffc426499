"""The Django app and what it connects at start."""

from typing import Any

from django.apps import AppConfig
from django.core.management import call_command
from django.db.models.signals import post_migrate


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    label = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from leaderboard import checks, guards  # noqa: F401

        guards.register()
        post_migrate.connect(_make_cache_table, sender=self)


def _make_cache_table(using: str, **_: Any) -> None:
    """Make the table of the database cache, which has no migration. Nothing happens where another cache is set."""
    call_command("createcachetable", database=using, verbosity=0)
