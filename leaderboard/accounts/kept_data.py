"""The site's data of an account: tables, what an export shows of them, and what deletion does with them.

A test finds every table that names an account and asks for its line here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet

from leaderboard.models import AuditEntry
from leaderboard.models.audit import target_of


class Fate(Enum):
    """The fate of rows when the account is deleted."""

    GOES = "goes"
    STAYS = "stays"


@dataclass(frozen=True)
class Kept:
    """One relation to an account: `model` is `<app>.<model>`, `by` the field that names the account."""

    title: str
    model: str
    by: str
    fields: Sequence[str]
    fate: Fate

    def rows(self, user: Any) -> QuerySet[Any]:
        model: type[Model] = apps.get_model(self.model)
        asked = {"username__iexact": user.username} if self.by == "username" else {self.by: user}
        return model._default_manager.filter(**asked).order_by("pk")


_GOES, _STAYS = Fate.GOES, Fate.STAYS
KEPT: Sequence[Kept] = (
    Kept("emails", "account.EmailAddress", "user", ["email", "verified", "primary"], _GOES),
    Kept("sign_in_methods", "mfa.Authenticator", "user", ["type", "created_at", "last_used_at"], _GOES),
    Kept("providers", "socialaccount.SocialAccount", "user",
         ["provider", "uid", "last_login", "date_joined", "extra_data"], _GOES),
    Kept("sign_ins", "axes.AccessLog", "username",
         ["attempt_time", "logout_time", "ip_address", "user_agent"], _GOES),
    Kept("failed_sign_ins", "axes.AccessAttempt", "username",
         ["attempt_time", "ip_address", "failures_since_start"], _GOES),
    Kept("api_tokens", "leaderboard.ApiToken", "user",
         ["name", "hint", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"], _GOES),
    Kept("daily_use", "leaderboard.DailyUse", "user", ["day", "n_evaluations", "n_bytes"], _GOES),
    Kept("teams", "leaderboard.Membership", "user", ["team__name", "role", "joined_at"], _GOES),
    Kept("team_invitations_made", "leaderboard.TeamInvitation", "invited_by",
         ["team__name", "role", "email", "created_at", "used_at"], _GOES),
    Kept("team_invitations_used", "leaderboard.TeamInvitation", "used_by", ["team__name", "role", "used_at"], _GOES),
    Kept("invited_to_releases", "problems.Release_invited", "user", ["release__slug"], _GOES),
    Kept("groups", "auth.User_groups", "user", ["group__name"], _GOES),
    Kept("permissions", "auth.User_user_permissions", "user", ["permission__codename"], _GOES),
    Kept("notifications", "leaderboard.NotificationSettings", "user", ["by_mail", "feed_hint", "feed_made_at"], _GOES),
    Kept("webhooks", "leaderboard.Webhook", "user", ["url", "entrant__slug", "is_on", "created_at"], _GOES),
    Kept("deliveries", "leaderboard.Delivery", "user",
         ["submission_id", "webhook__url", "state", "created_at", "ended_at"], _GOES),
    Kept("typed_drafts", "leaderboard.TypedDraft", "user",
         ["problem__task_id", "language", "files", "saved_at"], _GOES),
    Kept("entrants", "leaderboard.Entrant", "owner",
         ["slug", "name", "kind", "organisation", "description", "url", "open_weights", "is_verified",
          "publishes_code", "created_at"], _STAYS),
    Kept("submissions", "leaderboard.Submission", "submitted_by",
         ["id", "entrant__slug", "release__slug", "name", "note", "state", "is_full", "submitted_through",
          "digest", "generation", "created_at", "finished_at"], _STAYS),
    Kept("choices_of_what_counts", "leaderboard.Chosen", "chosen_by", ["submission_id", "track__slug", "at"], _STAYS),
    Kept("runs_before_submitting", "leaderboard.Trial", "user",
         ["id", "problem__task_id", "track__slug", "state", "created_at"], _STAYS),
    Kept("pmpp_addresses", "leaderboard.PmppToken", "user",
         ["name", "hint", "entrant__slug", "release__slug", "created_at", "expires_at", "revoked_at"], _STAYS),
    Kept("clarifications", "leaderboard.Clarification", "asked_by",
         ["problem__task_id", "kind", "text", "answer", "asked_at"], _STAYS),
    Kept("clarifications_answered", "leaderboard.Clarification", "answered_by",
         ["problem__task_id", "answer", "answered_at"], _STAYS),
    Kept("appeals", "leaderboard.Appeal", "appealed_by", ["decision_id", "words", "at"], _STAYS),
    Kept("rulings", "leaderboard.Decision", "decided_by", ["kind", "public_reason", "at"], _STAYS),
    Kept("reasons_about_audits", "leaderboard.AuditReason", "given_by",
         ["problem__task_id", "public_reason", "at"], _STAYS),
    Kept("answers_for_revisions", "leaderboard.RevisionAnswer", "answered_by",
         ["release__slug", "decision_id", "keeps", "public_reason", "at"], _STAYS),
    Kept("notes", "leaderboard.SampleNote", "author", ["sample_id", "thumb", "text", "at"], _STAYS),
    Kept("rejudges_started", "leaderboard.Rejudge", "started_by", ["id", "reason", "started_at"], _STAYS),
    Kept("rejudges_ended", "leaderboard.Rejudge", "ended_by", ["id", "public_reason", "ended_at"], _STAYS),
    Kept("voidings", "leaderboard.Voiding", "voided_by", ["id", "public_reason", "at"], _STAYS),
    Kept("invitations_made", "leaderboard.Invitation", "invited_by",
         ["email", "note", "created_at", "used_at"], _STAYS),
    Kept("invitation_used", "leaderboard.Invitation", "used_by", ["email", "used_at"], _STAYS),
    Kept("transfers_offered", "leaderboard.Transfer", "offered_by",
         ["entrant__slug", "to_user__username", "to_team__name", "state", "offered_at"], _STAYS),
    Kept("transfers_to_me", "leaderboard.Transfer", "to_user",
         ["entrant__slug", "state", "offered_at", "answered_at"], _STAYS),
    Kept("transfers_answered", "leaderboard.Transfer", "answered_by",
         ["entrant__slug", "state", "answered_at"], _STAYS),
    Kept("requests", "leaderboard.EntrantRequest", "asked_by",
         ["kind", "entrant__slug", "reason", "state", "asked_at", "ruling"], _STAYS),
    Kept("requests_ruled", "leaderboard.EntrantRequest", "ruled_by",
         ["kind", "entrant__slug", "ruling", "ruled_at"], _STAYS),
    Kept("packed_uploads", "leaderboard.Packing", "made_by", ["kind", "name", "state", "created_at"], _STAYS),
    Kept("edits_in_the_administration", "admin.LogEntry", "user", ["action_time", "object_repr"], _STAYS),
    Kept("audit", "leaderboard.AuditEntry", "actor", ["at", "action", "target", "reason", "detail"], _STAYS),
)  # fmt: skip
"""The account's data in the order of the export."""


def export_of(user: Any) -> dict[str, Any]:
    """Everything kept about the account, as JSON can hold it. One query for each line of KEPT."""
    profile = {
        "username": user.username, "email": user.email, "first_name": user.first_name, "last_name": user.last_name,
        "joined": user.date_joined, "last_sign_in": user.last_login, "is_organiser": user.is_staff,
    }  # fmt: skip
    about = AuditEntry.objects.filter(target=target_of(user)).exclude(actor=user).order_by("pk")
    lines = {"audit_about_the_account": list(about.values("at", "action", "reason"))}
    return {"profile": profile} | {one.title: list(one.rows(user).values(*one.fields)) for one in KEPT} | lines
