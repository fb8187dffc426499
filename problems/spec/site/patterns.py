"""Whether an author's regular expression is read in linear time by a backtracking engine, whatever the reply.

The expression becomes an automaton of its characters. Time is exponential if one text leads from a character back to
itself in two ways (EDA). It is at least quadratic if one text can be read by a first loop, by a second one, and by the
way from the first to the second (IDA). Trying every start of the reply is such a first loop. What cannot be decided is
refused. Source: A. Weber and H. Seidl, "On the degree of ambiguity of finite automata" (1991).
"""

import re
from collections.abc import Iterator, Sequence

from problems.spec.site.automaton import Automaton, Undecided, automaton_of

_MOST_STEPS = 300_000
_HINT = "Bound its repeats, as `{1,40}`, and let neighbouring ones share no character"


def has_group(pattern: str) -> bool:
    """Whether the pattern captures a part of what it matches; true where that cannot be told."""
    try:
        return re.compile(pattern).groups > 0
    except re.error:
        return True


def why_slow(pattern: str) -> str:
    """Returns the reason why a reply could make the pattern slow, or "". The words follow "the pattern"."""
    try:
        alone, searched = automaton_of(pattern, is_searched=False), automaton_of(pattern, is_searched=True)
        if _is_exponential(alone):
            return f"takes exponential time on some replies: repeats stand within repeats. {_HINT}"
        if _is_quadratic(alone, alone.looping) or _is_quadratic(searched, searched.starts):
            return f"takes more than linear time on some replies. {_HINT}"
    except Undecided as reason:
        return f"cannot be shown to take linear time: {reason}"
    return ""


States = tuple[int, ...]
"""Positions that are read side by side."""


def _is_exponential(found: Automaton) -> bool:
    """EDA: an edge that is there twice within a loop, or a pair of different characters within a pair's loop."""
    reach = {one: _reached(found, one) for one in found.looping}
    if any(one in reach.get(other, ()) for one, other in found.doubled):
        return True
    return any(_meets_itself(found, (one, one)) for one in found.looping)


def _meets_itself(found: Automaton, start: States) -> bool:
    """Whether two different ways lead from `start` back to it on one text."""
    seen: set[tuple[States, bool]] = {(start, False)}
    waiting: list[tuple[States, bool]] = [(start, False)]
    while waiting:
        states, parted = waiting.pop()
        for step in _steps(found, states):
            if step == start and parted:
                return True
            state = (step, parted or step[0] != step[1])
            if state not in seen:
                _check(len(seen))
                seen.add(state)
                waiting.append(state)
    return False


def _is_quadratic(found: Automaton, firsts: Sequence[int]) -> bool:
    """IDA from one of `firsts`. A loop at which the match may end without a further condition is never left again."""
    return any(
        _reaches(found, (first, first, second), (first, second, second))
        for first in firsts
        for second in found.looping
        if second != first and second not in found.ends_freely
    )


def _reaches(found: Automaton, start: States, goal: States) -> bool:
    seen: set[States] = {start}
    waiting: list[States] = [start]
    while waiting:
        for step in _steps(found, waiting.pop()):
            if step == goal:
                return True
            if step not in seen:
                _check(len(seen))
                seen.add(step)
                waiting.append(step)
    return False


def _steps(found: Automaton, states: States) -> Iterator[States]:
    """Where the states can go together on one character."""
    ways: list[tuple[States, frozenset[str] | None]] = [((), None)]
    for state in states:
        ways = [
            ((*way, to), shared)
            for way, common in ways
            for to in found.edges[state]
            if (shared := found.characters[to] if common is None else common & found.characters[to])
        ]
    for way, _ in ways:
        yield way


def _reached(found: Automaton, start: int) -> set[int]:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        fresh = found.edges[waiting.pop()] - seen
        seen |= fresh
        waiting += fresh
    return seen


def _check(n_seen: int) -> None:
    if n_seen > _MOST_STEPS:
        raise Undecided("it has too many repeats; shorten it")
