"""Finds definitions with their workloads in either layout. Everything is JSON; nothing of it runs here."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from problems.formats.errors import PackRefused
from problems.formats.flashinfer.records import Dialect, FlashInferDefinition, Workload, unwrapped
from problems.formats.set_files import MOST_LINES_BYTES, parsed, path_within, read_json, read_text
from problems.spec.errors import explain

DEFINITIONS, WORKLOADS = "definitions", "workloads"
DEFINITION_NAME, WORKLOAD_NAME = "definition.json", "workload.jsonl"


@dataclass(frozen=True)
class Numbered:
    """A workload with the number of its line."""

    line: int
    workload: Workload


@dataclass(frozen=True)
class SetDefinitionFile:
    """One definition's file with its workloads. `refused` says why it cannot be read."""

    source: str
    """Its path within the set."""
    folder: Path
    """The folder against which recorded data are looked up, besides the set's own."""
    definition: FlashInferDefinition | None = None
    workloads: Sequence[Numbered] = field(default_factory=tuple)
    refused: str = ""
    line: int = 0
    remedy: str = "correct the file"


def definition_files(root: Path, dialect: Dialect) -> list[SetDefinitionFile]:
    """All definitions below a folder, in the order of their paths. Raises PackRefused if there is none."""
    is_trace = (root / DEFINITIONS).is_dir()
    paths = sorted((root / DEFINITIONS).rglob("*.json") if is_trace else root.rglob(DEFINITION_NAME))
    found = list(_read(root, paths, dialect, is_trace=is_trace))
    if not found:
        words = f"holds no folder {DEFINITIONS} and no {DEFINITION_NAME}"
        raise PackRefused("no_problems", f"{root} {words}; give the set's folder as its data hub has it")
    return found


def _read(root: Path, paths: Sequence[Path], dialect: Dialect, *, is_trace: bool) -> Iterator[SetDefinitionFile]:
    for path in paths:
        source = str(path.relative_to(root))
        try:
            definition = _definition(path, dialect)
            lines = _workload_path(root, path, definition) if is_trace else path.parent / WORKLOAD_NAME
            if not lines.exists():
                place = lines.relative_to(root)
                yield SetDefinitionFile(
                    source, path.parent, refused=f"has no workloads: there is no {place}", remedy=f"add {place}"
                )
                continue
            workloads = _workloads(lines)
        except PackRefused as refused:
            yield SetDefinitionFile(source, path.parent, refused=str(refused), line=refused.line or 0)
            continue
        yield SetDefinitionFile(source, path.parent, definition, workloads)


def _definition(path: Path, dialect: Dialect) -> FlashInferDefinition:
    try:
        found = FlashInferDefinition.model_validate(read_json(path))
    except ValidationError as error:
        raise PackRefused("bad_definition", f"{path.name} {explain(error)}") from error
    _check_run(found, dialect)
    if dialect == "sol-execbench":
        both = next((name for name in found.inputs if name in found.axes), None)
        if both is not None:
            raise PackRefused("bad_definition", f"has an input and an axis `{both}`; rename one of them")
    else:
        if any(axis.type == "expr" for axis in found.axes.values()):
            raise PackRefused("bad_definition", "has an axis of type expr; read it as sol-execbench")
        if found.custom_inputs_entrypoint:
            raise PackRefused("bad_definition", "has a custom_inputs_entrypoint; read it as sol-execbench")
        digits = [dim for spec in (*found.inputs.values(), *found.outputs.values()) for dim in spec.shape or []]
        if any(dim.isdigit() for dim in digits):
            raise PackRefused("bad_definition", "has a number as an axis of a shape; read it as sol-execbench")
    return found


def _check_run(definition: FlashInferDefinition, dialect: Dialect) -> None:
    """Raises PackRefused if the reference has no `run`, or one that SOL-ExecBench would not call."""
    try:
        body = ast.parse(definition.reference).body
    except SyntaxError as error:
        words = f"`reference`, line {error.lineno}, is not valid Python: {error.msg}"
        raise PackRefused("bad_reference", words) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise PackRefused("bad_reference", f"`reference` cannot be parsed: {type(error).__name__}") from error
    bound = {name for node in body for name in _bound_names(node)}
    if "run" not in bound:
        raise PackRefused("bad_reference", "`reference` has no function `run` at its top level")
    run = next((one for one in reversed(body) if isinstance(one, ast.FunctionDef) and one.name == "run"), None)
    if dialect == "sol-execbench" and run is not None:
        named = [one.arg for one in (*run.args.posonlyargs, *run.args.args, *run.args.kwonlyargs)]
        if named != list(definition.inputs):
            words = f"`run` takes ({', '.join(named)}), and the inputs are ({', '.join(definition.inputs)})"
            raise PackRefused("bad_reference", f"{words}: name its parameters as the inputs, in their order")


def _bound_names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module binds, as far as its form tells."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for one in targets if isinstance(one, ast.Name))
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (one.asname or one.name for one in node.names)


def _workload_path(root: Path, path: Path, definition: FlashInferDefinition) -> Path:
    """The workloads' file: where the layout has it, beneath the definition's own folders or beside the others."""
    folder, name = path.parent.relative_to(root / DEFINITIONS), f"{definition.name}.jsonl"
    candidates = [path_within(root, f"{WORKLOADS}/{folder}/{name}"), path_within(root, f"{WORKLOADS}/{name}")]
    return next((one for one in candidates if one.is_file()), candidates[0])


def _workloads(path: Path) -> list[Numbered]:
    """The workloads of a file by line. Raises PackRefused with the line of the first fault."""
    found = []
    for number, line in enumerate(read_text(path, MOST_LINES_BYTES).splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(Numbered(number, Workload.model_validate(unwrapped(parsed(line, path.name, number)))))
        except ValidationError as error:
            raise PackRefused("bad_workload", f"{path.name}: the workload {explain(error)}", number) from error
    if not found:
        raise PackRefused("no_workloads", f"{path.name} holds no workload")
    return found
