"""Describes a file of KernelBench's form as plain data: inputs, weights, outputs, and the differences in its use.

Shapes come from tensors without values. The constructor runs twice with real ones, to tell constants from weights.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from .model import WEIGHT_SEED, SetModel, is_statistic, leaves, rebuilt, tensor_attributes

DTYPES = frozenset({
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool",
})  # fmt: skip
RESERVED = frozenset({
    WEIGHT_SEED, "solution", "setup", "setting", "auto", "bool", "break", "case", "char", "class", "const", "default",
    "delete", "do", "double", "enum", "extern", "float", "for", "goto", "inline", "int", "long", "namespace", "new",
    "operator", "private", "public", "register", "short", "signed", "sizeof", "static", "struct", "switch", "template",
    "this", "typedef", "union", "unsigned", "using", "virtual", "void", "while", "case_", "self",
})  # fmt: skip
MAX_PARAMETERS = 64
MAX_AXES = 8


class ModelRefused(ValueError):
    """A file that cannot be read as a problem: the line, the reason, and what would help."""

    def __init__(self, why: str, remedy: str, line: int = 0) -> None:
        self.why, self.remedy, self.line = why, remedy, line
        super().__init__(f"{why}; {remedy}")


def description(source: str, settings: Any) -> dict[str, Any]:
    """The description of a file, or {"refused": …} with line, reason and remedy."""
    try:
        return _described(source, tuple((init, inputs) for init, inputs in settings))
    except ModelRefused as refused:
        return {"refused": {"line": refused.line, "why": refused.why, "remedy": refused.remedy}}


def _described(source: str, settings: Any) -> dict[str, Any]:
    found = SetModel(source, settings)
    with _calling("the file", "correct it, or make what it needs part of it"):
        module = found.module
    for name in ("Model", "get_inputs"):
        if not callable(getattr(module, name, None)):
            raise ModelRefused(f"the file has no `{name}`", f"define `{name}`")
    cases = [_case(found, setting) for setting in range(len(settings))]
    first = cases[0]
    for other in cases[1:]:
        if [one["name"] for one in other["inputs"]] != [one["name"] for one in first["inputs"]]:
            raise ModelRefused("the settings have different numbers of inputs", "import each setting as a problem")
        if [one["path"] for one in other["weights"]] != [one["path"] for one in first["weights"]]:
            raise ModelRefused("the settings have different weights", "import each setting as a problem")
    return {"cases": cases}


def _case(found: SetModel, setting: int) -> dict[str, Any]:
    with _calling("the constructor", "correct it, or add the packages it needs"):
        weights, notes = _weights(found, setting)
    with FakeTensorMode(allow_non_fake_inputs=True):
        with _calling("`get_inputs`", "return a list of tensors and numbers"):
            given = found.drawn_inputs(setting, "cpu")
        with _calling("the constructor", "make no use of tensors' values in it"):
            model = found.built(setting, "cpu", 0)
        names = _names(model, given, {one["name"] for one in weights})
        inputs = [_value(name, one) for name, one in zip(names, leaves(given))]
        written, draws, outputs = _answered(model, given, names)
    count = len(inputs) + len(weights) + len(outputs) + bool(weights)  # the seed of the weights is a parameter
    if count > MAX_PARAMETERS:
        raise ModelRefused(
            f"it has {count} inputs, weights with their seed, and outputs; at most {MAX_PARAMETERS} are possible",
            "use a smaller model, or pack its weights into fewer tensors",
        )
    if draws:
        raise ModelRefused(f"`forward` draws random numbers ({draws})", "draw them in `get_inputs`")
    if written:
        notes.append(f"`forward` writes into its inputs {', '.join(written)}: it gets copies, and solutions do not")
    return {
        "inputs": inputs, "weights": weights, "outputs": outputs, "written": written, "notes": notes,
        "nesting": rebuilt(given, [None] * len(leaves(given))),
    }  # fmt: skip


@contextmanager
def _calling(what: str, remedy: str) -> Iterator[None]:
    """Turn every error of the set's code into a refusal with the last line of it that ran."""
    try:
        yield
    except ModelRefused:
        raise
    except Exception as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == "problem_of_the_set.py"]
        line = frames[-1].lineno if frames else getattr(error, "lineno", 0)
        words = " ".join(str(error).split())[:300]
        raise ModelRefused(f"{what} raised {type(error).__name__}: {words}", remedy, line or 0) from error


