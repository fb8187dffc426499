"""Writes the build command of a task: the tests first, from their own files, then the solution, then the link.

The tests' sources and a reference that they link are compiled into a folder whose name no source can know, and are
removed before the solution is compiled. So a solution can neither include nor embed them. The command line by which the
solution is compiled does not name the folder either, because a source can include `/proc/self/cmdline`.
"""

import shlex
from collections.abc import Sequence

from problems.formats.pmpp.program import Program, Unit

STUDENT = "student_kernel.cu"
REFERENCE = "reference_solution.cu"
STUDENT_OBJECT, JOINED_OBJECT = "student_kernel.o", "podium_tests.o"
_GLOBAL = "s/^[0-9a-f]* [ABCDGRST] //p"
"""Takes from a line of `nm` the name of a symbol that other objects can link. Weak symbols, as of the library, stay
shared."""


def build_command(program: Program, target: str, held_out: Sequence[str]) -> str:
    """A script for the shell. `held_out` are the files that the solution's compiler must not see."""
    own = [unit for unit in program.units if unit.source != STUDENT]
    hidden = [unit for unit in own if unit.source == REFERENCE]
    objects = [_quoted(JOINED_OBJECT)] if hidden else list(map(_object, own))
    linked = " ".join([*objects, STUDENT_OBJECT])
    link = f"{shlex.join(program.linker)} -o {shlex.quote(target)} {linked} {shlex.join(program.libraries)}"
    lines = [
        "set -e",
        "own=$(mktemp -d)",
        "trap 'rm -rf \"$own\"' EXIT",
        *(_compiled(unit, _object(unit), "-w" if unit in hidden else "") for unit in own),
        *(_joined(own, hidden) if hidden else ()),
        f"rm {shlex.join(held_out)}",
        *(_compiled(unit, STUDENT_OBJECT) for unit in program.units if unit.source == STUDENT),
        link.rstrip(),
        f"rm {STUDENT_OBJECT}",
    ]
    return "\n".join(lines)


def _joined(own: Sequence[Unit], hidden: Sequence[Unit]) -> list[str]:
    """One object of the tests and the reference in which the reference's functions are local."""
    names = _quoted("names")
    return [
        f"nm -g --defined-only {' '.join(map(_object, hidden))} | sed -n '{_GLOBAL}' > {names}",
        f"ld -r -o {_quoted(JOINED_OBJECT)} {' '.join(map(_object, own))}",
        f"objcopy --localize-symbols={names} {_quoted(JOINED_OBJECT)}",
    ]


def _compiled(unit: Unit, made: str, more: str = "") -> str:
    """`more` is `-w` where warnings would show lines of the reference in the build's log."""
    return f"{shlex.join([*unit.compiler, *more.split()])} -c {shlex.quote(unit.source)} -o {made}"


def _object(unit: Unit) -> str:
    return _quoted(unit.source.rpartition(".")[0].replace("/", "_") + ".o")


def _quoted(name: str) -> str:
    return f'"$own"/{shlex.quote(name)}'
