"""The charts of an entrant's page, and each as plotly.js draws it."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import reduce
from operator import or_
from statistics import fmean, geometric_mean
from typing import Any

from django.db.models import Avg, Exists, F, FloatField, OuterRef, Q, Sum
from django.db.models.functions import Cast
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard import visibility
from leaderboard.boards.columns import ranking_metric
from leaderboard.charts.chart import Chart
from leaderboard.charts.entrant import GROUPS, HISTORY, MAX_COMPARED, RESULTS, BoardResult, GroupShare, PastResult
from leaderboard.models import Counted, Decision, Entrant, ProblemScore, ProblemTrack, Standing, SubmissionState
from leaderboard.models.boards.estimates import figure_of_group
from leaderboard.models.curation.decision import DecisionKind
from leaderboard.web.boards.charts import made_at
from leaderboard.web.boards.figures import ChartFigure, facts_of, facts_of_day
from leaderboard.web.shared.lookups import entrant_or_404
from problems.spec.natural import natural_key
from scoring.metrics import PASS_AT_1, SPEEDUP, Average, Metric

MAX_BOARDS = 20
GROUP_BOARDS = 3
"""Boards, newest first, whose groups are drawn; the page has the groups of the others as tables."""
MAX_PAST = 20


def standings_of(user: Any, entrant: Entrant) -> list[Standing]:
    """Its rows on every board that the user may see, the newest release first. One query."""
    rows = visibility.visible_standings_of(user, entrant).select_related("release", "track", "submission")
    return list(rows.order_by("-release__published_at", "-release_id", "track__slug"))


def _board(row: Standing) -> str:
    return f"{row.release.title}, {row.track.slug}"


def metric_of(row: Standing) -> Metric:
    """The metric that ranks the board."""
    return ranking_metric(row.release.primary_metric) or PASS_AT_1


def results(standings: Sequence[Standing], metric: Metric) -> list[BoardResult]:
    """The metric on the newest boards that it ranks; pass@1 on all where it has one."""
    return [
        BoardResult(
            entrant_id=row.entrant_id,
            release=row.release.title,
            track=row.track.slug,
            figure=row.figure(metric.name),
            rank=row.rank,
            metric=metric,
            ranks=metric == metric_of(row),
        )
        for row in standings
        if row.figure(metric.name)[0] is not None and metric in (PASS_AT_1, metric_of(row))
    ][:MAX_BOARDS]


_Place = tuple[int, int]
"""The ids of a release and a track."""


def groups(user: Any, standings: Sequence[Standing]) -> list[list[GroupShare]]:
    """For each standing, the metric that ranks, by group, beside its board's first entrants. One query for all."""
    means, n_ranked = _group_means(user, standings)
    return [
        [
            GroupShare(
                entrant_id=row.entrant_id,
                group=group,
                share=figure_of_group(one, metric_of(row)),
                others=means.get((row.release_id, row.track_id), {}).get(group),
                n_others=n_ranked[row.release_id, row.track_id],
                solved=one["solved"],
                problems=one["problems"],
                metric=metric_of(row),
            )
            for group, one in sorted(row.groups.items(), key=lambda item: natural_key(item[0]))
        ]
        for row in standings
    ]