def _weights(found: SetModel, setting: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The parameters, buffers and plain tensors of the model. Those equal in two constructions are structure."""
    one, other = (found.built(setting, "cpu", seed) for seed in (1, 2))
    notes = ["dropout is turned off"] if found.had_dropout else []
    taken: set[str] = set()
    rows = []
    left = [path for path, _ in one.named_buffers() if is_statistic(one, path)]
    if left:
        notes.append(f"running statistics are neither inputs nor kept between calls: {', '.join(left)}"[:300])
    pairs = [(one.state_dict(), other.state_dict(), False), (tensor_attributes(one), tensor_attributes(other), True)]
    for first, second, is_attribute in pairs:
        for path, tensor in first.items():
            if path in left:
                continue
            if path not in second or second[path].shape != tensor.shape:
                raise ModelRefused(
                    f"`{path}` has another shape in a second construction", "make the constructor the same"
                )
            same = torch.equal(tensor.detach(), second[path].detach())
            if is_attribute and same:
                continue  # a constant of the class
            row = _value(_name(path.replace(".", "_"), taken), tensor.detach())
            rows.append({**row, "path": path, "is_attribute": is_attribute, "role": "structure" if same else "weight"})
    fixed = [row["name"] for row in rows if row["role"] == "structure"]
    if fixed:
        notes.append(f"the constructor gives always the same {', '.join(fixed)}: role structure"[:500])
    return rows, notes


def _names(model: Any, given: list[Any], taken: set[str]) -> list[str]:
    """A name for each tensor or number of the inputs, from the parameters of `forward`."""
    names = list(inspect.signature(model.forward).parameters)
    found = []
    for place, one in enumerate(given):
        name = names[place] if place < len(names) else f"input_{place + 1}"
        parts = leaves(one)
        found += [_name(name if len(parts) == 1 else f"{name}_{at + 1}", taken) for at in range(len(parts))]
    return found


def _name(wanted: str, taken: set[str]) -> str:
    """An identifier that C++ and Python take, and that no other parameter has."""
    name = "".join(char if char.isascii() and (char.isalnum() or char == "_") else "_" for char in wanted)[:80]
    name = name if name[:1].isalpha() or name[:1] == "_" else f"p_{name}"
    while name in taken or name in RESERVED:
        name += "_"
    taken.add(name)
    return name


def _value(name: str, value: Any) -> dict[str, Any]:
    """One input, weight or output as data. Raises Refused."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).rpartition(".")[2]
        if dtype not in DTYPES:
            raise ModelRefused(f"`{name}` is a tensor of {dtype}", "convert it to a real data type")
        if value.dim() > MAX_AXES:
            raise ModelRefused(f"`{name}` has {value.dim()} axes; at most {MAX_AXES} are possible", "join some of them")
        return {"name": name, "kind": "array", "dtype": dtype, "shape": [int(length) for length in value.shape]}
    if isinstance(value, bool):
        return {"name": name, "kind": "scalar", "dtype": "bool", "value": value}
    if isinstance(value, int):
        return {"name": name, "kind": "scalar", "dtype": "int64", "value": value}
    if isinstance(value, float):
        return {"name": name, "kind": "scalar", "dtype": "float64", "value": value}
    raise ModelRefused(f"`{name}` is {type(value).__name__}", "use tensors, whole numbers, floats and bools")


class _Watch(TorchDispatchMode):  # type: ignore[misc]
    """Notes the operations that draw random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in function.tags and _probability(function, args, kwargs or {}):
            self.draws.add(str(function))
        return function(*args, **(kwargs or {}))


def _probability(function: Any, args: Any, named: dict[str, Any]) -> float:
    """The operation's probability of dropout; 1 if it has none, as one that always draws."""
    for place, one in enumerate(function._schema.arguments):
        if one.name == "dropout_p":
            return float(named.get(one.name, args[place] if place < len(args) else one.default_value))
    return 1.0


def _answered(model: Any, given: list[Any], names: list[str]) -> tuple[list[str], str, list[dict[str, Any]]]:
    """The inputs that `forward` writes into, the operations that draw numbers, and the outputs."""
    arguments = leaves(given)
    before = [one._version if isinstance(one, torch.Tensor) else 0 for one in arguments]
    watch = _Watch()
    with _calling("`forward`", "make it run on tensors without values"), torch.no_grad(), watch:
        answer = leaves(model(*given))
    after = [one._version if isinstance(one, torch.Tensor) else 0 for one in arguments]
    written = [name for name, then, now in zip(names, before, after) if then != now]
    taken = {*names, WEIGHT_SEED}
    single = len(answer) == 1
    outputs = []
    for place, one in enumerate(answer):
        if not isinstance(one, torch.Tensor):
            raise ModelRefused(f"`forward` returns {type(one).__name__}", "return a tensor or a tuple of tensors")
        outputs.append(_value(_name("output" if single else f"output_{place + 1}", taken), one))
    return written, ", ".join(sorted(watch.draws)), outputs
