"""Functions that C++ and CUDA sources define or only declare, by name."""

from collections.abc import Iterator

from tree_sitter import Node

from problems.formats.compute_eval.languages import parser_for

_OUTER = frozenset({"translation_unit", "linkage_specification", "declaration_list", "namespace_definition"})
_CONDITIONAL = ("preproc_if", "preproc_else", "preproc_elif")


def defined(text: str) -> list[str]:
    """Functions with a body that other sources can link, in order."""
    return [name for node, name in _functions(text) if node.type == "function_definition"]


def declared(text: str) -> list[str]:
    """Functions without a body."""
    return [name for node, name in _functions(text) if node.type == "declaration"]


def _functions(text: str) -> Iterator[tuple[Node, str]]:
    source = text.encode()
    waiting = [parser_for("cuda").parse(source).root_node]
    while waiting:
        node = waiting.pop(0)
        if node.type in _OUTER or node.type.startswith(_CONDITIONAL):
            waiting = [*node.children, *waiting]
        elif node.type in ("function_definition", "declaration") and not _is_static(node, source):
            name = _name(node, source)
            if name:
                yield node, name


def _is_static(node: Node, source: bytes) -> bool:
    words = (child for child in node.children if child.type == "storage_class_specifier")
    return any(source[child.start_byte : child.end_byte] in (b"static", b"inline") for child in words)


def _name(node: Node, source: bytes) -> str:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    name = declarator.child_by_field_name("declarator") if declarator is not None else None
    is_plain = name is not None and name.type == "identifier"
    return source[name.start_byte : name.end_byte].decode() if name is not None and is_plain else ""
