"""Answers of a function problem that do less than is asked: part of the audit's samples, which run in sandboxes."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

from inside.loaded import load

TAIL_SHARE = 1 / 256


class Idle:
    """Callable as `solution`.

    `kind` is `nothing`, `zeros`, `constant`, `copied`, `replayed`, `tail`, `whole` or `without`. `output` is the place
    of the only output that is changed, `source` that of the argument to copy, `number` that of the operation left out.
    """

    def __init__(
        self, definition: str, device: str, kind: str, output: int = 0, source: int = 0, number: int = 0
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "def.py")
            path.write_text(definition, encoding="utf-8")
            self._loaded = load(str(path), device)
        self._kind, self._output, self._source, self._number = kind, output, source, number
        self._kept: dict[Any, list[Any]] = {}

    def __call__(self, *arguments: Any) -> None:
        parameters = self._loaded.parameters
        outputs = [value for one, value in zip(parameters, arguments) if one.is_written]
        if self._kind == "nothing":
            return
        answers = self._answers(list(arguments))
        self._change(answers, arguments)
        for output, answer in zip(outputs, answers):
            self._loaded.library.fill(output, answer)

    def _answers(self, arguments: list[Any]) -> list[Any]:
        """The reference's outputs: of this call, or of the first with these shapes."""
        if self._kind not in ("replayed", "constant"):
            return self._computed(arguments)
        key = tuple(tuple(one.shape) if hasattr(one, "shape") else one for one in arguments)
        if key not in self._kept:
            library = self._loaded.library
            self._kept[key] = [library.copy(one) for one in self._computed(arguments)]
        return [self._loaded.library.copy(one) for one in self._kept[key]]

    def _computed(self, arguments: list[Any]) -> list[Any]:
        library = self._loaded.library
        given = [library.copy(one) if library.is_array(one) else one for one in arguments]
        if self._kind == "without":
            return list(left_out(lambda: self._loaded.form.answer(given), self._number))
        return list(self._loaded.form.answer(given))

    def _change(self, answers: list[Any], arguments: tuple[Any, ...]) -> None:
        library = self._loaded.library
        parameter = self._loaded.outputs[self._output]
        owned = library.owned(answers[self._output], parameter.dtype)
        flat = library.copy(library.ravelled(owned))
        if self._kind == "zeros":
            flat[...] = 0
        elif self._kind == "constant":
            wide = library.wide(flat)
            finite = wide[abs(wide) < math.inf]
            mean = float(finite.mean()) if len(finite) else 0.0
            flat[...] = mean if "float" in parameter.dtype else round(mean)
        elif self._kind == "copied":
            library.fill(flat, library.ravelled(arguments[self._source]))
        elif self._kind == "tail" and len(flat):
            flat[len(flat) - max(1, int(len(flat) * TAIL_SHARE)) :] = 0
        answers[self._output] = flat.reshape(owned.shape)


def computing(torch: Any, function: Any, args: Any) -> bool:
    """Whether a call of an operation of torch computes: it makes new tensors from tensors."""
    schema = function._schema
    makes = any(one.alias_info is None and "Tensor" in str(one.type) for one in schema.returns)
    name = str(function).partition(".")[2].partition(".")[0]
    return makes and name not in MOVES and any(isinstance(one, torch.Tensor) for one in args)


MOVES = frozenset({
    "clone", "_to_copy", "detach", "empty", "empty_like", "zeros", "ones", "full", "arange", "new_empty", "new_zeros",
    "_unsafe_view", "contiguous", "lift_fresh_copy", "empty_strided", "scalar_tensor", "new_empty_strided", "new_full",
    "zeros_like", "ones_like", "full_like", "new_ones", "alias", "randn", "rand",
})  # fmt: skip


def left_out(call: Any, number: int) -> Any:
    """The result of a call without one of its operations: its first fitting tensor stands for the result, or zeros."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Without(TorchDispatchMode):  # type: ignore[misc]
        count = -1

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = function(*args, **(kwargs or {}))
            if not computing(torch, function, args):
                return result
            self.count += 1
            return standing_in(torch, args, result) if self.count == number else result

    with Without() as mode:
        found = call()
    if mode.count < number:
        raise ValueError(f"the reference has {mode.count + 1} operations")
    return found


def standing_in(torch: Any, args: Any, result: Any) -> Any:
    """A tensor of the result's shape and data type that took no operation."""
    if isinstance(result, (tuple, list)):
        return type(result)(standing_in(torch, args, one) for one in result)
    if not isinstance(result, torch.Tensor):
        return result
    alike = (one for one in args if isinstance(one, torch.Tensor))
    fitting = (one for one in alike if one.shape == result.shape and one.dtype == result.dtype)
    found = next(fitting, None)
    return torch.zeros_like(result) if found is None else found.clone()


def operations(path: str, device: str, fake: bool) -> list[str]:
    """The names of the reference's operations on a draw of the first case, at most 200, as in `aten.max.dim`."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    names = []

    class Named(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if computing(torch, function, args):
                names.append(str(function).removesuffix(".default"))
            return function(*args, **(kwargs or {}))

    loaded = load(path, "fake" if fake else device)
    drawn = loaded.draw(0, 0)
    with loaded.library.placing(), Named():
        loaded.answer(drawn)
    return names[:200]
