"""Prints a definition's manifest as one line of JSON: `python -m inside.make_manifest def.py [--device cpu|cuda]`.

With `--fake`, tensors have shapes and no values: no GPU and no memory is needed, and nobody knows which cases rank.
Without torch, a definition for torch is read and not run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from .arrays import FAKE, is_installed
from .errors import DefinitionError
from .freshness import Look, look_at, ranking_of, structures
from .loaded import Loaded, load
from .static import manifest_as_read


def manifest_of(loaded: Loaded) -> dict[str, Any]:
    """The manifest with `ranks`, from several draws of every case. Raises DefinitionError."""
    if not loaded.library.has_values:
        return {**loaded.facts(), "is_run": True}
    looks = [look_at(loaded, number) for number in range(len(loaded.cases))]
    structure = structures(loaded, [look.changes for look in looks])
    head = loaded.head()
    for one in head["parameters"]:
        one["role"] = "structure" if one["name"] in structure else one["role"]
    return {**head, "cases": [_ranked(loaded, structure, look) for look in looks], "is_run": True}


def _ranked(loaded: Loaded, structure: set[str], look: Look) -> dict[str, Any]:
    ranks, why_not = ranking_of(loaded, structure, look)
    return {**look.fields, "ranks": ranks, "why_not": why_not, "admits": look.mutants.admits}


def manifest_without_values(path: str) -> dict[str, Any]:
    """The manifest from fake tensors; where the definition asks for values, from real ones on the CPU."""
    try:
        return manifest_of(load(path, FAKE))
    except DefinitionError:
        return manifest_of(load(path, "cpu"))


def answer(path: str, device: str, *, fake: bool) -> dict[str, Any]:
    """The manifest, or {"error": …}."""
    try:
        if not is_installed("torch") and (read := manifest_as_read(path)) is not None:
            return read
        return manifest_without_values(path) if fake else manifest_of(load(path, device))
    except DefinitionError as error:
        return {"error": error.as_json()}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make_manifest")
    parser.add_argument("path")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--fake", action="store_true", help="use tensors without values")
    given = parser.parse_args(arguments)
    # What the class prints must not mix with the manifest.
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    found = answer(os.path.realpath(given.path), given.device, fake=given.fake)
    results.write(json.dumps(found) + "\n")
    results.close()
    return 1 if "error" in found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
