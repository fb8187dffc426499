"""The `podium` program. Commands that need a node's packages are imported only when they run."""

import importlib
import sys

import typer

LOCAL_COMMANDS = {"evaluate": "podium.evaluate", "node": "podium.node", "check": "podium.check"}


def make_app(only: str = "") -> typer.Typer:
    """The program with all its commands; of those that work locally with the one named, where one is."""
    app = typer.Typer(
        help="A leaderboard platform for GPU code.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_no_options)
    for name, module in LOCAL_COMMANDS.items():
        if only in ("", name):
            app.command(name)(getattr(importlib.import_module(module), name))
    importlib.import_module("podium.remote").register(app)
    return app


def _no_options() -> None:
    """A leaderboard platform for GPU code."""


def main() -> None:
    make_app(next((word for word in sys.argv[1:] if not word.startswith("-")), ""))()


if __name__ == "__main__":
    main()
