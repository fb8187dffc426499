"""Filters of a list of problems: searched words, and selects of which each value keeps some of the problems."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from problems.models import Problem, Release
from problems.spec.kinds import NODE_KINDS, Kind

Rows = QuerySet[Problem]
Narrow = Callable[[Rows], Rows]

_RUN = Q(kind__in=NODE_KINDS)
_NO_LANGUAGE = frozenset(kind.value for kind in Kind)
"""The types of problems that leave the language open, or need none."""


@dataclass(frozen=True)
class Option:
    """One value of a select: its words, and what it keeps of the rows."""

    value: str
    words: str
    narrow: Narrow


@dataclass(frozen=True)
class Choice:
    """A select of the form. `is_rare`: shown only on demand; `is_idle`: all rows have the same value."""

    name: str
    label: str
    options: Sequence[Option]
    is_rare: bool = False
    is_idle: bool = False

    def narrow(self, rows: Rows, value: str) -> Rows:
        """The rows that the value keeps: none if the list has no such value now."""
        found = next((one.narrow for one in self.options if one.value == value), None)
        return rows.none() if found is None else found(rows)


def where(condition: Q) -> Narrow:
    return lambda rows: rows.filter(condition)


def of_columns(rows: Rows) -> list[Choice]:
    """Selects of what the rows have in a column, each value with the number of rows that have it."""
    labels = {"group": "Group", "kind": "Kind", "type": "Language", "difficulty": "Difficulty"}
    told = list(rows.values_list(*labels))
    of_one = [_of_column(name, label, [one[n] for one in told]) for n, (name, label) in enumerate(labels.items())]
    return [*of_one, _of_tags(dict(rows.values_list("pk", "tags")))]


def _of_tags(told: Mapping[int, Sequence[str]]) -> Choice:
    ids: defaultdict[str, list[int]] = defaultdict(list)
    for pk, tags in told.items():
        for tag in set(tags):
            ids[tag].append(pk)
    options = [Option(tag, f"{tag} ({len(ids[tag])})", where(Q(pk__in=ids[tag]))) for tag in sorted(ids)]
    is_idle = all(len(one) == len(told) for one in ids.values())
    return Choice("tag", "Tag", options, is_rare=True, is_idle=is_idle)


def _of_column(name: str, label: str, values: Sequence[str]) -> Choice:
    counts = Counter(value for value in values if value and not (name == "type" and value in _NO_LANGUAGE))
    options = [
        Option(value, f"{value.replace('_', ' ') if name == 'kind' else value} ({n})", where(Q(**{name: value})))
        for value, n in sorted(counts.items())
    ]
    return Choice(name, label, options, is_idle=len(set(values)) <= 1)


TESTS = Choice(
    "tests", "Tests",
    [
        Option("yes", "has tests", lambda rows: _by_tests(rows, has_some=True)),
        Option("no", "has no test file", lambda rows: _by_tests(rows, has_some=False)),
    ],
)  # fmt: skip
REFERENCE = Choice(
    "reference", "Reference",
    [
        Option("yes", "has a reference", where(Q(has_baseline=True))),
        Option("no", "has none, and needs a node", where(_RUN & Q(has_baseline=False))),
    ],
)  # fmt: skip
TIMED = Choice(
    "timed", "Times", [Option("yes", "timed", where(Q(has_benchmark=True))),
                       Option("no", "not timed", where(_RUN & Q(has_benchmark=False)))], is_rare=True,
)  # fmt: skip
WITHHELD = Choice(
    "withheld", "Files withheld from runs",
    [
        Option("some", "some", where(_RUN & Q(build_only__isnull=False) & ~Q(build_only=[]))),
        Option("none", "none", where(_RUN & Q(build_only=[]))),
        Option("unknown", "not known before it is verified", where(_RUN & Q(build_only__isnull=True))),
    ],
    is_rare=True,
)  # fmt: skip
RELEASED = Choice(
    "released", "May be released",
    [
        Option("no", "marked as do not release", where(Q(do_not_release=True))),
        Option("yes", "not marked so", where(Q(do_not_release=False))),
    ],
    is_rare=True,
)  # fmt: skip
OF_RECORDS = (TESTS, REFERENCE, TIMED, WITHHELD, RELEASED)


def of_last_revision(release: Release) -> list[Choice]:
    """A select of what has changed since the last revision; none where there is none."""
    if release.previous_id is None:
        return []
    before = Problem.objects.filter(release=release.previous_id, task_id=OuterRef("task_id"))
    same = Exists(before.filter(record_md5=OuterRef("record_md5")))
    return [
        Choice(
            "since", "Last revision",
            [
                Option("new", "not in it", where(~Q(Exists(before)))),
                Option("changed", "changed since", where(Q(Exists(before)) & ~Q(same))),
                Option("same", "the same", where(Q(same))),
            ],
        )
    ]  # fmt: skip


def with_words(rows: Rows, search: str) -> Rows:
    """The rows that have each searched word in task_id, title, group, difficulty, tags or statement."""
    words = search.casefold().split()
    found = rows.values_list("pk", "task_id", "title", "group", "difficulty", "tags", "record")
    return rows.filter(pk__in=[pk for pk, *told in found if _has_words(words, *told)])


def _has_words(words: Sequence[str], *told: Any) -> bool:
    *texts, tags, record = told
    text = "\n".join([*texts, *tags, json.loads(bytes(record))["prompt"]]).casefold()
    return all(word in text for word in words)


def _by_tests(rows: Rows, *, has_some: bool) -> Rows:
    """Filters the problems that nodes run by their tests. A function problem's definition is its test."""
    run = rows.filter(_RUN)
    return run.filter(pk__in=[pk for pk, is_tested in _tested(run) if is_tested is has_some])


def _tested(rows: Rows) -> Iterator[tuple[int, bool]]:
    for pk, kind, record in rows.values_list("pk", "kind", "record"):
        yield pk, kind == Kind.FUNCTION or bool(json.loads(bytes(record)).get("test_files"))
