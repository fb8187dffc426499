"""The coverage map: how many problems of a release each group has, by kind, difficulty, tag and toolkit."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import release_or_404
from problems.models import Problem, Release
from problems.spec.natural import natural_key

MOST_COLUMNS = 30
HEAT_STEPS = 5


@dataclass(frozen=True)
class HeatCell:
    """A count, its shade from 0 (none) to 5 (the most of the table), and the problems it counts."""

    n: int
    heat: int
    url: str


@dataclass(frozen=True)
class HeatRow:
    group: str
    cells: list[HeatCell]
    n: int
    url: str


@dataclass(frozen=True)
class HeatMap:
    """Groups against the values of one property. A problem may have several tags, so rows need not add up."""

    title: str
    values_shown: list[str]
    rows: list[HeatRow]
    n_left_out: int
    """Values beyond the 30 commonest."""


@dataclass(frozen=True)
class Facts:
    """Facts of one problem for the map. `toolkit` is the oldest CUDA toolkit that it asks for, or ""."""

    group: str
    kind: str
    difficulty: str
    tags: tuple[str, ...]
    toolkit: str

    def fits(self, asked: Mapping[str, str]) -> bool:
        """Whether it has every value asked for; an empty one asks for nothing."""
        return (
            asked["difficulty"] in ("", self.difficulty)
            and (asked["tag"] == "" or asked["tag"] in self.tags)
            and asked["toolkit"] in ("", self.toolkit)
        )


@require_safe
def coverage(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    known = facts_of(release)
    asked = {name: request.GET.get(name, "")[:200] for name in ("difficulty", "tag", "toolkit")}
    problems = [one for one in known if one.fits(asked)]
    context = {
        "maps": list(_maps(release, problems, asked)), "n_problems": len(problems), "n_all": len(known), "asked": asked,
        "choices": [
            ("difficulty", "Difficulty", _values(one.difficulty for one in known)),
            ("tag", "Tag", _values(tag for one in known for tag in one.tags)),
            ("toolkit", "CUDA toolkit", _values(one.toolkit for one in known)),
        ],
    }  # fmt: skip
    return render(request, "podium/problems/coverage.html", release_context(request, release, "problems") | context)


def _values(values: Iterable[str]) -> list[str]:
    return sorted({value for value in values if value}, key=natural_key)


def facts_of(release: Release) -> tuple[Facts, ...]:
    """Read once for each content of a published release, because the toolkit stands in the records only."""
    return _read(release.pk) if release.is_draft else _kept(release.pk, release.digest)


@lru_cache(maxsize=32)
def _kept(release_pk: int, digest: str) -> tuple[Facts, ...]:  # noqa: ARG001 - the digest is the key
    return _read(release_pk)


def _read(release_pk: int) -> tuple[Facts, ...]:
    fields = ("group", "kind", "difficulty", "tags", "record")
    rows = Problem.objects.filter(release=release_pk).order_by("position").values_list(*fields)
    return tuple(
        Facts(group, kind, difficulty, tuple(map(str, tags or [])), _toolkit(bytes(record)))
        for group, kind, difficulty, tags, record in rows
    )


def _toolkit(record: bytes) -> str:
    return str(json.loads(record).get("min_cuda_toolkit") or "")


def _maps(release: Release, problems: Sequence[Facts], asked: Mapping[str, str]) -> Iterator[HeatMap]:
    """One map for each property that some problem has."""
    chosen = {name: value for name, value in asked.items() if value and name != "toolkit"}
    for title, name, pairs in (
        ("Difficulty", "difficulty", [(one.group, [one.difficulty] if one.difficulty else []) for one in problems]),
        ("Tag", "tag", [(one.group, one.tags) for one in problems]),
        ("CUDA toolkit", "", [(one.group, [f"{one.toolkit} or newer"] if one.toolkit else []) for one in problems]),
        ("Kind", "kind", [(one.group, [one.kind]) for one in problems]),
    ):
        if any(values for _, values in pairs):
            yield _map(release, title, "" if asked["toolkit"] else name, pairs, chosen)


def _map(
    release: Release, title: str, name: str, pairs: Sequence[tuple[str, Sequence[str]]], chosen: Mapping[str, str]
) -> HeatMap:
    """`name` is the parameter of the problems page that takes the values; "" if it has none. `chosen`: other ones."""
    sizes = Counter(group for group, _ in pairs)
    counts = Counter((group, value) for group, values in pairs for value in set(values))
    totals = Counter(value for _, values in pairs for value in set(values))
    values = sorted((value for value, _ in totals.most_common(MOST_COLUMNS)), key=natural_key)
    most = max((counts[group, value] for group in sizes for value in values), default=0)
    address = reverse("problems", args=[release.slug])
    rows = []
    for group in sorted(sizes, key=natural_key):
        link = {**chosen, "group": group}
        cells = [
            HeatCell(n, -(-HEAT_STEPS * n // most), f"{address}?{urlencode(link | {name: value})}" if name else "")
            for value in values
            for n in (counts[group, value],)
        ]
        rows.append(HeatRow(group, cells, sizes[group], f"{address}?{urlencode(link)}"))
    return HeatMap(title, values, rows, len(totals) - len(values))
