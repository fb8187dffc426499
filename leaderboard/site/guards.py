"""Triggers of the database on the site's own rows: results and rulings are append-only."""

from leaderboard.models import (
    Appeal,
    AuditEntry,
    BoardSnapshot,
    Chosen,
    Decision,
    Flag,
    Measurement,
    PmppRun,
    Rejudge,
    Result,
    ResultCase,
    RoundPlace,
    Submission,
    Trial,
    VoidedResult,
)
from problems.triggers import Guard, guard

_STATE = "(SELECT state FROM problems_release WHERE id = {release})"
_OF_PROBLEM = _STATE.format(release="(SELECT release_id FROM problems_problem WHERE id = {id})")
_OF_SUBMISSION = _STATE.format(release="(SELECT release_id FROM leaderboard_submission WHERE id = {id})")
_OF_EVALUATION = _OF_SUBMISSION.format(id="(SELECT submission_id FROM leaderboard_evaluation WHERE id = {id})")
_OF_RESULT = _OF_EVALUATION.format(id="(SELECT evaluation_id FROM leaderboard_result WHERE id = {id})")
_OF_FLAG = _OF_RESULT.format(id="(SELECT result_id FROM leaderboard_flag WHERE id = {id})")


def _of_decision(row: str) -> str:
    """The state of the release of a decision's subject. `row`: an expression of a column's value, by its name."""
    states = {"flag_id": _OF_FLAG, "problem_id": _OF_PROBLEM, "submission_id": _OF_SUBMISSION}
    return f"COALESCE({', '.join(state.format(id=row.format(name=name)) for name, state in states.items())})"


_THE_DECISION = "(SELECT {name} FROM leaderboard_decision WHERE id = OLD.decision_id)"
_APPEND_ONLY = {
    Result: ("a result never changes", _OF_EVALUATION.format(id="OLD.evaluation_id")),
    ResultCase: ("a case of a result never changes", _OF_RESULT.format(id="OLD.result_id")),
    Measurement: ("a measurement never changes", _OF_PROBLEM.format(id="OLD.problem_id")),
    Flag: ("a flag never changes; decide on it instead", _OF_RESULT.format(id="OLD.result_id")),
    BoardSnapshot: ("a snapshot of a frozen board never changes", "'kept'"),
    Decision: ("a decision never changes; decide again instead", _of_decision("OLD.{name}")),
    Appeal: ("an appeal never changes; decide on the flag again instead", _of_decision(_THE_DECISION)),
    Chosen: ("a choice never changes; choose again instead", _OF_SUBMISSION.format(id="OLD.submission_id")),
    RoundPlace: ("a figure of before a round never changes", _OF_SUBMISSION.format(id="OLD.submission_id")),
    VoidedResult: ("a voided result stays void", _OF_RESULT.format(id="OLD.result_id")),
}
"""For each table the words of a refusal, and the state of a row's release as SQL. Rows of a draft go with it."""

_ENDED_RUN = "OLD.state IN ('done', 'not_graded') AND (NEW.state <> OLD.state OR NEW.ended_at <> OLD.ended_at)"

_ENDED_REJUDGE = "OLD.state IN ('applied', 'dropped') AND (NEW.state <> OLD.state OR NEW.scope <> OLD.scope)"


def register() -> None:
    for model, (message, state) in _APPEND_ONLY.items():
        table = model._meta.db_table
        guard(
            Guard(table, "UPDATE", "append_only", "1 = 1", message),
            Guard(table, "DELETE", "kept", f"COALESCE({state}, '') <> 'draft'", message),
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
