"""Finds definitions with their workloads in either layout. Everything is JSON; nothing of it runs here."""

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
    if dialect == "flashinfer":
        if any(axis.type == "expr" for axis in found.axes.values()):
            raise PackRefused("bad_definition", "has an axis of type expr; read it as sol-execbench")
        if found.custom_inputs_entrypoint:
            raise PackRefused("bad_definition", "has a custom_inputs_entrypoint; read it as sol-execbench")
        digits = [dim for spec in (*found.inputs.values(), *found.outputs.values()) for dim in spec.shape or []]
        if any(dim.isdigit() for dim in digits):
            raise PackRefused("bad_definition", "has a number as an axis of a shape; read it as sol-execbench")
    return found


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
