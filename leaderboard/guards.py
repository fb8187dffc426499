"""What the database refuses to do to the site's own rows: results and rulings are append-only."""

from leaderboard.models import AuditEntry, Decision, Flag, Measurement, PmppRun, Result, ResultCase, Submission, Trial
from problems.triggers import Guard, guard

_APPEND_ONLY = {
    Result: "a result never changes",
    ResultCase: "a case of a result never changes",
    Measurement: "a measurement never changes",
    Flag: "a flag never changes; decide on it instead",
    Decision: "a decision never changes; decide again instead",
}

_ENDED_RUN = "OLD.state IN ('done', 'not_graded') AND (NEW.state <> OLD.state OR NEW.ended_at <> OLD.ended_at)"


def register() -> None:
    for model, message in _APPEND_ONLY.items():
        table = model._meta.db_table
        guard(
            Guard(table, "UPDATE", "append_only", "1 = 1", message),
            Guard(table, "DELETE", "kept", "1 = 1", message),
        )
    models = (AuditEntry, Submission, Trial, PmppRun)
    audit, submission, trial, pmpp_run = (model._meta.db_table for model in models)
    # The account behind an entry may go (its name stays); nothing else of it changes.
    same_words = "OLD.action <> NEW.action OR OLD.target <> NEW.target OR OLD.reason <> NEW.reason OR OLD.at <> NEW.at"
    moved_back = "OLD.state <> 'accepted' AND NEW.state <> OLD.state"
    guard(
        Guard(audit, "UPDATE", "append_only", same_words, "an audit entry never changes"),
        Guard(audit, "DELETE", "kept", "1 = 1", "an audit entry is never deleted"),
        Guard(trial, "UPDATE", "ended", "OLD.state = 'done'", "a trial that has ended never changes"),
        Guard(pmpp_run, "UPDATE", "ended", _ENDED_RUN, "a PMPP run that has ended keeps its outcome"),
        Guard(submission, "UPDATE", "forward", moved_back, "a submission state only moves forward"),
    )
