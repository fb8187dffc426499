"""Starter code of function problems: a scaffold for each language, written from the manifest."""

from collections.abc import Callable, Mapping
from itertools import chain, count

from problems.spec.function.manifest import Manifest, Parameter
from problems.spec.function.signature import (
    FILE_NAMES,
    Language,
    c_parameter,
    c_signature,
    python_signature,
    setup_signature,
)
from problems.spec.solution import SourceFile

_CUDA_HEADERS = {
    "float16": "cuda_fp16.h",
    "bfloat16": "cuda_bf16.h",
    "float8_e4m3fn": "cuda_fp8.h",
    "float8_e5m2": "cuda_fp8.h",
}
_BLOCK = 256
_CONTRACT = "Work in {}, or joined to it; a call that waits for the device is timed worse."
_TORCH_STREAM = "torch's current stream"


def starter(manifest: Manifest, language: Language) -> SourceFile:
    """The file that a contestant begins with."""
    return SourceFile(path=FILE_NAMES[language], content=_WRITERS[language](manifest))


def doing_nothing(manifest: Manifest, language: Language) -> SourceFile:
    """A file that defines the function without any statement."""
    if language in ("cuda", "cpp"):
        signature = c_signature(manifest.parameters, for_cuda=language == "cuda")
        headers = _cuda_headers(manifest) if language == "cuda" else ""
        text = f"#include <cstddef>\n#include <cstdint>\n{headers}\n{signature} {{}}\n"
    else:
        text = f"{python_signature(manifest.parameters)}:\n    pass\n"
    return SourceFile(path=FILE_NAMES[language], content=text)


def _cuda_headers(manifest: Manifest) -> str:
    names = sorted({_CUDA_HEADERS[one.dtype] for one in manifest.parameters if one.dtype in _CUDA_HEADERS})
    return "".join(f"#include <{name}>\n" for name in names)


def _cuda(manifest: Manifest) -> str:
    inner = ", ".join(c_parameter(one, for_cuda=True) for one in manifest.parameters)
    names = ", ".join(one.name for one in manifest.parameters)
    output = manifest.outputs[0].name
    n, i = _free(manifest, "n", "count"), _free(manifest, "i", "at")
    return (
        f"#include <cstddef>\n#include <cstdint>\n{_cuda_headers(manifest)}\n{_shapes(manifest, '//')}"
        + f"__global__ void kernel(size_t {n}, {inner}) {{\n"
        + f"    size_t {i} = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;\n"
        + f"    if ({i} >= {n}) return;\n"
        + f"    // Write {output}[{i}] here.\n"
        + "}\n\n"
        + _setup(manifest, "cuda")
        + "// All pointers are device memory. Outputs are given, and nothing is returned.\n"
        + f"// {_CONTRACT.format('the default stream')}\n"
        + f"{c_signature(manifest.parameters, for_cuda=True)} {{\n"
        + f"    size_t {n} = {_c_count(manifest)};  // number of elements of {output}\n"
        + f"    if ({n} == 0) return;\n    kernel<<<({n} + {_BLOCK - 1}) / {_BLOCK}, {_BLOCK}>>>({n}, {names});\n"
        + "}\n"
    )


def _cpp(manifest: Manifest) -> str:
    n, i, output = _free(manifest, "n", "count"), _free(manifest, "i", "at"), manifest.outputs[0].name
    return (
        "#include <cstddef>\n#include <cstdint>\n\n"
        + _shapes(manifest, "//")
        + _setup(manifest, "cpp")
        + "// Outputs are given, and nothing is returned.\n"
        + f"{c_signature(manifest.parameters, for_cuda=False)} {{\n"
        + f"    size_t {n} = {_c_count(manifest)};  // number of elements of {output}\n"
        + f"    for (size_t {i} = 0; {i} < {n}; ++{i}) {{\n"
        + f"        // Write {output}[{i}] here.\n"
        + "    }\n}\n"
    )


