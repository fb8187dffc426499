"""The table of a release's problems: how each was solved on a track, filtered and sorted as the URL asks."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, Max, Q, Sum

from leaderboard import visibility
from leaderboard.boards.problem_choice import Facet, ease
from leaderboard.errors import refuse_unknown
from leaderboard.models import Decision, Entrant, ProblemTrack, Track
from leaderboard.standings.problem_sums import FIELDS
from problems.models import Release
from problems.spec.kinds import SITE_KINDS
from problems.spec.natural import natural_key

SOLVED = {"me": "solved by me", "not-me": "not solved by me", "some": "solved by some model", "none": "solved by none"}


@dataclass(frozen=True)
class ProblemRow:
    """A problem with what the counted submissions on the track made of it."""

    pk: int
    position: int
    task_id: str
    slug: str
    title: str
    group: str
    kind: str
    difficulty: str
    tags: Sequence[str]
    n_entrants: int
    n_solved: int
    n_samples: int
    n_passed: int
    best_speedup: float | None
    mine: bool
    skip_reason: str
    """The reason why the track cannot run it, or ""."""
    voided: str
    """The reason why it counts for nobody, or ""."""
    is_sealed: bool
    """Whether who solved it is not told yet."""

    @property
    def solved_share(self) -> float | None:
        return self.n_solved / self.n_entrants if self.n_entrants else None

    @property
    def passed_share(self) -> float | None:
        return self.n_passed / self.n_samples if self.n_samples else None


@dataclass(frozen=True)
class TableQuery:
    """The table's query from the URL; `sort` is a column's key, `-`: falling."""

    track: str = ""
    group: str = ""
    kind: str = ""
    difficulty: str = ""
    tag: str = ""
    search: str = ""
    solved: str = ""
    sort: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str], track: Track | None) -> "TableQuery":
        """Raises BadQuery if `solved` or `sort` does not exist."""
        asked = {name: parameters.get(name, "")[:200] for name in ("group", "kind", "difficulty", "tag", "sort")}
        solved = parameters.get("solved", "")
        refuse_unknown("solved", solved, SOLVED)
        refuse_unknown("sort", asked["sort"].removeprefix("-"), (column.key for column in COLUMNS))
        search = parameters.get("q", "").strip()[:100]
        return cls(track=track.slug if track else "", search=search, solved=solved, **asked)

    @property
    def is_filtered(self) -> bool:
        return any((self.group, self.kind, self.difficulty, self.tag, self.search, self.solved))

    def url(self, **changes: Any) -> str:
        other = replace(self, **changes)
        names = {"search": "q"}
        fields = {names.get(name, name): value for name, value in other.__dict__.items() if value}
        return "?" + urlencode(fields)

    def fits(self, row: ProblemRow) -> bool:
        return (
            (not self.group or row.group == self.group)
            and (not self.kind or row.kind == self.kind)
            and (not self.difficulty or row.difficulty == self.difficulty)
            and (not self.tag or self.tag in row.tags)
            and (not self.solved or _SOLVED[self.solved](row))
            and (not self.search or self._has_words(row))
        )

    def _has_words(self, row: ProblemRow) -> bool:
        text = f"{row.title} {row.task_id} {row.group}".casefold()
        return all(word in text for word in self.search.casefold().split())


_SOLVED: dict[str, Callable[[ProblemRow], bool]] = {
    "me": lambda row: row.mine,
    "not-me": lambda row: not row.mine and not row.is_sealed,
    "some": lambda row: row.n_solved > 0,
    "none": lambda row: row.n_solved == 0 and not row.skip_reason and not row.is_sealed,
}


@dataclass(frozen=True)
class TableColumn:
    key: str
    title: str
    definition: str
    value: Callable[[ProblemRow], Any]
    """Gives the value by which rows are sorted. None stands last in both directions."""
    is_number: bool = False
    best_last: bool = False
    """Whether the first click puts the largest on top."""


COLUMNS = (
    TableColumn("id", "Id", "As in the pack.", lambda row: natural_key(row.task_id)),
    TableColumn("title", "Title", "The problem's title.", lambda row: natural_key(row.title)),
    TableColumn(
        "speedup", "Best speedup (×)", "The largest speedup of a sample that passed with a time that may rank.",
        lambda row: row.best_speedup, is_number=True, best_last=True,
    ),
    TableColumn(
        "solved", "Solved by", "Models with a passing sample, of those whose counted submission has samples of it.",
        lambda row: row.solved_share, best_last=True,
    ),
    TableColumn(
        "samples", "Samples passed", "Share of all samples of counted submissions that pass.",
        lambda row: row.passed_share, is_number=True, best_last=True,
    ),
    TableColumn("group", "Group", "The problem's group.", lambda row: natural_key(row.group)),
    TableColumn("kind", "Kind", "How it is judged.", lambda row: row.kind),
    TableColumn(
        "difficulty", "Difficulty", "As its author says.", lambda row: ease(row.difficulty) if row.difficulty else None
    ),
    TableColumn("tags", "Tags", "As its author says.", lambda row: sorted(row.tags) or None),
    TableColumn(
        "mine", "Mine", "Whether a sample of your entrants passed.", lambda row: row.mine, best_last=True
    ),
)  # fmt: skip


def rows_of(user: Any, release: Release, track: Track | None) -> list[ProblemRow]:
    """Every problem of the release, in its order. At most five queries."""
    fields = ("pk", "position", "task_id", "slug", "title", "group", "kind", "difficulty", "tags")
    on_track = _on_track(release, track)
    sums = _own_sums(user, release, track) if _sees_own_alone(user, release) else on_track
    voided = dict(
        Decision.objects.errata()
        .filter(problem__release=release)
        .order_by("pk")
        .values_list("problem_id", "public_reason")
    )
    mine = _mine(user, release, track)
    nothing: dict[str, Any] = dict.fromkeys(FIELDS, 0) | {"best_speedup": None}
    rows = []
    for problem in release.problems.order_by("position").values(*fields):
        pk = problem["pk"]
        facts = problem | {name: sums.get(pk, nothing)[name] for name in FIELDS}
        skipped = on_track.get(pk, {}).get("skip_reason", "")
        facts["is_sealed"] = release.questions_are_sealed and problem["kind"] in SITE_KINDS
        facts |= {"mine": pk in mine, "skip_reason": skipped, "voided": voided.get(pk, "")}
        rows.append(ProblemRow(**facts))
    return rows


def _sees_own_alone(user: Any, release: Release) -> bool:
    return release.results_are_hidden and not visibility.is_organiser(user)


def _on_track(release: Release, track: Track | None) -> dict[int, dict[str, Any]]:
    """The figures that the last ranking stored, by problem."""
    rows = ProblemTrack.objects.filter(track=track, problem__release=release)
    return {row["problem_id"]: row for row in rows.values("problem_id", "skip_reason", *FIELDS)}


def _own_sums(user: Any, release: Release, track: Track | None) -> dict[int, dict[str, Any]]:
    """The same of the user's own counted submissions, while nobody else's results are shown."""
    scores = visibility.visible_scores(user, release).filter(track=track, submission__counted_on__track=F("track"))
    rows = (
        scores.filter(n_samples__gt=F("n_skipped"))
        .order_by()
        .values("problem_id")
        .annotate(
            n_entrants=Count("pk"),
            n_solved=Count("pk", filter=Q(n_passed__gt=0)),
            all_samples=Sum("n_samples"),
            all_passed=Sum("n_passed"),
            best=Max("best_speedup"),
        )
    )
    return {
        row["problem_id"]: {
            "n_entrants": row["n_entrants"],
            "n_solved": row["n_solved"],
            "n_samples": row["all_samples"],
            "n_passed": row["all_passed"],
            "best_speedup": row["best"],
        }
        for row in rows
    }


def sums_of(user: Any, release: Release, on_track: ProblemTrack | None) -> ProblemTrack | None:
    """The row with one problem's sums, where the user may see everybody's results and there are any."""
    return on_track if on_track and on_track.n_samples and not _sees_own_alone(user, release) else None


def _mine(user: Any, release: Release, track: Track | None) -> set[int]:
    """The problems that the user's entrants solved with any submission."""
    if not user.is_authenticated:
        return set()
    own = visibility.visible_scores(user, release).filter(track=track, n_passed__gt=0)
    found = own.filter(submission__entrant__in=Entrant.objects.submittable_by(user))
    return set(found.order_by().values_list("problem_id", flat=True).distinct())


