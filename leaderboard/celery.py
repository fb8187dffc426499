"""The site's Celery app: `celery -A leaderboard worker --beat --pool threads` ranks, settles, sweeps and tops up."""

import os
import sys
from typing import Any

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
if "leaderboard.settings" not in sys.modules:  # Celery's own program: a page or a command has loaded them before
    os.environ.setdefault("PODIUM_SERVES", "worker")

QUEUE, LONG_QUEUE = "site", "site.long"
TOP_UP_SECONDS = 1.0
SCORE_SECONDS = 1.0
SETTLE_SECONDS = 1.0
SWEEP_SECONDS = 5.0
COMPARE_SECONDS = 20.0
VOID_SECONDS = 10.0
VERIFY_AGAIN_SECONDS = 600.0
AUDIT_SECONDS = 10.0
NOTIFY_SECONDS = 5.0
PACK_SECONDS = 2.0
NOISE_SECONDS = 3600.0
COLLECT_SECONDS = 3600.0


def _every(task: str, seconds: float, queue: str = QUEUE) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"expires": seconds, "queue": queue}}


def _make_app() -> Celery:
    from django.conf import settings

    from runners.wire.broker import celery_settings, log_rarely

    made = Celery("podium-site", set_as_current=False)
    made.conf.update(
        celery_settings(settings.BROKER_URL, settings.BROKER_FOLDER, settings.CELERY_EVENTS),
        task_default_queue=QUEUE,
        task_queues=[Queue(QUEUE), Queue(LONG_QUEUE)],
        beat_scheduler="leaderboard.site.beat:OfOneWorker",  # in memory: the default keeps a pickled file
        beat_schedule={
            "rank": _every("podium.rank", settings.RANKING_INTERVAL_SECONDS),
            "score": _every("podium.score", SCORE_SECONDS),
            "settle": _every("podium.settle", SETTLE_SECONDS),
            "compare": _every("podium.compare", COMPARE_SECONDS),
            "sweep": _every("podium.sweep", SWEEP_SECONDS),
            "void": _every("podium.void", VOID_SECONDS),
            "verify again": _every("podium.verify_again", VERIFY_AGAIN_SECONDS),
            "audit": _every("podium.audit", AUDIT_SECONDS),
            "measure noise": _every("podium.measure_noise", NOISE_SECONDS),
            "notify": _every("podium.notify", NOTIFY_SECONDS),
            "top up": _every("podium.top_up", TOP_UP_SECONDS),
            "collect": _every("podium.collect", COLLECT_SECONDS, LONG_QUEUE),
            "pack": _every("podium.pack", PACK_SECONDS, LONG_QUEUE),
        },
    )
    made.autodiscover_tasks()
    log_rarely()
    return made


app = _make_app()
