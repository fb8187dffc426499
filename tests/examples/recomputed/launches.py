"""Answers on grids, tiles, occupancy, warps and streams, recomputed from the numbers in the questions."""

from collections.abc import Callable
from itertools import pairwise
from math import ceil

WARP = 32


def shuffle_down(values: list[int], delta: int, width: int = WARP) -> list[int]:
    """The values that every lane gets from `__shfl_down_sync`: its own where the source leaves the group of `width`."""
    return [values[lane + delta] if lane % width + delta < width else values[lane] for lane in range(WARP)]


def warps_of(block: tuple[int, int, int]) -> list[list[tuple[int, int, int]]]:
    """The threads (x, y, z) of every warp; x runs fastest."""
    width, height, depth = block
    threads = [(x, y, z) for z in range(depth) for y in range(height) for x in range(width)]
    return [threads[first : first + WARP] for first in range(0, len(threads), WARP)]


def divergent(block: tuple[int, int, int], condition: Callable[[tuple[int, int, int]], bool]) -> int:
    return sum(len({condition(thread) for thread in warp}) == 2 for warp in warps_of(block))


def warp_count() -> int:
    return len(warps_of((20, 9, 3)))


def warp_and_lane() -> str:
    warps = warps_of((24, 6, 4))
    warp, lane = next((w, warp.index((5, 2, 3))) for w, warp in enumerate(warps) if (5, 2, 3) in warp)
    return f"warp {warp}, lane {lane}"


def legal_launch() -> str:
    launches = {
        "`kernel<<<dim3(1, 70000), 256>>>()`": ((1, 70000, 1), (256, 1, 1)),
        "`kernel<<<1, dim3(8, 1, 128)>>>()`": ((1, 1, 1), (8, 1, 128)),
        "`kernel<<<3000000, 128>>>()`": ((3000000, 1, 1), (128, 1, 1)),
        "`kernel<<<16, dim3(64, 32)>>>()`": ((16, 1, 1), (64, 32, 1)),
    }
    (legal,) = [text for text, (grid, block) in launches.items() if _is_legal(grid, block)]
    return legal


def _is_legal(grid: tuple[int, int, int], block: tuple[int, int, int]) -> bool:
    within = zip(grid + block, (2**31 - 1, 65535, 65535, 1024, 1024, 64), strict=True)
    return all(size <= limit for size, limit in within) and block[0] * block[1] * block[2] <= 1024


def idle_threads() -> int:
    return ceil(1000 / 16) * ceil(700 / 16) * 16 * 16 - 1000 * 700


def shared_limited_blocks() -> int:
    return max(blocks for blocks in range(33) if blocks * (38 + 1) <= 228)


def cooperative_grid() -> int:
    return 3 * 108


