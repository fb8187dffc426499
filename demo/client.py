"""The few calls of the public API that the demo makes, by the command line's own client and with the demo's token."""

import io
from typing import Any

from podium.remote.api_client import ApiClient
from podium.remote.site_config import Site
from podium.remote.upload import UploadBody


class Client:
    """Raises podium.remote.api_client.ApiRefused with the site's own words."""

    def __init__(self, site_url: str, token: str) -> None:
        self._api = ApiClient(Site(site_url, token))

    def submit(self, release: str, track: str, entrant: str, pack: bytes) -> int:
        """The submission's id; the same pack a second time is the same submission."""
        fields = {"release": release, "entrant": entrant, "tracks": track}
        _, receipt = self._api.upload(
            "submissions", UploadBody(fields, f"{entrant}-solutions.tar.gz", io.BytesIO(pack))
        )
        return int(receipt["id"])

    def progress(self, submission: int) -> dict[str, Any]:
        return dict(self._api.get(f"submissions/{submission}/progress"))

    def results(self, submission: int) -> list[dict[str, Any]]:
        return list(self._api.lines(f"submissions/{submission}/results.jsonl"))

    def board(self, release: str, track: str) -> dict[str, Any]:
        return dict(self._api.get(f"releases/{release}/board", track=track))
