"""How verdicts and states look: one place for each one's label, symbol and tone."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.visibility import SEALED, SubmissionView
from runners.wire.protocol import Verdict


@dataclass(frozen=True)
class Chip:
    """`symbol` tells them apart without colour; `tone` is a class of the style sheet."""

    label: str
    symbol: str
    tone: str
    meaning: str = ""


VERDICTS: Mapping[str, Chip] = {
    Verdict.PASSED: Chip("passed", "✓", "good", "Built, and every test held."),
    Verdict.BUILD_FAILED: Chip("build failed", "B", "bad", "The build command failed."),
    Verdict.TEST_FAILED: Chip("test failed", "✗", "bad", "A test failed, or its harness was never seen to end."),
    Verdict.WRONG_ANSWER: Chip("wrong answer", "W", "bad", "The answer differs from the expected one."),
    Verdict.TIMED_OUT: Chip("timed out", "T", "bad", "A command ran past its time limit."),
    Verdict.MEMORY_EXCEEDED: Chip("memory exceeded", "M", "bad", "A command went past its memory limit."),
    Verdict.SOURCE_REFERENCE_MISSING: Chip("reference missing", "R", "bad", "The sources lack a name asked for."),
    Verdict.INVALID: Chip("invalid", "!", "bad", "The solution could not be run: a bad path, no files, or missing."),
    Verdict.SKIPPED: Chip("skipped", "–", "dim", "The track cannot run this problem; it counts for nobody."),
    SEALED: Chip("sealed", "◇", "dim", "A question's verdict, which is told when its release opens its questions."),
    Verdict.PLATFORM_ERROR: Chip("platform error", "?", "warn", "Ours, not the contestant's; it waits for a person."),
}  # fmt: skip
STATES: Mapping[str, Chip] = {
    "queued": Chip("queued", "·", "wait"),
    "leased": Chip("running", "▸", "wait"),
    "cancelled": Chip("cancelled", "⊘", "dim"),
    "done": Chip("done", "✓", "good"),
    "accepted": Chip("in progress", "▸", "wait"),
    "draft": Chip("draft", "✎", "warn"),
    "published": Chip("published", "●", "good"),
    "frozen": Chip("frozen", "❄", "dim"),
}


def to_choose_from(view: SubmissionView) -> Mapping[str, Chip]:
    """The verdicts by which a page's samples are chosen."""
    return VERDICTS if view.seals_questions else {name: look for name, look in VERDICTS.items() if name != SEALED}


def look_of(state: str, verdict: str | None) -> Chip:
    """An evaluation with a result looks like its verdict, though a rerun may be under way."""
    return VERDICTS[verdict] if verdict else STATES[state]


def chip(look: Chip) -> SafeString:
    return format_html(
        '<span class="chip {}"><i aria-hidden="true">{}</i> {}</span>', look.tone, look.symbol, look.label
    )


def count_chip(look: Chip, n: int) -> SafeString:
    """How many look like this."""
    return format_html(
        '<span class="chip {}"><i aria-hidden="true">{}</i> {} {}</span>', look.tone, look.symbol, n, look.label
    )
