"""The site's figures by name; each module has `spec` (what the browser draws), `figure` and `table` of plain rows."""

from collections.abc import Sequence
from typing import Any, Final

from leaderboard.charts.boards import (
    by_problem,
    fast_p,
    forest,
    heat_map,
    history,
    k_curve,
    pass_at_k_bars,
    pass_vs_speedup,
    ranked,
    raw_vs_weighted,
    score_vs_cost,
    speedups,
)
from leaderboard.charts.chart import BoardRow, Chart, ranks_by_passes, vary
from scoring.metrics import PASS_AT_1, SPEEDUP, Metric, Need

RANKED = Chart(
    "ranked", ranked.title, ranked.caption, ranked.spec, ranked.table, lambda rows: not ranks_by_passes(rows)
)
PASS_AT_K = Chart(
    "pass-at-k", "pass@k", pass_at_k_bars.caption, pass_at_k_bars.spec, pass_at_k_bars.table, pass_at_k_bars.has_bars
)
K_CURVE = Chart("k-curve", "pass@k against k", k_curve.CAPTION, k_curve.spec, k_curve.table, k_curve.has_curves)
PASS_VS_SPEEDUP = Chart(
    "pass-vs-speedup",
    "pass@1 against speedup",
    pass_vs_speedup.caption,
    pass_vs_speedup.spec,
    pass_vs_speedup.table,
    pass_vs_speedup.has_points,
)
SPEEDUPS = Chart("speedups", "Speedup distribution", speedups.CAPTION, speedups.spec, speedups.table)
BY_PROBLEM = Chart(
    "by-problem", "Speedup by problem", by_problem.caption, by_problem.spec, by_problem.table, by_problem.has_dots
)
FAST_P = Chart("fast-p", "Share faster than p×", fast_p.CAPTION, fast_p.spec, fast_p.table, fast_p.has_curves)
HEAT_MAP = Chart("groups", heat_map.title, heat_map.caption, heat_map.spec, heat_map.table, heat_map.has_cells)
PASS_HEAT_MAP = Chart(
    "pass-groups", heat_map.title, heat_map.caption, heat_map.spec, heat_map.table, heat_map.has_cells
)
HISTORY = Chart("history", "Best score over time", history.CAPTION, history.spec, history.table)
RAW_VS_WEIGHTED = Chart(
    "raw-vs-weighted",
    "Raw against weighted score",
    raw_vs_weighted.CAPTION,
    raw_vs_weighted.spec,
    raw_vs_weighted.table,
    raw_vs_weighted.has_points,
)
SCORE_VS_COST = Chart(
    "score-vs-cost",
    "Score against cost",
    score_vs_cost.caption,
    score_vs_cost.spec,
    score_vs_cost.table,
    score_vs_cost.has_points,
)
DIFFERENCES = Chart("differences", "Paired differences", forest.caption, forest.spec, forest.table)
_RANKED_BY_TIME = (
    RANKED, SPEEDUPS, FAST_P, DIFFERENCES, HISTORY, BY_PROBLEM, HEAT_MAP, PASS_VS_SPEEDUP, PASS_AT_K, PASS_HEAT_MAP,
    K_CURVE, RAW_VS_WEIGHTED, SCORE_VS_COST,
)  # fmt: skip
_RANKED_OTHERWISE = (
    RANKED, PASS_AT_K, K_CURVE, PASS_VS_SPEEDUP, HEAT_MAP, PASS_HEAT_MAP, DIFFERENCES, HISTORY, RAW_VS_WEIGHTED,
    SCORE_VS_COST, SPEEDUPS, FAST_P, BY_PROBLEM,
)  # fmt: skip
BOARD_CHARTS: Final[dict[str, Chart[Any]]] = {one.name: one for one in _RANKED_BY_TIME}
"""The charts of a board."""


def leading_chart(rows: Sequence[BoardRow]) -> Chart[BoardRow]:
    """The chart of a page with only one: pass@1 against speedup where one of them ranks and both tell entrants apart.

    Else the bars of the metric that ranks.
    """
    metric = rows[0].metric if rows else PASS_AT_1
    speedups_vary = vary(row.figure(SPEEDUP)[0] for row in rows)
    if metric in (PASS_AT_1, SPEEDUP) and speedups_vary and PASS_VS_SPEEDUP.is_shown(rows):
        return PASS_VS_SPEEDUP
    return PASS_AT_K if metric.k else RANKED


def charts_for(metric: Metric | None) -> tuple[Chart[Any], ...]:
    """Every chart of a board, in the order in which a release that ranks by this metric shows them."""
    return _RANKED_BY_TIME if metric and Need.TIMES in metric.needs else _RANKED_OTHERWISE
