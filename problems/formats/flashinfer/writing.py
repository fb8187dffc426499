"""Writes a function problem's folder for a definition and its workloads."""

import base64
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from problems.formats.errors import PackRefused
from problems.formats.flashinfer import inside
from problems.formats.flashinfer.axes import length_of
from problems.formats.flashinfer.checkout import Numbered, SetDefinitionFile
from problems.formats.flashinfer.naming import rule_of
from problems.formats.flashinfer.records import PACKED, Dialect, FlashInferDefinition, TensorSpec, Workload
from problems.formats.flashinfer.safetensors import read_tensor
from problems.formats.set_files import path_within, slug_of
from problems.formats.set_folders import embedded, fenced, front_matter

MOST_WORKLOADS = 256
MOST_RECORDED_BYTES = 3 << 20
CASE_WORDS = frozenset({"name", "size", "input_sets", "held_out", "workload", "self"})
FIXED_RULES = frozenset({"ones", "zeros", "causal"})
COMPUTING = {"float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}
RUNNING = Path(inside.__file__).parent / "running.py"


@dataclass(frozen=True)
class WrittenCase:
    """One workload as a case: its axes, and what the definition holds of it."""

    axes: Mapping[str, int]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """A problem's files and the notes on its use."""

    files: Mapping[str, str]
    notes: Sequence[str]


def folder_of(root: Path, file: SetDefinitionFile, dialect: Dialect, device: str) -> Written:
    """The files of a definition's problem. Raises PackRefused with the line of a workload that cannot be read."""
    definition = file.definition
    assert definition is not None
    _check(definition)
    notes: list[str] = []
    taken = list(file.workloads)
    if len(taken) > MOST_WORKLOADS:
        notes.append(f"the first {MOST_WORKLOADS} of {len(taken)} workloads are read")
        taken = taken[:MOST_WORKLOADS]
    cases = [_case(root, file, definition, one, dialect, notes) for one in taken]
    recorded = sum(len(kind[1]) for one in cases for kind in one.facts["inputs"].values() if kind[0] == "recorded")
    if recorded > MOST_RECORDED_BYTES:
        words = f"its recorded data take {recorded} bytes packed; at most {MOST_RECORDED_BYTES} fit into a definition"
        raise PackRefused("too_large", f"{words}: keep fewer workloads")
    fixed = _fixed(definition, cases)
    if fixed:
        notes.append(f"{', '.join(sorted(fixed))} may stay the same from call to call: role structure")
    definition_text = _definition_text(definition, cases, fixed, dialect)
    statement = _statement(definition, file, device, notes)
    return Written({"def.py": definition_text, "problem.md": statement}, list(dict.fromkeys(notes)))


def slug(definition: FlashInferDefinition) -> str:
    return slug_of(definition.name)


def _check(definition: FlashInferDefinition) -> None:
    """Raises PackRefused for what no case can be made of."""
    for name, spec in (*definition.inputs.items(), *definition.outputs.items()):
        if spec.dtype in PACKED:
            raise PackRefused("bad_dtype", f"`{name}` is of {spec.dtype}, which packs two numbers a byte")
    bad = next((axis for axis in definition.axes if axis in CASE_WORDS), None)
    if bad is not None:
        raise PackRefused("bad_axis", f"has an axis `{bad}`, a name that cases use themselves; rename it")


def _case(
    root: Path,
    file: SetDefinitionFile,
    definition: FlashInferDefinition,
    one: Numbered,
    dialect: Dialect,
    notes: list[str],
) -> WrittenCase:
    try:
        axes = _axes(definition, one.workload, dialect, notes)
        kinds = {name: _kind(root, file, definition, name, one.workload, axes, dialect) for name in definition.inputs}
        unknown = sorted(one.workload.inputs.keys() - definition.inputs.keys())
        if unknown:
            raise PackRefused("bad_workload", f"gives the input `{unknown[0]}`, which the definition does not have")
        custom = [name for name, kind in kinds.items() if kind[0] == "custom"]
        if custom and any(kind[0] in ("random", "rule", "recorded") for kind in kinds.values()):
            raise PackRefused("bad_workload", f"mixes the custom input `{custom[0]}` with drawn or recorded ones")
        return WrittenCase(axes, {"inputs": kinds, "bounds": _bounds(one.workload, dialect)})
    except PackRefused as refused:
        raise PackRefused(refused.code, f"workload {one.workload.uuid[:60]}: {refused.message}", one.line) from refused


def _axes(definition: FlashInferDefinition, workload: Workload, dialect: Dialect, notes: list[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for name, axis in definition.axes.items():
        given = workload.axes.get(name)
        if axis.type == "const":
            known[name] = axis.value
            if given is not None and given != axis.value:
                if dialect == "flashinfer":
                    words = f"gives axis `{name}` the length {given}, but it is const {axis.value}"
                    raise PackRefused("bad_axis", words)
                notes.append(f"workloads override the constant axis `{name}`")
                known[name] = given
        elif axis.type == "var":
            if given is None:
                raise PackRefused("bad_axis", f"gives no length for the variable axis `{name}`")
            known[name] = given
        else:
            known[name] = length_of(axis.expression, known)
    unknown = sorted(workload.axes.keys() - definition.axes.keys())
    if unknown:
        raise PackRefused("bad_axis", f"gives a length for `{unknown[0]}`, which is no axis of the definition")
    return known


def _kind(
    root: Path, file: SetDefinitionFile, definition: FlashInferDefinition, name: str, workload: Workload,
    axes: Mapping[str, int], dialect: Dialect,
) -> tuple[Any, ...]:  # fmt: skip
    """How an input is made: ("random",), ("rule", its name), ("scalar", number), ("recorded", data) or ("custom",)."""
    spec, given = definition.inputs[name], workload.inputs.get(name)
    if given is not None and given.type == "scalar":
        return "scalar", given.value
    if given is not None and given.type == "custom":
        if dialect == "flashinfer" or not definition.custom_inputs_entrypoint:
            raise PackRefused("bad_workload", f"wants a custom `{name}`, and the definition has no function for it")
        return ("custom",)
    if given is not None and given.type == "safetensors":
        return "recorded", _recorded(root, file, spec, given.path, given.tensor_key, axes)
    if spec.shape is None:
        raise PackRefused("bad_workload", f"gives no value for the number `{name}`")
    rule = rule_of(name, spec, definition.op_type, dialect)
    return ("rule", rule) if rule else ("random",)


def _recorded(
    root: Path, file: SetDefinitionFile, spec: TensorSpec, path: str, key: str, axes: Mapping[str, int]
) -> str:
    places = [path_within(folder, path) for folder in (root, file.folder)]
    found = read_tensor(next((one for one in places if one.is_file()), places[0]), key)
    shape = tuple(int(dim) if dim.isdigit() else axes[dim] for dim in spec.shape or [])
    if (found.dtype, found.shape) != (spec.dtype, shape):
        words = f"{found.dtype} {list(found.shape)}, and the definition asks for {spec.dtype} {list(shape)}"
        raise PackRefused("bad_safetensors", f"`{key}` of {path} is {words}")
    return base64.b85encode(zlib.compress(found.content, 9)).decode()


def _bounds(workload: Workload, dialect: Dialect) -> dict[str, Any]:
    given = workload.tolerance
    is_sol = dialect == "sol-execbench"
    return {
        "atol": given.max_atol if is_sol else 1e-2, "rtol": given.max_rtol if is_sol else 1e-2,
        "ratio": given.required_matched_ratio if is_sol else 1.0, "cap": given.max_error_cap if is_sol else None,
        "allows_negative_inf": is_sol and given.allow_negative_inf, "refuses_infinite": is_sol,
        "refuses_zeros": is_sol, "either": not is_sol,
    }  # fmt: skip


def _fixed(definition: FlashInferDefinition, cases: Sequence[WrittenCase]) -> set[str]:
    """Inputs that hold the same values in every call of some case, and whole numbers of a custom function."""
    found = set()
    for case in cases:
        for name, kind in case.facts["inputs"].items():
            spec = definition.inputs[name]
            is_whole = spec.dtype.startswith("int") or spec.dtype == "bool"
            is_fixed = kind[0] == "recorded" or (kind[0] == "rule" and kind[1] in FIXED_RULES)
            if spec.shape is not None and (is_fixed or (kind[0] == "custom" and is_whole)):
                found.add(name)
    return found


def _dims(spec: TensorSpec) -> tuple[int | str, ...]:
    return tuple(int(dim) if dim.isdigit() else dim for dim in spec.shape or [])


def _parameters(definition: FlashInferDefinition, fixed: set[str]) -> list[str]:
    lines = []
    for name, spec in definition.inputs.items():
        role = ', "structure"' if name in fixed else ""
        if spec.shape is None:
            lines.append(f"Scalar({name!r}, {spec.dtype!r})")
        else:
            lines.append(f'Array({name!r}, {spec.dtype!r}, "in", {_dims(spec)!r}{role})')
    lines += [f'Array({name!r}, {spec.dtype!r}, "out", {_dims(spec)!r})' for name, spec in definition.outputs.items()]
    taken = definition.inputs.keys() | definition.outputs.keys()
    variable = [name for name, axis in definition.axes.items() if axis.type == "var" and name not in taken]
    return lines + [f'Scalar({name!r}, "size_t")' for name in variable]


def _definition_text(
    definition: FlashInferDefinition, cases: Sequence[WrittenCase], fixed: set[str], dialect: Dialect
) -> str:
    specs = {name: (spec.dtype, _dims(spec)) for name, spec in definition.inputs.items()}
    computing = next((COMPUTING[spec.dtype] for spec in definition.inputs.values() if spec.dtype in COMPUTING), "fp32")
    rule = (
        "atol + rtol |expected| for the set's share of the elements, each case with its own bounds"
        if dialect == "sol-execbench"
        else "an element is wrong if its absolute and its relative difference are both above 0.01"
    )
    lines = [
        embedded(f"Made from the definition {definition.name} of a set in FlashInfer Trace's form.", RUNNING),
        "from podium_functions import Array, Case, FunctionProblem, Scalar, Tolerance",
        "",
        f"SOURCE = {definition.reference!r}",
        f"INPUTS = {specs!r}",
        f"OUTPUTS = {tuple(definition.outputs)!r}",
        "WORKLOADS = (",
        *(f"    {dict(case.facts)!r}," for case in cases),
        ")",
        f"SET = SetDefinition(SOURCE, INPUTS, OUTPUTS, WORKLOADS, {definition.custom_inputs_entrypoint!r})",
        "",
        "",
        "class Imported(FunctionProblem):",
        '    arrays = "torch"',
        f"    computes_in = {computing!r}",
        f"    output_init = {'zero' if dialect == 'sol-execbench' else 'poison'!r}",
        "    parameters = (",
        *(f"        {line}," for line in _parameters(definition, fixed)),
        "    )",
        f"    accuracy = Tolerance(rtol=0.01, atol=0.01, reason={rule!r})",
        "    cases = (",
        *(f"        {_case_line(number, case, definition)}," for number, case in enumerate(cases)),
        "    )",
        "",
        "    def inputs(self, case, rng):",
        "        return SET.inputs(case, self.device)",
        "",
        "    def reference(self, case, **given):",
        "        return SET.answer(given)",
        "",
        "    def verify(self, case, expected, actual):",
        "        return SET.verify(case, expected, actual)",
    ]
    return "\n".join(lines) + "\n"


def _case_line(number: int, case: WrittenCase, definition: FlashInferDefinition) -> str:
    variable = [name for name, axis in definition.axes.items() if axis.type == "var"]
    words = ", ".join(f"{name} {case.axes[name]}" for name in variable)
    size = math.prod(case.axes[name] for name in variable)
    sized = f", size={size}" if size else ""
    axes = "".join(f", {name}={length}" for name, length in case.axes.items())
    return f"Case({f'{number + 1}: {words}'.rstrip(': ')[:150]!r}{sized}, workload={number}{axes})"


def _statement(definition: FlashInferDefinition, file: SetDefinitionFile, device: str, notes: Sequence[str]) -> str:
    head = {
        "slug": slug(definition), "title": definition.name[:200], "group": definition.op_type[:100] or "imported",
        "device": device, "tags": ["flashinfer-form"], "time_limit_seconds": 600,
    }  # fmt: skip
    words = [definition.description or "", "Compute what `run` returns. Its results are the outputs, in order."]
    words += [f"Changed from the set: {note}." for note in dict.fromkeys(notes)]
    words.append(f"Source: `{file.source}`.")
    return front_matter(head) + "\n\n".join([*filter(None, words), fenced(definition.reference, "python")]) + "\n"
