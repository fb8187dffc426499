"""Mutants of a command problem: its reference with a part emptied, removed, halved or kept. They are made to build."""

import ast
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from problems.formats.compute_eval.languages import parser_for
from problems.formats.mutants.mutant import Mutant
from problems.spec.command.problem import CommandProblem
from problems.spec.solution import FileSolution, SourceFile

C_SUFFIXES = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp")
Edit = tuple[str, str, str]
"""Kind, place and the changed text."""
_HALF_OF_GRID = "[](dim3 grid) { return dim3((grid.x + 1) / 2, (grid.y + 1) / 2, (grid.z + 1) / 2); }"
_PRINTS = """
#ifndef PODIUM_AUDIT_PRINTS
#define PODIUM_AUDIT_PRINTS
#include <unistd.h>
__attribute__((constructor)) static void podium_audit_prints(void) {{
    static const char text[] = {text};
    ssize_t written = write(1, text, sizeof text - 1);
    _exit(written < 0 ? 1 : 0);
}}
#endif
"""
_ZEROING = """\
#ifndef PODIUM_AUDIT_ZEROING
#define PODIUM_AUDIT_ZEROING
#include <cuda_runtime.h>
#include <dlfcn.h>
template <class T> void podium_audit_zero_one(const T&) {}
template <class T> void podium_audit_zero_one(const T*) {}
template <class T> void podium_audit_zero_one(T* pointer) {
    using Range = int (*)(unsigned long long*, size_t*, unsigned long long);
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    const Range range = driver ? reinterpret_cast<Range>(dlsym(driver, "cuMemGetAddressRange_v2")) : nullptr;
    const unsigned long long at = reinterpret_cast<unsigned long long>(pointer);
    unsigned long long start = at;
    size_t bytes = 1;
    if (range == nullptr || range(&start, &bytes, at) != 0) start = at, bytes = 1;
    cudaDeviceSynchronize();
    cudaMemset(pointer, 0, start + bytes - at);
    cudaDeviceSynchronize();
}
template <class... Ts> void podium_audit_zero(Ts... all) {
    const int each[] = {0, (podium_audit_zero_one(all), 0)...};
    (void)each;
}
#endif
"""
"""Zeroes writable memory from each pointer to the end of its allocation; one byte where CUDA knows no allocation."""


def mutants_of(problem: CommandProblem, printed: str) -> Iterator[Mutant]:
    """The mutants of a problem's reference. `printed` is what the test prints with the reference."""
    reference = problem.baseline_solution
    if not isinstance(reference, FileSolution):
        return
    if any(file.path.endswith((*C_SUFFIXES, ".py")) for file in reference.files):
        files = [_printing(file, printed) for file in reference.files]
        yield Mutant("prints the reference's output", "", tuple(files))
    for number, file in enumerate(reference.files):
        for kind, place, text in _edits(file):
            changed = SourceFile(path=file.path, content=text)
            files = [*reference.files[:number], changed, *reference.files[number + 1 :]]
            yield Mutant(kind, f"{file.path} {place}", tuple(files))


def _edits(file: SourceFile) -> Iterator[Edit]:
    if file.path.endswith(".py"):
        yield from python_edits(file.content)
    elif file.path.endswith(C_SUFFIXES):
        yield from c_edits(file.content)


def _printing(file: SourceFile, printed: str) -> SourceFile:
    if file.path.endswith(".py"):
        head = f"import os\n\nos.write(1, {printed.encode()!r})\nos._exit(0)\n"
        lines = [line for line in file.content.splitlines(keepends=True) if not line.startswith("from __future__")]
        return SourceFile(path=file.path, content=head + "".join(lines))
    if file.path.endswith(C_SUFFIXES):
        text = '"' + "".join(f"\\{byte:03o}" for byte in printed.encode()) + '"'
        return SourceFile(path=file.path, content=file.content + _PRINTS.format(text=text))
    return file


def c_edits(text: str) -> Iterator[Edit]:
    """Changes of C++ or CUDA: bodies emptied, launches removed, outputs zeroed after the last, grids and loops halved,
    first results kept."""
    content = text.encode()
    root = parser_for("cuda").parse(content).root_node
    for node in _all(root):
        place = f"line {node.start_point[0] + 1}"
        if node.type == "function_definition":
            yield from _of_function(content, node, place)
            yield from _zeroed_after_launches(content, node)
        elif node.type == "expression_statement" and _launch(node) is not None:
            yield "launch removed", place, _replaced(content, node, ";")
        elif node.type == "kernel_call_syntax":
            grid = next((one for one in node.named_children if one.type != "comment"), None)
            if grid is not None and _text(grid) != "1":
                yield "grid halved", place, _replaced(content, grid, f"{_HALF_OF_GRID}({_text(grid)})")
        elif node.type == "for_statement":
            bound = _bound(node)
            if bound is not None:
                yield "loop halved", place, _replaced(content, bound, f"(({_text(bound)}) / 2)")


def _all(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.named_children))


def _of_function(content: bytes, node: Node, place: str) -> Iterator[Edit]:
    body, kind = node.child_by_field_name("body"), node.child_by_field_name("type")
    name = _name(node)
    if body is None or body.type != "compound_statement" or not name or name == "main" or not body.named_children:
        return
    is_void = kind is not None and _text(kind) == "void" and not _returns_pointer(node)
    is_plain = kind is not None and not _returns_reference(node)
    where = f"{place}: {name}"
    if is_void:
        yield "body emptied", where, _replaced(content, body, "{ }")
        is_kernel = b"__global__" in content[node.start_byte : body.start_byte]
        is_device = b"__device__" in content[node.start_byte : body.start_byte]
        if not is_kernel and not is_device:
            kept = "{ static bool podium_was_called = false; if (podium_was_called) return; podium_was_called = true;"
            yield "first result kept", where, _replaced(content, body, kept + _text(body)[1:])
    elif is_plain:
        yield "body emptied", where, _replaced(content, body, "{ return {}; }")


