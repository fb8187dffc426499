"""Decides which cases may rank: answers must change from call to call, and the check must reject wrong ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .arrays import FLOATS, Library
from .forms import Parameter
from .loaded import Drawn, Loaded, case_fields
from .mutants import TRIES, Mutants


@dataclass
class Changes:
    """The parameters whose values differed between calls of one case."""

    inputs: set[str] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Look:
    """One case as several draws show it: its part of the manifest, what changed, and what its check accepts."""

    fields: dict[str, Any]
    changes: Changes
    mutants: Mutants


def look_at(loaded: Loaded, case: int) -> Look:
    """Draw a case until everything has changed and every mutant is rejected, at most `TRIES` times.

    Raises DefinitionError if its shapes change.
    """
    first = loaded.draw(case, 0)
    fields, changes, kept = case_fields(loaded, case, first), Changes(), loaded.kept(first)
    mutants = Mutants(loaded, case, first)
    given = {one.name for one in loaded.parameters if one.is_array and one.is_given}
    for seed in range(1, TRIES):
        other = loaded.draw(case, seed)
        _check_stable(loaded, fields, case_fields(loaded, case, other))
        changes.inputs |= _changed_inputs(loaded, first, other)
        in_one_process = loaded.draw(case, seed, kept) if kept else other
        changes.outputs |= _changed_outputs(loaded, first, in_one_process)
        mutants.look(in_one_process)
        if given <= changes.inputs and len(changes.outputs) == len(loaded.outputs) and mutants.is_settled:
            break
    return Look(fields, changes, mutants)


def _check_stable(loaded: Loaded, fields: dict[str, Any], again: dict[str, Any]) -> None:
    """Shapes and scalars are part of the manifest, so they may not depend on the seed."""
    for what in ("shapes", "scalars"):
        name = next((one for one in fields[what] if fields[what][one] != again[what][one]), None)
        if name is not None:
            values = f"{fields[what][name]} in one call of case `{fields['name']}` and {again[what][name]} in another"
            raise loaded.form.definition.fault("inputs", f"`{name}` is {values}", "give it one value in each case")


def structures(loaded: Loaded, all_changes: list[Changes]) -> set[str]:
    """The arrays of role structure: the declared ones.

    The older forms declare no roles. There, arrays of whole numbers that stayed the same in all cases are structure.
    """
    arrays = [one for one in loaded.parameters if one.is_array and one.is_given]
    declared = {one.name for one in arrays if one.role == "structure"}
    if loaded.form.name == "podium":
        return declared
    whole = {one.name for one in arrays if one.dtype not in FLOATS}
    return declared | (whole - {name for changes in all_changes for name in changes.inputs})


def ranking_of(loaded: Loaded, structure: set[str], look: Look) -> tuple[bool, str]:
    """Whether a case may rank, and otherwise why not."""
    changes = look.changes
    data = [one for one in loaded.parameters if one.is_given and one.name not in structure]
    fixed = [one for one in data if one.is_array and one.name not in changes.inputs]
    if fixed:
        return False, f"every call has the same {_listed(fixed)}; draw it anew, or give it the role structure"
    if not any(one.name in changes.inputs for one in data if one.role != "weight"):
        return False, "no input but weights is drawn anew in each call, so the answer could be remembered"
    same = [one for one in loaded.outputs if one.name not in changes.outputs]
    if same:
        return False, f"{_listed(same)} came out the same in {TRIES} calls, so it could be remembered"
    if look.mutants.faults:
        return False, why_accepting(look.mutants.faults)
    if look.mutants.differing:
        return False, why_differing(look.mutants.differing)
    return True, ""


def why_accepting(faults: list[str]) -> str:
    """Returns the reason why a case whose check accepts these mutants does not rank, with the remedy."""
    listed = "; ".join(faults)[:600]
    return f"the check accepts wrong answers: {listed}. Tighten `accuracy`, or draw inputs whose answers differ more"


def why_differing(answers: list[str]) -> str:
    """Returns the reason why a case whose check rules otherwise on the CPU on these answers does not rank, with the
    remedy."""
    remedy = "Write `verify` so that it does not depend on the device, or change `accuracy`: the two round differently"
    return f"the check rules otherwise on the GPU than on the CPU: {'; '.join(answers)[:600]}. {remedy}"


def _listed(parameters: list[Parameter]) -> str:
    return ", ".join(f"`{one.name}`" for one in parameters)


def _changed_inputs(loaded: Loaded, first: Drawn, other: Drawn) -> set[str]:
    pairs = [pair for pair in zip(loaded.parameters, first.arguments, other.arguments) if pair[0].is_given]
    return {one.name for one, left, right in pairs if _differs(loaded.library, one, left, right)}


def _changed_outputs(loaded: Loaded, first: Drawn, other: Drawn) -> set[str]:
    pairs = zip(loaded.outputs, first.expected, other.expected)
    return {one.name for one, left, right in pairs if _differs(loaded.library, one, left, right)}


def _differs(library: Library, parameter: Parameter, left: Any, right: Any) -> bool:
    """Whether two values differ. Empty arrays differ: they hold nothing to remember."""
    if not parameter.is_array:
        return bool(left != right)
    if tuple(left.shape) != tuple(right.shape) or 0 in left.shape:
        return True
    return not bool(library.same(library.ravelled(left), library.ravelled(right)).all())
