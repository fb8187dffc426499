"""YAML of a pack's author, read to plain values."""

from typing import Any

import yaml

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.errors import PackRefused

_OF_BAD_VALUES = (ValueError, LookupError, TypeError, AttributeError)
"""Errors that PyYAML raises on bad values: a 13th month, a number of 5,000 digits, `!!bool maybe`."""


def read_yaml(text: str, where: object) -> Any:
    """Raises PackRefused, whose words begin with `where`."""
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise PackRefused("bad_yaml", f"{where}: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise PackRefused("bad_yaml", f"{where}: it is nested too deep, or holds itself") from error
    except _OF_BAD_VALUES as error:
        raise PackRefused("bad_yaml", f"{where}: it has a value that cannot be: {error}") from error


def _check_size(root: yaml.Node) -> None:
    """A few lines of aliases can stand for gigabytes."""
    if _size(root, {}) > DEFAULT_LIMITS.file_bytes:
        raise yaml.YAMLError(f"with its aliases written out it has over {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB")


def _size(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Its characters with each alias written out; RecursionError of a node that holds itself."""
    if node not in known:
        if isinstance(node, yaml.ScalarNode):
            known[node] = 1 + len(node.value)
        else:
            pairs = isinstance(node, yaml.MappingNode)
            parts = [one for pair in node.value for one in pair] if pairs else node.value
            known[node] = 1 + sum(_size(one, known) for one in parts)
    return known[node]
