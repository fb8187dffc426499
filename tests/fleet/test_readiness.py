"""Whether the site is ready: what it says of its database, its blob store and its queue."""

from pathlib import Path
from typing import Any

from tests import factories


def test_the_site_is_ready(client: Any, db: Any) -> None:
    answer = client.get("/readyz")
    assert answer.json() == {"database": "ok", "blobs": "ok", "oldest_queued_job_seconds": None}


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
