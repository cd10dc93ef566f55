"""A pattern means the same to the linear engine as to `re`, or the linear engine is not asked."""

from __future__ import annotations

import re
import time
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from whet.envs.data.checks import patterns
from whet.envs.data.checks.patterns import found, linear_pattern, search

re2 = pytest.importorskip("re2", reason="google-re2 is not installed: patterns are searched in workers")

PIECES = (
    *("a", "B", "k", "s", "é", "ſ", "_", "7", " ", r"\n", ".", "^", "$", r"\A", r"\Z", r"\b", r"\B", r"\d", r"\D"),
    *(r"\w", r"\W", r"\s", r"\S", "[ab]", "[^ab]", "[a-k]", "[^A-K_]", r"[\d_]", r"[^\s]", r"[^\W7]", "[^é]", "(?i:a)"),
    *("(?s:.)", "(?m:^)", "(?m:$)", "(?a:\\w)", "(?i:[^a])", "(?-i:a)"),
)
TEXTS = st.text(st.sampled_from("aAbBkKsS_7 \n\t\x0b\x1c.é\u017f\u212a\u00a0"), max_size=12)


@st.composite
def written(draw: st.DrawFn, depth: int = 2) -> str:
    """A pattern of pieces, in groups, repeated and as alternatives."""
    kind = draw(st.sampled_from(("piece", "row", "row", "or", "repeat", "group") if depth else ("piece",)))
    if kind == "piece":
        return draw(st.sampled_from(PIECES))
    inner = [draw(written(depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    if kind == "row":
        return "".join(inner)
    if kind == "or":
        return f"(?:{'|'.join(inner)})"
    if kind == "group":
        return f"({inner[0]})"
    return f"(?:{inner[0]}){draw(st.sampled_from(['*', '+', '?', '*?', '{2}', '{1,3}', '{0,2}?']))}"


@settings(max_examples=250, deadline=None)
@given(pattern=written(), text=TEXTS, ignore_case=st.booleans())
def test_both_engines_say_the_same(pattern: str, text: str, ignore_case: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = search(pattern, ignore_case, text)
        except re.error:
            assume(False)
        told = found(pattern, ignore_case, text)
    assert told in (None, expected), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [r"\bT-\d{3}\b", "^(yes|no)$", r"(?i)answer:\s*42", "[A-Z]{2,4}-[0-9]+", "(?P<n>a+)b", "a.*?b", r"^\s*\w+\s*$"],
)
def test_the_patterns_that_people_write_are_linear(pattern: str) -> None:
    assert linear_pattern(pattern, False) is not None


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)b", "(?<!x)y", "a++", "(?>a)", r"\Bx", "a{2000}", "(a)?(?(1)b|c)"])
def test_what_the_linear_engine_cannot_express_is_left_to_the_other(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        pytest.skip("this Python does not know it either")
    assert linear_pattern(pattern, False) is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)+$", "(.*a){20}$", "(?:a|aa)+$", "([a-z]+)*[0-9]"])
def test_patterns_that_backtrack_for_ever_take_no_time(pattern: str) -> None:
    began = time.process_time()
    assert found(pattern, False, "a" * 50_000 + "!") is False
    assert time.process_time() - began < 1.0


def test_letters_outside_ascii_are_left_to_re_where_classes_differ() -> None:
    assert found(r"\w+", False, "é") is None
    assert found("é+", False, "caf\u00e9") is True


def test_without_the_engine_every_pattern_is_left_to_re(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_engine", lambda: None)
    linear_pattern.cache_clear()
    try:
        assert found("abc-never-seen", False, "abc") is None
    finally:
        linear_pattern.cache_clear()
