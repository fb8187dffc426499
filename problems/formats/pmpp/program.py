"""The parts of a Makefile's target: its sources with their flags, read from the compiler's command lines."""

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from problems.formats.pmpp.errors import TaskRefused
from problems.formats.pmpp.makefile import Line, Makefile

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
OBJECTS = (".o", ".obj")
_COMPILERS = frozenset({"nvcc", "g++", "c++", "clang++"})
_LAUNCHERS = frozenset({"ccache", "sccache"})
_IDLE = frozenset({"echo", "printf", "true", ":", "mkdir", "rm"})
"""Commands that the build does without."""
_OPERATORS = frozenset("|;&<>()`$")
_COMPILES_ONLY = frozenset({"-c", "--compile", "-dc", "--device-c"})
_OUTPUT = ("-o", "--output-file")
_ARCHITECTURE = frozenset({"-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code"})
_VALUED = _ARCHITECTURE | {
    *("-x", "--x", "-I", "-D", "-U", "-L", "-l", "-O", "-std", "--std", "-include", "--pre-include", "-isystem"),
    *("--system-include", "--include-path", "--define-macro", "--undefine-macro", "--library", "--library-path"),
    *("-Xcompiler", "--compiler-options", "-Xptxas", "--ptxas-options", "-Xlinker", "--linker-options", "-Xnvlink"),
    *("--nvlink-options", "-ccbin", "--compiler-bindir", "-maxrregcount", "--maxrregcount", "-rdc", "-t", "--threads"),
    *("--relocatable-device-code", "-default-stream", "--default-stream", "-cudart", "--cudart", "-m", "--machine"),
    *("-diag-suppress", "--diag-suppress", "-ftz", "--ftz", "-fmad", "--fmad", "-prec-div", "-prec-sqrt", "-iquote"),
}
_LIBRARIES = ("-l", "-L", "-Xlinker", "--linker-options", "--library", "--library-path", "-Xnvlink", "--nvlink-options")
_SPECIFIC = re.compile(r"(?:sm|compute)_\d+[a-z]")
"""An architecture with features of its own, which the track's setting does not include."""


@dataclass(frozen=True)
class Unit:
    """One source and the compiler with the flags by which it becomes an object, without an architecture."""

    source: str
    compiler: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """Units in the order in which they are linked, the compiler with its flags for the link, and the libraries."""

    units: tuple[Unit, ...]
    linker: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(unit.source for unit in self.units)


@dataclass(frozen=True)
class _Call:
    """One command line of a compiler."""

    compiler: str
    flags: tuple[tuple[str, ...], ...]
    inputs: tuple[str, ...]
    output: str
    compiles_only: bool
    number: int

    @property
    def compiling(self) -> tuple[str, ...]:
        return (self.compiler, *(word for flag in self.flags if not _is_library(flag) for word in flag))

    @property
    def linking(self) -> tuple[str, ...]:
        words = (flag for flag in self.flags if not _is_library(flag) and flag[0] not in ("-x", "--x"))
        return (self.compiler, *(word for flag in words for word in flag))

    @property
    def libraries(self) -> tuple[str, ...]:
        return tuple(word for flag in self.flags if _is_library(flag) for word in flag)


def program_of(makefile: Makefile, target: str, files: Collection[str], name: str) -> Program:
    """The program that the target is; `files` are the task's sources. Raises TaskRefused."""
    calls = [call for line in makefile.commands(target, files) if (call := _call(line, name)) is not None]
    link = next((call for call in calls if call.output == target and not call.compiles_only), None)
    if link is None:
        raise TaskRefused(name, f"no command links `{target}`", f"Let the rule run `nvcc … -o {target} …`")
    compiled = {call.output: call for call in calls if call.compiles_only}
    units = tuple(_unit(one, link, compiled, name) for one in link.inputs)
    return Program(units, link.linking, link.libraries)


def _unit(path: str, link: _Call, compiled: dict[str, _Call], name: str) -> Unit:
    if path.endswith(SOURCES):
        return Unit(path, link.compiling)
    call = compiled.get(path)
    if call is None or len(call.inputs) != 1 or not call.inputs[0].endswith(SOURCES):
        remedy = "Add a rule that compiles it from one source; objects are not imported"
        raise TaskRefused(name, f"nothing compiles `{path}`", remedy, link.number)
    return Unit(call.inputs[0], call.compiling)


def _call(line: Line, name: str) -> _Call | None:
    """The command line of a compiler; None for a command that the build does without."""
    words = _words(line, name)
    if words and words[0] in _LAUNCHERS:
        words = words[1:]
    if not words or words[0] in _IDLE:
        return None
    if words[0].rpartition("/")[2] not in _COMPILERS:
        reason = f"the rule runs `{words[0]}`"
        raise TaskRefused(name, reason, "Only calls of nvcc or of a C++ compiler can be imported", line.number)
    return _parsed(words, line.number, name)


def _words(line: Line, name: str) -> list[str]:
    text = line.text.lstrip("@-+ \t")
    try:
        plain = shlex.shlex(text, posix=True, punctuation_chars=True)
        plain.commenters = ""
        if any(_OPERATORS.issuperset(word) for word in plain) or "`" in text or "$" in text:
            raise TaskRefused(name, f"`{text}` is not one plain command", "Write one command a line", line.number)
        return shlex.split(text)
    except ValueError as error:
        raise TaskRefused(name, f"`{text}` cannot be read: {error}", "Close the quotes", line.number) from error


def _parsed(words: Sequence[str], number: int, name: str) -> _Call:
    flags: list[tuple[str, ...]] = []
    inputs: list[str] = []
    output = ""
    at = 1
    while at < len(words):
        word = words[at]
        taken = tuple(words[at : at + 2]) if word in _VALUED or word in _OUTPUT else (word,)
        at += len(taken)
        if word in _OUTPUT:
            output = taken[-1]
        elif word.startswith("-"):
            flags.append(taken)
        elif word.endswith((*SOURCES, *OBJECTS)):
            inputs.append(word)
        else:
            raise TaskRefused(name, f"`{word}` is neither an option nor a source", "Remove it", number)
    compiles_only = any(flag[0] in _COMPILES_ONLY for flag in flags)
    kept = tuple(flag for flag in flags if flag[0] not in _COMPILES_ONLY and not _names_architecture(flag))
    device = (("-rdc=true",),) if any(flag[0] in ("-dc", "--device-c") for flag in flags) else ()
    return _Call(words[0].rpartition("/")[2], device + kept, tuple(inputs), output, compiles_only, number)


def _names_architecture(flag: Sequence[str]) -> bool:
    """Whether the flag chooses an architecture that the track's own replaces."""
    return flag[0].partition("=")[0] in _ARCHITECTURE and not _SPECIFIC.search(" ".join(flag))


def _is_library(flag: Sequence[str]) -> bool:
    word = flag[0]
    return word.partition("=")[0] in _LIBRARIES or (word[:2] in ("-l", "-L") and not word.startswith("-lineinfo"))
