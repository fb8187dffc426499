"""What the database refuses to do to the site's own rows: results and rulings are append-only."""

from leaderboard.models import (
    Appeal,
    AuditEntry,
    BoardSnapshot,
    Decision,
    Flag,
    Measurement,
    PmppRun,
    Rejudge,
    Result,
    ResultCase,
    Submission,
    Trial,
    VoidedResult,
)
from problems.triggers import Guard, guard

_APPEND_ONLY = {
    Result: "a result never changes",
    ResultCase: "a case of a result never changes",
    Measurement: "a measurement never changes",
    Flag: "a flag never changes; decide on it instead",
    BoardSnapshot: "a snapshot of a frozen board never changes",
    Decision: "a decision never changes; decide again instead",
    Appeal: "an appeal never changes; decide on the flag again instead",
    VoidedResult: "a voided result stays void",
}

_ENDED_RUN = "OLD.state IN ('done', 'not_graded') AND (NEW.state <> OLD.state OR NEW.ended_at <> OLD.ended_at)"

_ENDED_REJUDGE = "OLD.state IN ('applied', 'dropped') AND (NEW.state <> OLD.state OR NEW.scope <> OLD.scope)"


def register() -> None:
    for model, message in _APPEND_ONLY.items():
        table = model._meta.db_table
        guard(
            Guard(table, "UPDATE", "append_only", "1 = 1", message),
            Guard(table, "DELETE", "kept", "1 = 1", message),
        )
    models = (AuditEntry, Submission, Trial, PmppRun, Rejudge)
    audit, submission, trial, pmpp_run, rejudge = (model._meta.db_table for model in models)
    # The account behind an entry may go (its name stays); nothing else of it changes.
    same_words = "OLD.action <> NEW.action OR OLD.target <> NEW.target OR OLD.reason <> NEW.reason OR OLD.at <> NEW.at"
    moved_back = "OLD.state <> 'accepted' AND NEW.state <> OLD.state"
    guard(
        Guard(audit, "UPDATE", "append_only", same_words, "an audit entry never changes"),
        Guard(audit, "DELETE", "kept", "1 = 1", "an audit entry is never deleted"),
        Guard(trial, "UPDATE", "ended", "OLD.state = 'done'", "a trial that has ended never changes"),
        Guard(pmpp_run, "UPDATE", "ended", _ENDED_RUN, "a PMPP run that has ended keeps its outcome"),
        Guard(rejudge, "UPDATE", "ended", _ENDED_REJUDGE, "a rejudge that has ended never changes"),
        Guard(submission, "UPDATE", "forward", moved_back, "a submission state only moves forward"),
    )
