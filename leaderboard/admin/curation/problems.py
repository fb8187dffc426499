"""Problems in the admin: errata, and reasons for what an audit found."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from leaderboard.actions.curation.audit import give_reason, needs_reason
from leaderboard.actions.curation.decide import restore_problem, void_problem
from leaderboard.admin.base import Act, Outcome, ReadOnlyAdmin, ReasonForm, admin_link
from leaderboard.admin.curation import effects
from leaderboard.models import Decision
from problems.models import Problem


def _void(request: HttpRequest, problem: Problem, said: dict[str, Any]) -> Outcome:
    void_problem(request.user, problem, said["reason"])
    return [f"{problem} is void: it leaves every denominator of {problem.release} at once."]


def _restore(request: HttpRequest, problem: Problem, said: dict[str, Any]) -> Outcome:
    restore_problem(request.user, problem, said["reason"])
    return [f"The erratum of {problem} is undone: it counts again in every score of {problem.release}."]


def _give_reason(request: HttpRequest, problem: Problem, said: dict[str, Any]) -> Outcome:
    give_reason(request.user, problem, said["reason"])
    return [f"{problem} ranks. Its page and the audit of {problem.release} show the reason."]


def _is_void(problem: Problem) -> bool:
    return Decision.objects.errata().filter(problem=problem).exists()


@admin.register(Problem)
class ProblemAdmin(ReadOnlyAdmin):
    list_display = ("task_id", "title", "release_link", "group", "kind", "difficulty", "has_baseline", "page")
    list_filter = ("release", "group", "kind", "has_baseline")
    search_fields = ("task_id", "title")
    list_select_related = ("release",)
    exclude = ("record",)
    acts = (
        Act(
            "void", "Void (erratum)", "A faulty problem leaves every score of its release, with a public note.", _void,
            form=lambda _row: ReasonForm, offered=lambda problem: not _is_void(problem), effect=effects.of_voiding,
        ),
        Act(
            "undo-erratum", "Undo the erratum", "The problem counts again. The erratum stays in the log.", _restore,
            form=lambda _row: ReasonForm, offered=_is_void, effect=effects.of_restoring,
        ),
        Act(
            "audit-reason", "Say why it ranks", "An answer that does no work passes it; the reason stands on its page.",
            _give_reason, form=lambda _row: ReasonForm, offered=needs_reason, effect=effects.of_audit_reason,
        ),
    )  # fmt: skip

    @admin.display(description="release", ordering="release__slug")
    def release_link(self, problem: Problem) -> str:
        return admin_link(problem.release)
