"""Writes the reports that were asked for, and says whether the check holds."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from podium.ci import workflow_commands
from podium.ci.junit import junit_xml
from podium.ci.outcomes import PackOutcomes, State
from podium.ci.step_summary import markdown

ROUNDING = 1e-9
"""pass@1 is a mean of floating-point numbers: nine tenths may be a little below 0.9."""

JUnit = Annotated[Path | None, typer.Option("--junit", help="Write a JUnit report (XML) here.")]
StepSummary = Annotated[
    Path | None,
    typer.Option("--summary", help="Write a summary in Markdown here; added to $GITHUB_STEP_SUMMARY if it is that."),
]
Annotations = Annotated[
    bool | None,
    typer.Option(
        "--annotations/--no-annotations", help="Annotate failed samples on GitHub. Default: in GitHub Actions."
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Exit status 4 if a pack's pass@1 is lower; 1 accepts no failed sample."),
]


@dataclass(frozen=True)
class Checks:
    """The reports that were asked for. Annotations are on in GitHub Actions unless they are chosen."""

    junit: Path | None = None
    summary: Path | None = None
    annotations: bool | None = None
    fail_under: float | None = None

    @property
    def annotates(self) -> bool:
        return workflow_commands.in_github_actions() if self.annotations is None else self.annotations

    @property
    def wanted(self) -> bool:
        return self.junit is not None or self.summary is not None or self.annotates or self.fail_under is not None


def report(checks: Checks, packs: Sequence[PackOutcomes], command: Callable[[str], None]) -> str:
    """Write the reports; `command` prints a workflow command. Returns why the check fails, or ""."""
    below = why_below(checks.fail_under, packs)
    if checks.junit is not None:
        checks.junit.parent.mkdir(parents=True, exist_ok=True)
        checks.junit.write_bytes(junit_xml(packs))
    if checks.summary is not None:
        _write_summary(checks.summary, markdown(packs, below or _held(checks.fail_under)))
    if checks.annotates:
        for line in workflow_commands.annotations(packs):
            command(line)
        if below:
            command(workflow_commands.error_line(below))
    return below


def why_below(fail_under: float | None, packs: Sequence[PackOutcomes]) -> str:
    """Returns the reason why the threshold is not reached, by pack. A pass in doubt, or a pack without graded
    samples, reaches none."""
    return "" if fail_under is None else "; ".join(words for pack in packs if (words := _why(fail_under, pack)))


def _why(fail_under: float, pack: PackOutcomes) -> str:
    if pack.pass_at_1 is None:
        return f"{pack.name}: no sample could be graded on this machine"
    if pack.pass_at_1 < fail_under - ROUNDING:
        return f"{pack.name}: pass@1 is {pack.pass_at_1:.4g}, below {fail_under:g}"
    doubted = next((one for one in pack.of(State.PASSED) if one.in_doubt), None)
    return f"{pack.name}: the pass of {doubted.name} is in doubt: {'; '.join(doubted.flags)}" if doubted else ""


def _held(fail_under: float | None) -> str:
    return "" if fail_under is None else f"pass@1 is at least {fail_under:g}."


def _write_summary(path: Path, text: str) -> None:
    """GitHub's file is shared by a job's steps, so the summary is added to it. Any other file is replaced."""
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    shared = bool(named) and path.absolute() == Path(named or "").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if shared else "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