def in_order(rows: Iterable[ProblemRow], sort: str) -> list[ProblemRow]:
    """Sorts by the chosen column, missing values last either way; the release's order breaks ties and is the
    default."""
    column = next((one for one in COLUMNS if one.key == sort.lstrip("-")), None)
    rows = list(rows)
    if column is None:
        return rows
    known = [row for row in rows if column.value(row) is not None]
    known.sort(key=column.value, reverse=sort.startswith("-"))
    return known + [row for row in rows if column.value(row) is None]


def header(query: TableQuery, shown: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Each shown column's heading: a link that sorts by it, and the other way round when it is clicked again."""
    return [_heading(one, query) for one in COLUMNS if shown(one.key)]


def _heading(one: TableColumn, query: TableQuery) -> dict[str, Any]:
    first, second = (f"-{one.key}", one.key) if one.best_last else (one.key, f"-{one.key}")
    aria = "none"
    if query.sort.lstrip("-") == one.key:
        aria = "descending" if query.sort.startswith("-") else "ascending"
    url = query.url(sort=second if query.sort == first else first)
    return {"title": one.title, "definition": one.definition, "is_number": one.is_number, "aria": aria, "url": url}


def facets(rows: Sequence[ProblemRow], query: TableQuery) -> dict[str, list[Facet]]:
    """Each filter's values with the number of problems that they would leave, the other filters kept."""
    of: dict[str, tuple[Callable[[ProblemRow], Iterable[str]], Callable[[str], Any]]] = {
        "group": (lambda row: [row.group], natural_key),
        "kind": (lambda row: [row.kind], str),
        "difficulty": (lambda row: [row.difficulty], ease),
        "tag": (lambda row: row.tags, natural_key),
    }
    return {name: _facets(rows, replace(query, **{name: ""}), values, key) for name, (values, key) in of.items()}


def _facets(
    rows: Sequence[ProblemRow],
    query: TableQuery,
    values: Callable[[ProblemRow], Iterable[str]],
    key: Callable[[str], Any],
) -> list[Facet]:
    counts = Counter(value for row in rows if query.fits(row) for value in values(row))
    every = {value for row in rows for value in values(row) if value}
    return [Facet(value, counts[value]) for value in sorted(every, key=key)]


def solved_facets(rows: Sequence[ProblemRow], query: TableQuery, *, with_own: bool) -> list[tuple[str, str, int]]:
    """(value, words, count) of the filter by who solved it; `with_own`: also by the user."""
    left = [row for row in rows if replace(query, solved="").fits(row)]
    chosen = [name for name in SOLVED if with_own or not name.endswith("me")]
    return [(name, SOLVED[name], sum(_SOLVED[name](row) for row in left)) for name in chosen]
