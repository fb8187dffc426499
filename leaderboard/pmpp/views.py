"""GET health and tasks, POST evaluate and check-task, below an address with a token. Errors are JSON: `detail`."""

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from pydantic import BaseModel, ValidationError

from leaderboard.actions.intake.pmpp_runs import ask, note_unanswered
from leaderboard.errors import Refused
from leaderboard.models import PmppRun, PmppToken
from leaderboard.models.submissions.pmpp import ENDED_RUNS
from leaderboard.pmpp import answers
from leaderboard.pmpp.asked import (
    CheckRequest,
    CodeTooLarge,
    EvaluateRequest,
    find_problem,
    reference_of,
    solution_of,
    tasks_of,
    the_target,
)
from leaderboard.pmpp.waiting import Full, Waiting

RETRY_SECONDS = 5
UNKNOWN = "There is no such token here, or it has expired or was revoked. Make one on the site, under Account."

logger = logging.getLogger(__name__)

waiting = Waiting(settings.PMPP_WAITING)

Body = TypeVar("Body", bound=BaseModel)
Route = Callable[[HttpRequest, PmppToken], HttpResponse]


def _routed(route: Route) -> Callable[..., HttpResponse]:
    """The route below a valid token; refusals become JSON."""

    @csrf_exempt  # the token in the address is the sender's only right; no cookie gives any
    @never_cache
    @wraps(route)
    def view(request: HttpRequest, secret: str) -> HttpResponse:
        token = PmppToken.find(secret)
        if token is None:
            return JsonResponse({"detail": UNKNOWN}, status=404)
        try:
            return route(request, token)
        except ValidationError as error:
            return JsonResponse({"detail": _told(error)}, status=422)
        except Full:
            return _busy(f"{settings.PMPP_WAITING} callers wait already, the most that this site serves.")
        except Refused as refusal:
            return _busy(refusal.message) if refusal.status == 503 else _detail(refusal)

    return view


def _told(error: ValidationError) -> list[Any]:
    return list(error.errors(include_url=False, include_input=False, include_context=False))


def _detail(refusal: Refused) -> HttpResponse:
    return JsonResponse({"detail": refusal.message, "code": refusal.code}, status=refusal.status)


def _busy(words: str) -> HttpResponse:
    again = f"{words} Try again in {RETRY_SECONDS} s."
    return JsonResponse({"detail": again}, status=503, headers={"Retry-After": str(RETRY_SECONDS)})


def _body(request: HttpRequest, model: type[Body]) -> Body:
    """Raises TooLarge before anything is read, or ValidationError."""
    bound = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > bound:
        raise CodeTooLarge("too_large", f"The request is larger than {bound:,} bytes.")
    return model.model_validate_json(request.body)


@require_GET
@_routed
def health(_: HttpRequest, token: PmppToken) -> HttpResponse:
    return JsonResponse(
        {
            "status": "healthy",
            "service": "podium",
            "tasks_root": token.release.slug,
            "gpu_available": token.track.device == "gpu",
        }
    )


@require_GET
@_routed
def tasks(_: HttpRequest, token: PmppToken) -> HttpResponse:
    """The coding tasks. `has_makefile` is true, because clients leave out the others: each has commands of its own."""
    rows = [{"name": name, "path": name, "has_makefile": True} for name in tasks_of(token)]
    return JsonResponse({"tasks": rows, "count": len(rows)})


@require_POST
@_routed
def evaluate(request: HttpRequest, token: PmppToken) -> HttpResponse:
    """Run the held-out tests on the code and wait for their end."""
    started = time.monotonic()
    said = _body(request, EvaluateRequest)
    target = the_target(said.student_targets)
    problem = find_problem(token, said.task_dir)
    incoming = solution_of(problem, said)
    with waiting.place():
        run = ask(token, problem, incoming)
        return JsonResponse(_answered(run, target, said.timeout_sec, started))


@require_POST
@_routed
def check_task(request: HttpRequest, token: PmppToken) -> HttpResponse:
    """The same for the problem's reference solution."""
    started = time.monotonic()
    said = _body(request, CheckRequest)
    target = the_target(said.reference_targets)
    problem = find_problem(token, said.task_dir)
    incoming = reference_of(problem)
    with waiting.place():
        run = ask(token, problem, incoming, is_reference=True)
        return JsonResponse(_answered(run, target, said.timeout_sec, started))


def _answered(run: PmppRun, target: str, timeout_seconds: int, started: float) -> answers.Answer:
    """The answer, given before the caller's time limit."""
    if run.state in ENDED_RUNS:
        ended: PmppRun | None = run
    else:
        ended = waiting.wait(run.pk, _seconds_left(timeout_seconds, started))
    elapsed_ms = (time.monotonic() - started) * 1000
    if ended is None:
        _note_unanswered(run)
        return answers.out_of_time(timeout_seconds, elapsed_ms)
    return answers.graded(ended, target, elapsed_ms)


def _note_unanswered(run: PmppRun) -> None:
    """A database that is busy must not keep the caller from its answer."""
    try:
        note_unanswered(run.pk)
    except Error as error:
        logger.warning("a call without a verdict could not be counted: %s", type(error).__name__)


def _seconds_left(timeout_seconds: int, started: float) -> float:
    """Leaves a tenth of the limit, at most a second, for the answer's way."""
    return timeout_seconds - min(1.0, timeout_seconds / 10) - (time.monotonic() - started)
