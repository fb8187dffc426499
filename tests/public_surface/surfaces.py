"""The parts of Podium that others rely on, as lines of text: routes, the OpenAPI schema, commands, CSV headers.

`python -m tests.public_surface.surfaces` stores them beside this file. Store them anew where a change of them is meant.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
MANAGED = ("leaderboard", "problems", "fleet")
"""App labels whose management commands are ours."""


def routes() -> Iterator[str]:
    """Pattern and name of every address."""
    from django.urls import get_resolver

    yield from sorted(_routes(get_resolver().url_patterns, "", ""))


def _routes(patterns: list[Any], prefix: str, namespace: str) -> Iterator[str]:
    for entry in patterns:
        pattern = prefix + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _routes(entry.url_patterns, pattern, inner)
        else:
            yield f"/{pattern} {namespace}{entry.name or '-'}"


def openapi() -> Iterator[str]:
    """Operations with parameters, bodies and answers, and the properties of every schema, without descriptions."""
    from drf_spectacular.generators import SchemaGenerator

    schema = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str))
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            named = f"{method.upper()} {path}"
            yield f"{named} operation {operation['operationId']}"
            for parameter in operation.get("parameters", []):
                yield f"{named} {parameter['in']} {parameter['name']} {_plain(parameter, leave=('in', 'name'))}"
            if "requestBody" in operation:
                yield f"{named} body {_plain(operation['requestBody'])}"
            for status, answer in operation["responses"].items():
                yield f"{named} {status} {_plain(answer)}"
    for name, component in schema["components"]["schemas"].items():
        yield f"{name} {_plain(component, leave=('properties',))}"
        for key, content in component.get("properties", {}).items():
            yield f"{name}.{key} {_plain(content)}"


def _plain(node: Any, leave: tuple[str, ...] = ()) -> str:
    return json.dumps(_without(node, ("description", *leave)), sort_keys=True)


def _without(node: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_without(item, ("description",)) for item in node]
    if isinstance(node, dict):
        return {key: _without(value, ("description",)) for key, value in node.items() if key not in keys}
    return node


def podium_commands() -> Iterator[str]:
    """The `--help` of every command of `podium`."""
    import typer.main
    from typer.testing import CliRunner

    from podium.cli import make_app

    app = make_app()
    runner = CliRunner(env={"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1"})
    for name in _names(typer.main.get_command(app), ()):
        yield f"$ podium {' '.join(name)} --help"
        for line in runner.invoke(app, [*name, "--help"]).output.splitlines():
            if words := " ".join(line.strip("│╭╮╰╯─ ").split()):
                yield words


def _names(command: Any, name: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield name
    for child, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _names(inner, (*name, child))


def manage_commands() -> Iterator[str]:
    """Every management command of ours with its arguments."""
    from django.apps import apps
    from django.core.management import get_commands, load_command_class

    ours = {apps.get_app_config(label).name for label in MANAGED}
    for name, app in sorted(get_commands().items()):
        if app in ours:
            parser = load_command_class(str(app), name).create_parser("manage.py", name)
            yield f"manage.py {name}: {json.dumps(parser.description or '')}"
            for action in parser._actions:
                if action.dest not in _DJANGOS:
                    names = "/".join(action.option_strings) or action.dest
                    choices = f" {{{','.join(map(str, action.choices))}}}" if action.choices else ""
                    default = json.dumps(action.default, default=str)
                    yield f"manage.py {name} {names}{choices} default {default}: {json.dumps(action.help or '')}"


_DJANGOS = frozenset({
    "help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks",
})  # fmt: skip
"""Arguments that Django gives to every command."""


def csv_headers() -> Iterator[str]:
    """The columns of two boards' CSV, one with weights, one with speedups, and of the log of decisions. Makes rows."""
    from django.test import Client

    from tests import factories
    from tests.web.drawn_board import drawn_board

    weighted, _ = drawn_board(2)
    timed = factories.release(slug="timed")
    factories.standings(timed, factories.offer(timed), 1)
    for name in (f"{weighted.slug}/board.csv?group=strings", "timed/board.csv", "timed/decisions.csv"):
        header = Client().get(f"/releases/{name}").content.decode().splitlines()[0]
        yield from (f"{name} {column}" for column in header.split(","))


SURFACES: dict[str, Callable[[], Iterator[str]]] = {
    "routes": routes,
    "openapi": openapi,
    "podium": podium_commands,
    "manage": manage_commands,
}


def stored(name: str) -> list[str]:
    return (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    for surface, lines in SURFACES.items():
        (FOLDER / f"{surface}.txt").write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
