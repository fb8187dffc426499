"""Admin pages of append-only rows (results, measurements, decisions, audit) and of standings."""

from django.contrib import admin

from leaderboard.admin.base import ReadOnlyAdmin
from leaderboard.models import AuditEntry, Decision, Measurement, Result, Standing


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    list_display = ("id", "evaluation", "verdict", "witness", "speedup", "origin", "created_at")
    list_filter = ("verdict", "origin", "witness")
    show_full_result_count = False


@admin.register(Measurement)
class MeasurementAdmin(ReadOnlyAdmin):
    list_display = ("id", "problem", "track", "role", "case", "median_ms", "clock", "ranks", "measured_at")
    list_filter = ("role", "clock", "track")
    list_select_related = ("problem", "track")
    show_full_result_count = False


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("kind", "public_reason", "decided_by", "at")
    list_filter = ("kind",)
    list_select_related = ("decided_by",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor_name", "action", "target", "reason", "detail")
    list_filter = ("action",)
    search_fields = ("target", "actor_name", "reason")
    show_full_result_count = False


@admin.register(Standing)
class StandingAdmin(ReadOnlyAdmin):
    list_display = ("release", "track", "rank", "entrant", "primary_value", "is_incomplete", "incomplete_reason")
    list_filter = ("release", "track", "is_incomplete")
    list_select_related = ("release", "track", "entrant")
