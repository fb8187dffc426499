"""`podium rights`: names the rights that this machine or container withholds from a node."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from runners.agent.sandbox.rights import lacks

GIVEN, WITHHELD = 0, 1


def rights(
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines on standard output instead of words.")] = False,
) -> None:
    """Say which rights this machine or container withholds from a node with bubblewrap, each with its remedy.

    Run it as the node's user, in its container or unit. Exit status: 0 nothing that judging needs is withheld,
    1 something is.
    """
    found = lacks()
    for lack in found:
        typer.echo(json.dumps(asdict(lack)) if as_json else f"{'' if lack.is_needed else 'optional: '}{lack.words}")
    if not found and not as_json:
        typer.echo("Nothing is withheld.")
    raise typer.Exit(WITHHELD if any(lack.is_needed for lack in found) else GIVEN)
