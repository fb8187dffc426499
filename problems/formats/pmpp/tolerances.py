"""Makes the tolerance checks of a harness fail on values that are not numbers.

`if (fabs(got - expected) > tolerance) return false;` lets NaN pass, because every comparison with NaN is false, and
`fabs(got - expected) <= relative * fabs(got)` lets infinity pass. The rule finds *errors*: absolute differences, and
variables and functions computed from them. A larger error is always worse. So each comparison of an error with a bound
becomes a call that also demands a finite error. Nothing else of the harness changes, and no line moves.
The harnesses of 34 of pmpp-eval's 53 tasks (`79334a7`) have such comparisons.
"""

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from problems.formats.compute_eval.languages import parser_for

HEADER_NAME = "podium_tolerances.h"
HEADER = """\
// Comparisons of an error with a bound that also demand a finite error, whatever the compiler's options for arithmetic.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define PODIUM_HERE __host__ __device__
#else
#define PODIUM_HERE
#endif

namespace {
PODIUM_HERE inline bool podium_is_finite(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return (bits >> 52 & 0x7ff) != 0x7ff;
}
PODIUM_HERE inline float podium_fabs(float x) { return podium_is_finite(x) ? (x < 0 ? -x : x) : HUGE_VALF; }
PODIUM_HERE inline double podium_fabs(double x) { return podium_is_finite(x) ? (x < 0 ? -x : x) : HUGE_VAL; }
template <class T> PODIUM_HERE inline double podium_fabs(T x) { return podium_fabs(static_cast<double>(x)); }
PODIUM_HERE inline float podium_fabsf(float x) { return podium_fabs(x); }
PODIUM_HERE inline float podium_abs(float x) { return podium_fabs(x); }
PODIUM_HERE inline double podium_abs(double x) { return podium_fabs(x); }
template <class T> PODIUM_HERE inline T podium_abs(T x) { return x < 0 ? -x : x; }

#define PODIUM_CHECK(name, first, second, condition) \\
    template <class A, class B> PODIUM_HERE inline bool name(A first, B second) { return condition; }
PODIUM_CHECK(podium_within, error, bound, podium_is_finite(static_cast<double>(error)) && error <= bound)
PODIUM_CHECK(podium_below, error, bound, podium_is_finite(static_cast<double>(error)) && error < bound)
PODIUM_CHECK(podium_exceeds, error, bound, !podium_within(error, bound))
PODIUM_CHECK(podium_reaches, error, bound, !podium_below(error, bound))
PODIUM_CHECK(podium_holds, bound, error, podium_within(error, bound))
PODIUM_CHECK(podium_tops, bound, error, podium_below(error, bound))
PODIUM_CHECK(podium_fails, bound, error, !podium_within(error, bound))
PODIUM_CHECK(podium_meets, bound, error, !podium_below(error, bound))
}  // namespace
"""
_ABSOLUTE = {
    **dict.fromkeys(("fabs", "std::fabs", "::fabs", "fabsl", "std::fabsl"), "podium_fabs"),
    **dict.fromkeys(("fabsf", "std::fabsf", "::fabsf"), "podium_fabsf"),
    **dict.fromkeys(("abs", "std::abs", "::abs"), "podium_abs"),
}
_KEEPS_ERRORS = re.compile(r"(?:std::)?(?:max|fmax|fmaxf|sqrt|sqrtf|pow|hypot|min|fmin|fminf)(?:<\w+>)?|float|double")
"""Functions of an error whose value is an error."""
_CHECKS = {">": "podium_exceeds", ">=": "podium_reaches", "<=": "podium_within", "<": "podium_below"}
"""Functions that compare an error on the left of the operator."""
_SWAPPED_CHECKS = {"<": "podium_fails", "<=": "podium_meets", ">=": "podium_holds", ">": "podium_tops"}
"""The same for an error right of it."""
_TRUTHS = frozenset({*_CHECKS, "==", "!=", "&&", "||"})
_FLOATING = re.compile(r"\b(?:float|double|half|__half|float[234]|double[234])\b")
_TOLERANCE = re.compile(r"(?i)(?:^|_)(?:[ar]?tol|eps|epsilon|tolerance|(?:max|abs|rel)?_?err(?:or)?|diff)|\d[eE]-\d")
_SCOPES = frozenset({"function_definition", "lambda_expression"})
Scope = int
Name = tuple[Scope, str]
"""A variable of a function, a lambda function or, with -1, of the file."""


