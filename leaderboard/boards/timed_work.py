"""Notes of a board on its times: whether anything checks the timed work, and whether programs time themselves."""

from collections import Counter
from collections.abc import Mapping

from leaderboard.boards.problem_choice import ReleaseProblems
from problems.spec.record import TimedWork
from runners.wire.protocol import UNCHECKED_SPEEDUP


def counts_of(problems: ReleaseProblems) -> dict[str, int]:
    """The number of timed problems of each kind of `TimedWork`."""
    known = Counter(one.timed_work for one in problems.all)
    return {kind.value: known[kind] for kind in TimedWork}


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
