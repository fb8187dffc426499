"""The Django app and what it connects at start."""

from django.apps import AppConfig


class ProblemsConfig(AppConfig):
    name = "problems"
    label = "problems"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from problems import guards, triggers

        guards.register()
        triggers.connect()
