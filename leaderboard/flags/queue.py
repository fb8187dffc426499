"""The organisers' queue of flags: its filters, its order, and the evidence on one flag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard import blobs
from leaderboard.charts.chart import Table
from leaderboard.charts.results import runs
from leaderboard.flags.shown import ShownFlag, appealed, current, ruled, shown, undecided, with_effects
from leaderboard.models import Decision, Flag, Measurement
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.results import logs
from leaderboard.results.measurements import measurements_of, provenance_rows, runs_of
from leaderboard.results.timings import DeviceFact, device_facts, facts_as_others
from leaderboard.submissions.rollouts import SampleUnreadable, read_sample
from leaderboard.submissions.side_by_side import FilePair, compare_files
from leaderboard.visibility import SubmissionView
from problems.models import Problem
from problems.spec.record import FileRole
from problems.spec.solution import FileSolution, SourceFile

STATES = {
    "": "to decide", "appealed": "appealed", "decided": "decided", "upheld": "upheld", "dismissed": "dismissed",
    "all": "all",
}  # fmt: skip
_RULINGS = {"upheld": DecisionKind.FLAG_UPHELD, "dismissed": DecisionKind.FLAG_DISMISSED}
MAX_OTHERS = 50
_PLACE = "result__evaluation"
_EXACT = {
    "release": f"{_PLACE}__submission__release__slug", "track": f"{_PLACE}__track__slug", "code": "code",
    "scope": "scope",
}  # fmt: skip
_PARTS = {
    "problem": (f"{_PLACE}__problem__task_id", f"{_PLACE}__problem__title"),
    "entrant": (f"{_PLACE}__submission__entrant__name", f"{_PLACE}__submission__entrant__slug"),
}


BUSY_HOST = "busy_host"
MEASURED_FOR = timedelta(days=1)
"""For so long other nodes may measure a disturbed time again before it waits for a person."""


def still_measured() -> Q:
    """Flags that another node's measurement may still replace."""
    return Q(code=BUSY_HOST, created_at__gt=timezone.now() - MEASURED_FOR)


_OF_SYSTEM = Q(**{f"{_PLACE}__submission__entrant__kind": EntrantKind.SYSTEM})
"""Flags found by verifying a release, where nothing depends on a ruling. The list of all flags has them."""


def queue(asked: Mapping[str, str]) -> QuerySet[Flag]:
    """The flags that an address asks for, oldest first.

    Those of replaced results are in the list of all only, unless their ruling is appealed.
    """
    rows = Flag.objects.order_by("pk")
    for name, field in _EXACT.items():
        if value := asked.get(name):
            rows = rows.filter(**{field: value})
    for name, fields in _PARTS.items():
        for word in asked.get(name, "").split():
            rows = rows.filter(Q(**{f"{fields[0]}__icontains": word}) | Q(**{f"{fields[1]}__icontains": word}))
    state = asked.get("state", "")
    return rows if state == "all" else _in_state(rows, state)


def _in_state(rows: QuerySet[Flag], state: str) -> QuerySet[Flag]:
    if state in _RULINGS:
        return rows.filter(ruled(_RULINGS[state]), current())
    if state == "appealed":
        return rows.filter(appealed())
    if state == "decided":
        return rows.filter(~undecided(), current())
    return rows.filter(undecided() & Q(current()) & ~still_measured() | appealed()).exclude(_OF_SYSTEM)


@dataclass(frozen=True)
class Evidence:
    """The evidence that an organiser reads before a ruling."""

    files: Sequence[FilePair]
    """The sample's code on the left, the reference's, or the context file that it replaces, on the right."""
    unreadable: str
    """The reason why there is no code, or ""."""
    steps: Sequence[logs.LoggedStep]
    measurements: Sequence[Measurement]
    runs: Table
    device_facts: Sequence[DeviceFact]
    facts_as_others: Sequence[DeviceFact]
    provenance: Sequence[tuple[str, Any]]
    decisions: Sequence[Decision]
    others: Sequence[ShownFlag]
    """Other flags of the same entrant and problem."""


def evidence_on(flag: Flag, view: SubmissionView) -> Evidence:
    """A fixed number of queries. `flag` comes from `with_effects`."""
    result, found = flag.result, flag.result.evaluation
    code, unreadable = _code_of(flag)
    rows = measurements_of(result)
    others = Flag.objects.filter(**{
        f"{_PLACE}__problem": found.problem_id, f"{_PLACE}__submission__entrant": found.submission.entrant_id
    }).exclude(pk=flag.pk)  # fmt: skip
    return Evidence(
        files=compare_files(code, _given(found.problem, code)),
        unreadable=unreadable,
        steps=logs.steps_of(result, view),
        measurements=rows,
        runs=runs.table([runs_of(one) for one in rows]),
        device_facts=device_facts(rows),
        facts_as_others=facts_as_others(rows),
        provenance=provenance_rows(result.provenance),
        decisions=list(flag.decisions.select_related("decided_by", "earlier__decided_by", "appeal__appealed_by")),
        others=[shown(one) for one in with_effects(others).order_by("-pk")[:MAX_OTHERS]],
    )


def _code_of(flag: Flag) -> tuple[Sequence[SourceFile], str]:
    try:
        return read_sample(flag.result.evaluation.sample).files, ""
    except SampleUnreadable as why:
        return [], str(why)
    except blobs.BlobsUnavailable:
        return [], "The record cannot be read now; please try again in a while."


def _given(problem: Problem, code: Sequence[SourceFile]) -> list[SourceFile]:
    """The reference's files, and the context files that the sample replaces."""
    record, paths = problem.spec, {one.path for one in code}
    files = list(record.reference.files) if isinstance(record.reference, FileSolution) else []
    paths -= {one.path for one in files}
    return files + [one.file for one in record.files if one.role is FileRole.CONTEXT and one.file.path in paths]
