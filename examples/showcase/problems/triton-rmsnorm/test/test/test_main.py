"""Tests and times rmsnorm; with `--perf` it times. The solution runs in a process of its own."""

import os
import sys
from typing import Any

import torch

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from podium_split import RANGE, Contestant, Layout, Memory, fail

DEVICE = "cuda"
ABSOLUTE, RELATIVE = 1e-3, 2e-3
GUARD, GUARD_VALUE = 2048, 1234.0
ROWS, COLUMNS = 32768, 4096
WARMUP_CALLS, TIMED_CALLS = 3, 20
MEMORY_BYTES = 640 << 20
HALF = "<f2"


def fresh_generator() -> tuple[int, torch.Generator]:
    seed = int.from_bytes(os.urandom(7))
    return seed, torch.Generator(device=DEVICE).manual_seed(seed)


def placed(layout: Layout, *shape: int) -> tuple[torch.Tensor, list[Any]]:
    """A tensor that the contestant maps too, and how it is told of it."""
    view, told = layout.place(shape, HALF)
    return torch.as_tensor(view, device=DEVICE), told


class Output:
    """A tensor of ones' bits, NaN as a float, between two guards."""

    def __init__(self, layout: Layout, rows: int, columns: int) -> None:
        size = rows * columns
        self.memory, (offset, _, _) = placed(layout, size + 2 * GUARD)
        self.memory.fill_(GUARD_VALUE)
        self.told = [offset + GUARD * self.memory.element_size(), [rows, columns], HALF]
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
    layout = Layout(memory)
    x_given, x_told = placed(layout, *x.shape)
    weight_given, weight_told = placed(layout, *weight.shape)
    x_given.copy_(x)
    weight_given.copy_(weight)
    out = Output(layout, *x.shape)
    torch.cuda.synchronize()
    contestant.call([x_told, weight_told, out.told], eps)
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
    layout = Layout(memory)
    x, x_told = placed(layout, ROWS, COLUMNS)
    weight, weight_told = placed(layout, COLUMNS)
    x_again, weight_again = torch.empty_like(x), torch.empty_like(weight)
    out, eps = Output(layout, ROWS, COLUMNS), 1e-5
    kept = torch.empty_like(out.tensor)
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    flush = torch.empty(l2_bytes // 2 * 5, dtype=torch.uint8, device=DEVICE)
    # Work of a process without such a range would be shared out to the contestant's, by slices of time.
    torch.cuda.nvtx.range_push(RANGE)
    flush[:1].fill_(1)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    for i in range(WARMUP_CALLS + TIMED_CALLS):
        seed, generator = fresh_generator()
        x.normal_(generator=generator)
        weight.normal_(generator=generator)
        out.poison()
        flush.fill_(i)
        torch.cuda.synchronize()
        contestant.call([x_told, weight_told, out.told], eps, timed=i >= WARMUP_CALLS)
        kept.copy_(out.tensor)
        generator.manual_seed(seed)
        x_again.normal_(generator=generator)
        weight_again.normal_(generator=generator)
        if not torch.equal(x, x_again) or not torch.equal(weight, weight_again):
            fail("the benchmark's inputs were changed")
        expect_close(kept.float(), reference(x_again, weight_again, eps, torch.float32), f"benchmark, seed {seed}")
    out.expect_guards()


torch.cuda.init()
torch.empty(1, device=DEVICE)
memory = Memory(MEMORY_BYTES)
contestant = Contestant("torch", "rmsnorm", memory)
(benchmark if "--perf" in sys.argv else tests)()
contestant.end()
