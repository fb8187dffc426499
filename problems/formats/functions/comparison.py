"""Compares a stored manifest with one made again: a definition must mean the same on every machine."""

from collections.abc import Iterator

from problems.formats.functions.naming import renamed
from problems.spec.function.manifest import Manifest, ManifestCase


def differences(stored: Manifest, made: Manifest) -> list[str]:
    """The differences, in words; empty if the two agree.

    A manifest that was only read is compared in its signature. `ranks` is compared where both know it.
    """
    return list(_differences(stored, renamed(made, [one.name for one in stored.parameters])))


def _differences(stored: Manifest, made: Manifest) -> Iterator[str]:
    for name in ("form", "arrays", "class_name", "output_init", "dtype", "fastest_dtype", "accuracy"):
        if name in ("dtype", "fastest_dtype") and not (stored.is_run and made.is_run):
            continue
        left, right = getattr(stored, name), getattr(made, name)
        if left != right:
            yield f"`{name}` was {left} and is {right}"
    yield from _of_parameters(stored, made)
    if stored.is_run and made.is_run:
        yield from _of_cases(stored, made)


def _of_parameters(stored: Manifest, made: Manifest) -> Iterator[str]:
    if len(stored.parameters) != len(made.parameters):
        yield f"had {len(stored.parameters)} parameters and has {len(made.parameters)}"
        return
    both_run = stored.is_run and made.is_run
    compared = [one for one in ("name", "kind", "direction", "dtype") if both_run or one in ("kind", "direction")]
    for left, right in zip(stored.parameters, made.parameters, strict=True):
        for name in compared:
            if getattr(left, name) != getattr(right, name):
                yield f"parameter `{left.name}`: `{name}` was {getattr(left, name)} and is {getattr(right, name)}"


def _of_cases(stored: Manifest, made: Manifest) -> Iterator[str]:
    if [case.name for case in stored.cases] != [case.name for case in made.cases]:
        yield f"the cases were {_names(stored)} and are {_names(made)}"
        return
    for left, right in zip(stored.cases, made.cases, strict=True):
        yield from _of_case(left, right)


def _names(manifest: Manifest) -> str:
    return ", ".join(f"`{case.name}`" for case in manifest.cases)


def _of_case(stored: ManifestCase, made: ManifestCase) -> Iterator[str]:
    for name in ("size", "flops", "bytes", "shapes", "scalars", "input_sets"):
        left, right = getattr(stored, name), getattr(made, name)
        if left != right:
            yield f"case `{stored.name}`: `{name}` was {left} and is {right}"
    if None not in (stored.ranks, made.ranks) and stored.ranks != made.ranks:
        yield f"case `{stored.name}` {_ranks(stored)} when it was packed, and {_ranks(made)} here"


def _ranks(case: ManifestCase) -> str:
    return "ranked" if case.ranks else f"did not rank ({case.why_not})"
