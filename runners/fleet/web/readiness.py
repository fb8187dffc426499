"""The readiness check: whether database and blob store answer, and how long the oldest queued job has waited."""

import tempfile
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


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if database and blob store work, else 503 with their faults.

    `oldest_queued_job_seconds` is the wait of the oldest queued job, or null. Shadow work may wait for long and is left
    out: its priority is below 0.
    """
    checks = {"database": _database_fault(), "blobs": _blob_fault()}
    facts: dict[str, Any] = {name: fault or "ok" for name, fault in checks.items()}
    if not checks["database"]:
        facts["oldest_queued_job_seconds"] = _oldest_job_seconds()
    return JsonResponse(facts, status=503 if any(checks.values()) else 200)


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
            with tempfile.TemporaryFile(dir=_blob_folder()):
                return ""
        blobs.store().check()
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
