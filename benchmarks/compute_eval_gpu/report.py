"""Makes the report of a folder: figures and goals, from its record and rows, for a reader and for programs."""

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.compute_eval_gpu.compare import (
    LEAST_MS,
    Agreement,
    Counts,
    Row,
    counts,
    differing_verdicts,
    speedups,
    times,
)
from benchmarks.compute_eval_gpu.record import PARTS, WARM, Part

WHOLE = ("cold", *WARM)
"""Our parts that do the rival's whole work, and as it does."""
SPEED_GOALS = {("cold",): 4.0, WARM: 10.0}
"""By the parts whose mean is to reach them."""
TIMES_GOAL_PERCENT = 95.0
SPEED, AGREEMENT = "times as fast as ComputeEval", "% of times within 3 % of ComputeEval's"
MACHINE = ("gpu", "driver", "toolkit", "cpu_model", "cpu_cores", "kernel")


@dataclass(frozen=True)
class PartReport:
    """What came of a part. `ratio` is None where there is no rival, or where it did other work."""

    name: str
    part: Part
    counts: Counts
    ratio: float | None = None
    differing: Sequence[str] = ()
    times: Agreement | None = None
    speedups: Agreement = field(default_factory=lambda: Agreement(0, ()))

    @property
    def per_minute(self) -> float:
        return self.counts.graded / self.part.seconds * 60


@dataclass(frozen=True)
class Goal:
    """`figure` None: not measured. `at_least`: the true figure may be higher."""

    part: str
    name: str
    goal: float
    figure: float | None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "not measured"
        if self.figure >= self.goal:
            return "met"
        return "not shown" if self.at_least else "not met"


@dataclass(frozen=True)
class Report:
    parts: Sequence[PartReport]
    machine: Mapping[str, Any]
    goals: Sequence[Goal]
    rival_ended: bool


def report_of(parts: Mapping[str, Part], rows: Mapping[str, Sequence[Row]], *, timed: bool) -> Report:
    """`rows` by part. Where nothing was timed, no goal about times is measured."""
    theirs = rows.get("rival", ())
    rival = parts.get("rival")
    found = [
        PartReport(
            name,
            parts[name],
            counts(rows[name]),
            rival.seconds / parts[name].seconds if rival and name in WHOLE else None,
            differing_verdicts(rows[name], theirs),
            times(rows[name], theirs) if theirs and timed and name != "rival" else None,
            speedups(rows[name]),
        )
        for name in PARTS
        if name in parts
    ]
    ended = rival is None or rival.ended
    return Report(found, _machine(rows), _goals(found, rival_ended=ended), ended)


