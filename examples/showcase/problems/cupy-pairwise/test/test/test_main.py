"""Tests and times pairwise; with `--perf` it times. The solution runs in a process of its own."""

import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["CUPY_CACHE_IN_MEMORY"] = "1"  # what is cached on disk, the contestant may change
import cupy
import numpy as np
from cupy.cuda import nvtx

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from podium_split import RANGE, Contestant, Layout, Memory, fail

ABSOLUTE, RELATIVE = 2e-4, 1e-5
GUARD, GUARD_BYTE = 1024, 0xA5
MEMORY_BYTES = 320 << 20
SINGLE = "<f4"
POINTS, QUERIES, DIMENSIONS = 8192, 8192, 64
WARMUP_CALLS, TIMED_CALLS = 3, 20

KERNELS = """
__device__ unsigned long long mixed(unsigned long long value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

__device__ float drawn(unsigned long long seed, unsigned long long index) {
    return (mixed(seed + (index + 1) * 0x9e3779b97f4a7c15ull) >> 40) * 0x1p-23f - 1.0f;
}

// Uniform in [-1, 1).
extern "C" __global__ void draw(float* values, int size, unsigned long long seed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) values[i] = drawn(seed, i);
}

extern "C" __global__ void count_drawn(const float* values, int size, unsigned long long seed,
                                       unsigned long long* right) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int count = __syncthreads_count(i < size && values[i] == drawn(seed, i));
    if (threadIdx.x == 0) atomicAdd(right, (unsigned long long)count);
}

// One block of threads for 256 queries of a point; NaN is never right.
extern "C" __global__ void count_right(const float* points, const float* queries, const float* out, int n, int d,
                                       double absolute, double relative, unsigned long long* right) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    bool fits = false;
    if (j < n) {
        const float* point = points + (long long)blockIdx.y * d;
        const float* query = queries + (long long)j * d;
        double sum = 0;
        for (int p = 0; p < d; ++p) {
            const double difference = (double)point[p] - query[p];
            sum += difference * difference;
        }
        const float got = out[(long long)blockIdx.y * n + j];
        fits = got >= 0 && fabs(got - sum) <= absolute + relative * sum;
    }
    const int count = __syncthreads_count(fits);
    if (threadIdx.x == 0) atomicAdd(right, (unsigned long long)count);
}
"""

module = cupy.RawModule(code=KERNELS)
draw, count_drawn, count_right = (module.get_function(name) for name in ("draw", "count_drawn", "count_right"))
synchronize = cupy.cuda.runtime.deviceSynchronize


def fresh_seed() -> int:
    return int.from_bytes(os.urandom(7))


def placed(layout: Layout, *shape: int) -> tuple[cupy.ndarray, list[Any]]:
    """An array that the contestant maps too, and how it is told of it."""
    view, told = layout.place(shape, SINGLE)
    return cupy.asarray(view), told


class Output:
    """An array of ones' bits, NaN as a float, between two guards."""

    def __init__(self, layout: Layout, m: int, n: int) -> None:
        self.memory, (offset, _, _) = placed(layout, m * n + 2 * GUARD)
        self.told = [offset + GUARD * self.memory.itemsize, [m, n], SINGLE]
        self.memory.data.memset(GUARD_BYTE, self.memory.nbytes)
        self.array = self.memory[GUARD : GUARD + m * n].reshape(m, n)
        self.poison()

    def poison(self) -> None:
        self.array.data.memset(0xFF, self.array.nbytes)

    def expect_guards(self) -> None:
        for guard in (self.memory[:GUARD], self.memory[-GUARD:]):
            if not np.all(guard.get().view(np.uint8) == GUARD_BYTE):
                fail("something wrote outside of out")


