"""Triggers of the database on releases and problems."""

from problems.models import RANKING_FIELDS, Problem, ProblemBlob, Release
from problems.triggers import Guard, any_differs, columns_of, guard

_MAY_CHANGE_AFTER_PUBLICATION = {
    "state", "title", "description", "is_public", "opens_at", "closes_at", "hidden_until", "published_at", "frozen_at",
    "max_samples", "results_are_public", "invited_may_read", "licence", "dataset_card",
    "shows_first_failure", "reveals_at", "authors", "transcripts_are_public",
}  # fmt: skip
_ORDER = "CASE {row}.state WHEN 'draft' THEN 0 WHEN 'published' THEN 1 ELSE 2 END"


def _release_state(row: str) -> str:
    return f"(SELECT state FROM problems_release WHERE id = {row}.release_id) <> 'draft'"  # noqa: S608 - no input, names only


def _state_of_problem(row: str) -> str:
    """Whether the release of the row's problem is published."""
    release = f"(SELECT release_id FROM problems_problem WHERE id = {row}.problem_id)"  # noqa: S608 - no input, names only
    return f"(SELECT state FROM problems_release WHERE id = {release}) <> 'draft'"  # noqa: S608


def register() -> None:
    release, problem, blob = (model._meta.db_table for model in (Release, Problem, ProblemBlob))
    fixed = any_differs(columns_of(Release, _MAY_CHANGE_AFTER_PUBLICATION | {*RANKING_FIELDS, "rules", "correction"}))
    ranking, corrected = any_differs([*RANKING_FIELDS, "rules"]), any_differs(["correction"])
    backwards = f"{_ORDER.format(row='NEW')} < {_ORDER.format(row='OLD')}"
    changed = any_differs(columns_of(Problem, set()))
    guard(
        Guard(release, "UPDATE", "fixed", f"OLD.state <> 'draft' AND ({fixed})", "a published release never changes"),
        Guard(
            release,
            "UPDATE",
            "ranking",
            f"OLD.state <> 'draft' AND ({ranking}) AND NOT (({corrected}) AND NEW.correction <> '')",
            "a published ranking only changes with a new correction",
        ),
        Guard(release, "UPDATE", "forward", backwards, "a release state only moves forward"),
        Guard(release, "DELETE", "kept", "OLD.state <> 'draft'", "a published release is never deleted"),
        Guard(problem, "INSERT", "closed", _release_state("NEW"), "a published release takes no new problem"),
        Guard(
            problem, "UPDATE", "fixed", f"{_release_state('OLD')} AND ({changed})", "a published problem never changes"
        ),
        Guard(problem, "DELETE", "kept", _release_state("OLD"), "a published problem is never deleted"),
        Guard(blob, "INSERT", "closed", _state_of_problem("NEW"), "a published problem takes no new file"),
        Guard(blob, "UPDATE", "fixed", _state_of_problem("OLD"), "the files of a published problem never change"),
        Guard(blob, "DELETE", "kept", _state_of_problem("OLD"), "the files of a published problem are never deleted"),
    )
