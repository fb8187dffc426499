"""The `podium` program. Commands that need a node's packages are imported only when they run."""

import importlib
import sys
from importlib.util import find_spec

import typer

from runners.wire.extras import how_to_install

LOCAL_COMMANDS = {
    "evaluate": "podium.evaluation.evaluate",
    "node": "podium.node",
    "prepare": "podium.prepare",
    "reproduce": "podium.reproduction.commands",
    "rights": "podium.rights",
    "check": "podium.evaluation.check",
    "slim": "podium.evaluation.slim",
    "functions": "podium.functions.commands",
    "questions": "podium.questions.commands",
    "generate": "podium.generation.commands",
    "run": "podium.generation.run",
    "slurm": "podium.slurm",
    "weights": "podium.weights.commands",
    "pmpp": "podium.pmpp.commands",
    "problems": "podium.problems.commands",
    "verifiers": "podium.verifiers.commands",
    "uploads": "podium.uploads.commands",
}
NODE_COMMANDS = frozenset({"evaluate", "node", "prepare", "problems", "functions", "reproduce", "rights", "run"})
"""Commands that may import packages of `podium[node]` long after their start."""


def make_app(only: str = "") -> typer.Typer:
    """The program with all its commands, or with the one local command named by `only`."""
    app = typer.Typer(
        help="A leaderboard platform for GPU code.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_no_options)
    for name, module in LOCAL_COMMANDS.items():
        if only in ("", name):
            _add(app, name, module)
    if only not in LOCAL_COMMANDS:
        importlib.import_module("podium.remote.commands").register(app)
    return app


def _add(app: typer.Typer, name: str, module: str) -> None:
    """Add the command. If its packages are not installed, add one that prints how to install them."""
    try:
        if name in NODE_COMMANDS and find_spec("docker") is None:
            raise ModuleNotFoundError(name="docker")
        found = importlib.import_module(module)
        if hasattr(found, "app"):
            app.add_typer(found.app, name=name)
        else:
            app.command(name)(getattr(found, name))
    except ModuleNotFoundError as error:
        words = f"`podium {name}` needs the package {error.name}: {how_to_install('node')}"
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(name, context_settings=anything, help=words.replace("[", r"\["))(lambda: _refuse(words))


def _refuse(words: str) -> None:
    typer.echo(words, err=True)
    raise typer.Exit(2)


def _no_options() -> None:
    """A leaderboard platform for GPU code."""


def main() -> None:
    make_app(next((word for word in sys.argv[1:] if not word.startswith("-")), ""))()


if __name__ == "__main__":
    main()