def reference(points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    wide_points, wide_queries = points.astype(np.float64), queries.astype(np.float64)
    return np.stack([np.square(point - wide_queries).sum(axis=1) for point in wide_points])


def test_one(points: np.ndarray, queries: np.ndarray, what: str) -> None:
    layout = Layout(memory)
    points_given, points_told = placed(layout, *points.shape)
    queries_given, queries_told = placed(layout, *queries.shape)
    points_given.set(points)
    queries_given.set(queries)
    out = Output(layout, len(points), len(queries))
    synchronize()
    contestant.call([points_told, queries_told, out.told])
    got, wanted = out.array.get(), reference(points, queries)
    right = (np.abs(got - wanted) <= ABSOLUTE + RELATIVE * wanted) & (got >= 0)
    if not right.all():
        i, j = np.argwhere(~right)[0]
        shapes = f"{points.shape} and {queries.shape}"
        fail(f"{what}, shapes {shapes}: out[{i}, {j}] is {got[i, j]:.8g}, not {wanted[i, j]:.8g}")
    out.expect_guards()
    if not np.array_equal(points_given.get(), points) or not np.array_equal(queries_given.get(), queries):
        fail(f"{what}: the inputs were changed")


def tests() -> None:
    seed = fresh_seed()
    random = np.random.default_rng(seed)

    def drawn(count: int, d: int) -> np.ndarray:
        return random.uniform(-1.0, 1.0, (count, d)).astype(np.float32)

    shapes = [(1, 1, 1), (1, 5, 2), (7, 1, 3), (2, 2, 128), (33, 65, 4), (64, 64, 64), (63, 129, 31), (128, 128, 16)]
    shapes += [(130, 257, 7), (256, 128, 64), (500, 300, 33), (1000, 17, 100), (5, 4099, 8), (4099, 5, 65)]
    shapes += [(300, 300, 128), (256, 384, 32)]
    for m, n, d in shapes:
        test_one(drawn(m, d), drawn(n, d), f"random points, seed {seed}")
    for d in (1, 3, 64, 100):
        points = drawn(300, d)
        # Distances of 0, where a difference of large sums may fall below it.
        test_one(points, points.copy(), f"points that are the queries, seed {seed}")
        nearby = (points + np.float32(1e-3)).clip(-1, 1)
        test_one(points, nearby, f"queries near the points, seed {seed}")
        corner = np.ones((40, d), dtype=np.float32)
        test_one(corner, -corner[:20], f"opposite corners, seed {seed}")
        test_one(np.zeros((50, d), dtype=np.float32), points, f"the origin, seed {seed}")


def expect_right(count: int, size: int, what: str) -> None:
    if count != size:
        fail(f"{what}: {count} of {size} elements are right")


def counted(launch: Callable[[cupy.ndarray], object]) -> int:
    right = cupy.zeros(1, dtype=cupy.uint64)
    launch(right)
    return int(right.get()[0])


def fill(array: cupy.ndarray, seed: int) -> None:
    draw(((array.size + 255) // 256,), (256,), (array, np.int32(array.size), np.uint64(seed)))


def expect_drawn(array: cupy.ndarray, seed: int, what: str) -> None:
    arguments = (array, np.int32(array.size), np.uint64(seed))
    count = counted(lambda right: count_drawn(((array.size + 255) // 256,), (256,), (*arguments, right)))
    expect_right(count, array.size, what)


def expect_distances(points: cupy.ndarray, queries: cupy.ndarray, out: cupy.ndarray, what: str) -> None:
    (m, d), n = points.shape, len(queries)
    arguments = (points, queries, out, np.int32(n), np.int32(d), np.float64(ABSOLUTE), np.float64(RELATIVE))
    count = counted(lambda right: count_right(((n + 255) // 256, m), (256,), (*arguments, right)))
    expect_right(count, m * n, what)


def benchmark() -> None:
    layout = Layout(memory)
    points, points_told = placed(layout, POINTS, DIMENSIONS)
    queries, queries_told = placed(layout, QUERIES, DIMENSIONS)
    out, kept = Output(layout, POINTS, QUERIES), cupy.empty((POINTS, QUERIES), dtype=cupy.float32)
    points_again, queries_again = cupy.empty_like(points), cupy.empty_like(queries)
    # Work of a process without such a range would be shared out to the contestant's, by slices of time.
    nvtx.RangePush(RANGE)
    draw((1,), (256,), (points, np.int32(1), np.uint64(0)))
    synchronize()
    nvtx.RangePop()
    for i in range(WARMUP_CALLS + TIMED_CALLS):
        seed = fresh_seed()
        fill(points, seed)
        fill(queries, seed ^ (1 << 62))
        out.poison()
        synchronize()
        contestant.call([points_told, queries_told, out.told], timed=i >= WARMUP_CALLS)
        kept.data.copy_from_device(out.array.data, out.array.nbytes)
        expect_drawn(points, seed, "points after the call")
        expect_drawn(queries, seed ^ (1 << 62), "queries after the call")
        fill(points_again, seed)
        fill(queries_again, seed ^ (1 << 62))
        expect_distances(points_again, queries_again, kept, f"the benchmark's out, seed {seed}")
    out.expect_guards()


memory = Memory(MEMORY_BYTES)
contestant = Contestant("cupy", "pairwise", memory)
(benchmark if "--perf" in sys.argv else tests)()
contestant.end()
