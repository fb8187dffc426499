"""A release's board: the page, the groups of one row, and the same rows as CSV and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard.boards import export, table, timed_work
from leaderboard.boards.asked import check
from leaderboard.boards.columns import Column, declared_words, leader_of
from leaderboard.boards.problem_choice import ALL_PROBLEMS, ReleaseProblems
from leaderboard.boards.query import ALL_GROUPS, BoardQuery, parse
from leaderboard.boards.source import BoardSource, source_of
from leaderboard.curation import rounds
from leaderboard.models import Decision, Submission, SubmissionState, Track
from leaderboard.models.entrants.entrant import EntrantKind
from leaderboard.standings.reference_noise.noise import references_of
from leaderboard.web.boards import board_html, snippets
from leaderboard.web.boards.release import errata_of, weights_of
from leaderboard.web.boards.tabs import release_context
from leaderboard.web.shared.lookups import release_or_404, tracks_of
from leaderboard.web.shared.shareable import absolute
from problems.models import Release, ReleaseState


def _query(request: HttpRequest, release: Release) -> tuple[BoardQuery, list[Track], ReleaseProblems]:
    tracks, problems = tracks_of(release), ReleaseProblems.of(release)
    check(request.GET, release, tracks, problems)
    return parse(request.GET, release, tracks, problems), tracks, problems


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    release = release_or_404(request, slug)
    query, tracks, problems = _query(request, release)
    source = source_of(request.user, release, query, problems)
    found = table.load(source.rows, query, problems.groups_of(query.choice))
    cited_day = query.as_of or datetime.now(UTC).date()
    ticks = "compare" if found.n_all + found.n_baselines > 1 else ""
    links = _links(release, query, ticks)
    context = release_context(request, release, "board") | _ranking_context(release, query, source) | {
        "query": query, "tracks": tracks, "groups": problems.groups, "all_groups": ALL_GROUPS, "table": found,
        "facets": problems.facets(query.choice), "notices": _notices(release, query, problems),
        "ks": [k for k in release.offered_ks if k > 1], "lacks_k": _lacks_k(query, found),
        "header": board_html.header(found.columns, query), "choosable": found.available[1:],
        "leader": None if query.is_filtered or query.sort else leader_of(found.columns, found.rows),
        "declared": declared_words(found.columns), "missing": board_html.missing_words(found.columns, found.rows),
        "weights": weights_of(release, problems), "ticks": ticks,
        "pinned": board_html.body(found.pinned, found.columns, links, query.expanded),
        "rows": board_html.body(found.rows, found.columns, links, query.expanded),
        "pages": [(number, query.url(page=number)) for number in range(1, found.n_pages + 1)],
        "citation": snippets.board_citation(release, query.cited(cited_day)), "cited_day": cited_day,
        "exports": query.url(page=1, expanded=""), "is_live": _is_live(release, query),
        "unfiltered": BoardQuery(
            query.track, query.ranked_by, query.k, group=query.group, choice=query.choice, as_of=query.as_of
        ).url(),
    }  # fmt: skip
    return render(request, "podium/boards/board.html", context)


def _notices(release: Release, query: BoardQuery, problems: ReleaseProblems) -> list[str]:
    """Notes for a reader on the board's times."""
    references = references_of(release, query.track, query.as_of)
    return [*(references.notices if references else []), *timed_work.notices(timed_work.counts_of(problems))]


def _links(release: Release, query: BoardQuery, ticks: str) -> board_html.Links:
    fresh = timezone.now() - timedelta(days=board_html.NEW_DAYS)
    is_older = release.published_at is not None and release.published_at < fresh
    return board_html.Links(
        flags=board_html.flags_address(release, query.track),
        details=reverse("board_row", args=[release.slug, board_html.SLUG]) + query.url(page=1, expanded=""),
        expand=query.url(expanded=board_html.SLUG),
        collapse=query.url(expanded=""),
        results=reverse("submission", args=[board_html.NUMBER]),
        ticks=ticks,
        newer_than=fresh if is_older and query.as_of is None else None,
    )


