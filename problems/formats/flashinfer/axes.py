"""Lengths of a definition's axes: constants, variables, and expressions over earlier ones."""

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction

from problems.formats.errors import PackRefused

MOST_LENGTH = 2**48
MOST_CHARACTERS = 200
MOST_EXPONENT = 64
_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: operator.mod,
}


def length_of(expression: str, known: Mapping[str, int]) -> int:
    """The value of `+ - * / // % **` and parentheses over known axes. Raises PackRefused if it is no length."""
    try:
        if len(expression) > MOST_CHARACTERS:
            raise ValueError(f"has more than {MOST_CHARACTERS} characters")
        value = _value(ast.parse(expression, mode="eval").body, known)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError) as error:
        raise PackRefused("bad_axis", f"the axis expression {expression[:MOST_CHARACTERS]!r} {error}") from error
    if value.denominator != 1 or not 0 <= value <= MOST_LENGTH:
        words = f"the axis expression {expression!r} is {float(value):g}, which is no length"
        raise PackRefused("bad_axis", words)
    return int(value)


def _value(node: ast.expr, known: Mapping[str, int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _bounded(Fraction(node.value))
    if isinstance(node, ast.Name):
        if node.id not in known:
            raise ValueError(f"names `{node.id}`, which is no constant, variable or earlier axis")
        return Fraction(known[node.id])
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, known), _value(node.right, known)
        if isinstance(node.op, ast.Pow):
            return _bounded(_power(left, right))
        if type(node.op) in _OPERATIONS:
            return _bounded(_OPERATIONS[type(node.op)](left, right))
    raise ValueError("holds something else than + - * / // % ** and axes")


def _power(left: Fraction, right: Fraction) -> Fraction:
    if right.denominator != 1 or not 0 <= right <= MOST_EXPONENT or abs(left) > MOST_LENGTH:
        raise ValueError(f"raises to a power that is no whole number from 0 to {MOST_EXPONENT}")
    return _bounded(Fraction(left ** int(right)))


def _bounded(value: Fraction) -> Fraction:
    if abs(value) > MOST_LENGTH or value.denominator > MOST_LENGTH:
        raise ValueError("is too large")
    return value
