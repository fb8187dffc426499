"""The input of a board: counts and sums of each entrant on each problem."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scoring.arrays import BoolArray, FloatArray, IntArray, check_shape
from scoring.fast_p import THRESHOLDS, fast_counts
from scoring.rules import NEWEST, RULES
from scoring.speedup import correct_ln, fallback_ln, timed

BY_BOTH = (
    "n", "passed", "pending", "skipped", "ln_speedup_sum", "correct_ln_sum", "correct_count", "fast_counts",
    "time_pending", "gflops", "held_out_ln_sum", "public_ln_sum", "held_out_count",
    "traffic_ln_sum",
)  # fmt: skip
"""Fields that are E × P; `fast_counts` is E × P × T."""
BY_PROBLEM = ("has_rankable_baseline", "voided", "weights", "questions", "at_bound", "baseline_gflops")
"""Fields that are P."""


@dataclass(frozen=True, kw_only=True)
class BoardInput:
    """Entrants (E) × problems (P) of one release and track; problems stand in the release's order.

    Raises ValueError if an array's shape does not fit, or if `draws` or one of `ks` is not positive.
    """

    n: IntArray
    """E × P: samples; 0 if the entrant has none."""
    passed: IntArray
    """E × P: samples that passed."""
    pending: IntArray
    """E × P: samples without a verdict (queued, platform error, flagged). The problem then does not count here."""
    skipped: BoolArray
    """E × P: whether the track cannot run the problem, which then leaves this entrant's denominators."""
    ln_speedup_sum: FloatArray
    """E × P: Σ of what the rules count (`Rules.counted`) for the samples that passed with a time that may rank."""
    correct_ln_sum: FloatArray
    """E × P: Σ ln s over the samples that passed with a time that may rank."""
    correct_count: IntArray
    """E × P: the number of those samples."""
    fast_counts: IntArray
    """E × P × T: samples that passed with a speedup above each of `thresholds`. At 0 every pass counts."""
    has_rankable_baseline: BoolArray
    """P: whether the baseline has a time on the track that may rank."""
    voided: BoolArray
    """P: whether the problem is removed from every denominator."""
    rankable: BoolArray
    """E: whether the entrant may be ranked. Baselines may not."""
    release_digest: str
    """Seed of rules that draw."""
    primary: str = "pass@1"
    """Name of the metric that ranks, as in `scoring.metrics`; a pass@k for one of `ks`."""
    ks: tuple[int, ...] = (1,)
    thresholds: tuple[float, ...] = THRESHOLDS
    weights: FloatArray | None = None
    """P: weight of each problem; 0 for a question."""
    questions: BoolArray | None = None
    """P: whether the problem is a question; None if the board does not tell questions from coding problems."""
    time_pending: IntArray | None = None
    """E × P: passed samples whose time awaits a decision, for primary metrics that use time."""
    gflops: FloatArray | None = None
    """E × P: the entrant's GFLOPS on the problem; NaN if it has none that may rank."""
    baseline_gflops: FloatArray | None = None
    """P: those of the baseline; NaN if it has no time that may rank, or the problem declares no work."""
    figures: Mapping[str, FloatArray] = field(default_factory=dict)
    """E × P by name of metric: figures of which the metric is an average over problems; NaN where a problem has none.

    The share of the roofline is 0 without a ranking time, and NaN if the problem declares no work. The sol_score is the
    mean over the samples, and NaN if the problem has no bound or its baseline no room. The median time is that of the
    samples whose time ranks.
    """
    traffic_ln_sum: FloatArray | None = None
    """E × P: `ln_speedup_sum` with the cases weighted by traffic; None if the release declares none."""
    held_out_ln_sum: FloatArray | None = None
    """E × P: Σ over passed samples of the mean ln ratio over held-out cases; None if no problem has such cases."""
    public_ln_sum: FloatArray | None = None
    """E × P: the same of these samples over their other cases."""
    held_out_count: IntArray | None = None
    """E × P: the number of these samples: timed in cases of both kinds."""
    at_bound: BoolArray | None = None
    """P: whether the problem has a bound and its baseline leaves no room above it. It has no sol_score."""
    rules: int = NEWEST
    """The version of the rules (`scoring.rules`)."""
    shared_ln_sd: float = 0.0
    """Standard deviation of the noise in ln time that all problems of an entrant share, as from a node or a day."""
    draws: int = 1000
    tie_tolerance: float = 1e-9
    """Scores this close share a rank: in the metric's unit, or relative for speedup and GFLOPS."""

    def __post_init__(self) -> None:
        _check_settings(self)
        _check_shapes(self)


def _check_settings(board: BoardInput) -> None:
    if board.draws < 1 or min(board.ks, default=0) < 1:
        raise ValueError(f"a board needs positive draws and ks, not {board.draws} draws and ks {board.ks}")
    if board.rules not in RULES:
        raise ValueError(f"there are no rules {board.rules}, only {', '.join(map(str, RULES))}")


def _check_shapes(board: BoardInput) -> None:
    if board.n.ndim != 2:
        raise ValueError(f"n has shape {board.n.shape}, expected entrants × problems")
    entrants, problems = shape = board.n.shape
    whole = {"fast_counts": (*shape, len(board.thresholds)), "rankable": (entrants,)}
    shapes = dict.fromkeys(BY_BOTH, shape) | dict.fromkeys(BY_PROBLEM, (problems,)) | whole
    for name, expected in shapes.items():
        if getattr(board, name) is not None:
            check_shape(name, getattr(board, name), expected)
    for name, figures in board.figures.items():
        check_shape(name, figures, shape)


def from_samples(
    passed: BoolArray, speedups: FloatArray, release_digest: str, present: BoolArray | None = None,
    lows: FloatArray | None = None,
) -> BoardInput:  # fmt: skip
    """A board from per-sample arrays, all E × P × S.

    `speedups` is NaN for a sample without a time that may be ranked. `present` marks the samples that exist (default:
    all). `lows` are the lower ends of the speedups (default: the times are exact). A problem has a rankable baseline if
    any sample has a speedup. No sample is pending, no problem is skipped or voided, and every entrant may be ranked.
    Use `dataclasses.replace` to change this.
    """
    exists = np.ones_like(passed) if present is None else present
    passes = passed & exists
    correct = timed(passes, speedups)
    n = exists.sum(axis=2, dtype=np.int64)
    entrants, problems = n.shape
    return BoardInput(
        n=n,
        passed=passes.sum(axis=2, dtype=np.int64),
        pending=np.zeros_like(n),
        skipped=np.zeros(n.shape, dtype=np.bool_),
        ln_speedup_sum=fallback_ln(passes, speedups, lows).sum(axis=2),
        correct_ln_sum=correct_ln(passes, speedups).sum(axis=2),
        correct_count=correct.sum(axis=2, dtype=np.int64),
        fast_counts=fast_counts(passes, speedups),
        has_rankable_baseline=np.any(exists & np.isfinite(speedups), axis=(0, 2)),
        voided=np.zeros(problems, dtype=np.bool_),
        rankable=np.ones(entrants, dtype=np.bool_),
        release_digest=release_digest,
    )
