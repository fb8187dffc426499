"""The site's figures by name; each module has `spec` (what the browser draws), `figure` and `table` of plain rows."""

from typing import Final

from leaderboard.charts import fast_p, pass_at_k_bars, pass_vs_speedup, raw_vs_weighted, score_vs_cost
from leaderboard.charts.chart import Chart

BOARD_CHARTS: Final[dict[str, Chart]] = {
    "pass-at-k": Chart("pass-at-k", "pass@k", pass_at_k_bars.CAPTION, pass_at_k_bars.spec, pass_at_k_bars.table),
    "pass-vs-speedup": Chart(
        "pass-vs-speedup",
        "pass@1 against speedup",
        pass_vs_speedup.caption,
        pass_vs_speedup.spec,
        pass_vs_speedup.table,
        pass_vs_speedup.has_points,
    ),
    "raw-vs-weighted": Chart(
        "raw-vs-weighted",
        "Raw against weighted score",
        raw_vs_weighted.CAPTION,
        raw_vs_weighted.spec,
        raw_vs_weighted.table,
        raw_vs_weighted.has_points,
    ),
    "score-vs-cost": Chart(
        "score-vs-cost",
        "Score against cost",
        score_vs_cost.CAPTION,
        score_vs_cost.spec,
        score_vs_cost.table,
        score_vs_cost.has_points,
    ),
    "fast-p": Chart("fast-p", "Share faster than p×", fast_p.CAPTION, fast_p.spec, fast_p.table, fast_p.has_curves),
}
"""The charts of a board, in the order they are shown."""