def _is_live(release: Release, query: BoardQuery) -> bool:
    """Whether the ranking may change at any moment, because a submission that would count is being graded."""
    accepted = Submission.objects.filter(release=release, tracks__slug=query.track, state=SubmissionState.ACCEPTED)
    graded = accepted.filter(is_full=True, asks_to_count=True).exclude(entrant__kind=EntrantKind.SYSTEM)
    return query.as_of is None and release.state != ReleaseState.FROZEN and graded.exists()


def _lacks_k(query: BoardQuery, found: table.BoardTable) -> bool:
    """Whether pass@k is not shown because no row has it."""
    return query.k > 1 and bool(found.n_all) and all(one.key != f"pass@{query.k}" for one in found.available)


def _ranking_context(release: Release, query: BoardQuery, source: BoardSource) -> dict[str, Any]:
    """The page's notes on its ranking: its age, its problems, its day, and voided problems."""
    errata = [one for one in errata_of(release) if query.as_of is None or _is_before(one, query.as_of)]
    return {
        "place": source.place, "source": source, "errata": errata, "n_counting": source.n_all - len(errata),
        "all_problems": query.url(choice=ALL_PROBLEMS, page=1, expanded=""),
        # a round begins after the closing date
        "round": rounds.on_board(source.place) if query.as_of is None and release.closes_at else None,
        "now": query.url(as_of=None, page=1, expanded=""), "today": datetime.now(UTC).date(),
    }  # fmt: skip


def _is_before(one: Decision, day: date) -> bool:
    return one.at.astimezone(UTC).date() <= day


@require_safe
def row_details(request: HttpRequest, slug: str, entrant: str) -> HttpResponse:
    """One row's groups and the explanations of its figures, as rows to put below it."""
    release = release_or_404(request, slug)
    query, _, problems = _query(request, release)
    source = source_of(request.user, release, query, problems)
    columns, rows = table.load_all(source.rows.only(entrant), BoardQuery(query.track, query.ranked_by, query.k), [])
    if not rows:
        raise Http404(f"{entrant} has no row on this board.")
    return HttpResponse(board_html.details(rows[0], columns, n_cells=2))


@dataclass(frozen=True)
class _Exported:
    release: Release
    query: BoardQuery
    problems: ReleaseProblems
    source: BoardSource
    columns: Sequence[Column]
    rows: Sequence[table.Row]


def _export(request: HttpRequest, slug: str) -> _Exported:
    release = release_or_404(request, slug)
    query, _, problems = _query(request, release)
    source = source_of(request.user, release, query, problems)
    columns, rows = table.load_all(source.rows, query, problems.groups_of(query.choice))
    return _Exported(release, query, problems, source, columns, rows)


def _csv_of(found: _Exported) -> str:
    facts = export.csv_facts(found.release, found.query, found.source)
    return export.as_csv(found.columns, found.rows, facts)


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    found = _export(request, slug)
    response = HttpResponse(_csv_of(found), content_type="text/csv; charset=utf-8")
    part, day = "some-problems" if found.source.is_part else "", str(found.query.as_of or "")
    parts = [found.release.slug, found.query.track, part, day]
    name = "-".join(part for part in parts if part)
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


@require_safe
def board_json(request: HttpRequest, slug: str) -> HttpResponse:
    found = _export(request, slug)
    release, query = found.release, found.query
    head: dict[str, Any] = {
        "address": absolute(reverse("board", args=[release.slug])) + query.url(page=1, expanded=""),
        **export.release_facts(release, query),
        **export.ranking_facts(query, found.source),
        "columns": [export.column_facts(column) for column in found.columns],
    }
    references = references_of(release, query.track, query.as_of)
    head |= {"timed_work": timed_work.counts_of(found.problems), "references": references and references.facts}
    return JsonResponse({**head, "rows": export.records(found.columns, found.rows)})
