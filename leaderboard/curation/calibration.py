"""Weights of a draft's groups from pass rates on this site: w = (1 − pass rate) + ε, with a mean of 1 over problems.

A result counts if it is of the same task with the same grading digest, in whichever release it was made.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from django.utils import timezone

from leaderboard.models import Counted, Decision, Entrant, ProblemScore
from problems.models import Problem, Release, ReleaseState
from problems.spec.errors import RecordError
from problems.spec.kinds import NODE_KINDS
from problems.spec.natural import natural_key
from problems.spec.ranking import MAX_NOTE, checked_weights, weights_of_problems
from scoring.weights import EPSILON, group_weights

DECIMALS = 6
MOST_SOURCES = 200
"""Counted submissions that the page offers, those of the newest releases first."""
Pair = tuple[int, int]
"""A submission and a track, by their ids."""


class CannotCalibrate(ValueError):
    """No weights follow from what was chosen. The message says what to do."""


@dataclass(frozen=True)
class CalibrationSource:
    """A counted submission on a track with results that hold for the draft."""

    counted: Counted
    n_problems: int
    """Coding problems of the draft of which it has results."""
    pass_rate: float | None
    """The mean of their shares of passing samples."""

    @property
    def pair(self) -> Pair:
        return self.counted.submission_id, self.counted.track_id

    @property
    def key(self) -> str:
        return f"{self.counted.submission_id}-{self.counted.track_id}"

    @property
    def name(self) -> str:
        """The name in the note."""
        one = self.counted
        return f"#{one.submission_id} {one.entrant.name} ({one.release.slug} on {one.track.slug})"


@dataclass(frozen=True)
class Group:
    """A group's weight for one problem of it, now and calibrated; both with a mean of 1 over problems."""

    name: str
    n_problems: int
    n_with_results: int
    pass_rate: float | None
    now: float | None
    calibrated: float | None


class CalibrationBases:
    """The bases from which a draft's weights can be calibrated."""

    def __init__(self, release: Release) -> None:
        self.release = release

    @cached_property
    def problems(self) -> Sequence[Problem]:
        """The draft's coding problems."""
        return list(self.release.problems.filter(kind__in=NODE_KINDS).defer("record").order_by("position"))

    @cached_property
    def same(self) -> Mapping[int, Problem]:
        """The draft's problem by the id of another release's problem with the same task and grading digest."""
        mine = {(one.task_id, one.grading_digest): one for one in self.problems}
        others = Problem.objects.exclude(release=self.release).exclude(release__state=ReleaseState.DRAFT)
        others = others.filter(grading_digest__in=[digest for _, digest in mine]).defer("record")
        void = set(Decision.objects.errata().filter(problem__in=others).values_list("problem_id", flat=True))
        pairs = ((one.pk, mine.get((one.task_id, one.grading_digest))) for one in others if one.pk not in void)
        return {pk: match for pk, match in pairs if match is not None}

    @cached_property
    def sources(self) -> Sequence[CalibrationSource]:
        """Submissions that stand on boards, those of the newest releases first."""
        releases = Problem.objects.filter(pk__in=list(self.same)).order_by().values("release_id")
        rows = Counted.objects.filter(release__in=releases, entrant__in=Entrant.objects.public())
        rows = rows.select_related("entrant", "release", "track", "submission")
        shown = list(rows.order_by("-release_id", "entrant__name", "track__slug")[:MOST_SOURCES])
        shares = self._shares([(one.submission_id, one.track_id) for one in shown])
        found = [_source(one, shares.get((one.submission_id, one.track_id), {})) for one in shown]
        return [one for one in found if one.n_problems]

    def _shares(self, pairs: Collection[Pair]) -> Mapping[Pair, Mapping[int, float]]:
        """The share of passing samples by the draft's problem. Skipped, open and faulty samples do not count."""
        rows = ProblemScore.objects.filter(
            submission__in={one for one, _ in pairs}, track__in={one for _, one in pairs}, problem__in=list(self.same)
        )
        counts = ("n_samples", "n_passed", "n_skipped", "n_pending", "n_unresolved")
        found: dict[Pair, dict[int, float]] = defaultdict(dict)
        for submission, track, problem, n, passed, *others in rows.values_list(
            "submission_id", "track_id", "problem_id", *counts
        ):
            if (submission, track) in pairs and (judged := n - sum(others)) > 0:
                found[submission, track][self.same[problem].pk] = passed / judged
        return found

    def calibrated(self, chosen: Collection[Pair], epsilon: float = EPSILON) -> "WeightCalibration":
        """Raises CannotCalibrate."""
        sources = [one for one in self.sources if one.pair in chosen]
        if len(sources) < len(set(chosen)) or not sources:
            raise CannotCalibrate("Choose the submissions to calibrate with. One that was chosen counts no more.")
        shares = self._shares([one.pair for one in sources])
        rates = [self._rates(shares[one.pair]) for one in sources]
        return WeightCalibration(self.release, sources, epsilon, self._groups(rates, shares.values(), epsilon))

    def _rates(self, shares: Mapping[int, float]) -> Mapping[str, float]:
        """The pass rate of each group in one submission: the mean over its problems with results."""
        of_group: dict[str, list[float]] = defaultdict(list)
        for one in self.problems:
            if one.pk in shares:
                of_group[one.group].append(shares[one.pk])
        return {group: fmean(found) for group, found in of_group.items()}

    def _groups(
        self, rates: Sequence[Mapping[str, float]], shares: Iterable[Mapping[int, float]], epsilon: float
    ) -> Sequence[Group]:
        """Each submission counts the same, as each file of `podium weights calibrate` does."""
        names = [one.group for one in self.problems]
        sizes = {name: names.count(name) for name in sorted(set(names), key=natural_key)}
        mean = {name: fmean(given) for name in sizes if (given := [one[name] for one in rates if name in one])}
        new = _weights(mean, sizes, epsilon)
        with_results = set().union(*shares)
        n_with = {name: sum(one.pk in with_results for one in self.problems if one.group == name) for name in sizes}
        now = _scaled(self.release.weights, names)
        return [
            Group(name, size, n_with[name], mean.get(name), now.get(name), new.get(name))
            for name, size in sizes.items()
        ]  # fmt: skip


