"""A challenge of LeetGPU's form: its tests as cases, and its reference."""

from __future__ import annotations

import sys
import types
from typing import Any

import torch


class _Spec:
    """Data that a challenge describes rather than makes."""

    def __init__(self, shape: Any, *values: Any, **named: Any) -> None:
        self.shape = tuple(shape)
        self.values = dict(zip(self.names, values))
        self.values.update(named)

    names: tuple[str, ...] = ()

    def made(self, device: str) -> Any:
        """The tensor."""
        raise NotImplementedError

    def dtype(self, otherwise: str) -> Any:
        return getattr(torch, self.values.get("dtype", otherwise))


class RandTensor(_Spec):
    """Uniform numbers."""

    names = ("low", "high", "dtype")

    def made(self, device: str) -> Any:
        low, high = self.values.get("low", 0.0), self.values.get("high", 1.0)
        return torch.empty(self.shape, device=device).uniform_(low, high).to(self.dtype("float32"))


class RandnTensor(_Spec):
    """Normal numbers."""

    names = ("mean", "std", "dtype")

    def made(self, device: str) -> Any:
        mean, std = self.values.get("mean", 0.0), self.values.get("std", 1.0)
        return torch.empty(self.shape, device=device).normal_(mean, std).to(self.dtype("float32"))


class RandIntTensor(_Spec):
    """Whole numbers."""

    names = ("low", "high", "dtype")

    def made(self, device: str) -> Any:
        kind = self.dtype("int32")
        return torch.randint(self.values["low"], self.values["high"], self.shape, device=device).to(kind)


class FullTensor(_Spec):
    """One value."""

    names = ("value", "dtype")

    def made(self, device: str) -> Any:
        return torch.full(self.shape, self.values.get("value", 0.0), dtype=self.dtype("float32"), device=device)


class OutTensor(_Spec):
    """An output."""

    names = ("dtype",)

    def made(self, device: str) -> Any:
        return torch.zeros(self.shape, dtype=self.dtype("float32"), device=device)


class ChallengeBase:
    """The base class that challenges derive from."""

    def __init__(self, device: str = "cuda") -> None:
        self.device = device


def module_of(source: str) -> types.ModuleType:
    """Execute a challenge's file with a stand-in for the package that it imports."""
    core, base = types.ModuleType("core"), types.ModuleType("core.challenge_base")
    for one in (RandTensor, RandnTensor, RandIntTensor, FullTensor, OutTensor, ChallengeBase):
        setattr(base, one.__name__, one)
    core.__dict__["challenge_base"] = base
    sys.modules.update({"core": core, "core.challenge_base": base})
    module = types.ModuleType("challenge_of_the_set")
    exec(compile(source, "challenge_of_the_set.py", "exec"), module.__dict__)  # noqa: S102 - inside a sandbox
    return module


class SetChallenge:
    """One challenge. `directions` maps each parameter to in, out or inout; `outputs` has their shapes for each case."""

    def __init__(
        self, source: str, directions: dict[str, str] | None = None, outputs: tuple[dict[str, Any], ...] = ()
    ) -> None:
        self.source = source
        self.directions = directions or {}
        self.outputs = outputs
        self._made: dict[str, Any] = {}

    def challenge(self, device: str) -> Any:
        """The challenge on a device, constructed once."""
        if device not in self._made:
            self._made[device] = module_of(self.source).Challenge(device)
        return self._made[device]

    def tests(self, device: str) -> list[dict[str, Any]]:
        """The functional tests and, last, that for performance."""
        challenge = self.challenge(device)
        return [*challenge.generate_functional_test(), challenge.generate_performance_test()]

    def test(self, number: int, count: int, device: str) -> dict[str, Any]:
        """One of the tests with all its tensors made."""
        challenge = self.challenge(device)
        is_last = number == count - 1
        found = challenge.generate_performance_test() if is_last else challenge.generate_functional_test()[number]
        return {name: one.made(device) if isinstance(one, _Spec) else one for name, one in found.items()}

    def inputs(self, case: Any, device: str) -> dict[str, Any]:
        """The inputs of one call by name."""
        test = self.test(case.axes["test"], len(self.outputs), device)
        return {name: test[name] for name, direction in self.directions.items() if direction != "out"}

    def answer(self, case: Any, device: str, given: dict[str, Any]) -> tuple[Any, ...]:
        """The outputs in the order of the parameters."""
        made = dict(given)
        for name, (shape, dtype) in self.outputs[case.axes["test"]].items():
            if self.directions[name] == "out":
                made[name] = torch.zeros(shape, dtype=getattr(torch, dtype), device=device)
        with torch.no_grad():
            self.challenge(device).reference_impl(**{name: made[name] for name in self.directions})
        return tuple(made[name] for name, direction in self.directions.items() if direction != "in")
