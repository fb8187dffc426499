"""How verdicts and states look: one place for each one's label, symbol and tone."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.visibility import SEALED, SubmissionView
from runners.wire.protocol import Verdict


@dataclass(frozen=True)
class Look:
    """`symbol` tells them apart without colour; `tone` is a class of the style sheet."""

    label: str
    symbol: str
    tone: str
    meaning: str = ""


VERDICTS: Mapping[str, Look] = {
    Verdict.PASSED: Look("passed", "✓", "good", "Built, and every test held."),
    Verdict.BUILD_FAILED: Look("build failed", "B", "bad", "The build command failed."),
    Verdict.TEST_FAILED: Look("test failed", "✗", "bad", "A test failed, or its harness was never seen to end."),
    Verdict.WRONG_ANSWER: Look("wrong answer", "W", "bad", "The answer differs from the expected one."),
    Verdict.TIMED_OUT: Look("timed out", "T", "bad", "A command ran past its time limit."),
    Verdict.MEMORY_EXCEEDED: Look("memory exceeded", "M", "bad", "A command went past its memory limit."),
    Verdict.SOURCE_REFERENCE_MISSING: Look("reference missing", "R", "bad", "The sources lack a name asked for."),
    Verdict.INVALID: Look("invalid", "!", "bad", "The solution could not be run: a bad path, no files, or missing."),
    Verdict.SKIPPED: Look("skipped", "–", "dim", "The track cannot run this problem; it counts for nobody."),
    SEALED: Look("sealed", "◇", "dim", "A question's verdict, which is told when its release opens its questions."),
    Verdict.PLATFORM_ERROR: Look("platform error", "?", "warn", "Ours, not the contestant's; it waits for a person."),
}  # fmt: skip
STATES: Mapping[str, Look] = {
    "queued": Look("queued", "·", "wait"),
    "leased": Look("running", "▸", "wait"),
    "cancelled": Look("cancelled", "⊘", "dim"),
    "done": Look("done", "✓", "good"),
    "accepted": Look("in progress", "▸", "wait"),
    "draft": Look("draft", "✎", "warn"),
    "published": Look("published", "●", "good"),
    "frozen": Look("frozen", "❄", "dim"),
}


def to_choose_from(view: SubmissionView) -> Mapping[str, Look]:
    """The verdicts by which a page's samples are chosen."""
    return VERDICTS if view.seals_questions else {name: look for name, look in VERDICTS.items() if name != SEALED}


def look_of(state: str, verdict: str | None) -> Look:
    """An evaluation with a result looks like its verdict, though a rerun may be under way."""
    return VERDICTS[verdict] if verdict else STATES[state]


def chip(look: Look) -> SafeString:
    return format_html(
        '<span class="chip {}"><i aria-hidden="true">{}</i> {}</span>', look.tone, look.symbol, look.label
    )


def count_chip(look: Look, n: int) -> SafeString:
    """How many look like this."""
    return format_html(
        '<span class="chip {}"><i aria-hidden="true">{}</i> {} {}</span>', look.tone, look.symbol, n, look.label
    )