def _source(counted: Counted, shares: Mapping[int, float]) -> CalibrationSource:
    return CalibrationSource(counted, len(shares), fmean(shares.values()) if shares else None)


def _weights(rates: Mapping[str, float], sizes: Mapping[str, int], epsilon: float) -> Mapping[str, float]:
    try:
        found = group_weights(list(rates.values()), [sizes[name] for name in rates], epsilon)
    except ValueError as error:
        raise CannotCalibrate(f"{str(error).capitalize()}.") from error
    return {name: round(float(weight), DECIMALS) for name, weight in zip(rates, found, strict=True)}


def _scaled(weights: Any, names: Sequence[str]) -> Mapping[str, float]:
    """The draft's own weights with a mean of 1 over its problems; none where it has none of them all."""
    try:
        return dict(zip(names, weights_of_problems(checked_weights(weights), names), strict=True)) if weights else {}
    except RecordError:
        return {}


@dataclass(frozen=True)
class WeightCalibration:
    """The weights that follow from the chosen submissions."""

    release: Release
    sources: Sequence[CalibrationSource]
    epsilon: float
    groups: Sequence[Group]

    @property
    def weights(self) -> dict[str, float]:
        return {one.name: one.calibrated for one in self.groups if one.calibrated is not None}

    @property
    def faults(self) -> Sequence[str]:
        """The reasons why a release cannot take these weights."""
        without = [one.name for one in self.groups if one.calibrated is None]
        zero = [one.name for one in self.groups if one.calibrated == 0]
        found = []
        if without:
            found.append(f"No chosen submission has results for {', '.join(without)}. Each group needs a weight.")
        if zero:
            found.append(f"The weight of {', '.join(zero)} would be 0: its problems would not count. Give a larger ε.")
        if len(self.note) > MAX_NOTE:
            found.append(f"The note on where the weights come from holds {MAX_NOTE} characters. Choose fewer.")
        return found

    @property
    def note(self) -> str:
        """The sentence of the release's pages on the weights' origin."""
        names = "; ".join(one.name for one in self.sources)
        return f"Calibrated on {timezone.now():%Y-%m-%d} with epsilon {self.epsilon:g} from the submissions {names}."