def private_per_warp() -> str:
    bins_kb = 512 // WARP * 256 * 4 / 1024
    limits = {"the threads": 2048 // 512, "the shared memory": int(164 // (bins_kb + 1)), "the blocks": 32}
    decisive = min(limits, key=lambda limit: limits[limit])
    return f"{limits[decisive]}, {decisive}"


def register_occupancy() -> float:
    warp_registers = ceil(72 * WARP / 256) * 256
    blocks = 65536 // (warp_registers * 256 // WARP)
    return 100 * blocks * (256 // WARP) / 64


def partial_shuffle() -> int:
    values = list(range(WARP))
    for offset in (16, 8, 4):
        values = [mine + other for mine, other in zip(values, shuffle_down(values, offset), strict=True)]
    return values[1]


def own_value() -> int:
    lanes = list(range(WARP))
    return sum(mine == got for mine, got in zip(lanes, shuffle_down(lanes, 5, width=8), strict=True))


def count_predicate() -> int:
    return sum(thread % 3 == 0 for thread in range(256))


def grid_stride_extra() -> str:
    threads = 120 * 256
    elements = [len(range(first, 1_000_000, threads)) for first in range(threads)]
    return f"{elements.count(max(elements)):,}"


def ballot_rank() -> int:
    ballot, lane = 0x0000A5C3, 13
    assert ballot >> lane & 1
    return (ballot & ((1 << lane) - 1)).bit_count()


def divergent_warps() -> str:
    block = (16, 16, 1)
    return f"{divergent(block, lambda thread: thread[1] < 5)} and {divergent(block, lambda thread: thread[0] < 5)}"


def wave_count() -> int:
    return ceil(1000 / 64)


def warp_per_vertex() -> str:
    return str(sum(len(range(0, neighbours, WARP)) for neighbours in [4] * 31 + [132]))


def pipeline_time() -> int:
    """Each engine serves the chunks in order; a chunk's stage waits for its engine and for its own last stage."""
    engine_free_ms = [0, 0, 0]
    end_ms = 0
    for _ in range(4):
        ready_ms = 0
        for engine, duration_ms in enumerate((2, 3, 2)):
            ready_ms = max(ready_ms, engine_free_ms[engine]) + duration_ms
            engine_free_ms[engine] = ready_ms
        end_ms = max(end_ms, ready_ms)
    return end_ms


def bank_conflict() -> str:
    words = {36 * thread for thread in range(WARP)}
    banks = [word % 32 for word in words]
    return f"{max(banks.count(bank) for bank in banks)}-way"


def grid_bfs_levels() -> int:
    frontier, seen, launches = {(10, 5)}, {(10, 5)}, 0
    while frontier:
        launches += 1
        steps = {(x + dx, y + dy) for x, y in frontier for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        frontier = {(x, y) for x, y in steps if 0 <= x < 50 and 0 <= y < 40} - seen
        seen |= frontier
    return launches


def claim_vertex() -> str:
    """Only the first of three threads in step d = 6 may find the condition true."""
    level, seen = -1, []
    for _ in range(3):
        seen.append(level)
        level = 7 if level == -1 else level
    conditions = {"`old == d`": 6, "`old == d + 1`": 7, "`old == -1`": -1}
    (exact,) = [text for text, wanted in conditions.items() if seen.count(wanted) == 1]
    assert [old != -1 for old in seen].count(True) != 1
    return exact


def atomic_inc_wrap() -> int:
    value = 0
    for _ in range(12):
        value = 0 if value >= 4 else value + 1
    return value


def merge_passes() -> str:
    runs = [ceil(1_000_000 / 2048)]
    while runs[-1] > 1:
        runs.append(ceil(runs[-1] / 2))
    return str(len(list(pairwise(runs))))


ANSWERS: dict[str, Callable[[], str | float]] = {
    "01-grids/warp-count": warp_count,
    "01-grids/warp-and-lane": warp_and_lane,
    "01-grids/legal-launch": legal_launch,
    "02-images/idle-threads": idle_threads,
    "04-tiling/shared-limited-blocks": shared_limited_blocks,
    "04-tiling/padded-column": bank_conflict,
    "07-stencils/cooperative-grid": cooperative_grid,
    "08-histograms/atomic-inc-wrap": atomic_inc_wrap,
    "08-histograms/private-per-warp": private_per_warp,
    "09-reductions/partial-shuffle": partial_shuffle,
    "09-reductions/count-predicate": count_predicate,
    "09-reductions/grid-stride-extra": grid_stride_extra,
    "10-scans/ballot-rank": ballot_rank,
    "11-merging/merge-passes": merge_passes,
    "14-graphs/grid-bfs-levels": grid_bfs_levels,
    "14-graphs/claim-vertex": claim_vertex,
    "14-graphs/warp-per-vertex": warp_per_vertex,
    "15-warps/divergent-warps": divergent_warps,
    "15-warps/own-value": own_value,
    "15-warps/register-occupancy": register_occupancy,
    "15-warps/wave-count": wave_count,
    "16-streams/pipeline-time": pipeline_time,
}
