"""Calls a `ModelNew` of KernelBench's form as a solution: constructs it, loads the weights, copies its results."""

from __future__ import annotations

from typing import Any

import torch

from .model import WEIGHT_SEED, SetModel, is_statistic, leaves, module_of, rebuilt, tensor_attributes


class AdaptedModel(SetModel):
    """A solution's module. `answers` are the names of the outputs in order."""

    def __init__(self, source: str, problem: str, answers: tuple[str, ...], *described: Any) -> None:
        super().__init__(problem, *described)
        self.solution_source = source
        self.answers = answers
        self._solution: Any = None
        self._ready_models: dict[int, Any] = {}
        # As for the reference: a convolution in TF32, torch's default, is beyond the set's tolerance.
        torch.backends.cudnn.allow_tf32 = False

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
