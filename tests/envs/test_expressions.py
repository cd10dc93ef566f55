"""Arithmetic in a reply is read, never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.reasoning_gym.expressions import differentiates_to, objection


@pytest.mark.parametrize("text", ["(7 + 3) * 4 / 2", "-2*x**3 + sin(x)/2 + C", "exp(2*x)*log(x**2 + 1)", " 6*(5-1) "])
def test_plain_arithmetic_is_accepted(text: str) -> None:
    assert objection(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "().__class__",
        "x[0]",
        "lambda: 1",
        "[1 for _ in iter(int, 1)]",
        "9**9**9**9",
        "((9**999)**999)**999",
        "2**(10**9)",
        "factorial(10**9)",
        "1e999999999",
        "'a' * 10**9",
        "x ^ 2",
        "1 < 2",
        "True",
        "1j",
        "",
        "a b",
        "(" * 1000 + "1" + ")" * 1000,
        "Integral(x, x)",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    assert objection(text) != ""


@given(st.text(max_size=200))
def test_any_text_is_judged(text: str) -> None:
    assert isinstance(objection(text), str)


@pytest.mark.parametrize(
    ("whole", "slope"),
    [
        ("x**3 + C", "3*x**2"),
        ("-cos(10*x - 4)**2 + C", "20*sin(10*x - 4)*cos(10*x - 4)"),
        ("5", "0"),
        ("x*log(x) - x", "log(x)"),
    ],
)
def test_a_derivative_is_recognised(whole: str, slope: str) -> None:
    assert differentiates_to(whole, slope, "x")


@pytest.mark.parametrize(
    ("whole", "slope"),
    [("x**3", "3*x"), ("sin(3*(x - 4)**3)", "3*(x - 4)**3"), ("X**3", "3*x**2"), ("1/(x - x)", "1"), ("import x", "1")],
)
def test_another_function_is_not_taken_for_it(whole: str, slope: str) -> None:
    assert not differentiates_to(whole, slope, "x")
