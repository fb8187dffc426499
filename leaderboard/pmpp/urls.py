"""The addresses of the process that serves PMPP's routes; it serves no other. Errors are JSON, too."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from leaderboard.pmpp import views

BASE = "compat/pmpp/<str:secret>"

urlpatterns = [
    path(f"{BASE}/health", views.health, name="pmpp_health"),
    path(f"{BASE}/tasks", views.tasks, name="pmpp_tasks"),
    path(f"{BASE}/evaluate", views.evaluate, name="pmpp_evaluate"),
    path(f"{BASE}/check-task", views.check_task, name="pmpp_check_task"),
]


def _error(status: int, words: str) -> Any:
    def handler(_request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        return JsonResponse({"detail": words}, status=status)

    return handler


handler400 = _error(400, "The request cannot be read.")
handler403 = _error(403, "This is not allowed.")
handler404 = _error(404, "Not found. GET health and tasks, POST evaluate and check-task, below /compat/pmpp/<token>/.")
handler500 = _error(500, "The site failed; the solution was not graded. Try again in a while.")
