"""Acts on the chosen problems of a draft. Each act first tells its effect; its action writes the audit."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.actions.problems import drafts
from leaderboard.admin.drafts.lists.verified import VERIFIED, states_of
from leaderboard.models import Evaluation
from leaderboard.models.submissions.evaluation import OPEN_STATES
from problems.actions.draft_places import moved, order_of
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS

SHOWN_NAMES = 20


@dataclass(frozen=True)
class ChosenProblems:
    """The chosen problems in their order; `place` is where the first of them goes, None for acts that move nothing."""

    release: Release
    problems: Sequence[Problem]
    place: int | None = None

    @property
    def ids(self) -> list[int]:
        return [one.pk for one in self.problems]

    @property
    def is_one(self) -> bool:
        return len(self.problems) == 1

    @property
    def words(self) -> str:
        return self.problems[0].task_id if self.is_one else problems_words(len(self.problems))

    def verb(self, one: str, many: str) -> str:
        """The words, with the form of a verb that fits their number."""
        return f"{self.words} {one if self.is_one else many}"


@dataclass(frozen=True)
class MoveStep:
    """The move of one problem: its place before and after, None where it has none."""

    problem: Problem
    was: int | None
    now: int | None


def problems_words(n: int) -> str:
    return f"{n:,} problem{'' if n == 1 else 's'}"


@dataclass(frozen=True)
class ListAct:
    """`of_left_out`: whether it is for the problems that are left out."""

    label: str
    effect: Callable[[ChosenProblems], Sequence[str]]
    steps: Callable[[ChosenProblems], Sequence[MoveStep]]
    run: Callable[[Any, ChosenProblems], str]
    """Does it as a user; returns the words that say what was done."""
    of_left_out: bool = False
    takes_place: bool = False


def _places(order: Sequence[int]) -> dict[int, int]:
    return {pk: place for place, pk in enumerate(order, 1)}


def _steps(chosen: ChosenProblems, after: Sequence[int]) -> list[MoveStep]:
    was, now = _places(order_of(chosen.release)), _places(after)
    return [MoveStep(one, was.get(one.pk), now.get(one.pk)) for one in chosen.problems]


def _after_moving(chosen: ChosenProblems) -> list[int]:
    return moved(order_of(chosen.release), chosen.ids, chosen.place or 1)


def _effect_of_moving(chosen: ChosenProblems) -> list[str]:
    before, after = order_of(chosen.release), _after_moving(chosen)
    ids, at = set(chosen.ids), after.index(chosen.ids[0])
    end = at + len(ids)
    around = Problem.objects.in_bulk([*after[max(at - 1, 0) : at], *after[end : end + 1]])
    behind = f"behind {around[after[at - 1]].task_id}" if at else "first"
    ahead = f"before {around[after[end]].task_id}" if end < len(after) else "last"
    n_others = sum(was != now for was, now in zip(before, after, strict=True) if now not in ids)
    places = f"place {at + 1}" if chosen.is_one else f"the places {at + 1} to {end}, in the order that they have now"
    return [
        f"{chosen.verb('gets', 'get')} {places}, of {len(after)} places: {behind}, {ahead}.",
        f"{problems_words(n_others)} besides change{'s' if n_others == 1 else ''} place.",
        "Only the order changes: what is verified stays verified.",
    ]


def _move(user: Any, chosen: ChosenProblems) -> str:
    after = _after_moving(chosen)
    drafts.move_to(user, chosen.place or 1, *chosen.problems)
    at = after.index(chosen.ids[0]) + 1
    if chosen.is_one:
        return f"{chosen.words} has place {at} now."
    return f"{chosen.words} have the places {at} to {at + len(chosen.problems) - 1} now."


def _after_leaving_out(chosen: ChosenProblems) -> list[int]:
    ids = set(chosen.ids)
    return [pk for pk in order_of(chosen.release) if pk not in ids]


def _effect_of_leaving_out(chosen: ChosenProblems) -> list[str]:
    n_left = len(_after_leaving_out(chosen))
    states = states_of(chosen.release, chosen.ids)
    n_verified = sum(one.name == VERIFIED for one in states.values())
    n_open = Evaluation.objects.filter(problem__in=chosen.ids, state__in=OPEN_STATES).count()
    lines = [
        f"{chosen.verb('leaves', 'leave')} the draft; {n_left} stay. What is left out is kept in this draft, seen by"
        " nobody else, and can be brought back.",
    ]
    if n_verified:
        lines.append(f"Verified of them now: {n_verified}. What is brought back must be verified anew.")
    if n_open:
        lines.append(f"Evaluations of them that wait or run on nodes and are cancelled: {n_open:,}.")
    return [*lines, *_emptied_groups(chosen)]


def _emptied_groups(chosen: ChosenProblems) -> list[str]:
    """The groups of which no problem stays, and those of them that have a weight."""
    leave = Counter(one.group for one in chosen.problems)
    all_of = Counter(chosen.release.problems.filter(group__in=leave).values_list("group", flat=True))
    emptied = sorted(group for group in leave if all_of[group] <= leave[group])
    weighted = [group for group in emptied if group in chosen.release.weights]
    lines = [f"Groups that have no problem then: {_names(emptied)}."] if emptied else []
    if weighted:
        lines.append(f"The release has weights of {_names(weighted)}: take them away before you publish.")
    return lines


def _names(groups: Sequence[str]) -> str:
    more = f" and {len(groups) - SHOWN_NAMES} more" if len(groups) > SHOWN_NAMES else ""
    return ", ".join(groups[:SHOWN_NAMES]) + more


def _leave_out(user: Any, chosen: ChosenProblems) -> str:
    drafts.leave_out(user, *chosen.problems)
    return f"{chosen.verb('is', 'are')} left out. The list “Left out” keeps what is left out, and brings it back."


def _after_bringing_back(chosen: ChosenProblems) -> list[int]:
    rows = Problem.with_left_out.filter(release=chosen.release).order_by("position")
    ids = set(chosen.ids)
    return [pk for pk, left_out in rows.values_list("pk", "is_left_out") if not left_out or pk in ids]


def _effect_of_bringing_back(chosen: ChosenProblems) -> list[str]:
    n_run = sum(one.kind in NODE_KINDS for one in chosen.problems)
    lines = [
        f"{chosen.verb('comes', 'come')} back, each behind the problem that it stood behind. The draft has"
        f" {problems_words(len(_after_bringing_back(chosen)))} then.",
    ]
    return [*lines, f"To be verified on a node, even if verified before: {problems_words(n_run)}."] if n_run else lines


def _bring_back(user: Any, chosen: ChosenProblems) -> str:
    drafts.bring_back(user, *chosen.problems)
    return f"{chosen.verb('is', 'are')} brought back."


ACTS: Mapping[str, ListAct] = {
    "move": ListAct(
        "Move", _effect_of_moving, lambda chosen: _steps(chosen, _after_moving(chosen)), _move, takes_place=True
    ),
    "leave-out": ListAct(
        "Leave out", _effect_of_leaving_out, lambda chosen: _steps(chosen, _after_leaving_out(chosen)), _leave_out
    ),
    "bring-back": ListAct(
        "Bring back", _effect_of_bringing_back, lambda chosen: _steps(chosen, _after_bringing_back(chosen)),
        _bring_back, of_left_out=True,
    ),
}  # fmt: skip