def _machine(rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """As the first row of ours tells it."""
    ours = [row["podium"]["provenance"] for part in rows.values() for row in part if row.get("podium")]
    return {name: ours[0].get(name) for name in MACHINE} if ours else {}


def _goals(parts: Sequence[PartReport], *, rival_ended: bool) -> list[Goal]:
    by_name = {part.name: part for part in parts}
    goals = []
    for names, goal in SPEED_GOALS.items():
        measured = [part for part in parts if part.name in names]
        told = " and ".join(part.name for part in measured) or names[0]
        goals.append(Goal(told, SPEED, goal, _ratio(measured), not rival_ended))
    for name in (*WHOLE, "serial"):
        agreement = by_name[name].times if name in by_name else None
        percent = 100 * agreement.n_within / agreement.n if agreement and agreement.n else None
        goals.append(Goal(name, AGREEMENT, TIMES_GOAL_PERCENT, percent))
    return goals


def _ratio(parts: Sequence[PartReport]) -> float | None:
    """The rival's seconds over the mean of the parts'."""
    ratios = [part.ratio for part in parts if part.ratio is not None]
    return statistics.harmonic_mean(ratios) if ratios else None


def as_json(report: Report) -> dict[str, Any]:
    """For report.json."""
    return {
        "machine": dict(report.machine),
        "parts": {part.name: _part_as_json(part) for part in report.parts},
        "goals": [asdict(goal) | {"verdict": goal.verdict} for goal in report.goals],
    }


def _part_as_json(part: PartReport) -> dict[str, Any]:
    return {
        **asdict(part.part),
        **asdict(part.counts),
        "problems_a_minute": part.per_minute if part.part.ended else None,
        "ratio": part.ratio,
        "verdicts_that_differ": list(part.differing),
        "times": _agreement_as_json(part.times) if part.times else None,
        "speedups": _agreement_as_json(part.speedups),
    }


def _agreement_as_json(agreement: Agreement) -> dict[str, Any]:
    return {"n": agreement.n, "within": agreement.n_within, "outliers": [asdict(one) for one in agreement.outliers]}


def lines(report: Report) -> list[str]:
    """For a reader."""
    found = [_machine_words(report.machine)] if report.machine else []
    found += ["", *_table([_HEAD, *(_cells(part, rival_ended=report.rival_ended) for part in report.parts)])]
    for part in report.parts:
        found += part.part.notices
        found += _details(part)
    found += ["", "goals"]
    found += [
        f"  {goal.verdict:<13}{goal.part}, {goal.name}: {_figure(goal)}goal {goal.goal:g}" for goal in report.goals
    ]
    return found


def _machine_words(machine: Mapping[str, Any]) -> str:
    known = {name: value or "?" for name, value in machine.items()}
    return (
        f"GPU {known['gpu']}, driver {known['driver']}; {known['cpu_cores']} cores of {known['cpu_model']}; "
        f"kernel {known['kernel']}; {known['toolkit']}"
    )


_HEAD = (
    "part",
    "commit",
    "seconds",
    "processors' seconds",
    "a minute",
    "× ComputeEval",
    "graded",
    "passed",
    "skipped",
    "flagged",
    "alone",
    "verdicts differ",
    f"times ≥ {LEAST_MS:g} ms within 3 %",
    "speedups within 3 % of 1",
)


def _cells(part: PartReport, *, rival_ended: bool) -> tuple[str, ...]:
    seconds = f"{part.part.seconds:.1f}"
    if not part.part.ended:
        return part.name, part.part.commit, f"not ended after {seconds}", *([""] * (len(_HEAD) - 3))
    one = part.counts
    ratio = "" if part.ratio is None else f"{part.ratio:.1f}" if rival_ended else f"at least {part.ratio:.1f}"
    ours = part.name != "rival"
    return (
        part.name,
        part.part.commit,
        seconds,
        "" if part.part.cpu_seconds is None else f"{part.part.cpu_seconds:.0f}",
        f"{part.per_minute:.1f}",
        ratio,
        *(str(number) for number in (one.graded, one.passed, one.skipped)),
        str(one.flagged) if ours else "",
        str(one.alone) if ours else "",
        str(len(part.differing)) if part.times else "",
        _share(part.times),
        _share(part.speedups),
    )


def _share(agreement: Agreement | None) -> str:
    return f"{agreement.n_within} of {agreement.n}" if agreement and agreement.n else ""


def _table(parts: Sequence[Sequence[str]]) -> list[str]:
    """One column a part, the first with what the others mean."""
    widths = [max(map(len, part)) for part in parts]
    columns = [[cell.rjust(width) for cell in part] for part, width in zip(parts, widths, strict=True)]
    columns[0] = [cell.ljust(widths[0]) for cell in parts[0]]
    return ["  ".join(row) for row in zip(*columns, strict=True)]


def _details(part: PartReport) -> list[str]:
    said = {
        "verdicts that differ": ", ".join(part.differing),
        "times over ComputeEval's outside 3 %": _outliers(part.times) if part.times else "",
        "speedups outside 3 % of 1": _outliers(part.speedups),
    }
    found = [f"{part.name}, {title}: {words}" for title, words in said.items() if words]
    return [textwrap.fill(one, 118, subsequent_indent="  ", break_on_hyphens=False) for one in found]


def _outliers(agreement: Agreement) -> str:
    return ", ".join(
        f"{one.task_id} {one.ratio:.3f} ({one.ms:.4g} / {one.other_ms:.4g} ms)" for one in agreement.outliers
    )


def _figure(goal: Goal) -> str:
    return "" if goal.figure is None else f"{'at least ' if goal.at_least else ''}{goal.figure:.3g}, "
