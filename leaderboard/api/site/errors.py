"""One shape for every refusal of the API: {"code", "message", "pointer"?, "line"?, "details"?}, in the action's words.

`pointer` is the JSON pointer (RFC 6901) of the one value in the body that `message` is about.
"""

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from leaderboard.errors import Refused
from leaderboard.site.bad_request import words_for
from leaderboard.site.refused_pages import meant_by
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused

NOTHING_HERE = "There is nothing here that you may see. /api/ lists every address."


class UploadTooLarge(exceptions.APIException):
    """The upload is over the site's bound."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def body(
    code: str, message: str, line: int | None = None, details: Any = None, pointer: str | None = None
) -> dict[str, Any]:
    """The refusal as JSON; absent parts are left out."""
    optional = {"pointer": pointer, "line": line, "details": details}
    return {"code": code, "message": message, **{key: value for key, value in optional.items() if value is not None}}


def handle(error: Exception, _context: Any) -> Response | None:
    """DRF's exception handler; None leaves what is not the user's fault to Django's 500."""
    answer = _answer(meant_by(error))
    if answer is not None:
        set_rollback()
    return answer


def _answer(error: Exception) -> Response | None:
    if isinstance(error, Refused):
        return Response(body(error.code, error.message, error.line), error.status)
    if isinstance(error, PackRefused):
        return Response(body(error.code, error.message, error.line), status.HTTP_422_UNPROCESSABLE_ENTITY)
    if isinstance(error, ReleaseRefused):
        return Response(body("release_refused", str(error)), status.HTTP_409_CONFLICT)
    if isinstance(error, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        status_code, code, words = words_for(error)
        return Response(body(code, words), status_code)
    return _framework_answer(error)


def _framework_answer(error: Exception) -> Response | None:
    if isinstance(error, Http404):
        error = exceptions.NotFound(NOTHING_HERE)
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    return Response(_framework_body(error), error.status_code, headers=_headers(error))


def _framework_body(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        place, words = _first_fault(error.detail)
        pointer = "".join(f"/{_escaped(part)}" for part in place) or None
        message = f"{'.'.join(place)}: {words}" if place else words
        return body("invalid", message, details=error.detail, pointer=pointer)
    if isinstance(error, exceptions.Throttled):
        return body("throttled", f"Too many requests. Try again in {getattr(error, 'wait', None) or 60:.0f} s.")
    if isinstance(error, exceptions.NotAuthenticated):
        words = "Sign in, or send `Authorization: Bearer <API token>`. Tokens are made on your account page."
        return body("not_authenticated", words)
    return body(str(error.get_codes()), str(error.detail), pointer=getattr(error, "pointer", None))


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = f"{wait:.0f}"
    return headers


_OF_THE_WHOLE = "non_field_errors"
NO_WORDS = "The request is not valid."


def _first_fault(detail: Any) -> tuple[list[str], str]:
    """The place of the first fault, from the outside inwards, and its words."""
    if isinstance(detail, list) and detail and not isinstance(detail[0], dict | list):
        return [], str(detail[0])
    if not isinstance(detail, dict | list):
        return [], str(detail)
    inner = detail.items() if isinstance(detail, dict) else enumerate(detail)
    for name, below in inner:
        if below:  # a list of rows has an empty entry for each that is right
            place, words = _first_fault(below)
            return [*([] if name == _OF_THE_WHOLE else [str(name)]), *place], words
    return [], NO_WORDS


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
