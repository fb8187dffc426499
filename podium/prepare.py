"""`podium prepare`: compiles a node's native programs in advance, for example while an image is built."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from runners.agent.native_programs import Made, make_all

PREPARED, MISSING = 0, 1
told = Console(soft_wrap=True)


def prepare(
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines on standard output instead of words.")] = False,
) -> None:
    """Compile the native programs of a node, so that its first start need not. Needs g++, and CUPTI for profiling.

    They go where `podium node` and `podium evaluate` of the same user look for them. Exit status: 0 all that this
    machine needs are there, 1 one of these could not be made. Without an NVIDIA driver it needs two: the supervisor,
    and the clock of function problems.
    """
    made = make_all()
    for one in made:
        _say(json.dumps(_facts(one)) if as_json else one.words)
    raise typer.Exit(MISSING if any(one.path is None and one.is_needed for one in made) else PREPARED)


def _facts(one: Made) -> dict[str, Any]:
    return {
        "name": one.name,
        "path": str(one.path) if one.path else None,
        "was_there": one.was_there,
        "seconds": round(one.seconds, 3),
        "is_needed": one.is_needed,
        "complaint": one.complaint,
    }


def _say(words: str) -> None:
    told.print(words.encode(errors="backslashreplace").decode(), markup=False, highlight=False)
