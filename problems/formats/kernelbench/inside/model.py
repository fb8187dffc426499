"""A file of KernelBench's form: draws its inputs and weights, and computes its answers."""

from __future__ import annotations

import inspect
import random
import types
from typing import Any

import torch

WEIGHT_SEED = "weight_seed"
"""Name of the input by which a solution may construct its module as the problem's own was constructed."""
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""Buffers that a normalisation in training mode writes and does not read."""


def module_of(source: str, name: str) -> types.ModuleType:
    """Execute a file's text."""
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - inside a sandbox
    return module


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers of nested lists, tuples and dicts, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for one in value for leaf in leaves(one)]


def rebuilt(like: Any, flat: list[Any]) -> Any:
    """The shape of `like` with its leaves taken from the front of `flat`."""
    if isinstance(like, dict):
        return {key: rebuilt(one, flat) for key, one in like.items()}
    if isinstance(like, (list, tuple)):
        return type(like)([rebuilt(one, flat) for one in like])
    return flat.pop(0)


def accepted(function: Any, named: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that a function takes."""
    return {name: value for name, value in named.items() if name in inspect.signature(function).parameters}


def seed_plainly(seed: int) -> None:
    """Seed torch's generators, without the mixing that `torch.manual_seed` may have here."""
    torch.default_generator.manual_seed(seed)
    for generator in torch.cuda.default_generators:
        generator.manual_seed(seed)


def without_dropout(model: Any) -> bool:
    """Turn dropout off, where it is a module's or its option. Returns whether there was any."""
    found = False
    for one in model.modules():
        if isinstance(one, torch.nn.modules.dropout._DropoutNd):
            found |= one.p > 0
            one.eval()
        elif isinstance(getattr(one, "dropout", None), float) and one.dropout > 0:
            found, one.dropout = True, 0.0
    return found


def is_statistic(model: Any, path: str) -> bool:
    """Whether a buffer belongs to a normalisation in training mode."""
    owner, _, leaf = path.rpartition(".")
    return leaf in STATISTICS and model.get_submodule(owner).training


def tensor_attributes(model: Any) -> dict[str, Any]:
    """Tensors that modules hold beside their parameters and buffers, by their path."""
    found = {}
    for owner, one in model.named_modules():
        for leaf, value in vars(one).items():
            if isinstance(value, torch.Tensor):
                found[f"{owner}.{leaf}".lstrip(".")] = value
    return found


class SetModel:
    """One file of a set. It is executed when it is first needed, and its `Model` is constructed once for a setting.

    `settings` has the keyword arguments of constructor and inputs for each case, where the set names any. `weights`
    maps the names of a definition's arrays to paths in the model's state, `attributes` to those of plain tensors.
    `nesting` is the list of the inputs with None for each tensor or number.
    """

    def __init__(
        self,
        source: str,
        settings: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (({}, {}),),
        inputs: tuple[str, ...] = (),
        nesting: Any = None,
        weights: dict[str, str] | None = None,
        attributes: dict[str, str] | None = None,
        written: tuple[str, ...] = (),
    ) -> None:
        self.source = source
        self.settings = settings
        self.input_names = inputs
        self.nesting = nesting
        self.weights = weights or {}
        self.attributes = attributes or {}
        self.written = written
        """Inputs that `forward` writes into: it gets copies of them."""
        self.had_dropout = False
        """Whether a constructed model had dropout, which is turned off."""
        self._module: Any = None
        self._models: dict[Any, Any] = {}

    @property
    def module(self) -> Any:
        if self._module is None:
            self._module = module_of(self.source, "problem_of_the_set")
        return self._module

    def drawn_inputs(self, setting: int, device: str) -> list[Any]:
        """The result of `get_inputs`, made on the device."""
        with torch.device(device):
            made = self.module.get_inputs
            return list(made(**accepted(made, self.settings[setting][1])))

    def built(self, setting: int, device: str, seed: int) -> Any:
        """A model that was constructed after the seed, without dropout, in the mode that its constructor leaves."""
        taken: Any = getattr(self.module, "get_init_inputs", list)()
        seed_plainly(seed)
        with torch.device(device):
            named = accepted(self.module.Model, self.settings[setting][0])
            model = self.module.Model(**taken) if isinstance(taken, dict) else self.module.Model(*taken, **named)
        self.had_dropout |= without_dropout(model)
        return model

    def inputs(self, case: Any, device: str) -> dict[str, Any]:
        """The inputs of one call and the weights, by the names of the definition's parameters."""
        setting = case.axes.get("setting", 0)
        seed = random.getrandbits(62)
        given = dict(zip(self.input_names, leaves(self.drawn_inputs(setting, device))))
        if self.weights or self.attributes:
            model = self.built(setting, device, seed)
            state, plain = model.state_dict(), tensor_attributes(model)
            given.update({name: state[path] for name, path in self.weights.items()})
            given.update({name: plain[path] for name, path in self.attributes.items()})
            given[WEIGHT_SEED] = torch.tensor([seed], dtype=torch.int64, device=device)
        return given

    def answer(self, case: Any, device: str, given: dict[str, Any]) -> Any:
        """The outputs for these inputs and weights."""
        setting = case.axes.get("setting", 0)
        model, buffers = self._ready(setting, device)
        flat = [given[name].clone() if name in self.written else given[name] for name in self.input_names]
        state = {path: one.clone() for path, one in buffers.items()}
        state.update({path: given[name] for name, path in self.weights.items()})
        for name, path in self.attributes.items():
            owner, _, leaf = path.rpartition(".")
            vars(model.get_submodule(owner))[leaf] = given[name]
        with torch.no_grad():
            answer = torch.func.functional_call(model, state, tuple(rebuilt(self.nesting, flat)), tie_weights=False)
        return tuple(leaves(answer))

    def _ready(self, setting: int, device: str) -> tuple[Any, dict[str, Any]]:
        """The model, and its buffers that are no inputs as they were after construction."""
        if (setting, device) not in self._models:
            model = self.built(setting, device, 0)
            taken = set(self.weights.values())
            buffers = {path: one.clone() for path, one in model.named_buffers() if path not in taken}
            self._models[setting, device] = model, buffers
        return self._models[setting, device]  # type: ignore[no-any-return]