def _group_means(user: Any, standings: Sequence[Standing]) -> tuple[dict[_Place, dict[str, float]], Counter[_Place]]:
    """The means by group on each board, and of how many ranked entrants they are."""
    n_ranked: Counter[_Place] = Counter()
    if not standings:
        return {}, n_ranked
    boards = [visibility.visible_standings(user, row.release).filter(track=row.track) for row in standings]
    metrics = {(row.release_id, row.track_id): metric_of(row) for row in standings}
    ranked = reduce(or_, boards).filter(rank__lte=MAX_COMPARED).order_by()
    shares: dict[_Place, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for release_id, track_id, found in ranked.values_list("release_id", "track_id", "groups"):
        n_ranked[release_id, track_id] += 1
        for group, one in found.items():
            value = figure_of_group(one, metrics[release_id, track_id])
            if value is not None:
                shares[release_id, track_id][group].append(value)
    means = {
        place: {group: _mean(values, metrics[place]) for group, values in of.items()} for place, of in shares.items()
    }
    return means, n_ranked


def _mean(values: Sequence[float], metric: Metric) -> float:
    return geometric_mean(values) if metric.average is Average.GEOMETRIC else fmean(values)


def history(user: Any, entrant: Entrant, standings: Sequence[Standing]) -> list[PastResult]:
    """Its newest finished full submissions on these boards: the speedup where that ranks, else pass@1. Three queries.

    A submission with an undecided sample on a board is left out there, as the board would call it incomplete.
    """
    boards = {(row.release_id, row.track_id): (_board(row), metric_of(row)) for row in standings}
    finished = (
        visibility.visible_submissions(user)
        .filter(entrant=entrant, is_full=True, state=SubmissionState.DONE, release__in=[pk for pk, _ in boards])
        .exclude(decisions__kind=DecisionKind.SUBMISSION_RETRACTED)
        .order_by("-id")
        .only("release_id", "created_at", "measured_where")[:MAX_PAST]
    )
    submissions = {one.pk: one for one in finished}
    counted = set(Counted.objects.filter(submission__in=submissions).values_list("submission_id", "track_id"))
    found = []
    for submission_id, track_id, share, mean_ln, undecided in _shares(user, list(submissions)):
        one = submissions[submission_id]
        board, metric = boards.get((one.release_id, track_id), ("", PASS_AT_1))
        by_time = metric == SPEEDUP
        value = share if not by_time else None if mean_ln is None else math.exp(mean_ln)
        if board and value is not None and not undecided:
            at, counts = made_at(one.created_at, one.measured_where), (submission_id, track_id) in counted
            shown = SPEEDUP if by_time else PASS_AT_1
            found.append(PastResult(entrant.pk, board, submission_id, at, value, counts, shown))
    return found


def _shares(user: Any, submission_ids: Sequence[int]) -> list[tuple[int, int, float | None, float | None, int]]:
    """Submission, track, mean share of samples passed over the problems that count, mean ln of the speedup over those
    with a rankable baseline, number of undecided samples.
    """
    voided = Decision.objects.errata().values("problem_id")
    counts = Q(n_samples__gt=0) & ~Q(n_skipped=F("n_samples"))
    share = Cast("n_passed", FloatField()) / Cast("n_samples", FloatField())
    scores = visibility.told_scores(user, ProblemScore.objects.filter(counts, submission__in=submission_ids))
    timed = ProblemTrack.objects.filter(
        problem=OuterRef("problem"), track=OuterRef("track"), has_rankable_baseline=True
    )
    rows = scores.exclude(problem__in=voided).annotate(is_timed=Exists(timed))
    mean_ln = Avg(F("ln_speedup_sum") / F("n_samples"), filter=Q(is_timed=True), output_field=FloatField())
    told = rows.order_by().values("submission_id", "track_id").annotate(
        share=Avg(share), mean_ln=mean_ln, undecided=Sum(F("n_pending") + F("n_unresolved"))
    )  # fmt: skip
    return list(told.values_list("submission_id", "track_id", "share", "mean_ln", "undecided"))


def _by_metric(rows: Sequence[PastResult]) -> list[list[PastResult]]:
    """The results of each metric."""
    found: dict[str, list[PastResult]] = defaultdict(list)
    for row in rows:
        found[row.metric.name].append(row)
    return list(found.values())


def _metrics(standings: Sequence[Standing]) -> list[Metric]:
    """The metrics that rank these boards, and pass@1."""
    return list(dict.fromkeys([*map(metric_of, standings), PASS_AT_1]))


def figures(user: Any, entrant: Entrant, standings: Sequence[Standing]) -> dict[str, list[ChartFigure]]:
    """Figures by the part of the page in which they stand."""
    on_boards = [results(standings, metric) for metric in _metrics(standings)]
    past = _by_metric(history(user, entrant, standings))
    newest = standings[:GROUP_BOARDS]
    return {
        "results_figures": [_figure(entrant, RESULTS, rows) for rows in on_boards if RESULTS.is_shown(rows)],
        "group_figures": [
            _figure(entrant, GROUPS, found, row)
            for row, found in zip(newest, groups(user, newest), strict=True)
            if GROUPS.is_shown(found)
        ],
        "history_figures": [_figure(entrant, HISTORY, rows) for rows in past if HISTORY.is_shown(rows)],
    }


def _figure(entrant: Entrant, chart: Chart[Any], rows: Sequence[Any], of: Standing | None = None) -> ChartFigure:
    """`of`: the board that the figure is about, if it is about one."""
    query = {"release": of.release.slug, "track": of.track.slug} if of else {"metric": rows[0].metric.name}
    address = reverse("entrant_chart", args=[entrant.slug, chart.name], query=query)
    facts = facts_of(of.release, of.track) if of else facts_of_day(rows[0].metric.name)
    title = f"{chart.heading(rows)}: {_board(of)}" if of else chart.heading(rows)
    return ChartFigure(
        title, chart.words(rows), f"{entrant.slug}-{chart.name}", address, chart.table(rows), facts=facts
    )


@require_safe
def chart(request: HttpRequest, slug: str, name: str) -> JsonResponse:
    """The figure as plotly.js draws it; `groups` takes `?release=…&track=…`, the others `?metric=…`."""
    entrant = entrant_or_404(request, slug)
    standings = standings_of(request.user, entrant)
    metric = ranking_metric(request.GET.get("metric", PASS_AT_1.name))
    if metric and name == RESULTS.name:
        return JsonResponse(RESULTS.spec(results(standings, metric)))
    if metric and name == HISTORY.name:
        past = history(request.user, entrant, standings)
        return JsonResponse(HISTORY.spec([row for row in past if row.metric == metric]))
    asked = request.GET.get("release"), request.GET.get("track")
    row = next((one for one in standings if (one.release.slug, one.track.slug) == asked), None)
    if name != GROUPS.name or row is None:
        raise Http404(f"There is no such chart of {entrant.slug} that you may see.")
    return JsonResponse(GROUPS.spec(groups(request.user, [row])[0]))