def _triton(manifest: Manifest) -> str:
    output = manifest.outputs[0].name
    arrays = [one.name for one in manifest.parameters if one.kind == "array"]
    pointers = ", ".join(f"{name}_pointer" for name in arrays)
    n = _free(manifest, "n", "count")
    return (
        "import triton\nimport triton.language as tl\n\n\n"
        + f"@triton.jit\ndef kernel({pointers}, {n}, BLOCK: tl.constexpr):\n"
        + "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        + f"    # Load what {output}[at] needs, then tl.store({output}_pointer + at, value, mask=at < {n}).\n\n\n"
        + _shapes(manifest, "#")
        + _setup(manifest, "triton")
        + "# Arguments are torch tensors on the GPU, and numbers. Write into the outputs; return values are ignored.\n"
        + f"# {_CONTRACT.format(_TORCH_STREAM)}\n"
        + f"{python_signature(manifest.parameters)}:\n"
        + f"    {n} = {output}.numel()\n"
        + f"    kernel[(triton.cdiv({n}, {_BLOCK}),)]({', '.join(arrays)}, {n}, BLOCK={_BLOCK})\n"
    )


def _python(manifest: Manifest) -> str:
    library = "torch" if manifest.arrays == "torch" else "numpy"
    imported = "import torch" if library == "torch" else "import numpy as np"
    zeros = "torch.zeros_like" if library == "torch" else "np.zeros_like"
    contract = f"# On a GPU: {_CONTRACT.format(_TORCH_STREAM)}\n" if library == "torch" else ""
    filled = "".join(f"    {one.name}[...] = {zeros}({one.name})\n" for one in manifest.outputs)
    return (
        f"{imported}\n\n\n"
        + _shapes(manifest, "#")
        + _setup(manifest, "python")
        + f"# Arrays are {library} arrays. Write into the outputs in place; a returned value is ignored.\n"
        + contract
        + f"{python_signature(manifest.parameters)}:\n{filled}"
    )


_WRITERS: Mapping[Language, Callable[[Manifest], str]] = {
    "cuda": _cuda,
    "cpp": _cpp,
    "triton": _triton,
    "python": _python,
}


def _free(manifest: Manifest, *names: str) -> str:
    """The first of the names that no parameter has, else the last one with as many underscores as it takes."""
    taken = {one.name for one in manifest.parameters}
    return next(name for name in chain(names, (names[-1] + "_" * k for k in count(1))) if name not in taken)


def _shapes(manifest: Manifest, comment: str) -> str:
    """A comment on each parameter, with the axes of arrays and the shapes of the first case."""
    if not manifest.cases:
        return ""
    first = manifest.cases[0]
    lines = [f'{comment} In case "{" ".join(first.name.split())}":']
    for one in manifest.parameters:
        lines.append(f"{comment}   {one.name}: {_described(one, manifest)}")
    return "\n".join(lines) + "\n"


def _setup(manifest: Manifest, language: Language) -> str:
    """Two lines of comment with the declaration of `setup`, where a solution may have one."""
    comment, body = ("//", " { ... }") if language in ("cuda", "cpp") else ("#", ": ...")
    words = setup_signature(manifest, language)
    told = f"{comment} Optional: called once for each case in a process, before its calls, and not timed with them."
    return f"{told}\n{comment}   {words}{body}\n" if words else ""


def _described(parameter: Parameter, manifest: Manifest) -> str:
    first = manifest.cases[0]
    if parameter.kind == "scalar":
        return f"{first.scalars.get(parameter.name, parameter.dtype)}"
    shape = " x ".join(map(str, first.shapes.get(parameter.name, []))) or "one element"
    return f"{shape} of {parameter.dtype}, {_DIRECTIONS[parameter.direction]}"


_DIRECTIONS = {"in": "only read", "out": "to be written", "inout": "read and written"}


def _c_count(manifest: Manifest) -> str:
    """The number of elements of the first output as a C expression of the scalars, or 0 with a hint.

    A scalar stands for an axis if it has the axis's length in every case.
    """
    if not manifest.cases:
        return "0"
    name = manifest.outputs[0].name
    axes = len(manifest.cases[0].shapes[name])
    if any(len(case.shapes[name]) != axes for case in manifest.cases):
        return "0"
    factors = [_factor(manifest, name, axis) for axis in range(axes)]
    return "0" if None in factors else " * ".join(str(factor) for factor in factors) or "1"


def _factor(manifest: Manifest, name: str, axis: int) -> str | None:
    lengths = [case.shapes[name][axis] for case in manifest.cases]
    for one in manifest.parameters:
        if one.kind == "scalar" and [case.scalars[one.name] for case in manifest.cases] == lengths:
            return one.name
    return str(lengths[0]) if len(set(lengths)) == 1 else None
