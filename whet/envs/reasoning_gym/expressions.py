"""Arithmetic in a reply, read without evaluating it as Python: what it may contain, how large it gets, its value.

For scorers that hand a reply to sympy, which would execute it, compute any power in it, or simplify it for minutes.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections.abc import Callable, Mapping

_FUNCTIONS: Mapping[str, Callable[[complex], complex]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")},
    **{name: getattr(cmath, name) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "ln": cmath.log,
    "cot": lambda z: 1 / cmath.tan(z),
    "sec": lambda z: 1 / cmath.cos(z),
    "csc": lambda z: 1 / cmath.sin(z),
    "Abs": abs,
    "abs": abs,
}
_BINARY: Mapping[type[ast.operator], Callable[[complex, complex], complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_CONSTANTS = {"E": math.e, "pi": math.pi, "I": 1j}
_MOST_BITS = 10_000.0
_POINTS = (0.37 + 0.21j, 0.71 - 0.33j, 1.3 + 0.4j, 2.2 - 0.6j)


class NotArithmetic(ValueError):
    """The text is something else than arithmetic of modest size on numbers, names and elementary functions."""


def read(text: str) -> ast.expr:
    """The expression in `text`, safe to hand on."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if _bits(tree) > _MOST_BITS:
            raise NotArithmetic("a number out of all proportion")
    except (SyntaxError, OverflowError, MemoryError, RecursionError):
        raise NotArithmetic("not an arithmetic expression") from None
    return tree


def objection(text: str) -> str:
    """Why `text` is not arithmetic that may be handed on; '' when it is."""
    try:
        read(text)
    except ValueError as problem:
        return str(problem)
    return ""


def differentiates_to(text: str, derivative: str, variable: str) -> bool:
    """Whether the derivative of `text` agrees with `derivative` at a few points; two that agree may still differ."""
    try:
        whole, slope = read(text), read(derivative)
    except NotArithmetic:
        return False
    agreed = [near for point in _POINTS if (near := _agree(whole, slope, variable, point)) is not None]
    return bool(agreed) and all(agreed)


def _agree(whole: ast.expr, slope: ast.expr, variable: str, at: complex) -> bool | None:
    """Whether the slope is right at one point; None where something has no value there."""
    step = 1e-4
    try:
        rise = _value(whole, {variable: at + step}) - _value(whole, {variable: at - step})
        expected = _value(slope, {variable: at})
    except (ArithmeticError, ValueError):
        return None
    return abs(rise / (2 * step) - expected) <= 1e-3 * (1.0 + abs(expected))


def _value(node: ast.expr, names: Mapping[str, complex]) -> complex:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return names.get(name, _CONSTANTS.get(name, 0.5))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(operand=operand):
            return _value(operand, names)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _FUNCTIONS[name](_value(argument, names))
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, names), _value(right, names))
    raise NotArithmetic(type(node).__name__)


def _bits(node: ast.expr) -> float:
    """At most how long the value gets, each name standing for 2; raises where there is more than arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            return math.log2(abs(number) + 2)
        case ast.Name():
            return 1.0
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _bits(operand)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return 2.0 * _bits(argument)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _bits(left) * math.pow(2.0, min(_bits(right), 64.0))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bits(left) + _bits(right)
    raise NotArithmetic(f"{type(node).__name__} in an arithmetic expression")
