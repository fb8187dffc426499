"""Answers in the shape of PMPP's server: one entry for the build and one for the test, with the logs as permitted."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from leaderboard.models import PmppRun, PmppRunState
from leaderboard.results.first_message import telling_line
from leaderboard.results.logs import log_text
from runners.wire.protocol import BUILD_STEP, FlagScope, Verdict

LOG_BYTES = 200_000
TIMED_OUT = 124
NOT_GRADED = "Not graded"

Answer = dict[str, Any]


class LogView(Enum):
    """The level of detail of an answer."""

    ALL = "all"
    FIRST_FAILURE = "first failure"
    VERDICT = "verdict"


def view_of(run: PmppRun) -> LogView:
    """Organisers' tokens see all. Others see verdicts only where the release says so, and of the reference, whose
    failures could quote it."""
    if run.token.user.is_staff:
        return LogView.ALL
    return LogView.VERDICT if run.is_reference or not run.token.release.shows_first_failure else LogView.FIRST_FAILURE


def refused(words: str, elapsed_ms: float) -> Answer:
    """`success: false` without entries."""
    return {"success": False, "results": [], "execution_time_ms": round(elapsed_ms, 2), "error": words}


def out_of_time(seconds: int, elapsed_ms: float) -> Answer:
    words = f"{NOT_GRADED}: the run did not end within {seconds} s. It goes on; send the same again to join it."
    return refused(words, elapsed_ms)


def graded(run: PmppRun, target: str, elapsed_ms: float) -> Answer:
    """The answer for a run that has ended."""
    outcome, view = run.outcome or {}, view_of(run)
    if run.state == PmppRunState.NOT_GRADED:
        reason = f" {outcome['reason']}" if view is LogView.ALL and outcome.get("reason") else ""
        return refused(f"{NOT_GRADED}: the platform failed, not the solution. Send it again.{reason}", elapsed_ms)
    words = _words(outcome, view)
    entries = [_entry(step, outcome, target, view, words) for step in outcome["steps"]]
    return {
        "success": not words,
        "results": entries,
        "execution_time_ms": round(elapsed_ms, 2),
        "error": words or None,
    }


def _words(outcome: Mapping[str, Any], view: LogView) -> str:
    """Returns the reason why it is no success; empty if it is one."""
    verdict = outcome["verdict"]
    if verdict == Verdict.PASSED:
        flags = [one["code"] for one in outcome.get("flags", ()) if one["scope"] == FlagScope.VERDICT]
        return f"Passed, but flagged {', '.join(flags)}: it counts once a person has looked." if flags else ""
    reason = "" if view is LogView.VERDICT else outcome.get("reason", "")
    return f"{verdict.replace('_', ' ').capitalize()}: {reason}" if reason else verdict.replace("_", " ").capitalize()


def _entry(step: Mapping[str, Any], outcome: Mapping[str, Any], target: str, view: LogView, words: str) -> Answer:
    is_build = step["name"] == BUILD_STEP
    success = outcome["verdict"] != Verdict.BUILD_FAILED if is_build else not words
    command = f"$ make -s {target}" if is_build else f"$ ./{target}"
    return {
        "target": target,
        "success": success,
        "exit_code": _exit_code(step),
        "output": f"{command}\n{_output(step, view, '' if success else words)}".strip(),
        "execution_time_ms": round(step.get("wall_ms", 0.0), 2),
    }


def _output(step: Mapping[str, Any], view: LogView, words: str) -> str:
    """The log for organisers. For others why the step failed, with the first error of a build."""
    if view is LogView.ALL:
        return "\n".join(filter(None, (log_text(step.get("log") or {}, LOG_BYTES), words)))
    if words and view is LogView.FIRST_FAILURE and step["name"] == BUILD_STEP:
        return f"{words}\n{telling_line(log_text(step.get('log') or {}, LOG_BYTES))}"
    return words


def _exit_code(step: Mapping[str, Any]) -> int:
    if step.get("timed_out"):
        return TIMED_OUT
    if step.get("signal") is not None:
        return 128 + int(step["signal"])
    return 1 if step.get("exit_code") is None else int(step["exit_code"])
