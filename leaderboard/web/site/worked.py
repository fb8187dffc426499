"""The worked examples of the about page: every figure comes from the functions that compute boards."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from scoring.board import score_board
from scoring.board_input import from_samples
from scoring.fast_p import fast_counts, fast_p
from scoring.median import Z_95, median_interval, median_ranks
from scoring.metrics import CORRECT_SPEEDUP, SPEEDUP
from scoring.paired import DrawnPairs, paired_difference
from scoring.pass_at_k import pass_at_k
from scoring.ranking import FAMILY_LEVEL, rank_entrants
from scoring.sample import TimedCase, counted_if_surely_faster, ratio_arm, sample_speedup
from scoring.shared_problems import over_all
from scoring.sol_score import sol_score
from scoring.speedup import correct_ln, fallback_ln, timed
from scoring.throughput import geometric_mean, giga_per_second, least_ms
from scoring.uncertainty import mean_interval, means, share_interval, student_t, wilson_interval
from scoring.weights import EPSILON, group_weights

SEED, DRAWS = "example", 1000


@dataclass(frozen=True)
class Worked:
    """An example: its input, the steps by hand, and the result of the function that boards call."""

    given: str
    steps: Sequence[str]
    result: str
    function: str


@lru_cache(maxsize=1)
def examples() -> dict[str, Worked]:
    """Every example by name, computed once for each process."""
    return {make.__name__.strip("_"): make() for make in _EXAMPLES}


def _name(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _pass_at_k() -> Worked:
    n, c, k = 4, 2, 2
    failing, all_of = math.comb(n - c, k), math.comb(n, k)
    return Worked(
        f"n = {n} samples, of which c = {c} passed; k = {k}.",
        [
            f"Choices of {k} of the {n} samples: C({n}, {k}) = {all_of}.",
            f"Of these, all {k} fail in C({n - c}, {k}) = {failing}.",
            f"1 − {failing}/{all_of} = {1 - failing / all_of:.3f}",
        ],
        f"pass@{k} = {float(pass_at_k(n, c, k)):.3f}",
        _name(pass_at_k),
    )


def _mean() -> Worked:
    passed = np.array([[[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]], dtype=bool)
    scores = score_board(from_samples(passed, np.full(passed.shape, np.nan), SEED))
    shares = passed[0].mean(axis=1)
    words = ", ".join(f"{one.sum()} of {one.size}" for one in passed[0])
    return Worked(
        f"Three problems, on which {words} samples passed.",
        [f"({' + '.join(f'{one:.2f}' for one in shares)}) / {len(shares)} = {shares.mean():.3f}"],
        f"pass@1 = {100 * scores.primary.value[0]:.1f} %, solved {scores.solved[0]}/{scores.problems[0]}",
        _name(score_board),
    )


def _wilson() -> Worked:
    share, n = 1.0, 18
    low, high = (float(end) for end in wilson_interval(share, n))
    square = Z_95**2
    centre, half = share + square / (2 * n), Z_95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return Worked(
        f"p = {share:g}: all of n = {n} problems solved. z = {Z_95:.3f}.",
        [
            f"z² = {square:.3f}; centre: p + z²/2n = {centre:.4f}",
            f"half: z · √(p(1 − p)/n + z²/4n²) = {half:.4f}; divisor: 1 + z²/n = {1 + square / n:.4f}",
            f"low: ({centre:.4f} − {half:.4f}) / {1 + square / n:.4f} = {(centre - half) / (1 + square / n):.4f}",
            f"high: ({centre:.4f} + {half:.4f}) / {1 + square / n:.4f} = {(centre + half) / (1 + square / n):.4f}",
        ],
        f"95 % interval {100 * low:.1f}–{100 * high:.1f} %",
        _name(wilson_interval),
    )


_FIRST = (1.0, 0.75, 0.5, 1.0, 0.25, 0.75)
_SECOND = (0.75, 0.75, 0.25, 0.5, 0.0, 1.0)


def _trials() -> Worked:
    values, n = np.array([_FIRST]), len(_FIRST)
    found = means(values, np.ones_like(values))
    mean, variance, student = float(found.value[0]), float(found.variance[0]), float(student_t(np.array(n - 1.0)))
    trials, samples = mean * (1 - mean) / variance, 4.0
    quantile = math.sqrt(n / trials * Z_95**2 + (1 - n / trials) * student**2)
    interval = share_interval(found, np.array([samples]))
    return Worked(
        f"pass@1 of one entrant on {n} problems with {samples:g} samples each: {_listed(_FIRST)}.",
        [
            f"Mean {mean:.4f}; its variance, the mean square of the problems' distances from it by {n}: {variance:.5f}",
            f"Trials: {mean:.4f} · {1 - mean:.4f} / {variance:.5f} = {trials:.2f}, at most {n} · {samples:g}",
            f"Quantile: √({n}/{trials:.2f} · {Z_95:.3f}² + (1 − {n}/{trials:.2f}) · {student:.3f}²) = {quantile:.3f}",
            f"Wilson's interval of p = {mean:.4f} and n = {trials:.2f} with z = {quantile:.3f}",
        ],
        f"{mean:.4f}, 95 % interval {interval.low[0]:.4f}–{interval.high[0]:.4f}",
        _name(share_interval),
    )


def _skewed() -> Worked:
    logs = np.array([[0.0, 0.0, 0.0, 0.1, 0.0, 0.4, 0.0, 1.2]])
    found = means(logs, np.ones_like(logs))
    n, mean, error = logs.size, float(found.value[0]), math.sqrt(found.variance[0])
    skew = float((found.influence[0] ** 3).sum()) / error**3
    quantile = float(student_t(np.array(n - 1.0)))
    interval = mean_interval(found)
    low, high = float(interval.low[0]), float(interval.high[0])
    return Worked(
        f"ln of the speedup counted on {n} problems: {_listed(tuple(logs[0]))}.",
        [
            f"Mean {mean:.4f}, its standard error e = {error:.4f}, skewness of the mean k = {skew:.3f}, a = k/3",
            f"Student's quantile of {n - 1} degrees of freedom: {quantile:.3f}",
            f"Lower arm: e · (∛(1 + 3a({quantile:.3f} − k/6)) − 1)/a = {mean - low:.4f}",
            f"Upper arm: e · |∛(1 + 3a(−{quantile:.3f} − k/6)) − 1|/a = {high - mean:.4f}",
            f"The lower end is {low:.4f}; no logarithm counts less than 0.",
        ],
        f"speedup {math.exp(mean):.2f}×, 95 % interval {math.exp(max(low, 0.0)):.2f}–{math.exp(high):.2f}",
        _name(mean_interval),
    )


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _paired() -> Worked:
    first, second = np.array(_FIRST), np.array(_SECOND)
    found = paired_difference(first, second, np.ones(len(_FIRST), dtype=bool), DrawnPairs(SEED, DRAWS))
    differences = first - second
    return Worked(
        f"The entrant above, and a second with {_listed(_SECOND)} on the same problems.",
        [
            f"Differences by problem: {_listed(tuple(differences))}",
            f"Their mean: {differences.sum():g} / {len(differences)} = {differences.mean():.4f}",
            f"Better on {found.wins}, worse on {found.losses}, equal on {found.ties}.",
            "The interval is that of a mean of such differences, as of logarithms above.",
        ],
        f"difference {found.value:.4f}, 95 % interval {found.low:.4f} to {found.high:.4f}: "
        + ("surely better" if found.low > 0 else "not surely better, because the interval holds 0"),
        _name(paired_difference),
    )


def _ranks() -> Worked:
    values = np.array([[0.9, 0.8, 1.0, 0.7, 0.9, 1.0, 0.8, 0.9], [0.8, 0.9, 0.9, 0.7, 0.8, 0.9, 0.9, 0.8], [0.2] * 8])
    found = means(values, np.ones_like(values))
    ranks = rank_entrants(found, np.ones(len(values), dtype=bool), 1e-9)
    steps = []
    for one, other in ((0, 1), (0, 2), (1, 2)):
        gap = values[one] - values[other]
        figure = gap.mean() / math.sqrt((gap**2).mean() / gap.size)
        steps.append(f"Entrants {one + 1} and {other + 1}: difference {gap.mean():.4f}, figure {figure:.3f}")
    pairs = len(steps)
    needed = [NormalDist().inv_cdf(1 - FAMILY_LEVEL / (2 * (pairs - n))) for n in range(pairs)]
    steps.append(f"Needed, from the largest figure on: {', '.join(f'{one:.3f}' for one in needed)}.")
    words = ", ".join(f"{r} ({low}–{high})" for r, low, high in zip(ranks.rank, ranks.low, ranks.high, strict=True))
    listed = "; ".join(_listed(tuple(one)) for one in values)
    return Worked(
        f"Three entrants on eight problems, pass@1: {listed}.",
        steps,
        f"ranks {words}",
        _name(rank_entrants),
    )


def _speedup() -> Worked:
    passed, speedups = np.array([True, True, False]), np.array([4.0, 0.5, np.nan])
    logs = fallback_ln(passed, speedups)
    correct = correct_ln(passed, speedups)
    n_correct = int(timed(passed, speedups).sum())
    samples = passed[None, None, :]
    scores = score_board(from_samples(samples, speedups[None, None, :], SEED))
    return Worked(
        "One problem with three samples: surely 4 times as fast as the baseline, half as fast, and one that failed.",
        [
            f"ln of what counts: {', '.join(f'{one:.4f}' for one in logs)}; the slower and the failed one count 1.",
            f"Speedup ≥ 1: exp({logs.sum():.4f} / {logs.size}) = {math.exp(logs.mean()):.3f}",
            f"Of passes: exp(({' + '.join(f'({one:.4f})' for one in correct[:n_correct])}) / {n_correct})"
            f" = {math.exp(correct.sum() / n_correct):.3f}",
        ],
        f"speedup ≥ 1 {scores.figures[SPEEDUP.name].value[0]:.2f}×,"
        f" of passes {scores.figures[CORRECT_SPEEDUP.name].value[0]:.2f}×",
        _name(score_board),
    )


def _cases() -> Worked:
    baseline, own = {"small": 2.0, "large": 90.0}, {"small": 1.0, "large": 10.0}
    ratios = [baseline[case] / own[case] for case in own]
    value = sample_speedup(baseline, own)
    assert value is not None
    return Worked(
        "A sample with two timed cases: small, 2 ms by the baseline and 1 ms its own; large, 90 ms and 10 ms.",
        [
            f"Ratios: {_listed(ratios)}.",
            f"Geometric mean: √({' · '.join(f'{one:g}' for one in ratios)}) = {math.sqrt(math.prod(ratios)):.3f}",
        ],
        f"the sample's speedup is {value:.2f}×",
        _name(sample_speedup),
    )


def _sure() -> Worked:
    times = {"A": (10.0, 9.8, 9.0, 9.1), "B": (10.0, 9.8, 9.8, 10.0)}
    steps, results = [], []
    for name, (baseline, baseline_low, own, own_high) in times.items():
        arm, ratio = ratio_arm(baseline, baseline_low, own, own_high), baseline / own
        steps.append(
            f"{name}: own median {own:g} ms, at most {own_high:g}. ln s = {math.log(ratio):.4f}; arm"
            f" ln({baseline:g}/{baseline_low:g}) + ln({own_high:g}/{own:g}) = {arm:.4f}"
        )
        counted = math.exp(counted_if_surely_faster(ratio, [TimedCase(ratio, arm)]))
        results.append(f"{name} {'is surely faster and ' if counted > 1 else ''}counts {counted:.3f}")
    return Worked(
        "The baseline's median is 10 ms, at least 9.8 by its interval. Two samples:",
        steps,
        "; ".join(results),
        _name(counted_if_surely_faster),
    )


def _fast() -> Worked:
    thresholds = (0.0, 1.0, 2.0)
    passed = np.array([[[True, True, True, False], [True, False, False, False]]])
    speedups = np.array([[[2.5, 1.5, 0.9, np.nan], [3.0, np.nan, np.nan, np.nan]]])
    counts = fast_counts(passed, speedups, thresholds)
    curve = fast_p(counts, np.full((1, 2), 4), np.ones((1, 2), dtype=bool))[0]
    steps = [
        f"p = {p:g}: ({counts[0, 0, at]}/4 + {counts[0, 1, at]}/4) / 2 = {(counts[0, :, at] / 4).mean():.3f}"
        for at, p in enumerate(thresholds)
    ]
    return Worked(
        "Two problems, four samples each. The first: passes at 2.5×, 1.5× and 0.9×. The second: one pass at 3×.",
        steps,
        ", ".join(f"fast({p:g}) = {100 * value:.1f} %" for p, value in zip(thresholds, curve, strict=True)),
        _name(fast_p),
    )


def _weighted() -> Worked:
    rates, sizes = (0.8, 0.2), (3, 1)
    weights = group_weights(rates, sizes)
    raw = [1 - rate + EPSILON for rate in rates]
    scale = sum(one * n for one, n in zip(raw, sizes, strict=True)) / sum(sizes)
    by_problem, solved = np.repeat(weights, sizes), np.array([1.0, 1.0, 1.0, 0.0])
    weighted = float(means(solved[None, :], by_problem[None, :]).value[0])
    return Worked(
        f"Two groups: easy, {sizes[0]} problems with a pass rate of {rates[0]:g}; hard, {sizes[1]} problem with"
        f" {rates[1]:g}. ε = {EPSILON:g}. An entrant solves the easy ones only.",
        [
            f"(1 − p) + ε: easy {raw[0]:.2f}, hard {raw[1]:.2f}.",
            f"Z = ({sizes[0]} · {raw[0]:.2f} + {sizes[1]} · {raw[1]:.2f}) / {sum(sizes)} = {scale:.3f}",
            f"Weights: easy {raw[0] / scale:.3f}, hard {raw[1] / scale:.3f}.",
            f"Score: {sizes[0]} · {weights[0]:.3f} / {by_problem.sum():.0f}, beside {sizes[0]}/{sum(sizes)} raw",
        ],
        f"weighted {100 * weighted:.1f} %, raw {100 * solved.mean():.1f} %",
        _name(group_weights),
    )


def _roofline() -> Worked:
    flops, moved, peak_gflops, peak_gbps, time_ms = 2e9, 4e9, 50_000.0, 4_000.0, 3.0
    least = least_ms(flops, moved, peak_gflops, peak_gbps)
    assert least is not None
    by_flops, by_bytes = (least_ms(flops, None, peak_gflops, None), least_ms(None, moved, None, peak_gbps))
    return Worked(
        f"2·10⁹ operations and 4·10⁹ bytes in {time_ms:g} ms; peaks of {peak_gflops:,.0f} GFLOPS and"
        f" {peak_gbps:,.0f} GB/s.",
        [
            f"Operations alone need {by_flops:.2f} ms, bytes alone {by_bytes:.2f} ms; the greater is the least time.",
            f"Share: {least:.2f} ms / {time_ms:g} ms = {least / time_ms:.3f}",
        ],
        f"{100 * least / time_ms:.1f} % of the roofline, {giga_per_second(flops, time_ms):,.0f} GFLOPS and"
        f" {giga_per_second(moved, time_ms):,.0f} GB/s",
        _name(least_ms),
    )


def _gflops() -> Worked:
    own = [giga_per_second(2e9, 4.0), giga_per_second(8e9, 1.0), math.nan]
    baseline = [giga_per_second(flops, ms) for flops, ms in ((2e9, 8.0), (8e9, 4.0), (4e9, 2.0))]
    everything, nothing = np.ones((1, 3), dtype=np.bool_), np.zeros(3, dtype=np.bool_)
    counted, _ = over_all(np.array([own]), np.array(baseline), everything[:, 0], everything, nothing)
    rates = [float(one) for one in counted[0]]
    mean = geometric_mean(rates)
    return Worked(
        "Three problems: 2·10⁹ operations in 4 ms (baseline 8 ms), 8·10⁹ in 1 ms (baseline 4 ms), and 4·10⁹ without a"
        " passing time (baseline 2 ms).",
        [
            f"GFLOPS of each: {', '.join(f'{one:,.0f}' for one in rates)}; the last is the baseline's.",
            f"Geometric mean: ∛({' · '.join(f'{one:.0f}' for one in rates)}) = {math.prod(rates) ** (1 / 3):,.0f}",
        ],
        f"{mean:,.0f} GFLOPS, 2 own of 3",
        _name(over_all),
    )


def _sol() -> Worked:
    least, baseline, times = 10.0, 20.0, (15.0, 20.0, 40.0, 9.0)
    scores = sol_score(np.array(times), np.array(baseline), np.array(least))
    room = baseline - least
    steps = [
        f"{time:g} ms: 1 / (1 + {max(time - least, 0):g}/{room:g}) = {1 / (1 + max(time - least, 0) / room):.3f}"
        for time in times
    ]
    return Worked(
        f"Least time {least:g} ms, baseline {baseline:g} ms. A time below the least counts as the least.",
        steps,
        ", ".join(f"{time:g} ms scores {score:.3f}" for time, score in zip(times, scores, strict=True)),
        _name(sol_score),
    )


def _median() -> Worked:
    runs = (4.21, 4.18, 4.35, 4.19, 4.24, 4.20, 4.22, 4.60, 4.17)
    found, ranks = median_interval(runs), median_ranks(len(runs))
    assert ranks is not None
    low, high, coverage = ranks
    ordered = sorted(runs)
    below = sum(math.comb(len(runs), one) for one in range(low))
    return Worked(
        f"{len(runs)} runs in ms: {_listed(runs)}.",
        [
            f"In order: {_listed(ordered)}. The middle one is {ordered[len(runs) // 2]:g}.",
            f"Runs {low} and {high} in order: {ordered[low - 1]:g} and {ordered[high - 1]:g}. They cover the true"
            f" median with 1 − 2 · {below}/2^{len(runs)} = {1 - 2 * below / 2 ** len(runs):.4f}.",
        ],
        f"median {found.median:g} ms, interval {found.low:g}–{found.high:g} ms at {100 * coverage:.1f} %",
        _name(median_interval),
    )


_EXAMPLES: tuple[Callable[[], Worked], ...] = (
    _pass_at_k,
    _mean,
    _wilson,
    _trials,
    _skewed,
    _paired,
    _ranks,
    _speedup,
    _sure,
    _cases,
    _fast,
    _weighted,
    _roofline,
    _gflops,
    _sol,
    _median,
)
