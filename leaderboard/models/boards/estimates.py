"""The stored figures of a standing: one JSON object of estimates, by name of metric (`scoring.metrics`).

An estimate holds `value`, `low`, `high` and what else the metric consists of; what is None is left out, and so is an
estimate without a value whose counts are 0.
"""

from collections.abc import Mapping
from typing import Any

from scoring.metrics import PASS_AT_1, Metric

Estimates = Mapping[str, Mapping[str, Any]]
Triple = tuple[float | None, float | None, float | None]
"""A figure and the ends of its interval."""
NO_FIGURE: Triple = (None, None, None)
_COUNTS = frozenset({"problems", "own", "left_out"})


def figure_of(estimates: Estimates, name: str) -> Triple:
    """The metric's value and the ends of its interval."""
    found = estimates.get(name)
    return (found.get("value"), found.get("low"), found.get("high")) if found else NO_FIGURE


def part_of(estimates: Estimates, name: str, part: str) -> Any:
    """Another part of the metric's estimate. A missing count is 0, another part None."""
    return estimates.get(name, {}).get(part, 0 if part in _COUNTS else None)


def figure_of_group(group: Mapping[str, Any], metric: Metric) -> float | None:
    """The metric over the group's problems, of the figures that a standing has of a group.

    Stored are pass@1 and the metric that ranks; a standing that was ranked before that one was stored lacks it.
    """
    value: float | None = group.get("pass_at_1" if metric == PASS_AT_1 else "primary")
    return value


def kept(estimates: Estimates) -> dict[str, Mapping[str, Any]]:
    """The estimates that say anything, without the parts that are None."""
    known = {name: {part: value for part, value in one.items() if value is not None} for name, one in estimates.items()}
    return {name: one for name, one in known.items() if "value" in one or any(one.values())}
