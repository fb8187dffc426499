"""Admin pages of append-only rows (results, measurements, decisions, audit) and of standings."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.admin.base import ReadOnlyAdmin, admin_link
from leaderboard.admin.dashboard import IMPORTS
from leaderboard.models import AuditEntry, Decision, Measurement, Result, Standing


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    list_display = ("id", "evaluation_link", "verdict", "witness", "speedup", "origin", "created_at", "page")
    list_filter = ("verdict", "origin", "witness")
    list_select_related = ("evaluation",)

    @admin.display(description="evaluation", ordering="evaluation")
    def evaluation_link(self, result: Result) -> str:
        return admin_link(result.evaluation)


@admin.register(Measurement)
class MeasurementAdmin(ReadOnlyAdmin):
    list_display = ("id", "problem_link", "track", "role", "case", "median_ms", "clock", "ranks", "measured_at")
    list_filter = ("role", "clock", "track")
    list_select_related = ("problem", "track")

    @admin.display(description="problem", ordering="problem")
    def problem_link(self, measurement: Measurement) -> str:
        return admin_link(measurement.problem)


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "public_reason", "decided_by", "earlier_link", "at")
    list_filter = ("kind", "at")
    search_fields = ("public_reason", "decided_by__username", "problem__task_id", "submission__entrant__name")
    list_select_related = (
        "decided_by", "flag", "problem", "submission__entrant", "submission__release", "earlier",
    )  # fmt: skip

    @admin.display(description="about")
    def subject(self, decision: Decision) -> str:
        return admin_link(decision.flag or decision.problem or decision.submission)

    @admin.display(description="carries over or undoes")
    def earlier_link(self, decision: Decision) -> str:
        return admin_link(decision.earlier)


ACTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "imports": ("Imports", IMPORTS),
    "releases": (
        "Releases",
        (
            "import",
            "offer",
            "verify",
            "publish",
            "freeze",
            "export",
            "make public",
            "reveal",
            "correct ranking",
            "carry",
            "carry ruling",
            "carry erratum",
            "keep decision",
            "drop decision",
            "void",
            "undo erratum",
            "delete draft",
        ),
    ),
    "clarifications": ("Clarifications", ("ask", "answer")),
    "decisions": ("Decisions", ("flag_upheld", "flag_dismissed", "void", "undo erratum", "retract")),
    "submissions": (
        "Submissions",
        ("submit", "cancel", "rerun", "retract", "count", "submit baselines", "void result"),
    ),
    "rejudges": ("Rejudges", ("rejudge", "apply rejudge", "drop rejudge")),
    "people": ("People", ("first admin", "invite", "withdraw", "accept invitation", "revoke", "create", "add", "edit")),
    "nodes": (
        "Nodes and tracks",
        (
            "grant",
            "enable",
            "disable",
            "drain",
            "maintenance",
            "renew token",
            "revoke node",
            "join",
            "refuse join",
            "retire node",
            "add join token",
            "revoke join token",
            "void results",
            "note peaks",
        ),
    ),
}
"""Filters of the audit: what each is called, and its actions."""


SEARCHED_ENTRIES = 100_000
SHOWN_DETAIL = 500
"""Characters of an entry's detail in the list; its own page has the rest."""


class ActsFilter(admin.SimpleListFilter):
    """Filters by kind of action, from a fixed list: finding the kinds that occur would read the whole audit."""

    title = "acts"
    parameter_name = "act"

    def lookups(self, _request: HttpRequest, _model_admin: Any) -> list[tuple[str, str]]:
        return [(name, title) for name, (title, _) in ACTS.items()]

    def queryset(self, _request: HttpRequest, queryset: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        chosen = ACTS.get(self.value() or "")
        return queryset.filter(action__in=chosen[1]) if chosen else queryset


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor_name", "action", "target", "reason", "facts")
    list_filter = (ActsFilter, "at")
    search_fields = ("target", "actor_name", "reason")
    search_help_text = f"Among the newest {SEARCHED_ENTRIES:,} entries. A row's own History finds all of its entries."

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        newest = AuditEntry.objects.values_list("pk", flat=True).first()
        if search_term and newest is not None:
            queryset = queryset.filter(pk__gt=newest - SEARCHED_ENTRIES)
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="detail")
    def facts(self, entry: AuditEntry) -> str:
        return entry.told[:SHOWN_DETAIL]


@admin.register(Standing)
class StandingAdmin(ReadOnlyAdmin):
    list_display = (
        "release", "track", "rank", "entrant_link", "primary_value", "is_incomplete", "incomplete_reason", "page",
    )  # fmt: skip
    list_filter = ("release", "track", "is_incomplete")
    search_fields = ("entrant__name", "release__slug", "incomplete_reason")
    list_select_related = ("release", "track", "entrant")

    @admin.display(description="entrant", ordering="entrant__name")
    def entrant_link(self, standing: Standing) -> str:
        return admin_link(standing.entrant)
