"""The fleet's Django app, which connects its signal handlers at start."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "runners.fleet"
    label = "fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from runners.fleet import guards
        from runners.fleet.again import foreseen
        from runners.fleet.queue import jobs

        guards.register()
        jobs.connect()
        foreseen.connect()