@dataclass(frozen=True)
class Hardened:
    """A harness whose checks demand finite errors. Lines are counted from one."""

    name: str
    text: str
    checks: int
    """Number of comparisons that were changed."""
    doubtful_lines: tuple[int, ...]
    """Lines with a comparison that looks like one with a tolerance and that the rule does not understand."""

    @property
    def in_words(self) -> str:
        """One note for people; empty if the harness compares exactly."""
        if self.doubtful_lines:
            return f"NaN may pass: see line {', '.join(map(str, self.doubtful_lines))} of {self.name}"
        return f"tolerance checks that now fail on NaN and infinity: {self.checks}" if self.checks else ""


def hardened(text: str, name: str) -> Hardened:
    """The harness with its comparisons of errors changed; it then includes HEADER_NAME. `name` is the file's path."""
    source = text.encode()
    root = parser_for("cuda").parse(source).root_node
    search = _Search(source, root)
    edits, checks = search.edits()
    doubtful = () if not _FLOATING.search(text) else tuple(sorted(set(search.doubtful())))
    if not edits:
        return Hardened(name, text, 0, doubtful)
    for start, end, new in sorted(edits, reverse=True):
        source = source[:start] + new.encode() + source[end:]
    header = posixpath.relpath(HEADER_NAME, posixpath.dirname(name) or ".")
    head = f'#include "{header}"\n#line 1 "{name}"\n'
    return Hardened(name, head + source.decode(), checks, doubtful)


Edit = tuple[int, int, str]
"""Start and end in bytes, and what stands there instead."""


