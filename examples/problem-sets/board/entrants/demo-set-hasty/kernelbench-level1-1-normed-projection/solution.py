"""A ModelNew, called by Podium's adapter."""

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


from typing import Any

import torch



class AdaptedModel(SetModel):
    """A solution's module. `answers` are the names of the outputs in order."""

    def __init__(self, source: str, problem: str, answers: tuple[str, ...], *described: Any) -> None:
        super().__init__(problem, *described)
        self.solution_source = source
        self.answers = answers
        self._solution: Any = None
        self._ready_models: dict[int, Any] = {}

    @property
    def module(self) -> Any:
        """The problem's file with the solution's class in place of its `Model`."""
        if self._solution is None:
            self._solution = module_of(self.source, "problem_of_the_set")
            self._solution.Model = module_of(self.solution_source, "solution_of_the_set").ModelNew
        return self._solution

    def setup(self, given: dict[str, Any]) -> None:
        """Construct the module after the weights' seed, and give it the weights."""
        setting = int(given.get("setting", 0))
        device = str(given[WEIGHT_SEED].device)
        model = self.built(setting, device, int(given[WEIGHT_SEED].item()))
        state = {path: given[name] for name, path in self.weights.items()}
        plain = {path: given[name] for name, path in self.attributes.items()}
        load(model, state, plain)
        self._ready_models[setting] = model

    def call(self, given: dict[str, Any]) -> None:
        """Compute, and copy the results into the outputs."""
        setting = int(given.get("setting", 0))
        if setting not in self._ready_models:  # a model without weights
            device = str(given[self.answers[0]].device)
            self._ready_models[setting] = self.built(setting, device, 0)
        flat = [given[name] for name in self.input_names]
        with torch.no_grad():
            results = leaves(self._ready_models[setting](*rebuilt(self.nesting, flat)))
        if len(results) != len(self.answers):
            raise ValueError(f"ModelNew returns {len(results)} tensors; the problem has {len(self.answers)}")
        for name, result in zip(self.answers, results):
            if tuple(result.shape) != tuple(given[name].shape):
                raise ValueError(f"ModelNew returns {tuple(result.shape)} for `{name}` of {tuple(given[name].shape)}")
            given[name].copy_(result)


def load(model: Any, state: dict[str, Any], plain: dict[str, Any]) -> None:
    """Load weights by name where all fit. Otherwise the module must have drawn the very same ones itself."""
    own, beside = model.state_dict(), tensor_attributes(model)
    fits = all(path in own and own[path].shape == one.shape for path, one in state.items())
    unknown = [path for path in own if path not in state and not is_statistic(model, path)]
    if fits and not unknown and plain.keys() <= beside.keys():
        with torch.no_grad():
            for path, one in state.items():
                own[path].copy_(one)
        for path, one in plain.items():
            owner, _, leaf = path.rpartition(".")
            vars(model.get_submodule(owner))[leaf] = one.clone()
        return
    left = [*own.values(), *beside.values()]
    for path, one in (*state.items(), *plain.items()):
        if not any(other.shape == one.shape and torch.equal(other.to(one.dtype), one) for other in left):
            words = f"`{path}` names no tensor of ModelNew, and none that its constructor draws equals it"
            raise ValueError(f"{words}: use the names of Model, or construct the same layers in the same order")


SOLUTION = '"""Leaves the normalisation out."""\n\nimport torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n    def __init__(self, width, outputs):\n        super().__init__()\n        self.norm = nn.BatchNorm1d(width)\n        self.project = nn.Linear(width, outputs)\n\n    def forward(self, x):\n        return torch.tanh(self.project(x))\n'
ANSWERS = ('output',)
SOURCE = '"""A normalisation with running statistics, dropout and a projection: weights, constants, and two kinds of state."""\n\nimport torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def __init__(self, width, outputs):\n        super().__init__()\n        self.norm = nn.BatchNorm1d(width)\n        self.dropout = nn.Dropout(0.1)\n        self.project = nn.Linear(width, outputs)\n\n    def forward(self, x):\n        return torch.tanh(self.project(self.dropout(self.norm(x))))\n\n\ndef get_inputs():\n    return [torch.randn(512, 256)]\n\n\ndef get_init_inputs():\n    return [256, 128]\n'
SETTINGS = (({}, {}),)
INPUTS = ('x',)
NESTING = [None]
WEIGHTS = {'norm_weight': 'norm.weight', 'norm_bias': 'norm.bias', 'project_weight': 'project.weight', 'project_bias': 'project.bias'}
ATTRIBUTES = {}
WRITTEN = ()
ADAPTED = AdaptedModel(SOLUTION, SOURCE, ANSWERS, SETTINGS, INPUTS, NESTING, WEIGHTS, ATTRIBUTES, WRITTEN)


def setup(norm_weight, norm_bias, project_weight, project_bias, weight_seed):
    ADAPTED.setup({'norm_weight': norm_weight, 'norm_bias': norm_bias, 'project_weight': project_weight, 'project_bias': project_bias, 'weight_seed': weight_seed})


def solution(x, norm_weight, norm_bias, project_weight, project_bias, weight_seed, output):
    ADAPTED.call({'x': x, 'norm_weight': norm_weight, 'norm_bias': norm_bias, 'project_weight': project_weight, 'project_bias': project_bias, 'weight_seed': weight_seed, 'output': output})
