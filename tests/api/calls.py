"""Calls of the API as a program makes them: by token, as JSON, or as an upload."""

import io
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import Track
from problems.models import Release
from tests import factories, packs


def get(path: str, user: User | None = None, **query: Any) -> Any:
    return Client().get(f"/api/v1/{path}", query, headers=_headers(user))


def post(path: str, body: Any, user: User | None = None) -> Any:
    return Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=_headers(user))


def upload(user: User | None, release: Release, track: Track, file: Any = None, **changes: Any) -> Any:
    """POST a pack (by default one sample of every problem) for the owner's entrant."""
    fields: dict[str, Any] = {"release": release.slug, "entrant": "alpha", "tracks": [track.slug]}
    fields["file"] = file or pack_file(release)
    return Client().post("/api/v1/submissions", fields | changes, headers=_headers(user))


def pack_file(release: Release, script: str = "exit 0", task_ids: Sequence[str] | None = None) -> SimpleUploadedFile:
    asked = task_ids if task_ids is not None else release.problems.values_list("task_id", flat=True)
    pack: io.BytesIO = packs.solution_pack([packs.solution(one, script) for one in asked], release.datapack_release)
    return SimpleUploadedFile("mine-solutions.tar.gz", pack.getvalue())


def _headers(user: User | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {factories.token(user)}"} if user else {}