def _zeroed_after_launches(content: bytes, function: Node) -> Iterator[Edit]:
    launches = [one for one in _all(function) if one.type == "expression_statement" and _launch(one) is not None]
    if launches:
        last = max(launches, key=lambda one: one.end_byte)
        given = last.named_children[0].child_by_field_name("arguments")
        assert given is not None
        zeroed = f"{{ {_text(last)} podium_audit_zero{_text(given)}; }}"
        yield "outputs zeroed", f"line {last.start_point[0] + 1}", _ZEROING + _replaced(content, last, zeroed)


def _name(node: Node) -> str:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    return _text(inner) if inner is not None else ""


def _returns_pointer(node: Node) -> bool:
    declarator = node.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "pointer_declarator"


def _returns_reference(node: Node) -> bool:
    declarator = node.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "reference_declarator"


def _launch(node: Node) -> Node | None:
    """The launch that a statement is, if it is one."""
    inner = node.named_children[0] if node.named_children else None
    if inner is None or inner.type != "call_expression":
        return None
    return next((one for one in inner.named_children if one.type == "kernel_call_syntax"), None)


def _bound(node: Node) -> Node | None:
    """The upper bound of `for (…; i < bound; …)`."""
    condition = node.child_by_field_name("condition")
    if condition is None or condition.type != "binary_expression":
        return None
    operator = condition.child_by_field_name("operator")
    is_less = operator is not None and _text(operator) in ("<", "<=")
    return condition.child_by_field_name("right") if is_less else None


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _replaced(content: bytes, node: Node, text: str) -> str:
    return (content[: node.start_byte] + text.encode() + content[node.end_byte :]).decode(errors="replace")


_KEEPING = """
def _podium_kept(function):
    kept = []

    def call(*arguments, **named):
        if not kept:
            kept.append(function(*arguments, **named))
        return kept[0]

    return call


"""


def python_edits(text: str) -> Iterator[Edit]:
    """The same of Python, and the arguments of each last launch zeroed after it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in functions:
        yield "body emptied", f"line {node.lineno}: {node.name}", _lines_replaced(text, node.body, ["pass"])
    for statement in [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]:
        if _is_launch(statement):
            assert isinstance(statement.value, ast.Call)
            assert isinstance(statement.value.func, ast.Subscript)
            place = f"line {statement.lineno}"
            yield "launch removed", place, _lines_replaced(text, [statement], ["pass"])
            grid = statement.value.func.slice
            halved = f"tuple(-(-n // 2) for n in {ast.unparse(grid)})"
            if isinstance(grid, ast.Tuple) and any(ast.unparse(one) != "1" for one in grid.elts):
                yield "grid halved", place, _segment_replaced(text, grid, halved)
    for statement in _last_launches(functions):
        yield "outputs zeroed", f"line {statement.lineno}", _zeroed_after(text, statement)
    for loop in [node for node in ast.walk(tree) if isinstance(node, ast.For)]:
        source = loop.iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
            last = source.args[0 if len(source.args) == 1 else 1]
            yield "loop halved", f"line {loop.lineno}", _segment_replaced(text, last, f"(({ast.unparse(last)}) // 2)")
    for node in functions:
        if node in tree.body and not node.decorator_list:
            lines = text.splitlines()
            lines.insert(node.lineno - 1, _KEEPING.strip("\n") + "\n\n\n@_podium_kept")
            yield "first result kept", f"line {node.lineno}: {node.name}", "\n".join(lines) + "\n"


def _is_launch(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Subscript)
    )


def _last_launches(functions: Sequence[ast.FunctionDef]) -> Iterator[ast.Expr]:
    """The last launch of each function that has one."""
    for node in functions:
        found = [one for one in ast.walk(node) if isinstance(one, ast.Expr) and _is_launch(one)]
        if found:
            yield max(found, key=lambda one: one.lineno)


def _zeroed_after(text: str, statement: ast.Expr) -> str:
    """The text with a line behind the launch that zeroes every tensor among its arguments."""
    assert isinstance(statement.value, ast.Call)
    lines = text.splitlines()
    names = ", ".join(ast.unparse(one) for one in statement.value.args)
    indent = " " * statement.col_offset
    zeroing = f"{indent}[one.zero_() for one in ({names},) if hasattr(one, 'zero_')]"
    last = statement.end_lineno or statement.lineno
    return "\n".join([*lines[:last], zeroing, *lines[last:]]) + "\n"


def _lines_replaced(text: str, nodes: Sequence[ast.stmt], new: Sequence[str]) -> str:
    """The text with these statements replaced, at their indentation."""
    lines = text.splitlines()
    first, last = nodes[0].lineno, nodes[-1].end_lineno or nodes[-1].lineno
    own = lines[first - 1].encode()[: nodes[0].col_offset].decode()
    return "\n".join([*lines[: first - 1], *(own + line for line in new), *lines[last:]]) + "\n"


def _segment_replaced(text: str, node: ast.expr, new: str) -> str:
    """The text with an expression replaced."""
    lines = [line.encode() for line in text.splitlines()]
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    joined = lines[first][: node.col_offset] + new.encode() + lines[last][node.end_col_offset or 0 :]
    return b"\n".join([*lines[:first], joined, *lines[last + 1 :]]).decode() + "\n"
