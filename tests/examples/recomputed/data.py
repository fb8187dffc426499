"""Answers on memory traffic, data layouts, algorithms and rounding, recomputed from the numbers in the questions."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import accumulate

import numpy as np

WARP = 32
SECTOR_BYTES = 32


def sectors(addresses: Iterable[int], size_bytes: int) -> int:
    """How many aligned sectors the accesses of `size_bytes` at `addresses` touch."""
    return len({byte // SECTOR_BYTES for first in addresses for byte in range(first, first + size_bytes)})


def used_percent(addresses: list[int], size_bytes: int) -> float:
    return 100 * len(addresses) * size_bytes / (sectors(addresses, size_bytes) * SECTOR_BYTES)


def pitched_offset() -> int:
    return 7 * 4096 + 13 * 4


def red_channel() -> str:
    return str(sectors((3 * pixel for pixel in range(WARP)), 1))


def shifted_by_one() -> int:
    return sectors((4 * (thread + 1) for thread in range(WARP)), 4)


def struct_member() -> str:
    return f"{used_percent([24 * thread for thread in range(WARP)], 4):.1f} %"


def sector_share() -> float:
    return used_percent([4 * 8 * thread for thread in range(WARP)], 4)


def row_major_index() -> str:
    """Compares the four expressions for W = 128 in the second warp of block (1, 1)."""
    width, ty, bx, by = 128, 1, 1, 1
    expressions: dict[str, Callable[[int], int]] = {
        "`m[(by * 8 + ty) * W + bx * 32 + tx]`": lambda tx: (by * 8 + ty) * width + bx * 32 + tx,
        "`m[(bx * 32 + tx) * W + by * 8 + ty]`": lambda tx: (bx * 32 + tx) * width + by * 8 + ty,
        "`m[(by * 32 + tx) * W + bx * 8 + ty]`": lambda tx: (by * 32 + tx) * width + bx * 8 + ty,
        "`m[(by * 8 + ty) * W + (bx * 32 + tx) * 2]`": lambda tx: (by * 8 + ty) * width + (bx * 32 + tx) * 2,
    }
    touched = {text: sectors((4 * index(tx) for tx in range(WARP)), 4) for text, index in expressions.items()}
    assert list(touched.values()).count(min(touched.values())) == 1
    return min(touched, key=lambda text: touched[text])


def row_major_sgemm() -> str:
    """Runs every choice through a column-major product of small matrices; one alone gives the row-major C."""
    big_m, big_n, big_k = 3, 4, 5
    a, b = np.arange(15.0).reshape(big_m, big_k), np.arange(20.0).reshape(big_k, big_n) + 1
    size = {"M": big_m, "N": big_n, "K": big_k}
    choices = ["MNK A K B N N", "MNK A M B K M", "NMK B K A M N", "NMK B N A K N"]
    (right,) = [choice for choice in choices if np.array_equal(_column_major(choice, size, a, b), (a @ b).ravel())]
    dims, x, ldx, y, ldy, ldc = right.split()
    return f"m = {dims[0]}, n = {dims[1]}, k = {dims[2]}, X = {x}, ldx = {ldx}, Y = {y}, ldy = {ldy}, ldc = {ldc}"


def _column_major(choice: str, size: dict[str, int], a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """C as it lies in memory after the call, or None where a leading dimension is too small."""
    dims, x, ldx, y, ldy, ldc = choice.split()
    m, n, k = (size[letter] for letter in dims)
    if size[ldx] < m or size[ldy] < k or size[ldc] < m:
        return None
    flat = {"A": a.ravel(), "B": b.ravel()}
    result = np.full(size["M"] * size["N"], np.nan)
    for column in range(n):
        for row in range(m):
            terms = (flat[x][row + i * size[ldx]] * flat[y][i + column * size[ldy]] for i in range(k))
            result[row + column * size[ldc]] = sum(terms)
    return result


def tile_intensity() -> Fraction:
    return Fraction(2 * 192 * 64 * 16, 4 * (192 * 16 + 16 * 64))


def largest_constant_cube() -> int:
    return max(n for n in range(1, 100, 2) if 4 * n**3 <= 65536)


def constant_requests() -> str:
    return str(len({thread // 8 for thread in range(WARP)}))


def halo_bytes() -> int:
    return 4 * ((32 + 2 * 3) * (8 + 2 * 3) - 32 * 8)


def dilated_output() -> int:
    """Counts the positions at which the spread filter fits into the padded input."""
    taps = [2 * tap for tap in range(5)]
    return sum(start + taps[-1] < 57 + 2 * 2 for start in range(0, 57 + 2 * 2, 3))


def slab_exchange() -> int:
    return 2 * 4 * 256 * 192 * 4


def roofline() -> str:
    return f"{min(30, 3.2 * 13 / 16):.1f} TFLOP/s"


def fused_steps() -> str:
    needed = {(x, y) for x in range(32) for y in range(32)}
    for _ in range(2):
        needed |= {(x + dx, y + dy) for x, y in needed for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    sides = [max(one) - min(one) + 1 for one in zip(*needed, strict=True)]
    return f"{sides[0] * sides[1]:,}"


def even_bin() -> str:
    width = Fraction(100 - 0, 9 - 1)
    return f"bin {62 // width}"


def max_scan() -> str:
    inputs = [2, 5, 1, 4, 0, 3, 7, 6]
    return ", ".join(str(value) for value in accumulate(inputs[:-1], max, initial=3))


def split_of_six() -> int:
    a, b = [1, 4, 6, 9, 12, 15, 20], [2, 3, 7, 8, 10, 30]
    return sum(value in a for value in sorted(a + b)[:6])


def equal_keys() -> str:
    """Python's sort is stable, so the first range's pairs stay in front of equal ones."""
    pairs = [*zip((2, 4, 4), "abc", strict=True), *zip((1, 4, 5), "pqr", strict=True)]
    return " ".join(value for _, value in sorted(pairs, key=lambda pair: pair[0]))


def radix_passes() -> int:
    return len(range(12, 45, 8))


def bitonic_steps() -> str:
    """Runs the network on every distance it uses, counts its steps and sees that it sorts."""
    values, steps = [(7919 * i) % 4096 for i in range(4096)], 0
    for stage in range(1, 13):
        for distance in (2**power for power in reversed(range(stage))):
            steps += 1
            _exchange(values, distance, 2**stage)
    assert values == sorted(values)
    return str(steps)


def _exchange(values: list[int], distance: int, run: int) -> None:
    for low in (i for i in range(len(values)) if not i & distance):
        high = low | distance
        if (values[low] > values[high]) == (low & run == 0):
            values[low], values[high] = values[high], values[low]


def float_key() -> str:
    def key(value: float) -> int:
        bits = int(np.float32(value).view(np.uint32))
        return bits ^ (0xFFFFFFFF if bits >> 31 else 0x80000000)

    numbers = [-3.0, -1.0, -0.5, 0.5, 1.0, 3.0]
    assert sorted(numbers, key=key) == numbers
    return f"`0x{key(-1.0):08X}`"


def csr_bytes() -> int:
    return 4 * (1000 + 1) + 4 * 12345 + 8 * 12345


def empty_rows() -> str:
    csr, coo = 4 * (1_000_000 + 1) + (4 + 4) * 300_000, (4 + 4 + 4) * 300_000
    return f"{'COO' if coo < csr else 'CSR'}, by {abs(csr - coo):,}"


def sliced_ell() -> int:
    rows = [3, 1, 0, 7, 4, 4]
    return sum(2 * max(rows[first : first + 2]) for first in range(0, len(rows), 2))


def spmv_bound() -> str:
    return f"{2400 * 2 / (8 + 4):.0f} GFLOP/s"


def bf16_integers() -> int:
    """bfloat16 is binary32 without its lower 16 bits."""
    return next(n for n in range(1, 1000) if int(np.float32(n).view(np.uint32)) & 0xFFFF)


def half_tie() -> str:
    return str(int(np.float16(np.float32(2051))))


def fused_square() -> str:
    x = Fraction(1) + Fraction(1, 2**12)
    rounded = Fraction(float(np.float32(float(x)) * np.float32(float(x))))
    exponent = (x * x - rounded).denominator.bit_length() - 1
    assert x * x - rounded == Fraction(1, 2**exponent)
    return f"2⁻{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def ones_in_a_loop() -> int:
    total = np.float32(2**24 + 2)
    for _ in range(8):
        total = np.float32(total + np.float32(1))
    return int(total)


def e4m3_max() -> float:
    """The largest of all patterns of 4 exponent and 3 mantissa bits but the last, which is NaN."""
    return max((1 + (bits & 7) / 8) * 2.0 ** ((bits >> 3) - 7) for bits in range(8, 0x7F))


def float_to_int() -> int:
    return int(np.clip(np.int64(np.float32(3.0e9)), -(2**31), 2**31 - 1))


ANSWERS: dict[str, Callable[[], str | float | Fraction]] = {
    "02-images/pitched-offset": pitched_offset,
    "02-images/red-channel": red_channel,
    "03-matmul/row-major-sgemm": row_major_sgemm,
    "04-tiling/tile-intensity": tile_intensity,
    "05-coalescing/shifted-by-one": shifted_by_one,
    "05-coalescing/struct-member": struct_member,
    "05-coalescing/sector-share": sector_share,
    "05-coalescing/row-major-index": row_major_index,
    "06-convolution/largest-constant-cube": largest_constant_cube,
    "06-convolution/constant-requests": constant_requests,
    "06-convolution/halo-bytes": halo_bytes,
    "06-convolution/dilated-output": dilated_output,
    "07-stencils/slab-exchange": slab_exchange,
    "07-stencils/roofline": roofline,
    "07-stencils/fused-steps": fused_steps,
    "08-histograms/even-bin": even_bin,
    "10-scans/max-scan": max_scan,
    "11-merging/split-of-six": split_of_six,
    "11-merging/equal-keys": equal_keys,
    "12-sorting/radix-passes": radix_passes,
    "12-sorting/bitonic-steps": bitonic_steps,
    "12-sorting/float-key": float_key,
    "13-sparse/csr-bytes": csr_bytes,
    "13-sparse/empty-rows": empty_rows,
    "13-sparse/sliced-ell": sliced_ell,
    "13-sparse/spmv-bound": spmv_bound,
    "17-numerics/bf16-integers": bf16_integers,
    "17-numerics/half-tie": half_tie,
    "17-numerics/fused-square": fused_square,
    "17-numerics/ones-in-a-loop": ones_in_a_loop,
    "17-numerics/e4m3-max": e4m3_max,
    "17-numerics/float-to-int": float_to_int,
}
