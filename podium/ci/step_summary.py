"""The summary in Markdown, for a job's page. Text that others wrote is shown literally, never as markup."""

import re
from collections.abc import Sequence

from podium.ci.outcomes import PackOutcomes, SampleOutcome, State

MAX_ROWS = 50
MAX_CHARACTERS = 300
_HEAD = (
    "| Solutions | Samples | Passed | Failed | Skipped | Not graded | pass@1 |\n"
    "| --- | --: | --: | --: | --: | --: | --: |"
)
_FAILED_HEAD = "| Sample | Verdict | Reason | First output |\n| --- | --- | --- | --- |"


def markdown(packs: Sequence[PackOutcomes], conclusion: str) -> str:
    """A table of the packs, the conclusion about the threshold if there is one, and the samples that did not pass."""
    parts = ["## Podium", "\n".join([_HEAD, *map(_pack_row, packs)])]
    if conclusion:
        parts.append(f"**{literal(conclusion)}**")
    for pack in packs:
        parts += _not_passed(pack)
    return "\n\n".join(parts) + "\n"


def _pack_row(pack: PackOutcomes) -> str:
    counts = [len(pack.of(state)) for state in (State.PASSED, State.FAILED, State.SKIPPED, State.FAULT)]
    rate = "–" if pack.pass_at_1 is None else f"{100 * pack.pass_at_1:.1f} %"
    return f"| {code(pack.name)} | {len(pack.outcomes)} | {' | '.join(map(str, counts))} | {rate} |"


def _not_passed(pack: PackOutcomes) -> list[str]:
    shown = [one for one in pack.outcomes if one.state is not State.PASSED or one.flags]
    if not shown:
        return []
    rows = [_FAILED_HEAD, *map(_sample_row, shown[:MAX_ROWS])]
    more = [f"{len(shown) - MAX_ROWS} more are in the graded rows."] if len(shown) > MAX_ROWS else []
    return [f"### {code(pack.name)}: samples that did not pass or have flags", "\n".join(rows), *more]


def _sample_row(one: SampleOutcome) -> str:
    first = next((line for line in one.output.splitlines() if line.strip()), "")
    reason = " ".join([one.reason, *one.flags])
    return f"| {code(one.name)} | {code(one.verdict)} | {literal(reason)} | {code(first)} |"


def code(text: str) -> str:
    """The text in a `<code>` element, in which GitHub makes no links and no mentions."""
    return f"<code>{literal(text)}</code>" if text.strip() else ""


def literal(text: str) -> str:
    """One line in which every ASCII character but letters, digits and spaces is a numeric reference."""
    line = " ".join(text.split())
    cut = line if len(line) <= MAX_CHARACTERS else line[:MAX_CHARACTERS] + "…"
    return re.sub(r"[^A-Za-z0-9 \u00a0-\ud7ff\ue000-\U0010ffff]", _reference, cut)


def _reference(found: re.Match[str]) -> str:
    character = found[0]
    return f"&#{ord(character)};" if " " < character <= "~" else "\N{REPLACEMENT CHARACTER}"
