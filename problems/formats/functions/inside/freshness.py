"""Decides which cases may rank: where data stays the same from call to call, a solution could remember answers."""

from __future__ import annotations

from typing import Any

from .arrays import Library
from .loaded import Drawn, Loaded

TRIES = 4
"""Draws by which an output must have changed. An output of few values may agree in two of them."""


def ranking_of(loaded: Loaded, case: int, first: Drawn) -> tuple[bool, str]:
    """Whether a case may rank, and otherwise why not."""
    inputs = [one.name for one in loaded.parameters if one.is_array and one.is_given and one.role != "structure"]
    fixed_inputs, fixed_outputs = set(inputs), {one.name for one in loaded.outputs}
    has_fresh_input = False
    for seed in range(1, TRIES):
        other = loaded.draw(case, seed)
        fixed_inputs -= _changed_inputs(loaded, first, other)
        has_fresh_input = has_fresh_input or _has_fresh_input(loaded, first, other)
        fixed_outputs -= _changed_outputs(loaded, first, other)
        if not fixed_inputs and not fixed_outputs:
            break
    return _ruling(sorted(fixed_inputs), sorted(fixed_outputs), has_fresh_input=has_fresh_input)


def _ruling(fixed_inputs: list[str], fixed_outputs: list[str], *, has_fresh_input: bool) -> tuple[bool, str]:
    if fixed_inputs:
        names = ", ".join(f"`{name}`" for name in fixed_inputs)
        return False, f"every call has the same {names}; draw it anew, or give it the role structure"
    if not has_fresh_input:
        return False, "no input is drawn anew, so the answer could be remembered"
    if fixed_outputs:
        names = ", ".join(f"`{name}`" for name in fixed_outputs)
        return False, f"{names} came out the same in {TRIES} calls, so it could be remembered"
    return True, ""


def _changed_inputs(loaded: Loaded, first: Drawn, other: Drawn) -> set[str]:
    pairs = zip(loaded.parameters, first.arguments, other.arguments)
    return {
        one.name for one, left, right in pairs if one.is_array and one.is_given and differs(loaded.library, left, right)
    }


def _has_fresh_input(loaded: Loaded, first: Drawn, other: Drawn) -> bool:
    for one, left, right in zip(loaded.parameters, first.arguments, other.arguments):
        if not one.is_given or (one.is_array and one.role == "structure"):
            continue
        if differs(loaded.library, left, right) if one.is_array else left != right:
            return True
    return False


def _changed_outputs(loaded: Loaded, first: Drawn, other: Drawn) -> set[str]:
    pairs = zip(loaded.outputs, first.expected, other.expected)
    return {one.name for one, left, right in pairs if differs(loaded.library, left, right)}


def differs(library: Library, left: Any, right: Any) -> bool:
    """Whether two arrays differ in shape or in any element. Empty arrays differ: they hold nothing to remember."""
    if tuple(left.shape) != tuple(right.shape) or 0 in left.shape:
        return True
    same = library.same(library.ravelled(left), library.ravelled(right))
    return not bool(same.all())
