"""The time that adapters of other platforms' solutions add to a call.

    python -m benchmarks.adapter_cost

Needs torch in the Python that runs it. Each row is the least mean of 15 repeats of 2,000 calls on tensors of 4 x 3, on
the CPU: a function as it is, and through the adapter of its form.
"""

import timeit
from collections.abc import Callable
from typing import Any

import torch

from problems.formats.flashinfer.inside.adapter import AdaptedSolution
from problems.formats.kernelbench.inside.adapter import AdaptedModel
from problems.formats.kernelbench.inside.model import WEIGHT_SEED

CALLS, REPEATS = 2000, 15
MODEL = """\
import torch


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)
"""
RETURNS = "def run(x):\n    return x + 1\n"
WRITES = "import torch\n\n\ndef run(x, y):\n    torch.add(x, 1, out=y)\n"


def main() -> None:
    x, y = torch.rand(4, 3), torch.empty(4, 3)
    adapted = AdaptedModel(
        MODEL.format(name="ModelNew"), MODEL.format(name="Model"), ("y",), (({}, {}),), ("x",), [None],
        {"weight": "linear.weight", "bias": "linear.bias"}, {}, (),
    )  # fmt: skip
    model = adapted.module.Model()
    weights = {"weight": model.linear.weight.detach(), "bias": model.linear.bias.detach()}
    adapted.setup({**weights, WEIGHT_SEED: torch.tensor([1])})

    def copied() -> None:
        with torch.no_grad():
            y.copy_(model(x))

    rows: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "a ModelNew with one linear layer, and a copy of its result": (
            copied, lambda: adapted.call({"x": x, "y": y, **weights}),
        ),
        "a Solution that returns its output": _of_solution(RETURNS, x, y, writes=False),
        "a Solution that writes its output": _of_solution(WRITES, x, y, writes=True),
    }  # fmt: skip
    for words, pair in rows.items():
        alone_us, adapted_us = (min(timeit.repeat(one, number=CALLS, repeat=REPEATS)) / CALLS * 1e6 for one in pair)
        print(f"{words}: {alone_us:.1f} us alone, {adapted_us:.1f} us by the adapter")


def _of_solution(text: str, x: Any, y: Any, *, writes: bool) -> tuple[Callable[[], object], Callable[[], object]]:
    adapted = AdaptedSolution({"main.py": text}, "main.py", "run", writes=writes)
    run = adapted.function
    return (lambda: run(x, y) if writes else y.copy_(run(x))), (lambda: adapted.call((x,), {"y": y}))


if __name__ == "__main__":
    main()
