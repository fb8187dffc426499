"""Measures the scoring of a board at the size planned for: 1,000 entrants × 566 problems × 10 samples."""

import sys
import time
from dataclasses import replace

import numpy as np

from benchmarks.figures import BenchFigure, show
from scoring.arrays import BoolArray, FloatArray
from scoring.board import score_board
from scoring.board_input import from_samples

ENTRANTS, PROBLEMS, SAMPLES = 1000, 566, 10
LIMIT_S = 5.0


def synthetic_samples(seed: int) -> tuple[BoolArray, FloatArray]:
    """Verdicts and speedups, E × P × S, of entrants whose skill differs on problems whose difficulty does."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(ENTRANTS, 1, 1))
    difficulty = rng.normal(size=(1, PROBLEMS, 1))
    shape = (ENTRANTS, PROBLEMS, SAMPLES)
    passed = rng.random(shape) < 1 / (1 + np.exp(difficulty - skill))
    speedups = np.exp(rng.normal(0.3 + 0.2 * skill, 0.7, size=shape))
    return passed, np.where(passed, speedups, np.nan)


def run() -> list[BenchFigure]:
    """Times the way from samples to ranks, the input's making left out."""
    passed, speedups = synthetic_samples(seed=1)
    started = time.perf_counter()
    board = from_samples(passed, speedups, "benchmark")
    counted = time.perf_counter()
    score_board(replace(board, primary="speedup", ks=(1, 3, 10)))
    ended = time.perf_counter()
    size = f"{ENTRANTS:,} entrants × {PROBLEMS} problems × {SAMPLES} samples"
    return [
        BenchFigure(f"scoring {size}", ended - started, "s", LIMIT_S, "max"),
        BenchFigure("scoring: samples to counts", counted - started, "s", None, "max"),
        BenchFigure("scoring: counts to ranks", ended - counted, "s", None, "max"),
    ]


if __name__ == "__main__":
    sys.exit(0 if show(run()) else 1)
