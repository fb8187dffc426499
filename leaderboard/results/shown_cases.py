"""The cases and times of a result or a trial that a user may read, and the facts of each; see visibility.py."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Measurement, ResultCase
from leaderboard.visibility import SubmissionView, trial_audiences
from problems.spec.case import is_held_out
from runners.wire.protocol import Audience


@dataclass(frozen=True)
class ShownCase:
    """A case as one user may read it: `facts` are the fields that are for this user."""

    name: str
    verdict: str
    facts: Mapping[str, Any]


def may_see_case(view: SubmissionView, case: str) -> bool:
    """Verdict and times of a case of that name: of a held-out one an organiser's alone."""
    return not is_held_out(case) or Audience.ORGANISER in view.audiences


def shown_measurements(view: SubmissionView, rows: Iterable[Measurement]) -> list[Measurement]:
    """Those of the cases that this user may see."""
    return [row for row in rows if may_see_case(view, row.case)]


def shown_cases(view: SubmissionView, cases: Iterable[ResultCase]) -> list[ShownCase]:
    """The cases that this user may see, each with the fields that are for this user."""
    shown = [case for case in cases if may_see_case(view, case.name)]
    return [ShownCase(case.name, case.verdict, _facts(case.fields, view.audiences)) for case in shown]


def shown_cases_so_far(view: SubmissionView, cases: Iterable[Mapping[str, Any]]) -> list[ShownCase]:
    """The same of the rows that a node has told while it works. Values of a call's arrays are never among them."""
    shown = [one for one in cases if may_see_case(view, one["name"])]
    return [ShownCase(one["name"], one["verdict"], _facts(_without_values(one), view.audiences)) for one in shown]


def shown_trial_cases(user: Any, cases: Iterable[Mapping[str, Any]]) -> list[ShownCase]:
    """The cases of a trial that this user may see: to its user they are what a result's are to the team."""
    audiences = trial_audiences(user)
    return [ShownCase(case["name"], case["verdict"], _facts(case["fields"], audiences)) for case in cases]


def _without_values(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [field for field in case["fields"] if not field["name"].startswith("sample_")]


def _facts(fields: Iterable[Mapping[str, Any]], audiences: frozenset[Audience]) -> dict[str, Any]:
    return {field["name"]: field["value"] for field in fields if field["audience"] in audiences}
