"""Converts solutions of other forms into samples of imported problems, by a declared adapter."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from problems.formats.errors import PackRefused
from problems.formats.flashinfer import inside as flashinfer_inside
from problems.formats.flashinfer.records import FlashInferSolution
from problems.formats.kernelbench import inside as kernelbench_inside
from problems.formats.set_files import read_json, read_text, slug_of
from problems.formats.set_folders import embedded
from problems.spec.errors import explain
from problems.spec.function.problem import FunctionProblem
from problems.spec.function.signature import SETUP_NAME, python_signature
from problems.spec.solution import FileSolution, SourceFile

KERNELBENCH = Path(kernelbench_inside.__file__).parent
FLASHINFER = Path(flashinfer_inside.__file__).parent
PYTHON_LANGUAGES = frozenset({"python", "triton", "pytorch", "cute_dsl", "cutile", "tilelang", "cudnn_frontend", "tlx"})
COMPILED_LANGUAGES = frozenset({"cpp", "cuda", "cuda_cpp", "cutlass", "cudnn", "cublas"})
COMPILED_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c")
BINDINGS: Mapping[str, tuple[str, ...]] = {"flashinfer": ("tvm-ffi", "torch"), "sol-execbench": ("torch",)}
"""How C++ is called from Python, by the form; the first is meant where a solution names none."""
SOL_HARDWARE = frozenset({"B200", "LOCAL"})


@dataclass(frozen=True)
class Converted:
    """A file of the other form: a sample, or the reason why it is none."""

    source: str
    solution: FileSolution | None = None
    refused: str = ""


def converted(form: str, root: Path, problems: Mapping[str, FunctionProblem]) -> list[Converted]:
    """All solutions below a folder, in the order of their paths. Raises PackRefused if there is none."""
    is_definition = form in ("flashinfer", "sol-execbench")
    found = list(_traces(root, problems, form) if is_definition else _models(root, problems))
    if not found:
        raise PackRefused("no_solutions", f"{root} holds no solution of this form")
    return found


def _models(root: Path, problems: Mapping[str, FunctionProblem]) -> Iterator[Converted]:
    for path in sorted(root.rglob("*.py")):
        source = str(path.relative_to(root))
        try:
            text = read_text(path)
            if "class ModelNew" not in text:
                continue
            problem = _problem_of(path, problems)
            yield Converted(source, _sample(problem, model_solution(problem, text)))
        except PackRefused as refused:
            yield Converted(source, refused=refused.message)


def _problem_of(path: Path, problems: Mapping[str, FunctionProblem]) -> FunctionProblem:
    """The problem that a file answers: by its name, its folder's, or KernelBench's numbers."""
    for name in (slug_of(path.stem), slug_of(path.parent.name)):
        if name in problems:
            return problems[name]
    parts = path.stem.split("_")
    if parts[0::2] == ["level", "problem", "sample", "kernel"]:  # KernelBench's own names of generated files
        begins = f"-level{parts[1]}-{parts[3]}-"
        fitting = [one for name, one in problems.items() if begins in f"-{name}"]
        if len(fitting) == 1:
            return fitting[0]
    raise PackRefused("unknown_problem", "no problem of the pack has this name; name the file after its problem")


def _sample(problem: FunctionProblem, text: str) -> FileSolution:
    file = SourceFile(path="solution.py", content=text)
    if reason := problem.rules().why_bad([file]):
        raise PackRefused("bad_solution", reason)
    return FileSolution(task_id=problem.task_id, files=[file])


def model_solution(problem: FunctionProblem, text: str) -> str:
    """A solution that calls a `ModelNew`. Raises PackRefused if the problem is of another form."""
    names = ("SOURCE", "SETTINGS", "INPUTS", "NESTING", "WEIGHTS", "ATTRIBUTES", "WRITTEN")
    constants = _constants(problem.definition.content, names)
    manifest = problem.manifest
    given = [manifest.parameters[place] for place in manifest.setup_places]
    lines = [
        embedded("A ModelNew, called by Podium's adapter.", KERNELBENCH / "model.py", KERNELBENCH / "adapter.py"),
        "",
        f"SOLUTION = {text!r}",
        f"ANSWERS = {tuple(one.name for one in manifest.outputs)!r}",
        *(f"{name} = {value!r}" for name, value in constants.items()),
        f"ADAPTED = AdaptedModel(SOLUTION, SOURCE, ANSWERS, {', '.join(names[1:])})",
    ]
    if "WEIGHTS" in constants and (constants["WEIGHTS"] or constants["ATTRIBUTES"]):
        lines += ["", "", f"{python_signature(given, SETUP_NAME)}:", f"    ADAPTED.setup({_named(given)})"]
    lines += ["", "", f"{python_signature(manifest.parameters)}:", f"    ADAPTED.call({_named(manifest.parameters)})"]
    return "\n".join(lines) + "\n"


def _named(parameters: Sequence[Any]) -> str:
    return "{" + ", ".join(f"{one.name!r}: {one.name}" for one in parameters) + "}"


def _constants(definition: str, names: Sequence[str]) -> dict[str, Any]:
    """The constants that an import wrote into a definition. Raises PackRefused if one is missing."""
    found: dict[str, Any] = {}
    for node in ast.parse(definition).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in names:
            found[target.id] = ast.literal_eval(node.value)
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        raise PackRefused("other_form", "the problem was not imported from this form")
    return {name: found[name] for name in names}


def _traces(root: Path, problems: Mapping[str, FunctionProblem], form: str) -> Iterator[Converted]:
    for path in sorted(root.rglob("*.json")):
        source = str(path.relative_to(root))
        try:
            data = read_json(path)
            if not isinstance(data, dict) or "spec" not in data or "sources" not in data:
                continue
            yield Converted(source, _of_trace(FlashInferSolution.model_validate(data), problems, form))
        except ValidationError as error:
            yield Converted(source, refused=explain(error))
        except PackRefused as refused:
            yield Converted(source, refused=refused.message)


def _of_trace(solution: FlashInferSolution, problems: Mapping[str, FunctionProblem], form: str) -> FileSolution:
    problem = problems.get(slug_of(solution.definition))
    if problem is None:
        raise PackRefused("unknown_problem", f"the pack has no problem for the definition {solution.definition!r}")
    languages = solution.spec.languages or [solution.spec.language or "python"]
    known = PYTHON_LANGUAGES | COMPILED_LANGUAGES
    if unknown := next((one for one in languages if one not in known), None):
        raise PackRefused("other_language", f"is in {unknown!r}; the form's languages are {', '.join(sorted(known))}")
    is_compiled = languages[0] in COMPILED_LANGUAGES
    if other := next((one for one in languages if (one in COMPILED_LANGUAGES) != is_compiled), None):
        raise PackRefused("other_language", f"mixes {languages[0]} and {other}; name languages of one kind")
    suffixes = COMPILED_SUFFIXES if is_compiled else (".py",)
    if not solution.entry_path.endswith(suffixes):
        words = f"is in {languages[0]}, but its entry point {solution.entry_path!r} is no {' or '.join(suffixes)} file"
        raise PackRefused("bad_entry", f"{words}; name the file that holds the function")
    if is_compiled and (solution.spec.binding or BINDINGS[form][0]) not in BINDINGS[form]:
        words = f"has the binding {solution.spec.binding!r}; this form's are {' and '.join(BINDINGS[form])}"
        raise PackRefused("bad_binding", words)
    wrong = next((one for one in solution.spec.target_hardware if one not in SOL_HARDWARE), None)
    if form == "sol-execbench" and wrong is not None:
        words = f"has the target_hardware {wrong!r}, which SOL-ExecBench refuses"
        raise PackRefused("bad_hardware", f"{words}; write {' or '.join(sorted(SOL_HARDWARE))}")
    return _sample(problem, trace_solution(problem, solution, form if is_compiled else ""))


def trace_solution(problem: FunctionProblem, solution: FlashInferSolution, compiled_form: str = "") -> str:
    """A solution that calls a Solution's entry point. `compiled_form` is its form if it is in C++ or CUDA."""
    manifest = problem.manifest
    constants = _constants(problem.definition.content, ("INPUTS", "OUTPUTS"))
    sources = {one.path: one.content for one in solution.sources}
    outputs = "{" + ", ".join(f"{name!r}: {name}" for name in constants["OUTPUTS"]) + "}"
    inputs = "(" + "".join(f"{name}, " for name in constants["INPUTS"]) + ")"
    writes = solution.spec.destination_passing_style
    adapter = [FLASHINFER / "adapter.py"]
    entry = f"AdaptedSolution(SOURCES, {solution.entry_path!r}, {solution.entry_function!r}, writes={writes})"
    if compiled_form:
        adapter.append(FLASHINFER / "extension.py")
        entry = _extension(solution, compiled_form)
    lines = [
        embedded("A Solution of FlashInfer Trace's form, called by Podium's adapter.", *adapter),
        "",
        f"SOURCES = {sources!r}",
        f"ADAPTED = {entry}",
        "",
        "",
        f"{python_signature(manifest.parameters)}:",
        f"    ADAPTED.call({inputs}, {outputs})",
    ]
    return "\n".join(lines) + "\n"


def _extension(solution: FlashInferSolution, form: str) -> str:
    """The expression that compiles a solution. SOL-ExecBench compiles the files at the top level alone."""
    spec, paths = solution.spec, [one.path for one in solution.sources]
    files = tuple(
        one for one in paths if one.endswith(COMPILED_SUFFIXES) and (form != "sol-execbench" or "/" not in one)
    )
    options = spec.compile_options
    flags: dict[str, Any] = {
        "extra_cflags": options.cflags, "extra_cuda_cflags": options.cuda_cflags, "extra_ldflags": options.ld_flags,
    } if options and form == "sol-execbench" else {}  # fmt: skip
    if solution.entry_path not in files:
        words = f"has the entry point {solution.entry_path!r} in a folder; SOL-ExecBench compiles the top level alone"
        raise PackRefused("bad_entry", f"{words}; move it there")
    binding = spec.binding or BINDINGS[form][0]
    if binding == "torch" and {*spec.languages, spec.language} - {"cpp", None}:
        flags["with_cuda"] = True
    return (
        f"AdaptedExtension(SOURCES, {files!r}, {solution.entry_function!r}, binding={binding!r},"
        f" writes={spec.destination_passing_style}, flags={flags!r})"
    )
