"""Prints a definition's manifest as one line of JSON: `python -m inside.make_manifest def.py [--device cpu|cuda]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from .errors import DefinitionError
from .freshness import ranking_of
from .loaded import Drawn, Loaded, case_fields, load


def manifest_of(loaded: Loaded) -> dict[str, Any]:
    """The manifest with `ranks`, from several draws of every case."""
    facts = loaded.facts()
    facts["cases"] = [_ranked(loaded, number) for number in range(len(loaded.cases))]
    return {**facts, "is_run": True}


def _ranked(loaded: Loaded, number: int) -> dict[str, Any]:
    first = loaded.draw(number, 0)
    fields = case_fields(loaded, number, first)
    _check_stable(loaded, number, fields)
    ranks, why_not = ranking_of(loaded, number, first)
    return {**fields, "ranks": ranks, "why_not": why_not}


def _check_stable(loaded: Loaded, number: int, fields: dict[str, Any]) -> None:
    """Shapes and scalars are part of the manifest, so they may not depend on the seed."""
    other: Drawn = loaded.draw(number, 1)
    again = case_fields(loaded, number, other)
    for what in ("shapes", "scalars"):
        name = next((one for one in fields[what] if fields[what][one] != again[what][one]), None)
        if name is not None:
            values = f"{fields[what][name]} in one call of case `{fields['name']}` and {again[what][name]} in another"
            raise loaded.form.definition.fault(
                "inputs", f"`{name}` is {values}", "give shapes and scalars values that do not change"
            )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make_manifest")
    parser.add_argument("path")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    given = parser.parse_args(arguments)
    # What the class prints must not mix with the manifest.
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    status, answer = _answer(given.path, given.device)
    results.write(json.dumps(answer) + "\n")
    results.close()
    return status


def _answer(path: str, device: str) -> tuple[int, dict[str, Any]]:
    try:
        return 0, manifest_of(load(os.path.realpath(path), device))
    except DefinitionError as error:
        return 1, {"error": error.as_json()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
