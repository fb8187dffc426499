"""Failures by their first message, as one visitor may read them: most of an ambiguous problem's fail alike."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression

from leaderboard.models import Evaluation
from leaderboard.results import logs
from leaderboard.results.first_message import SEARCHED_CHARACTERS, first_line, normalised, telling_line
from leaderboard.visibility import SubmissionView, shown_reason
from runners.wire.protocol import BUILD_STEP, Verdict

MAX_FAILURES = 2000
"""The newest are read."""
MAX_BLOBS = 200
"""Logs that are read from the blob store for a page; only for those who may read every log."""
NOT_FAILURES = (Verdict.PASSED, Verdict.SKIPPED)
NO_MESSAGE = "(no message)"
TELLING_STEPS: Mapping[str, str] = {Verdict.BUILD_FAILED: BUILD_STEP, Verdict.TEST_FAILED: "test"}
"""The step whose log tells more than the result's reason."""
_COLUMNS = (
    "pk", "submission_id", "problem_id", "current_result__verdict", "current_result__reason", "current_result__steps",
)  # fmt: skip


@dataclass(frozen=True)
class Failure:
    """A failed evaluation and the first message of it that the visitor may read, before and after normalising."""

    evaluation_id: int
    submission_id: int
    problem_id: int
    verdict: str
    line: str
    message: str

    @property
    def cluster(self) -> str:
        """Names the cluster in an address."""
        return hashlib.sha256(f"{self.verdict}\n{self.message}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Failures:
    """The failures that were read; `is_cut` if there are more than MAX_FAILURES."""

    rows: Sequence[Failure]
    is_cut: bool
    n_logs_left_out: int
    """Logs in the blob store that were not read; the result's reason stands for them."""


@dataclass
class Cluster:
    """Failures of one verdict whose first messages are equal but for names, paths and numbers."""

    key: str
    verdict: str
    message: str
    example: str
    """One of the messages as it was printed."""
    rows: list[Failure] = field(default_factory=list)

    @property
    def by_problem(self) -> list[tuple[int, int]]:
        """Problem ids and their numbers of failures, the largest first."""
        return _counted(one.problem_id for one in self.rows)

    @property
    def by_submission(self) -> list[tuple[int, int]]:
        """Submission ids and their numbers of failures, the largest first."""
        return _counted(one.submission_id for one in self.rows)


def read_failures(
    evaluations: "QuerySet[Evaluation]", view: SubmissionView, *, of_one_submission: bool = False
) -> Failures:
    """The newest MAX_FAILURES failures among the evaluations. One query."""
    rows = view.open_of(evaluations).exclude(current_result=None).exclude(current_result__verdict__in=NOT_FAILURES)
    newest = rows.order_by(_by_result(of_one_submission).desc()).values(*_COLUMNS)[: MAX_FAILURES + 1]
    reader = _Reader(view, MAX_BLOBS if view.run_log == "full" else 0)
    found = [reader.failure(row) for row in newest.iterator(chunk_size=200)]
    return Failures(found[:MAX_FAILURES], len(found) > MAX_FAILURES, reader.n_left_out)


def _by_result(of_one_submission: bool) -> F | CombinedExpression:
    """The order of results. Of one submission they are sorted: PostgreSQL would else walk all results of the site."""
    return F("current_result_id") + 0 if of_one_submission else F("current_result_id")


def clusters_of(failures: Iterable[Failure]) -> list[Cluster]:
    """The largest first."""
    found: dict[str, Cluster] = {}
    for one in failures:
        new = Cluster(one.cluster, one.verdict, one.message, one.line)
        found.setdefault(new.key, new).rows.append(one)
    return sorted(found.values(), key=lambda cluster: (-len(cluster.rows), cluster.verdict, cluster.message))


@dataclass
class _Reader:
    """Reads first messages; counts the blobs that it may still read."""

    view: SubmissionView
    n_blobs: int
    n_left_out: int = 0

    def failure(self, row: Mapping[str, Any]) -> Failure:
        pk, submission_id, problem_id, verdict, reason, steps = (row[name] for name in _COLUMNS)
        line = self._log_line(verdict, steps) or first_line(shown_reason(self.view, verdict, reason))
        return Failure(pk, submission_id, problem_id, verdict, line, normalised(line) or NO_MESSAGE)

    def _log_line(self, verdict: str, steps: Sequence[Mapping[str, Any]]) -> str:
        """The telling line of the log of the step that failed; "" where it may not be read."""
        name = TELLING_STEPS.get(verdict, "")
        step = next((step for step in steps if step["name"] == name), None)
        if step is None or not logs.may_read(self.view, name):
            return ""
        return telling_line(self._text(step.get("log") or {}))

    def _text(self, log: Mapping[str, Any]) -> str:
        if log.get("blob"):
            if self.n_blobs <= 0:
                self.n_left_out += 1
                return ""
            self.n_blobs -= 1
        return logs.log_text(log, SEARCHED_CHARACTERS)


def _counted(ids: Iterable[int]) -> list[tuple[int, int]]:
    return sorted(Counter(ids).items(), key=lambda pair: (-pair[1], pair[0]))
