"""The function problems for CPUs answered element by element in plain Python, apart from their references."""

import math
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from typing import Any

Given = dict[str, Any]
Answers = list[Any]


def row_softmax(given: Given) -> Answers:
    rows = []
    for row in given["x"].tolist():
        powers = [math.exp((value - max(row)) / given["temperature"]) for value in row]
        rows.append([power / math.fsum(powers) for power in powers])
    return [rows]


def binned_counts(given: Given) -> Answers:
    counts, outside = [0] * given["bins"], 0
    edges = [given["lower"] + number * given["width"] for number in range(given["bins"] + 1)]
    for value in given["values"].tolist():
        holders = [number for number in range(given["bins"]) if edges[number] <= value < edges[number + 1]]
        for number in holders:
            counts[number] += 1
        outside += not holders
    return [counts, [outside]]


def sparse_rows(given: Given) -> Answers:
    starts, x = given["row_starts"].tolist(), given["x"].tolist()
    entries = list(zip(given["columns"].tolist(), given["values"].tolist(), strict=True))
    return [[math.fsum(value * x[column] for column, value in entries[first:last]) for first, last in pairs(starts)]]


def pairs(edges: list[int]) -> list[tuple[int, int]]:
    return list(zip(edges[:-1], edges[1:], strict=True))


def heat_steps(given: Given) -> Answers:
    grid = given["grid"].tolist()
    for _ in range(given["steps"]):
        old = [list(row) for row in grid]
        for row in range(1, given["rows"] - 1):
            for col in range(1, given["cols"] - 1):
                around = old[row - 1][col] + old[row + 1][col] + old[row][col - 1] + old[row][col + 1]
                grid[row][col] = old[row][col] + given["rate"] * (around - 4 * old[row][col])
    return [grid]


def segmented_prefix_sum(given: Given) -> Answers:
    sums: list[int] = []
    for value, restart in zip(given["values"].tolist(), given["restart"].tolist(), strict=True):
        sums.append(value if restart or not sums else sums[-1] + value)
    return [sums]


def top_k_scores(given: Given) -> Answers:
    best, places = [], []
    for row in given["scores"].tolist():
        order = sorted(range(len(row)), key=lambda place: (-row[place], place))[: given["k"]]
        best.append([row[place] for place in order])
        places.append(order)
    return [best, places]


def small_matmuls(given: Given) -> Answers:
    products = []
    for a, b in zip(given["a"].tolist(), given["b"].tolist(), strict=True):
        columns = list(zip(*b, strict=True))
        products.append([[dot(row, column) for column in columns] for row in a])
    return [products]


def dot(left: Any, right: Any) -> float:
    return math.fsum(one * other for one, other in zip(left, right, strict=True))


def hamming_distances(given: Given) -> Answers:
    query = int.from_bytes(given["query"].tobytes())
    distances = [(int.from_bytes(code.tobytes()) ^ query).bit_count() for code in given["codes"]]
    return [distances, [distance <= given["limit"] for distance in distances]]


def grey_pixels(given: Given) -> Answers:
    rows = given["pixels"].tolist()
    return [[[(77 * red + 150 * green + 29 * blue + 128) // 256 for red, green, blue in row] for row in rows]]


def fir_filter(given: Given) -> Answers:
    taps = given["taps"].tolist()
    return [[[dot(taps, row[i : i + len(taps)]) for i in range(given["m"])] for row in given["signal"].tolist()]]


def edit_distances(given: Given) -> Answers:
    words = [
        [bytes(word[:length]) for word, length in zip(given[side], given[f"{side}_lengths"].tolist(), strict=True)]
        for side in ("left", "right")
    ]
    return [[edit_distance(left, right) for left, right in zip(*words, strict=True)]]


@cache
def edit_distance(left: bytes, right: bytes) -> int:
    if not left or not right:
        return max(len(left), len(right))
    if left[-1] == right[-1]:
        return edit_distance(left[:-1], right[:-1])
    return 1 + min(edit_distance(*pair) for pair in ((left[:-1], right), (left, right[:-1]), (left[:-1], right[:-1])))


def causal_attention(given: Given) -> Answers:
    heads = zip(*(given[name].tolist() for name in ("q", "k", "v")), strict=True)
    return [[[attended(i, q, k, v, given["scale"]) for i in range(given["n"])] for q, k, v in heads]]


def attended(i: int, q: Any, k: Any, v: Any, scale: float) -> list[float]:
    weights = [math.exp(scale * dot(q[i], k[j])) for j in range(i + 1)]
    return [dot(weights, column) / math.fsum(weights) for column in zip(*v[: i + 1], strict=True)]


def row_argmax(given: Given) -> Answers:
    return [[row.index(max(row)) for row in given["x"].tolist()]]


def exclusive_sums(given: Given) -> Answers:
    return [list(accumulate(given["values"].tolist(), initial=0))[:-1]]


ANSWERS: dict[str, Callable[[Given], Answers]] = {
    "row-softmax": row_softmax,
    "binned-counts": binned_counts,
    "sparse-rows": sparse_rows,
    "heat-steps": heat_steps,
    "segmented-prefix-sum": segmented_prefix_sum,
    "top-k-scores": top_k_scores,
    "small-matmuls": small_matmuls,
    "hamming-distances": hamming_distances,
    "grey-pixels": grey_pixels,
    "fir-filter": fir_filter,
    "edit-distances": edit_distances,
    "causal-attention": causal_attention,
    "row-argmax": row_argmax,
    "exclusive-sums": exclusive_sums,
}
