"""Notes of a board on its times: whether anything checks the timed work, and whether programs time themselves."""

from collections.abc import Mapping

from django.db.models import Count

from problems.models import Release
from problems.spec.record import TimedWork
from runners.wire.protocol import UNCHECKED_SPEEDUP


def counts_of(release: Release) -> dict[str, int]:
    """The number of timed problems of each kind of `TimedWork`. Makes one query."""
    rows = release.problems.exclude(timed_work="").order_by().values_list("timed_work").annotate(n=Count("pk"))
    known = dict(rows)
    return {kind.value: known.get(kind, 0) for kind in TimedWork}


def notices(counts: Mapping[str, int]) -> list[str]:
    """One sentence or two for each kind of times that a reader should doubt."""
    n_timed = sum(counts.values())
    lines = []
    if n := counts.get(TimedWork.UNCHECKED):
        lines.append(
            f"Timed work is unchecked in {n} of {n_timed} timed problems: nothing verifies what their timed runs"
            f" computed. A speedup over {UNCHECKED_SPEEDUP:g}× there waits for an organiser."
        )
    if n := counts.get(TimedWork.SELF_REPORTED):
        lines.append(f"Times of {n} of {n_timed} timed problems are self-reported by the programs. They never rank.")
    return lines
