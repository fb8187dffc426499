"""Compares a C++ or CUDA solution's `solution` with the declared parameters, without compiling it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser
from tree_sitter_language_pack import get_language

from problems.spec.function.dtypes import C_SHAPES, SPELLINGS
from problems.spec.function.manifest import Parameter
from problems.spec.function.signature import FUNCTION_NAME, c_parameter, c_signature
from problems.spec.solution import SourceFile

_TRANSPARENT = frozenset(
    {"translation_unit", "linkage_specification", "declaration_list", "preproc_if", "preproc_ifdef", "preproc_else",
     "preproc_elif", "preproc_elifdef", "namespace_definition", "ERROR"}
)  # fmt: skip
_NAMED_TYPES = frozenset(
    {"primitive_type", "sized_type_specifier", "type_identifier", "qualified_identifier", "template_type"}
)
_DECLARATORS = frozenset({"pointer_declarator", "abstract_pointer_declarator"})
_ARRAYS = frozenset({"array_declarator", "abstract_array_declarator"})


@cache
def _grammar() -> Grammar:
    return get_language("cuda")


@dataclass(frozen=True)
class _Found:
    """A definition of `solution`, and whether C++ keeps its name as it is."""

    declarator: Node
    is_extern_c: bool

    @property
    def line(self) -> int:
        return self.declarator.start_point[0] + 1


def why_bad_c(file: SourceFile, parameters: Sequence[Parameter], *, for_cuda: bool) -> str:
    """Say why the file's `solution` does not have these parameters, or return "".

    Types of unknown names pass, because they may be aliases; so does everything that a macro hides.
    """
    root = Parser(_grammar()).parse(file.content.encode()).root_node
    found = list(_definitions(root, is_extern_c=False))
    wanted = c_signature(parameters, for_cuda=for_cuda)
    if not found:
        return (
            ""
            if _is_hidden(file.content)
            else f"{file.path} defines no `{FUNCTION_NAME}`; this problem needs `{wanted}`"
        )
    plain = next((one for one in found if one.is_extern_c), None)
    if plain is None:
        return f'{file.path} line {found[0].line}: `{FUNCTION_NAME}` is not extern "C"; this problem needs `{wanted}`'
    return _why_wrong(f"{file.path} line {plain.line}: ", plain, parameters, for_cuda=for_cuda)


def _is_hidden(text: str) -> bool:
    """Whether a macro or an included file could define the function."""
    return any(line.lstrip().startswith("#") and FUNCTION_NAME in line for line in text.splitlines())


def _definitions(root: Node, *, is_extern_c: bool) -> Iterator[_Found]:
    """All definitions and declarations of `solution` outside classes and functions, in the file's order.

    A declaration counts because its `extern "C"` holds for a later definition, too.
    """
    waiting = [(root, is_extern_c)]
    while waiting:
        node, plain = waiting.pop()
        plain = plain or (node.type == "linkage_specification" and _linkage(node) == '"C"')
        if node.type in ("function_definition", "declaration"):
            declarator = _function_declarator(node.child_by_field_name("declarator"))
            if declarator is not None:
                yield _Found(declarator, plain)
        elif node.type in _TRANSPARENT:
            waiting.extend((child, plain) for child in reversed(node.named_children))


def _linkage(node: Node) -> str:
    value = node.child_by_field_name("value")
    return _text(value) if value is not None else ""


def _function_declarator(node: Node | None) -> Node | None:
    """The declarator `solution(...)`, whatever a return type wraps around it; None if it declares another name."""
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    if node is None:
        return None
    name = node.child_by_field_name("declarator")
    return node if name is not None and _text(name) == FUNCTION_NAME else None


def _why_wrong(where: str, found: _Found, parameters: Sequence[Parameter], *, for_cuda: bool) -> str:
    listed = found.declarator.child_by_field_name("parameters")
    taken = [node for node in listed.named_children if _is_parameter(node)] if listed is not None else []
    wanted = [c_parameter(one, for_cuda=for_cuda) for one in parameters]
    if len(taken) != len(parameters):
        count = f"{len(taken)} parameter{'' if len(taken) == 1 else 's'}"
        return f"{where}`{FUNCTION_NAME}` takes {count}; this problem's takes {len(wanted)}: {', '.join(wanted)}"
    for number, (node, parameter) in enumerate(zip(taken, parameters, strict=True), 1):
        if not _fits(node, parameter):
            line = " ".join(_text(node).split())
            return f"{where}parameter {number} of `{FUNCTION_NAME}` is `{line}`; it must be `{wanted[number - 1]}`"
    return ""


def _is_parameter(node: Node) -> bool:
    return node.type in ("parameter_declaration", "optional_parameter_declaration") and _text(node) != "void"


def _fits(node: Node, parameter: Parameter) -> bool:
    base = _base_type(node)
    level = _pointer_level(node)
    shape = C_SHAPES.get(base)
    if shape is None:
        if base == "void":
            return level == 1 and parameter.kind == "array"
        return level <= (1 if parameter.kind == "array" else 0)
    return level == (1 if parameter.kind == "array" else 0) and shape == SPELLINGS[parameter.dtype].shape


def _base_type(node: Node) -> str:
    """The named type without qualifiers and namespaces, its words in one order, as `unsigned long`."""
    named = next((child for child in node.named_children if child.type in _NAMED_TYPES), None)
    words = _text(named).rpartition("::")[2].split() if named is not None else []
    return " ".join(sorted(words, key=lambda word: (word not in ("unsigned", "signed"), word == "int")))


def _pointer_level(node: Node) -> int:
    level = 0
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        level += inner.type in _DECLARATORS or inner.type in _ARRAYS
        inner = inner.child_by_field_name("declarator")
    return level


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
