"""Client of the site's REST API for the command line. A refusal becomes an exception with the site's message."""

import json
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import requests

from podium.remote.site_config import Site
from podium.remote.upload import UploadBody

TIMEOUT_SECONDS = (10, 120)
"""Timeouts for connecting and between two bytes. The site checks a large pack before it answers."""
TRIES = 4


class ApiRefused(Exception):
    """The site refused the request, or could not be reached (`code` is then `unreachable`)."""

    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def _program_version() -> str:
    try:
        return version("podium")
    except PackageNotFoundError:
        return "0"


class ApiClient:
    """Calls paths under /api/v1/."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"podium/{_program_version()}"
        self._session.headers["Accept"] = "application/json, application/x-ndjson"
        # set as `auth` so that a netrc file never replaces it; requests drops it when a redirect leaves the host
        self._session.auth = _Bearer(site.token)

    def get(self, path: str, **params: Any) -> Any:
        """Read JSON. Retries a few times while the site restarts."""
        for attempt in range(TRIES):
            try:
                return self._call("GET", path, params=params).json()
            except ApiRefused as refused:
                if refused.code != "unreachable" or attempt == TRIES - 1:
                    raise
                time.sleep(0.5 * 2**attempt)
        raise AssertionError("unreachable: the loop returns or raises")

    def rows(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, fetched page by page."""
        offset = 0
        while True:
            page = self.get(path, limit=500, offset=offset, **params)
            yield from page["results"]
            offset += len(page["results"])
            if not page["results"] or page["next"] is None:
                return

    def lines(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """The objects of a JSON-lines answer, as they arrive."""
        with self._call("GET", path, params=params, stream=True) as answer:
            for line in answer.iter_lines():
                if line:
                    yield json.loads(line)

    def content(self, path: str) -> bytes:
        """The body of a file."""
        return self._call("GET", path).content

    def post(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Status and answer of a POST."""
        answer = self._call("POST", path, json=body)
        return answer.status_code, answer.json()

    def upload(self, path: str, body: UploadBody) -> tuple[int, Any]:
        """Status and answer of a file upload, streamed from disk."""
        answer = self._call("POST", path, data=body, headers={"Content-Type": body.content_type})
        return answer.status_code, answer.json()

    def _call(self, method: str, path: str, **arguments: Any) -> requests.Response:
        url = f"{self.site.url}/api/v1/{path}"
        try:
            answer = self._session.request(
                method, url, timeout=TIMEOUT_SECONDS, allow_redirects=method == "GET", **arguments
            )
        except requests.RequestException as error:
            raise ApiRefused("unreachable", f"{self.site.url} cannot be reached: {_short(error)}.") from error
        if answer.status_code >= 300:
            raise _refusal(answer)
        return answer


class _Bearer(requests.auth.AuthBase):
    def __init__(self, token: str) -> None:
        self.token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        return request


def _short(error: Exception) -> str:
    """The innermost message of a chain of wrapped network errors."""
    while error.__context__ is not None and isinstance(error.__context__, Exception):
        error = error.__context__
    return str(error).strip(".") or type(error).__name__


def _refusal(answer: requests.Response) -> ApiRefused:
    if answer.status_code < 400:
        where = answer.headers.get("Location", "elsewhere")
        return ApiRefused("moved", f"The site answers from {where}. Log in there instead.", answer.status_code)
    try:
        said = answer.json()
        return ApiRefused(str(said["code"]), str(said["message"]), answer.status_code)
    except (ValueError, KeyError, TypeError):
        words = f"{answer.url} answered {answer.status_code}, which no Podium site does. Is the URL right?"
        return ApiRefused("not_podium", words, answer.status_code)
