"""Whether the site is ready: what it says of its database, its blob store and its queue."""

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from runners.fleet.models import BrokerFault, Pulse
from runners.fleet.worker import pulse
from tests import factories
from tests.requirements import requires


def alive() -> None:
    for part in pulse.Part:
        pulse.note(part)


def test_the_site_is_ready(client: Any, db: Any) -> None:
    alive()
    answer = client.get("/readyz")
    told = answer.json()
    assert 0 <= told.pop("worker_seen_seconds") < pulse.LATE.total_seconds()
    ok = dict.fromkeys(("database", "blobs", "worker", "broker"), "ok")
    assert told == {**ok, "oldest_queued_job_seconds": None}
    assert answer.status_code == 200


def test_readiness_fails_without_a_worker(client: Any, db: Any) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"] == "The site's worker has never run."
    alive()
    Pulse.objects.filter(name="worker").update(at=timezone.now() - timedelta(minutes=5))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"].startswith("The site's worker has stopped: it was last seen 5 min")
    assert answer.json()["worker_seen_seconds"] >= 300
    assert answer.json()["broker"] == "not known while the worker is down"


@pytest.mark.parametrize("queue", ["", "track.cpu.both"])
def test_readiness_fails_where_the_broker_refuses(queue: str, client: Any, db: Any) -> None:
    alive()
    BrokerFault.objects.create(queue=queue, words="it answers 406 PRECONDITION_FAILED", since=timezone.now())
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["broker"].endswith("UTC: it answers 406 PRECONDITION_FAILED.")
    assert answer.json()["worker"] == "ok"


@requires("tmpfs")
def test_readiness_fails_on_a_full_disk(client: Any, db: Any, settings: Any, tmp_path: Path) -> None:
    alive()
    mounted = tmp_path / "disk"
    mounted.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", mounted], check=True)
    try:
        settings.BLOB_URL = str(mounted)
        assert client.get("/readyz").status_code == 200
        (mounted / "filling").write_bytes(bytes(80 * 1024))
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["blobs"]) == (503, "cannot be written: No space left on device")
    finally:
        subprocess.run(["umount", mounted], check=True)


def test_readiness_tells_how_long_the_oldest_job_waits(client: Any, cast: factories.Cast) -> None:
    made = factories.release()
    factories.submission(cast.entrant, made, factories.offer(made))
    assert client.get("/readyz").json()["oldest_queued_job_seconds"] >= 0


def test_readiness_fails_where_blobs_cannot_be_written(client: Any, db: Any, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    settings.BLOB_URL = str(tmp_path / "file" / "blobs")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "cannot be" in answer.json()["blobs"]
