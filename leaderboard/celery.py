"""The site's Celery app. It only rings doorbells: the site worker's clock does not depend on a broker."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")


def _make_app() -> Celery:
    from django.conf import settings

    from runners.broker import celery_settings

    made = Celery("podium-site", set_as_current=False)
    made.conf.update(celery_settings(settings.BROKER_URL, settings.BROKER_FOLDER))
    return made


app = _make_app()
