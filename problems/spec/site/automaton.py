"""The automaton of a regular expression's characters: which may follow which, and at which the match may end."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MAX_POSITIONS = 150
_COPIED = 20
"""A repeat of at most so many is written out; a larger one counts as endless."""
_LARGEST_BOUND = 1000
"""The largest bound of a repeat that is no loop: it costs a search from every start a factor."""
_SAMPLES = "aZm0 9_\t\n\r.,:;-=()*~é中"
_MAX_PATHS = 20_000


class Undecided(Exception):
    """The expression cannot be analysed; the text says why."""


@dataclass(frozen=True)
class Automaton:
    """Positions are the expression's characters; `edges` go from a position to those that may be read next."""

    characters: Sequence[frozenset[str]]
    edges: Sequence[frozenset[int]]
    doubled: Sequence[tuple[int, int]]
    """Edges that are there in two ways."""
    starts: Sequence[int]
    """The position that stands for the text before the match, where every start is tried."""
    looping: Sequence[int]
    """Positions that can be reached from themselves, `starts` aside."""
    ends_freely: frozenset[int]
    """Positions after which the match may end whatever follows."""


def automaton_of(pattern: str, *, is_searched: bool) -> Automaton:
    """`is_searched`: with a first position for the text before the match. Raises Undecided."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise Undecided(f"it is not written as Python's `re` reads it ({error})") from error
    return _Builder(tree, is_searched).built()


@dataclass
class _Builder:
    tree: Any
    is_searched: bool
    alphabet: frozenset[str] = frozenset()
    free: list[list[tuple[int, bool]]] = field(default_factory=list)
    """Edges that read nothing, by node: to which node, and whether a condition stands on them."""
    reads: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The position that each node reads, and the node after it."""
    characters: list[frozenset[str]] = field(default_factory=list)
    flags: int = 0

    def built(self) -> Automaton:
        self.flags = self.tree.state.flags
        self.alphabet = frozenset(_SAMPLES) | frozenset(_literals(self.tree))
        start = self._node()
        if self.is_searched and not self._is_anchored():
            self._read(start, start, self.alphabet)
        end = self._sequence(self.tree, start)
        return self._automaton(end)

    def _is_anchored(self) -> bool:
        """Whether the match can only begin where the text does."""
        first = self.tree[0] if len(self.tree) else (None, None)
        of_lines = self.flags & re.MULTILINE
        at = {codes.AT_BEGINNING_STRING} if of_lines else {codes.AT_BEGINNING_STRING, codes.AT_BEGINNING}
        return first[0] is codes.AT and first[1] in at

    def _node(self) -> int:
        self.free.append([])
        return len(self.free) - 1

    def _read(self, start: int, end: int, characters: frozenset[str]) -> None:
        if len(self.characters) >= MAX_POSITIONS:
            raise Undecided(f"it has more than {MAX_POSITIONS} characters once repeats are written out")
        self.characters.append(characters)
        node = self._node()
        self.free[start].append((node, False))
        self.reads[node] = (len(self.characters) - 1, end)

    def _skip(self, start: int, end: int, *, on_condition: bool = False) -> None:
        self.free[start].append((end, on_condition))

    def _sequence(self, items: Any, start: int) -> int:
        for code, value in items:
            start = self._item(code, value, start)
        return start

    def _item(self, code: Any, value: Any, start: int) -> int:
        end = self._node()
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            self._read(start, end, frozenset(one for one in self.alphabet if self._matches(code, value, one)))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            self._repeat(start, end, *value)
        elif code is codes.BRANCH:
            for branch in value[1]:
                self._skip(self._sequence(branch, start), end)
        elif code is codes.SUBPATTERN:
            self._skip(self._sequence(value[3], start), end)
        elif code is codes.ATOMIC_GROUP:
            self._skip(self._sequence(value, start), end)
        elif code is codes.AT:
            self._skip(start, end, on_condition=True)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            self._look(start, end, value[1])
        else:
            raise Undecided("it refers to a group, which takes more than linear time in general")
        return end

    def _look(self, start: int, end: int, items: Any) -> None:
        """A condition on what stands before or after. It may not repeat: it is tried at every place."""
        if _has_variable_repeat(items, least_most=1):
            raise Undecided("it repeats something within a look-ahead or look-behind")
        self._skip(start, end, on_condition=True)

    def _repeat(self, start: int, end: int, least: int, most: int, items: Any) -> None:
        if most == 0:
            self._skip(start, end)
        elif self._is_written_out(least, most, items):
            for n in range(most):
                if n >= least:
                    self._skip(start, end)
                start = self._sequence(items, start)
            self._skip(start, end)
        elif self.is_searched and most <= _LARGEST_BOUND and not _has_variable_repeat(items):
            self._skip(self._sequence(items, start), end)
            if least == 0:
                self._skip(start, end)
        else:
            self._endless(start, end, least, items)

    def _is_written_out(self, least: int, most: int, items: Any) -> bool:
        """Copies of something that repeats itself would hide how many ways there are through them."""
        return most <= _COPIED and (most in (1, least) or not _has_variable_repeat(items))

    def _endless(self, start: int, end: int, least: int, items: Any) -> None:
        again = self._node()
        self._skip(start, again)
        after = self._sequence(items, again)
        self._skip(after, again)
        self._skip(after, end)
        if least == 0:
            self._skip(start, end)

    def _matches(self, code: Any, value: Any, one: str) -> bool:
        if code is codes.ANY:
            return one != "\n" or bool(self.flags & re.DOTALL)
        if code is codes.IN:
            negated = value[0][0] is codes.NEGATE
            return any(self._matches(inner, bounds, one) for inner, bounds in value[negated:]) != negated
        if code is codes.NOT_LITERAL:
            return not self._matches(codes.LITERAL, value, one)
        if code is codes.CATEGORY:
            return _in_category(value, one)
        low, high = (value, value) if code is codes.LITERAL else value
        return any(low <= ord(other) <= high for other in (one, one.lower(), one.upper()) if len(other) == 1)

    def _automaton(self, end: int) -> Automaton:
        after = dict(self.reads.values())
        ways = [self._ways(after[position], end) for position in range(len(self.characters))]
        edges = [frozenset(counts) for counts, _ in ways]
        doubled = [(here, to) for here, (counts, _) in enumerate(ways) for to, n in counts.items() if n > 1]
        first = (0,) if self.is_searched and not self._is_anchored() else ()
        looping = [one for one in range(len(edges)) if one not in first and _returns(edges, one)]
        ends_freely = frozenset(one for one, (_, ends) in enumerate(ways) if ends)
        return Automaton(self.characters, edges, doubled, first, looping, ends_freely)

    def _ways(self, start: int, end: int) -> tuple[dict[int, int], bool]:
        """Numbers of ways from a node to each position without reading, and whether one leads freely to the end."""
        counts: dict[int, int] = {}
        ends, n_paths, waiting = False, 0, [(start, frozenset({start}), True)]
        while waiting:
            node, passed, is_free = waiting.pop()
            n_paths += 1
            if n_paths > _MAX_PATHS:
                raise Undecided("it nests too many optional parts")
            ends |= is_free and node == end
            if node in self.reads:
                position = self.reads[node][0]
                counts[position] = counts.get(position, 0) + 1
            waiting += [
                (to, passed | {to}, is_free and not on_condition)
                for to, on_condition in self.free[node]
                if to not in passed
            ]
        return counts, ends


