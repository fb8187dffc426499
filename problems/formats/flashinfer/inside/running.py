"""A definition of FlashInfer's form: draws the inputs of a workload, runs the reference, and rules on outputs."""

from __future__ import annotations

import base64
import math
import types
import zlib
from typing import Any

import torch

UNIFORM = {"decay_sum": (-0.1, 0.0), "decay_log": (-5.0, -1.0), "decay": (-1.0, -0.001), "gate": (-5.0, 0.0)}
"""Bounds of the rules that draw uniform numbers."""
LOW, HIGH = -1024, 1024
"""Bounds of random whole numbers of more than eight bits."""


def module_of(source: str, name: str) -> types.ModuleType:
    """Execute a definition's reference."""
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - inside a sandbox
    return module


def random_tensor(shape: tuple[int, ...], dtype: str, device: str) -> Any:
    """Numbers as both harnesses draw them where no rule of their own applies."""
    kind = getattr(torch, dtype)
    if not kind.is_floating_point:
        low, high = {"bool": (0, 2), "int8": (-128, 128)}.get(dtype, (LOW, HIGH))
        return torch.randint(low, high, shape, device=device).to(kind)
    if dtype.startswith("float8"):
        return torch.randn(shape, device=device).clamp_(-2, 2).to(kind)
    return torch.randn(shape, dtype=kind, device=device)


def ruled_tensor(rule: str, shape: tuple[int, ...], dtype: str, device: str) -> Any:
    """Numbers by one of the rules that SOL-ExecBench takes from an input's name."""
    kind = getattr(torch, dtype)
    if rule in UNIFORM:
        drawn = torch.empty(shape, dtype=kind, device=device).uniform_(*UNIFORM[rule])
        return drawn.cumsum(-1) if rule == "decay_sum" else drawn
    if rule in ("ones", "zeros"):
        return getattr(torch, rule)(shape, dtype=kind, device=device)
    if rule == "mask":
        return torch.randint(0, 2, shape, device=device).to(kind)
    if rule == "causal":
        above = torch.ones(shape[-2:], device=device).triu(1).bool()
        return torch.zeros(shape, device=device).masked_fill(above, torch.finfo(kind).min).to(kind)
    drawn = torch.randn(shape, device=device)
    changed = {
        "cos": lambda: torch.cos(drawn.clamp_(-math.pi, math.pi)),
        "sin": lambda: torch.sin(drawn.clamp_(-math.pi, math.pi)),
        "positive": lambda: drawn.abs() + 0.1,
        "softmax": lambda: torch.softmax(drawn, -1),
        "weight": lambda: drawn / math.sqrt(max(1, shape[-1])),
    }
    return changed[rule]().to(kind)


def recorded_tensor(data: str, shape: tuple[int, ...], dtype: str, device: str) -> Any:
    """A tensor from the recorded bytes."""
    raw = torch.frombuffer(bytearray(zlib.decompress(base64.b85decode(data)) or b"\0"), dtype=torch.uint8)
    count = math.prod(shape)
    typed = raw.view(getattr(torch, dtype)) if count else torch.empty(0, dtype=getattr(torch, dtype))
    return typed[:count].reshape(shape).to(device)


class SetDefinition:
    """One definition and its workloads.

    `inputs` maps each input to data type and dims, `workloads` has for each case the kind of its inputs and its bounds.
    """

    def __init__(
        self,
        source: str,
        inputs: dict[str, tuple[str, Any]],
        outputs: tuple[str, ...],
        workloads: tuple[dict[str, Any], ...],
        entrypoint: str | None = None,
    ) -> None:
        self.source = source
        self.input_specs = inputs
        self.outputs = outputs
        self.workloads = workloads
        self.entrypoint = entrypoint
        self._module: Any = None

    @property
    def module(self) -> Any:
        if self._module is None:
            self._module = module_of(self.source, "definition_of_the_set")
        return self._module

    def inputs(self, case: Any, device: str) -> dict[str, Any]:
        """The inputs of one call by name."""
        kinds = self.workloads[case.axes["workload"]]["inputs"]
        custom = self._custom(case, device) if "custom" in {kind[0] for kind in kinds.values()} else {}
        return {name: self._input(name, kinds[name], case, device, custom) for name in self.input_specs}

    def _custom(self, case: Any, device: str) -> dict[str, Any]:
        kinds = self.workloads[case.axes["workload"]]["inputs"]
        known = {name: kind[1] for name, kind in kinds.items() if kind[0] == "scalar"}
        known.update({name: length for name, length in case.axes.items() if name != "workload"})
        made: dict[str, Any] = getattr(self.module, self.entrypoint or "")(known, torch.device(device))
        return made

    def _input(self, name: str, kind: Any, case: Any, device: str, custom: dict[str, Any]) -> Any:
        dtype, dims = self.input_specs[name]
        if kind[0] == "scalar":
            return kind[1]
        if kind[0] == "custom":
            return custom[name]
        shape = tuple(case.axes[dim] if isinstance(dim, str) else dim for dim in dims)
        if kind[0] == "recorded":
            return recorded_tensor(kind[1], shape, dtype, device)
        if kind[0] == "rule":
            return ruled_tensor(kind[1], shape, dtype, device)
        return random_tensor(shape, dtype, device)

    def answer(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """The reference's outputs in the definition's order."""
        with torch.no_grad():
            found = self.module.run(*(given[name] for name in self.input_specs))
        if isinstance(found, dict):
            return tuple(found[name] for name in self.outputs)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def verify(self, case: Any, expected: Any, actual: Any) -> tuple[bool, dict[str, str]]:
        """The set's own rule on all outputs of a call."""
        bounds = self.workloads[case.axes["workload"]]["bounds"]
        pairs = zip(expected, actual) if isinstance(expected, tuple) else [(expected, actual)]
        for name, (want, got) in zip(self.outputs, pairs):
            words = why_wrong(want, got, bounds)
            if words:
                return False, {"message": f"`{name}`: {words}"}
        return True, {}


def why_wrong(expected: Any, actual: Any, bounds: dict[str, Any]) -> str:
    """The reason why an output is wrong by a set's rule, or ""."""
    want, got = expected.to(torch.float32), actual.to(torch.float32)
    if not got.numel():
        return ""
    fine = torch.isfinite(got) & (torch.isfinite(want) if bounds["refuses_infinite"] else True)
    if bounds["allows_negative_inf"]:
        fine = fine | ((got == -math.inf) & (want == -math.inf))
    if not bool(fine.all()):
        return "holds NaN or infinity"
    if bounds["refuses_zeros"] and not bool(got.any()) and bool(want.any()):
        return "is zero throughout, and the expected one is not"
    gap = torch.where(got == want, torch.zeros_like(got), (got - want).abs())
    if bounds["either"]:
        right = (gap <= bounds["atol"]) | (gap / (want.abs() + 1e-8) <= bounds["rtol"])
    else:
        right = gap <= bounds["atol"] + bounds["rtol"] * want.abs()
    n_wrong = int((~right).sum())  # a GPU's mean of ones is not 1
    if 1 - n_wrong / got.numel() < bounds["ratio"]:
        return f"{n_wrong} of {got.numel()} elements are wrong; a share of {bounds['ratio']:g} must be right"
    if bounds["cap"] is not None and float(gap.max()) > bounds["cap"]:
        return f"the largest difference is {float(gap.max()):.4g}; it may be {bounds['cap']:g}"
    return ""
