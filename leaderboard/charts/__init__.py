"""The site's figures by name; each module has `spec` (what the browser draws), `figure` and `table` of plain rows."""

from typing import Any, Final

from leaderboard.charts.boards import (
    fast_p,
    forest,
    heat_map,
    history,
    k_curve,
    pass_at_k_bars,
    pass_vs_speedup,
    raw_vs_weighted,
    score_vs_cost,
    speedups,
)
from leaderboard.charts.chart import Chart

PASS_AT_K = Chart("pass-at-k", "pass@k", pass_at_k_bars.CAPTION, pass_at_k_bars.spec, pass_at_k_bars.table)
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
FAST_P = Chart("fast-p", "Share faster than p×", fast_p.CAPTION, fast_p.spec, fast_p.table, fast_p.has_curves)
HEAT_MAP = Chart("groups", "pass@1 by group", heat_map.CAPTION, heat_map.spec, heat_map.table, heat_map.has_cells)
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
BOARD_CHARTS: Final[dict[str, Chart[Any]]] = {
    one.name: one
    for one in (
        PASS_AT_K, K_CURVE, PASS_VS_SPEEDUP, SPEEDUPS, FAST_P, HEAT_MAP, RAW_VS_WEIGHTED, SCORE_VS_COST, HISTORY,
        DIFFERENCES,
    )
}  # fmt: skip
"""The charts of a board, in the order they are shown."""
