"""Bounds how deep JSON may nest. What is deeper decodes, and exhausts the stack of the next code that walks it."""

from typing import Any

MAX_NESTING = 100
"""Records, packs and requests nest fewer than 20 levels."""


def nests_too_deeply(value: Any) -> bool:
    """Whether lists and objects of a decoded JSON value nest deeper than MAX_NESTING. Walks without recursion."""
    level = [value]
    for _ in range(MAX_NESTING):
        level = [inner for one in level if isinstance(one, dict | list) for inner in _members(one)]
        if not level:
            return False
    return True


def _members(one: dict[str, Any] | list[Any]) -> list[Any]:
    return [inner for inner in (one.values() if isinstance(one, dict) else one) if isinstance(inner, dict | list)]
