"""The first failure of a sample: which test or case failed first and what it said, as far as a visitor may read it.

A node sends the whole log of a test, which may quote held-out files. A team reads one line of it at most, and only
where the release allows: a line that stands in a held-out file is passed over, and a quoted piece of one is left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Result
from leaderboard.results import logs
from leaderboard.results.first_message import first_line, telling_line, telling_lines
from leaderboard.results.shown_cases import ShownCase
from leaderboard.visibility import SubmissionView, shown_reason
from problems.models import Problem
from runners.wire.protocol import BUILD_STEP, Verdict

MESSAGE_CHARACTERS = 600
NAME_CHARACTERS = 200
LOG_BYTES = 16 * 1024
"""Bytes of a log that are read, from its beginning."""
TEST_STEP = "test"
HELD_OUT = "[held out]"
_NOT_FAILURES = (Verdict.PASSED, Verdict.SKIPPED, Verdict.PLATFORM_ERROR)
_LEAST_QUOTED = 6
"""A shorter quotation, such as the name of a variable, tells nothing of a held-out file."""
_QUOTED = re.compile(r"(?<=[`'\"‘“])[^`'\"‘’“”]+(?=['\"’”])")
_NAMES = (
    re.compile(r"^\[\s+FAILED\s+\]\s+(?P<name>[^\s,]+)", re.MULTILINE),  # GoogleTest
    re.compile(r"^FAILED\s+(?P<name>\S+::\S+)", re.MULTILINE),  # pytest, its summary
    re.compile(r"^_{3,}\s+(?P<name>\S+)\s+_{3,}\s*$", re.MULTILINE),  # pytest, its headings
    re.compile(r"^(?:FAIL|ERROR):\s+(?P<name>\w+) \(", re.MULTILINE),  # unittest
    re.compile(r"^not ok \d+ -? ?(?P<name>[^\n#]+)", re.MULTILINE),  # TAP
)  # fmt: skip


@dataclass(frozen=True)
class FirstFailure:
    """The first failure of a log. `message` has at most MESSAGE_CHARACTERS, and is empty where there is nothing to
    read."""

    step: str
    """`build`, `test` or `case`; "" where no command of the sample was to blame or none is known."""
    name: str
    """Name of the test or case, if it is known."""
    message: str

    @property
    def line(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @property
    def where(self) -> str:
        """The name in words, as `Case large` or `Test test_add`."""
        return f"{self.step.capitalize()} {self.name}".strip()


class FirstFailures:
    """Reads the first failures of one release's results for one view. Reads `n_blobs` long logs at most."""

    def __init__(self, view: SubmissionView, *, n_blobs: int) -> None:
        self._view = view
        self._n_blobs = n_blobs
        self._held_out: tuple[int, str] = (0, "")

    def of(self, result: Result, problem: Problem, cases: Sequence[ShownCase]) -> FirstFailure | None:
        """The first failure; None if the sample did not fail or the user may not read why. One query at most."""
        verdict = Verdict(result.verdict)
        if verdict in _NOT_FAILURES or not self._view.reasons:
            return None
        if verdict == Verdict.BUILD_FAILED:
            line = telling_line(self._log(result, BUILD_STEP)) if self._view.build_log else ""
            return FirstFailure(BUILD_STEP, "", line or first_line(result.reason))
        if not self._view.first_failure and verdict in (Verdict.TEST_FAILED, Verdict.WRONG_ANSWER):
            return None
        failed = next((case for case in cases if case.verdict != Verdict.PASSED), None)
        if failed is not None and self._view.first_failure:
            return FirstFailure(
                "case", failed.name[:NAME_CHARACTERS], _case_message(failed) or first_line(result.reason)
            )
        name, line = self._of_test(result, problem) if verdict == Verdict.TEST_FAILED else ("", "")
        reason = first_line(shown_reason(self._view, verdict, result.reason))
        return FirstFailure(TEST_STEP if line else "", name, line or reason) if line or reason else None

    def _of_test(self, result: Result, problem: Problem) -> tuple[str, str]:
        """The name of the test that failed first, and the first line that says more of a failure than a name."""
        if not self._may_read_test(problem):
            return "", ""
        log = self._log(result, TEST_STEP)
        if not log:
            return "", ""
        held_out = "" if self._view.run_log == "full" else self._held_out_text(problem)
        lines = _without_quoting(list(telling_lines(log)), held_out)
        said = [one for one in lines if not any(pattern.match(one) for pattern in _NAMES)] or lines
        return _name_in(log), without_quotations(said[0] if said else "", held_out)[:MESSAGE_CHARACTERS]

    def _may_read_test(self, problem: Problem) -> bool:
        """A problem whose files nobody is given shows nothing of its tests either."""
        if self._view.run_log == "full":
            return True
        release = problem.release
        is_private = problem.do_not_release or not (release.is_public or release.invited_may_read)
        return self._view.first_failure and not is_private

    def _held_out_text(self, problem: Problem) -> str:
        if self._held_out[0] != problem.pk:
            record = Problem.objects.filter(pk=problem.pk).select_related("release").get().spec
            texts = [one.file.content for one in record.files if one.is_held_out]
            self._held_out = (problem.pk, "\n".join(texts))
        return self._held_out[1]

    def _log(self, result: Result, name: str) -> str:
        log: Mapping[str, Any] = next((step.get("log") or {} for step in result.steps if step["name"] == name), {})
        if log.get("blob"):
            if self._n_blobs <= 0:
                return ""
            self._n_blobs -= 1
        return logs.log_text(log, LOG_BYTES)


def without_quotations(line: str, held_out: str) -> str:
    """The line without the quoted pieces that stand in a held-out file, as the condition of an assertion."""

    def replaced(found: re.Match[str]) -> str:
        words = found.group().strip()
        tells = len(words) >= _LEAST_QUOTED and not words.isidentifier() and words in held_out
        return HELD_OUT if tells else found.group()

    return _QUOTED.sub(replaced, line)


def _without_quoting(lines: Sequence[str], held_out: str) -> list[str]:
    """The lines that do not hold a whole line of a held-out file, as those of a traceback do."""
    text = "\n".join(lines)
    known = {words for one in held_out.splitlines() if len(words := one.strip()) >= _LEAST_QUOTED and words in text}
    return [line for line in lines if not any(words in line for words in known)]


def _name_in(log: str) -> str:
    """The name of the test that comes first in the log."""
    found = [match for match in (pattern.search(log) for pattern in _NAMES) if match]
    first = min(found, key=lambda match: match.start(), default=None)
    return first["name"].strip()[:NAME_CHARACTERS] if first else ""


def _case_message(case: ShownCase) -> str:
    facts = case.facts
    parts: Iterable[str] = (
        str(facts.get("message") or ""),
        f"Shapes: {facts['shapes']}." if facts.get("shapes") else "",
        f"{facts['n_wrong']} of {facts['n_total']} elements are wrong."
        if facts.get("n_wrong") and facts.get("n_total")
        else "",
        f"First: {facts['first_wrong']}" if facts.get("first_wrong") else "",
    )
    return "\n".join(part for part in parts if part)[:MESSAGE_CHARACTERS]
