"""One shape for every refusal of the API: {"code", "message", "line"?, "details"?}, with the words of the action."""

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from leaderboard.errors import Refused
from problems.actions.releases import ReleaseRefused
from problems.formats.errors import PackRefused

NOTHING_HERE = "There is nothing here that you may see. /api/ lists every address."


class TooLarge(exceptions.APIException):
    """The upload is over the site's bound."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def body(code: str, message: str, line: int | None = None, details: Any = None) -> dict[str, Any]:
    """The refusal as JSON; absent parts are left out."""
    optional = {"line": line, "details": details}
    return {"code": code, "message": message, **{key: value for key, value in optional.items() if value is not None}}


def handle(error: Exception, _context: Any) -> Response | None:
    """DRF's exception handler; None leaves what is not the user's fault to Django's 500."""
    answer = _answer(error)
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
    if isinstance(error, RequestDataTooBig | TooManyFilesSent):
        return Response(body("too_large", str(error)), status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
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
        return body("invalid", _first_fault(error.detail), details=error.detail)
    if isinstance(error, exceptions.Throttled):
        return body("throttled", f"Too many requests. Try again in {getattr(error, 'wait', None) or 60:.0f} s.")
    if isinstance(error, exceptions.NotAuthenticated):
        words = "Sign in, or send `Authorization: Bearer <API token>`. Tokens are made on your account page."
        return body("not_authenticated", words)
    return body(str(error.get_codes()), str(error.detail))


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = f"{wait:.0f}"
    return headers


def _first_fault(detail: Any) -> str:
    """The first fault in words, led by the name of its field."""
    if isinstance(detail, list):
        return _first_fault(detail[0]) if detail else "The request is not valid."
    if not isinstance(detail, dict):
        return str(detail)
    name, inner = next(iter(detail.items()))
    words = _first_fault(inner)
    return words if name == "non_field_errors" else f"{name}: {words}"
