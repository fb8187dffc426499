"""The site's Celery app: rings doorbells, and runs the site worker's clock (ranking and sweeping)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

SITE_QUEUE = "site"


def _make_app() -> Celery:
    from django.conf import settings

    from runners.broker import celery_settings

    made = Celery("podium-site")
    made.conf.update(celery_settings(settings.BROKER_URL, settings.BROKER_FOLDER))
    made.conf.update(
        task_default_queue=SITE_QUEUE,
        beat_schedule_filename=str(settings.VAR_DIR / "celerybeat-schedule"),
        beat_schedule={
            "rank": {
                "task": "podium.rank",
                "schedule": settings.RANKING_INTERVAL_SECONDS,
                "options": {"expires": settings.RANKING_INTERVAL_SECONDS * 2},
            },
            "sweep": {"task": "podium.sweep", "schedule": 5.0, "options": {"expires": 10}},
        },
    )
    made.autodiscover_tasks(["runners.fleet"], related_name="tasks")
    return made


app = _make_app()
