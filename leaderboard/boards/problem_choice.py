"""Some of a release's problems, by group, tag and difficulty: what a board is ranked over, or a table lists."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from problems.models import Release
from problems.sealing import told_problems
from problems.spec.kinds import NODE_KINDS
from problems.spec.natural import natural_key

_EASE = {"easy": 0, "medium": 1, "hard": 2}


@dataclass(frozen=True)
class Facet:
    """One filter's value and how many rows have it."""

    value: str
    count: int


@dataclass(frozen=True)
class ProblemFacts:
    """The values by which a problem can be chosen."""

    pk: int
    group: str
    tags: tuple[str, ...]
    difficulty: str
    kind: str = ""
    timed_work: str = ""
    """A value of `TimedWork`; empty if it is not timed."""


@dataclass(frozen=True)
class ProblemChoice:
    """Problems of any of the groups, with any of the tags and any of the difficulties; an empty one chooses all."""

    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.groups or self.tags or self.difficulties)

    def fits(self, one: ProblemFacts) -> bool:
        return (
            (not self.groups or one.group in self.groups)
            and (not self.tags or not set(self.tags).isdisjoint(one.tags))
            and (not self.difficulties or one.difficulty in self.difficulties)
        )

    @property
    def words(self) -> str:
        """`groups cccl, cublas; difficulty hard`."""
        named = (("group", self.groups), ("tag", self.tags), ("difficulty", self.difficulties))
        plural = {"group": "groups", "tag": "tags", "difficulty": "difficulties"}
        return "; ".join(
            f"{plural[name] if len(values) > 1 else name} {', '.join(values)}" for name, values in named if values
        )


ALL_PROBLEMS = ProblemChoice()


@dataclass(frozen=True)
class ReleaseProblems:
    """The problems of a release as they can be chosen, in its order."""

    all: Sequence[ProblemFacts]

    @classmethod
    def of(cls, release: Release) -> "ReleaseProblems":
        """One query. Sealed questions are not ranked, so they cannot be chosen."""
        names = ("pk", "group", "tags", "difficulty", "kind", "timed_work")
        rows = told_problems(release).order_by("position").values_list(*names)
        return cls([ProblemFacts(pk, group, tuple(map(str, tags)), *facts) for pk, group, tags, *facts in rows])

    @property
    def coding_groups(self) -> list[str]:
        """The group of each command and function problem."""
        return [one.group for one in self.all if one.kind in NODE_KINDS]

    @property
    def groups(self) -> list[str]:
        return sorted({one.group for one in self.all}, key=natural_key)

    @property
    def tags(self) -> list[str]:
        return sorted({tag for one in self.all for tag in one.tags}, key=natural_key)

    @property
    def difficulties(self) -> list[str]:
        """Easy ones first, others by name."""
        return sorted({one.difficulty for one in self.all if one.difficulty}, key=ease)

    def groups_of(self, choice: ProblemChoice) -> list[str]:
        """The groups of the problems that fit."""
        return sorted({one.group for one in self.all if choice.fits(one)}, key=natural_key)

    def chosen(self, choice: ProblemChoice) -> frozenset[int]:
        return frozenset(one.pk for one in self.all if choice.fits(one))

    def facets(self, choice: ProblemChoice) -> dict[str, list[Facet]]:
        """Values of each kind with the number of problems that they would leave, the other kinds' choice kept."""
        return {
            "groups": _counted(self.groups, self._left(replace(choice, groups=())), lambda one: [one.group]),
            "tags": _counted(self.tags, self._left(replace(choice, tags=())), lambda one: one.tags),
            "difficulties": _counted(
                self.difficulties, self._left(replace(choice, difficulties=())), lambda one: [one.difficulty]
            ),
        }

    def _left(self, choice: ProblemChoice) -> list[ProblemFacts]:
        return [one for one in self.all if choice.fits(one)]

    def asked(self, values: Mapping[str, Sequence[str]]) -> ProblemChoice:
        """The choice of a URL's `groups`, `tags` and `difficulty`; what does not exist is left out."""
        return ProblemChoice(
            groups=_known(values.get("groups", ()), self.groups),
            tags=_known(values.get("tags", ()), self.tags),
            difficulties=_known(values.get("difficulty", ()), self.difficulties),
        )


def ease(difficulty: str) -> tuple[int, str]:
    """A key that puts easy problems first."""
    return _EASE.get(difficulty.casefold(), len(_EASE)), difficulty


def _counted(
    values: Sequence[str], rows: Iterable[ProblemFacts], of: Callable[[ProblemFacts], Iterable[str]]
) -> list[Facet]:
    counts = Counter(value for one in rows for value in of(one))
    return [Facet(value, counts[value]) for value in values]


def _known(asked: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The chosen values in the order of `known`. Commas separate several in one, unless it is known as it stands."""
    named = {part for value in asked for part in ([value] if value in known else value.split(","))}
    return tuple(value for value in known if value in named)


def unknown(asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names that are asked for and do not exist."""
    parts = [part for value in asked for part in ([value] if value in known else value.split(","))]
    return [part for part in parts if part and part not in known]