def _returns(edges: Sequence[frozenset[int]], start: int) -> bool:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        fresh = edges[waiting.pop()] - seen
        seen |= fresh
        waiting += fresh
    return start in seen


def _in_category(category: Any, one: str) -> bool:
    name = str(category)
    if "DIGIT" in name:
        holds = one.isdigit()
    elif "SPACE" in name:
        holds = one.isspace()
    else:
        holds = one.isalnum() or one == "_"
    return holds != ("_NOT_" in name)


def _literals(items: Any) -> Iterator[str]:
    """The characters that the expression names, with their neighbours beyond ranges."""
    for code, value in _all_items(items):
        if code in (codes.LITERAL, codes.NOT_LITERAL):
            yield from _cases(value)
        elif code is codes.RANGE:
            for end in (value[0] - 1, value[0], value[1], value[1] + 1):
                yield from _cases(end)


def _cases(code_point: int) -> Iterator[str]:
    if 0 <= code_point < 0x110000:
        one = chr(code_point)
        yield from (other for other in (one, one.lower(), one.upper()) if len(other) == 1)


def _all_items(items: Any) -> Iterator[tuple[Any, Any]]:
    for code, value in items:
        yield code, value
        for inner in _inner(code, value):
            yield from _all_items(inner)


def _inner(code: Any, value: Any) -> list[Any]:
    """The sequences within an item."""
    if code is codes.IN:
        return [value]
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.GROUPREF_EXISTS:
        return [one for one in value[1:] if one is not None]
    if code is codes.ATOMIC_GROUP:
        return [value]
    if code in (codes.SUBPATTERN, codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[-1]]
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def _has_variable_repeat(items: Any, least_most: int = 0) -> bool:
    """Whether something in it is read a varying number of times."""
    repeats = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
    return any(code in repeats and value[0] != value[1] and value[1] > least_most for code, value in _all_items(items))
