"""Writes a function problem's folder for a file of KernelBench's form."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from problems.formats.kernelbench import inside
from problems.formats.kernelbench.checkout import SetFile
from problems.formats.kernelbench.records import Case, ModelValue, Weight
from problems.formats.set_folders import Dims, dims_over, embedded, fenced, front_matter

WEIGHT_SEED = "weight_seed"
"""As `inside/model.py` has it."""
COARSE = frozenset({"float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"})
FINE_TOLERANCE, COARSE_TOLERANCE = 1e-4, 1e-2


def folder_of(file: SetFile, cases: Sequence[Case], device: str) -> dict[str, str]:
    """The files of the problem's folder, by path."""
    title = file.source.rpartition("/")[2].removesuffix(".py").replace("_", " ").strip()
    title = file.slug if file.source.endswith("func_forward.py") else title
    return {"def.py": _definition(file, cases), "problem.md": _statement(file, cases, title, device)}


def _definition(file: SetFile, cases: Sequence[Case]) -> str:
    first = cases[0]
    dims, axes = dims_over([{one.name: one.shape for one in _arrays(case)} for case in cases])
    states = {one.name: one.path for one in first.weights if not one.is_attribute}
    attributes = {one.name: one.path for one in first.weights if one.is_attribute}
    tolerance = COARSE_TOLERANCE if any(one.dtype in COARSE for one in first.outputs) else FINE_TOLERANCE
    lines = [
        embedded(f"Made from {file.source} of a set in KernelBench's form.", Path(inside.__file__).parent / "model.py"),
        "from podium_functions import Array, Case, Exact, FunctionProblem, Scalar, Tolerance",
        "",
        f"SOURCE = {file.text!r}",
        f"SETTINGS = {tuple(file.settings)!r}",
        f"INPUTS = {tuple(one.name for one in first.inputs)!r}",
        f"NESTING = {first.nesting!r}",
        f"WEIGHTS = {states!r}",
        f"ATTRIBUTES = {attributes!r}",
        f"WRITTEN = {tuple(first.written)!r}",
        "SET_MODEL = SetModel(SOURCE, SETTINGS, INPUTS, NESTING, WEIGHTS, ATTRIBUTES, WRITTEN)",
        "",
        "",
        "class Imported(FunctionProblem):",
        '    arrays = "torch"',
        "    parameters = (",
        *(f"        {line}," for line in _parameters(first, dims, several=len(cases) > 1)),
        "    )",
        f"    accuracy = {_accuracy(first, tolerance)}",
        "    cases = (",
        *(f"        {line}," for line in _cases(cases, axes)),
        "    )",
        "",
        "    def inputs(self, case, rng):",
        "        return SET_MODEL.inputs(case, self.device)",
        "",
        "    def reference(self, case, **given):",
        "        return SET_MODEL.answer(case, self.device, given)",
    ]
    return "\n".join(lines) + "\n"


def _accuracy(case: Case, tolerance: float) -> str:
    if not any(one.dtype.startswith(("float", "bfloat")) for one in case.outputs):
        return 'Exact("whole numbers and bools are equal")'
    reason = "the set's own; it multiplies rtol by the candidate's value, here it is the expected one's"
    return f"Tolerance(rtol={tolerance!r}, atol={tolerance!r}, reason={reason!r})"


def _arrays(case: Case) -> list[ModelValue | Weight]:
    values: list[ModelValue | Weight] = [*case.inputs, *case.weights, *case.outputs]
    return [one for one in values if one.kind == "array"]


def _parameters(case: Case, dims: Mapping[str, Dims], *, several: bool) -> list[str]:
    lines = []
    for one in case.inputs:
        if one.kind == "array":
            lines.append(f'Array({one.name!r}, {one.dtype!r}, "in", {dims[one.name]!r})')
        else:
            lines.append(f"Scalar({one.name!r}, {one.dtype!r})")
    for weight in case.weights:
        lines.append(f'Array({weight.name!r}, {weight.dtype!r}, "in", {dims[weight.name]!r}, {weight.role!r})')
    if case.weights:
        lines.append(f'Array({WEIGHT_SEED!r}, "int64", "in", (1,), "weight")')
    lines += [f'Array({one.name!r}, {one.dtype!r}, "out", {dims[one.name]!r})' for one in case.outputs]
    return [*lines, 'Scalar("setting", "size_t")'] if several else lines


def _cases(cases: Sequence[Case], axes: Sequence[Mapping[str, int]]) -> list[str]:
    if len(cases) == 1:
        return ['Case("the set\'s")']
    return [
        f'Case("setting {number + 1}", setting={number}' + "".join(f", {k}={v}" for k, v in own.items()) + ")"
        for number, own in enumerate(axes)
    ]


def _statement(file: SetFile, cases: Sequence[Case], title: str, device: str) -> str:
    first = cases[0]
    head = {
        "slug": file.slug, "title": title[:200], "group": file.group[:100] or "imported", "device": device,
        "tags": ["kernelbench-form"], "time_limit_seconds": 600,
    }  # fmt: skip
    weights = ", ".join(f"`{one.name}` is `{one.path}`" for one in first.weights)
    words = [
        "Compute what `forward` of this `Model` returns. The inputs are those of `get_inputs`, drawn anew each call.",
    ]
    if weights:
        words.append(
            f"The model's tensors are inputs: {weights}. `{WEIGHT_SEED}` is the seed after which the constructor made"
            " them; a solution with the same constructor may use it."
        )
    words += [f"Changed from the set: {note}." for case in cases[:1] for note in case.notes]
    return front_matter(head) + "\n\n".join([*words, fenced(file.text, "python")]) + "\n"
