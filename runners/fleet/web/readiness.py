"""The readiness check: whether database, blob store, worker and broker work, and the oldest queued job's wait."""

import tempfile
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard import blobs
from runners.fleet.models import Job, JobState
from runners.fleet.queue.waiting import Fleet

OK = "ok"
WRITTEN_BYTES = 64 * 1024
"""Written to the folder of blobs and removed again. A full disk refuses it."""


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if database, blob store, worker and broker work, else 503 with their faults.

    Pages and reports go on without worker and broker; a load balancer asks /livez. `oldest_queued_job_seconds` is the
    wait of the oldest queued job, `worker_seen_seconds` the time since the worker's last sign of life, or null. Shadow
    work may wait for long and is left out: its priority is below 0.
    """
    facts: dict[str, Any] = {"database": _database_fault() or OK, "blobs": _blob_fault() or OK}
    if facts["database"] == OK:
        facts |= _worker_facts()
    is_ready = all(facts[name] == OK for name in ("database", "blobs", "worker", "broker") if name in facts)
    if facts["database"] == OK:
        facts["oldest_queued_job_seconds"] = _oldest_job_seconds()
    return JsonResponse(facts, status=200 if is_ready else 503)


def _worker_facts() -> dict[str, Any]:
    """Faults of the worker, and of the broker as the worker found it."""
    fleet = Fleet(())
    broker = " ".join(filter(None, (fleet.broker_words, *(fleet.refusal(name) for name in fleet.refused))))
    return {
        "worker": fleet.worker_words or OK,
        "broker": broker or ("not known while the worker is down" if fleet.worker_words else OK),
        "worker_seen_seconds": fleet.worker_seen_seconds,
    }


def _database_fault() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return f"does not answer: {type(error).__name__}"
    return ""


def _blob_fault() -> str:
    try:
        if not settings.BLOB_URL.startswith("s3:"):
            with tempfile.TemporaryFile(dir=_blob_folder()) as file:
                file.write(bytes(WRITTEN_BYTES))
                file.flush()
                return ""
        blobs.store().delete(blobs.store().put(uuid.uuid4().bytes))
    except blobs.BlobsUnavailable:
        return "does not answer"
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return ""


def _blob_folder() -> str:
    folder = Path(settings.BLOB_URL.removeprefix("file://"))
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _oldest_job_seconds() -> float | None:
    live = Job.objects.filter(state=JobState.QUEUED, priority__gte=0)
    oldest = live.order_by("queued_at").values_list("queued_at", flat=True).first()
    return None if oldest is None else round((timezone.now() - oldest).total_seconds(), 1)
