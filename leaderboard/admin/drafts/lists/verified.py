"""How far each problem of a draft is verified: for its list, and for the select that narrows it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial

from django.db.models import QuerySet

from leaderboard.admin.drafts.lists.choices import Choice, Option
from leaderboard.curation.verification import changed_since_run, checked, verifications
from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS

VERIFIED, OPEN, CHANGED, NO_TRACK, NO_NODE = "verified", "open", "changed", "no-track", "no-node"
_WORDS = {
    VERIFIED: "verified",
    OPEN: "not verified yet",
    CHANGED: "changed since a node ran it",
    NO_TRACK: "no track can run it",
    NO_NODE: "needs no node",
}


@dataclass(frozen=True)
class VerifiedState:
    """`name` is a key of `_WORDS`; `words` say on which track it is verified, or what is missing."""

    name: str
    words: str

    def fits(self, name: str) -> bool:
        """A problem that was changed since is not verified yet."""
        return self.name == name or (name == OPEN and self.name == CHANGED)


def states_of(release: Release, ids: Collection[int]) -> dict[int, VerifiedState]:
    """States of problems by their ids, in a fixed number of queries."""
    known = checked(release, ids)
    found = {one.problem.pk: one for one in verifications(release, known)}
    changed = changed_since_run(release)
    states = {}
    for problem in known.problems:
        one = found.get(problem.pk)
        if problem.kind not in NODE_KINDS:
            states[problem.pk] = VerifiedState(NO_NODE, "")
        elif one is None:
            states[problem.pk] = VerifiedState(NO_TRACK, "")
        elif one.track:
            states[problem.pk] = VerifiedState(VERIFIED, one.track.slug)
        else:
            states[problem.pk] = VerifiedState(CHANGED if problem.pk in changed else OPEN, one.missing)
    return states


def of_verification(states: "States") -> Choice:
    def narrow(name: str, rows: QuerySet[Problem]) -> QuerySet[Problem]:
        told = states.of(list(rows.values_list("pk", flat=True)))
        return rows.filter(pk__in=[pk for pk, state in told.items() if state.fits(name)])

    options = [Option(name, words, partial(narrow, name)) for name, words in _WORDS.items()]
    return Choice("check", "Verified", options)


@dataclass
class States:
    """The states of a draft's problems; those that were asked for once are not read again."""

    release: Release
    known: dict[int, VerifiedState] = field(default_factory=dict)

    def of(self, ids: Collection[int]) -> dict[int, VerifiedState]:
        if lacking := [pk for pk in ids if pk not in self.known]:
            self.known |= states_of(self.release, lacking)
        return {pk: self.known[pk] for pk in ids if pk in self.known}
