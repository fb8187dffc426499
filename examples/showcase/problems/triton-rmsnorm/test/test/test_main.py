"""Tests and times rmsnorm; with `--perf` it times. The solution is imported into this process."""

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import torch

DEVICE = "cuda"
ABSOLUTE, RELATIVE = 1e-3, 2e-3
GUARD, GUARD_VALUE = 2048, 1234.0
ROWS, COLUMNS = 32768, 4096
WARMUP_CALLS, TIMED_CALLS = 3, 20

# Bound before the solution is imported, which may put other things in their place.
synchronize = torch.cuda.synchronize
range_push, range_pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
timed = "--perf" in sys.argv
sys.argv = sys.argv[:1]


def fail(words: str) -> NoReturn:
    print(f"FAILED: {words}", file=sys.stderr)
    raise SystemExit(1)


def guarded(work: Callable[[], Any]) -> Any:
    """What a solution raises, SystemExit(0) too, is a failure."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001
        fail(f"the solution raised {type(error).__name__}: {error}")


def load() -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor, float], object]:
    from solution import rmsnorm

    return rmsnorm


def fresh_generator() -> tuple[int, torch.Generator]:
    seed = int.from_bytes(os.urandom(7))
    return seed, torch.Generator(device=DEVICE).manual_seed(seed)


class Output:
    """A tensor of ones' bits, NaN as a float, between two guards."""

    def __init__(self, rows: int, columns: int) -> None:
        size = rows * columns
        self.memory = torch.full((size + 2 * GUARD,), GUARD_VALUE, dtype=torch.float16, device=DEVICE)
        self.tensor = self.memory[GUARD : GUARD + size].view(rows, columns)
        self.poison()

    def poison(self) -> None:
        self.tensor.view(torch.int16).fill_(-1)

    def expect_guards(self) -> None:
        for guard in (self.memory[:GUARD], self.memory[-GUARD:]):
            if not bool((guard == GUARD_VALUE).all()):
                fail("something wrote outside of out")


def expect_close(got: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    right = (got - wanted).abs() <= ABSOLUTE + RELATIVE * wanted.abs()
    count = int(right.sum().item())
    if count != wanted.numel():
        place = int((~right).flatten().nonzero()[0].item())
        row, column = divmod(place, wanted.shape[1])
        values = f"{got[row, column].item():.6g}, not {wanted[row, column].item():.6g}"
        fail(f"{what}: out[{row}, {column}] is {values}; {count} of {wanted.numel()} are right")


def reference(x: torch.Tensor, weight: torch.Tensor, eps: float, dtype: torch.dtype) -> torch.Tensor:
    wide = x.to(dtype)
    scale = (wide.square().mean(dim=1, keepdim=True) + eps).rsqrt()
    return wide.mul_(scale).mul_(weight.to(dtype))


def test_one(x: torch.Tensor, weight: torch.Tensor, eps: float, what: str) -> None:
    x_given, weight_given = x.clone(), weight.clone()
    out = Output(*x.shape)
    guarded(lambda: rmsnorm(x_given, weight_given, out.tensor, eps))
    guarded(synchronize)
    wanted = reference(x.cpu(), weight.cpu(), eps, torch.float64)
    expect_close(out.tensor.cpu().double(), wanted, f"{what}, shape {tuple(x.shape)}")
    out.expect_guards()
    if not torch.equal(x_given, x) or not torch.equal(weight_given, weight):
        fail(f"{what}: the inputs were changed")


def tests() -> None:
    seed, generator = fresh_generator()

    def normal(*shape: int, scale: float = 1.0) -> torch.Tensor:
        return (torch.randn(shape, generator=generator, device=DEVICE) * scale).half()

    shapes = [(1, 1), (1, 2), (3, 7), (5, 64), (300, 33), (17, 127), (4, 128), (2, 129), (9, 1000), (33, 1024)]
    shapes += [(1031, 96), (6, 4096), (2, 4097), (7, 5120), (3, 8192), (2, 20000), (1, 32768)]
    for rows, columns in shapes:
        test_one(normal(rows, columns), normal(columns), 1e-5, f"normal values, seed {seed}")
    for columns in (5, 256, 3000, 4096):
        weight = normal(columns)
        test_one(normal(8, columns, scale=1e-3), weight, 1e-5, f"values as small as eps, seed {seed}")
        test_one(normal(8, columns, scale=1000.0), weight, 1e-6, f"squares too large for a half, seed {seed}")
        test_one(torch.zeros_like(normal(8, columns)), weight, 1e-6, f"zeros, seed {seed}")
        outlier = normal(8, columns)
        outlier[3, columns // 2] = 60000.0
        test_one(outlier, weight, 1e-5, f"one outlier, seed {seed}")
        rising = torch.arange(8, device=DEVICE)[:, None] + torch.zeros(columns, device=DEVICE)
        test_one(rising.half(), weight, 1e-5, f"every row its own, seed {seed}")


def benchmark() -> None:
    x = torch.empty(ROWS, COLUMNS, dtype=torch.float16, device=DEVICE)
    weight = torch.empty(COLUMNS, dtype=torch.float16, device=DEVICE)
    x_again, weight_again = torch.empty_like(x), torch.empty_like(weight)
    out, eps = Output(ROWS, COLUMNS), 1e-5
    kept = torch.empty_like(out.tensor)
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    flush = torch.empty(l2_bytes // 2 * 5, dtype=torch.uint8, device=DEVICE)
    for i in range(WARMUP_CALLS + TIMED_CALLS):
        seed, generator = fresh_generator()
        x.normal_(generator=generator)
        weight.normal_(generator=generator)
        out.poison()
        flush.fill_(i)
        synchronize()
        if i >= WARMUP_CALLS:
            range_push("bench_region")
        guarded(lambda: rmsnorm(x, weight, out.tensor, eps))
        guarded(synchronize)
        if i >= WARMUP_CALLS:
            range_pop()
        kept.copy_(out.tensor)
        generator.manual_seed(seed)
        x_again.normal_(generator=generator)
        weight_again.normal_(generator=generator)
        if not torch.equal(x, x_again) or not torch.equal(weight, weight_again):
            fail("the benchmark's inputs were changed")
        expect_close(kept.float(), reference(x_again, weight_again, eps, torch.float32), f"benchmark, seed {seed}")
    out.expect_guards()


rmsnorm = guarded(load)
(benchmark if timed else tests)()
