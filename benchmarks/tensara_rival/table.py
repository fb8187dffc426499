"""Table of both engines' rows: seconds a submission, spread of the published times, and credited attacks."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class SolutionLine:
    """One solution on one engine, over its repeats."""

    problem: str
    solution: str
    kind: str
    engine: str
    n: int
    n_credited: int
    verdicts: tuple[str, ...]
    seconds: float | None
    """Median of a submission."""
    published_ms: float | None
    """Median over the credited repeats of the geometric mean of the times of the cases that all of them have, and all
    credited honest solutions on both engines: Podium times no case that is too short."""
    spread: float | None
    """(max - min) / median of the same; None for fewer than two credited repeats."""
    times_honest: float | None
    """Speed against the fastest honest solution on the same engine, over the cases that both have."""


def lines(rows: Iterable[Row]) -> list[SolutionLine]:
    """A line for each (problem, solution, engine), in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["problem"], row["solution"], row["engine"]), []).append(row)
    return [_line(group, *_honest(groups.values(), group[0])) for group in groups.values()]


def _honest(groups: Iterable[list[Row]], like: Row) -> tuple[list[list[Row]], frozenset[str] | None]:
    """The honest solutions to the same problem on the same engine, and the cases that those on both engines have."""
    honest = [one for one in groups if one[0]["kind"] == "honest" and one[0]["problem"] == like["problem"]]
    credited = [row["ms"] for one in honest for row in one if row["credited"]]
    return [one for one in honest if one[0]["engine"] == like["engine"]], _cases(credited) or None


def _line(group: Sequence[Row], honest: Sequence[Sequence[Row]], shared: frozenset[str] | None) -> SolutionLine:
    first, times = group[0], published(group, shared)
    seconds = [row["seconds"] for row in group if row["seconds"] is not None]
    middle_ms = statistics.median(times) if times else None
    ratios = [ratio for one in honest if (ratio := _speed(group, one)) is not None]
    return SolutionLine(
        problem=first["problem"],
        solution=first["solution"],
        kind=first["kind"],
        engine=first["engine"],
        n=len(group),
        n_credited=sum(row["credited"] for row in group),
        verdicts=tuple(dict.fromkeys(row["verdict"] for row in group)),
        seconds=statistics.median(seconds) if seconds else None,
        published_ms=middle_ms,
        spread=(max(times) - min(times)) / middle_ms if middle_ms and len(times) > 1 else None,
        times_honest=min(ratios) if ratios else None,
    )


def published(group: Sequence[Row], among: frozenset[str] | None = None) -> list[float]:
    """Each credited repeat's geometric mean over the cases that all of them have, or those of them in `among`."""
    credited = [row["ms"] for row in group if row["credited"]]
    cases = _cases(credited) if among is None else _cases(credited) & among
    return [statistics.geometric_mean(ms[case] for case in cases) for ms in credited] if cases else []


def _cases(times: Sequence[dict[str, float]]) -> frozenset[str]:
    return frozenset.intersection(*map(frozenset, times)) if times else frozenset()


def _speed(group: Sequence[Row], honest: Sequence[Row]) -> float | None:
    own, other = (_cases([row["ms"] for row in rows if row["credited"]]) for rows in (group, honest))
    times, honest_times = published(group, other), published(honest, own)
    return statistics.median(honest_times) / statistics.median(times) if times and honest_times else None


def table(rows: Sequence[Row]) -> str:
    """The table of all solutions, then one summary an engine."""
    found = lines(rows)
    head = ("problem", "solution", "engine", "credited", "seconds", "ms", "spread", "x honest", "verdict")
    body = [
        (
            one.problem, one.solution, one.engine, f"{one.n_credited}/{one.n}", _number(one.seconds, ".1f"),
            _number(one.published_ms, ".4g"), _number(one.spread, ".2%"), _number(one.times_honest, ".2f"),
            ", ".join(one.verdicts),
        )
        for one in found
    ]  # fmt: skip
    widths = [max(len(cell) for cell in column) for column in zip(head, *body, strict=True)]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *body)
    ]
    return "\n".join([*text, "", *(summary(found, engine) for engine in dict.fromkeys(one.engine for one in found))])


def summary(found: Sequence[SolutionLine], engine: str) -> str:
    """One engine's figures over all solutions."""
    own = [one for one in found if one.engine == engine]
    honest, attacks = ([one for one in own if one.kind == kind] for kind in ("honest", "attack"))
    seconds = [one.seconds for one in honest if one.seconds is not None]
    spreads = [one.spread for one in honest if one.spread is not None]
    gained = [one for one in attacks if one.n_credited and one.times_honest is not None and one.times_honest > GAIN]
    return (
        f"{engine}: honest submission {_number(statistics.median(seconds) if seconds else None, '.1f')} s, spread "
        f"{_number(statistics.median(spreads) if spreads else None, '.2%')} (medians); "
        f"{sum(one.n_credited == one.n for one in honest)} of {len(honest)} honest solutions and "
        f"{sum(one.n_credited > 0 for one in attacks)} of {len(attacks)} attacks credited, "
        f"{len(gained)} attacks faster than {GAIN} x honest"
    )


GAIN = 1.1
"""An attack gains if its credited time is better than the fastest honest solution's by more than this."""


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
