"""The signature of `solution` in each language, written from a manifest's parameters."""

from collections.abc import Mapping, Sequence
from typing import Literal

from problems.spec.function.dtypes import SPELLINGS
from problems.spec.function.manifest import Manifest, Parameter

Language = Literal["cuda", "cpp", "triton", "python"]
Device = Literal["cpu", "gpu"]
FUNCTION_NAME, SETUP_NAME = "solution", "setup"
FILE_NAMES: Mapping[Language, str] = {
    "cuda": "solution.cu",
    "cpp": "solution.cpp",
    "triton": "solution.py",
    "python": "solution.py",
}


def c_parameter(parameter: Parameter, *, for_cuda: bool) -> str:
    """One parameter as C++ declares it, as `const float* x`."""
    spelling = SPELLINGS[parameter.dtype]
    base = spelling.cuda if for_cuda else spelling.c
    if parameter.kind == "scalar":
        return f"{base} {parameter.name}"
    return f"{'' if parameter.is_written else 'const '}{base}* {parameter.name}"


def c_signature(parameters: Sequence[Parameter], *, for_cuda: bool, name: str = FUNCTION_NAME) -> str:
    """`extern "C" void solution(...)`, without a semicolon."""
    inner = ", ".join(c_parameter(one, for_cuda=for_cuda) for one in parameters)
    return f'extern "C" void {name}({inner})'


def python_signature(parameters: Sequence[Parameter], name: str = FUNCTION_NAME) -> str:
    """`def solution(...)`, without a colon."""
    return f"def {name}({', '.join(one.name for one in parameters)})"


def signature_in(language: Language, parameters: Sequence[Parameter], name: str = FUNCTION_NAME) -> str:
    """The declaration in a language, on one line."""
    if language in ("cuda", "cpp"):
        return c_signature(parameters, for_cuda=language == "cuda", name=name)
    return python_signature(parameters, name)


def setup_signature(manifest: Manifest, language: Language) -> str:
    """The declaration of the optional `setup`; "" where a problem has no weights or structure."""
    given = [manifest.parameters[place] for place in manifest.setup_places]
    return signature_in(language, given, SETUP_NAME) if given else ""