class _Search:
    """The errors of one syntax tree and their comparisons."""

    def __init__(self, source: bytes, root: Node) -> None:
        self._source, self._root = source, root
        self._nodes = list(_walk(root))
        self._differences: set[Name] = set()
        self._errors: set[Name] = set()
        self._error_functions: set[str] = set()
        self._differences = {one for one, value in self._assigned() if self._subtracts(value)}
        while self._found_more():
            pass

    def edits(self) -> tuple[list[Edit], int]:
        """The edits, and the number of comparisons among them."""
        absolute = [edit for node in self._nodes if (edit := self._absolute_edit(node)) is not None]
        compared = [edits for node in self._nodes if (edits := self._check_edits(node))]
        return [*absolute, *(edit for edits in compared for edit in edits)], len(compared)

    def doubtful(self) -> Iterator[int]:
        """Lines of comparisons with what looks like a tolerance, of which no side is a known error."""
        for node in self._nodes:
            if _operator(node) in _CHECKS and not self._check(node) and not _in_loop_head(node):
                words = (self._text(one) for one in _walk(node) if one.type in ("identifier", "number_literal"))
                if any(map(_TOLERANCE.search, words)) and not self._is_plain(node):
                    yield node.start_point[0] + 1
        yield from (node.start_point[0] + 1 for node in self._nodes if node.is_error)

    def _is_plain(self, node: Node) -> bool:
        """Whether both sides are single words that no arithmetic of floats made: counters such as `errors > 0`."""
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        texts = [self._text(side) for side in sides if side is not None]
        return all(re.fullmatch(r"\w+", text) for text in texts) and any(re.fullmatch(r"\d+", text) for text in texts)

    def _text(self, node: Node | None) -> str:
        return self._source[node.start_byte : node.end_byte].decode() if node is not None else ""

    def _assigned(self) -> Iterator[tuple[Name, Node]]:
        """Every variable with a value that it is given, by scope."""
        for node in self._nodes:
            if node.type == "init_declarator":
                target, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            elif node.type == "assignment_expression":
                target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
            else:
                continue
            if target is None or value is None:
                continue
            scopes = list(_scopes(node)) or [-1]
            for scope in scopes[:1] if node.type == "init_declarator" else scopes:
                yield (scope, self._text(target)), value

    def _found_more(self) -> bool:
        before = len(self._errors) + len(self._error_functions)
        self._errors |= {one for one, value in self._assigned() if self._is_error(value)}
        for node in self._nodes:
            if node.type == "return_statement" and any(self._is_error(child) for child in node.named_children):
                self._error_functions.add(self._function_name(node))
        return len(self._errors) + len(self._error_functions) > before

    def _function_name(self, node: Node) -> str:
        holder = node.parent
        while holder is not None and holder.type != "function_definition":
            holder = holder.parent
        declarator = holder.child_by_field_name("declarator") if holder is not None else None
        return self._text(declarator).partition("(")[0].split()[-1] if declarator is not None else ""

    def _is_difference(self, node: Node) -> bool:
        """Whether the node is the absolute value of a difference."""
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or arguments is None or self._called(called) not in _ABSOLUTE:
            return False
        return any(self._subtracts(one) for one in arguments.named_children)

    def _called(self, node: Node | None) -> str:
        return "".join(self._text(node).split())

    def _subtracts(self, node: Node) -> bool:
        """Whether the value is a difference, or a variable that is given one."""
        if node.type in ("subscript_expression", "call_expression", "string_literal"):
            return False
        if node.type == "identifier":
            return self._is_one_of(node, self._differences)
        if _operator(node) == "-":
            return True
        return not _is_truth(node) and any(map(self._subtracts, node.named_children))

    def _is_one_of(self, node: Node, names: Collection[Name]) -> bool:
        return any((scope, self._text(node)) in names for scope in (*_scopes(node), -1))

    def _is_error(self, node: Node) -> bool:
        """Whether the value grows with an absolute difference."""
        if self._is_difference(node):
            return True
        if node.type == "identifier":
            return self._is_one_of(node, self._errors)
        if node.type == "call_expression":
            name = self._called(node.child_by_field_name("function"))
            arguments = node.child_by_field_name("arguments")
            passes = arguments is not None and _KEEPS_ERRORS.fullmatch(name) is not None
            return name in self._error_functions or (
                passes and arguments is not None and any(map(self._is_error, arguments.named_children))
            )
        if _is_truth(node) or node.type in ("subscript_expression", "lambda_expression", "conditional_expression"):
            return False
        if _operator(node) == "/":
            left = node.child_by_field_name("left")
            return left is not None and self._is_error(left)
        return any(map(self._is_error, node.named_children))

    def _check(self, node: Node) -> str:
        """The function that replaces a comparison of an error; empty for any other node."""
        operator = _operator(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator not in _CHECKS or left is None or right is None:
            return ""
        if self._is_error(left):
            return _CHECKS[operator]
        return _SWAPPED_CHECKS[operator] if self._is_error(right) else ""

    def _absolute_edit(self, node: Node) -> Edit | None:
        called = node.child_by_field_name("function")
        if called is None or not self._is_difference(node):
            return None
        return called.start_byte, called.end_byte, _ABSOLUTE[self._called(called)]

    def _check_edits(self, node: Node) -> list[Edit]:
        name, operator = self._check(node), node.child_by_field_name("operator")
        if not name or operator is None:
            return []
        return [
            (node.start_byte, node.start_byte, f"{name}("),
            (operator.start_byte, operator.end_byte, ","),
            (node.end_byte, node.end_byte, ")"),
        ]


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if not one.type.startswith("preproc_if") and one.type != "preproc_elif":
            waiting.extend(reversed(one.children))
        else:
            waiting.extend(child for child in one.children if child != one.child_by_field_name("condition"))


def _operator(node: Node) -> str:
    found = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return found.type if found is not None else ""


def _is_truth(node: Node) -> bool:
    negates = node.type == "unary_expression" and node.children[0].type == "!"
    return negates or _operator(node) in _TRUTHS


def _scopes(node: Node) -> Iterator[Scope]:
    """The functions around the node from the inside, by their first bytes. Another function's names are others."""
    holder = node.parent
    while holder is not None:
        if holder.type in _SCOPES:
            yield holder.start_byte
        if holder.type == "function_definition":
            return
        holder = holder.parent


def _in_loop_head(node: Node) -> bool:
    holder = node.parent
    while holder is not None and holder.type in ("binary_expression", "parenthesized_expression", "condition_clause"):
        holder = holder.parent
    return holder is not None and holder.type in ("for_statement", "while_statement", "do_statement")
