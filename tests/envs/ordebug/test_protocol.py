"""One way to say an action and one way to read it, as text and as tool calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.ordebug.actions import ACTIONS, Action, editing, tool_specs
from whet.envs.ordebug.edits import AddRow, DropRow, Edit, Relax, SetBounds, SetCoef, SetRhs, SetSense, SetType
from whet.envs.ordebug.protocol import MalformedStep, answers, read_reply, read_text, said_before, say
from whet.types import MalformedCall, Message, Reply, ToolCall

names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: value + 0.0)
bounds = st.none() | numbers
senses = st.sampled_from(["<=", ">=", "="])
edits: st.SearchStrategy[Edit] = st.one_of(
    st.builds(SetSense, names, senses),
    st.builds(SetRhs, names, numbers),
    st.builds(SetCoef, names, names, numbers),
    st.builds(SetBounds, names, bounds, bounds),
    st.builds(
        SetType, names, st.sampled_from(["continuous", "integer", "binary"]), st.none() | st.tuples(bounds, bounds)
    ),
    st.builds(Relax, names, numbers.map(abs)),
    st.builds(DropRow, names),
    st.builds(
        AddRow,
        names,
        st.dictionaries(
            names.filter(lambda name: name not in ("inf", "nan", "infinity")), numbers.filter(bool), min_size=1
        ).map(lambda terms: tuple(terms.items())),
        senses,
        numbers,
    ),
)
actions = st.one_of(
    edits.map(editing),
    st.sampled_from([Action(name) for name in ("get_iis", "undo", "reset", "submit")]),
    st.builds(
        lambda name, about: Action(name, names=tuple(about)),
        st.sampled_from(["show", "diagnose"]),
        st.lists(names, min_size=1, max_size=8, unique=True),
    ),
    st.builds(lambda name: Action("check_slack", names=(name,)), names),
)


@given(actions)
def test_what_is_said_as_text_is_read_again(action: Action) -> None:
    assert read_reply(say(action, "text", "Because of this.\nAnd that."), "text") == [action]


@given(actions)
def test_what_is_said_as_a_call_is_read_again(action: Action) -> None:
    assert read_reply(say(action, "tools"), "tools") == [action]


@given(st.text(max_size=200))
def test_any_text_is_an_action_or_told_what_is_wrong(text: str) -> None:
    assert isinstance(read_text(text), Action | MalformedStep)
    assert isinstance(read_text(f"Action: {text}"), Action | MalformedStep)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no action"),
        ("I would drop r3.", "no action"),
        ("action: get_iis", "no action"),
        ('{"action": "get_iis"}', "no action"),
        ("Action: get_iis\nAction: submit", "2 lines"),
        ("Action: get_iis\nThat should help.", "must be the last"),
        ("Action:", "no action ''"),
        ("Action: GET_IIS", "no action 'GET_IIS'"),
        ("Action: get_iiss", "Did you mean 'get_iis'"),
        ("Action: set_rhs r3", "set_rhs is used as"),
        ("Action: set_rhs r3 4 5", "set_rhs is used as"),
        ("Action: set_rhs r3 lots", "finite number"),
        ("Action: set_rhs r3 nan", "finite number"),
        ("Action: set_coef r3 x1 -inf", "finite number"),
        ("Action: set_coef r3 x1 1e999", "finite number"),
        ("Action: set_sense r3 <", "comparison"),
        ("Action: set_type x1 real", "not a type"),
        ("Action: set_type x1 integer 0", "both bounds"),
        ("Action: submit now", "submit is used as"),
        ("Action: show", "at least one name"),
        ("Action: show a b c d e f g h i", "at most 8"),
        ("Action: add r9 x1 <= 4", "add is used as"),
        ("Action: add r9: x1 + <= 4", "terms"),
        ("Action: add r9: 2 x1 3 x2 <= 4", "terms"),
        ("Action: add r9: + + x1 <= 4", "terms"),
        ("Action: add r9: 3 <= 4", "terms"),
        ("Action: add r9: x1 < 4", "blanks"),
    ],
)
def test_what_is_no_action_is_told_why(text: str, complaint: str) -> None:
    step = read_text(text)
    assert isinstance(step, MalformedStep)
    assert complaint in step.problem


def test_what_stands_in_a_thought_is_not_an_action() -> None:
    assert read_text("<think>\nAction: submit\n</think>\nAction: get_iis") == Action("get_iis")


def test_what_follows_a_thought_that_is_not_closed_is_not_executed() -> None:
    for text in (
        "<think>Perhaps so.\nAction: submit",
        "Well.\n<think>\nAction: drop r1",
        "<think>a</think><think>\nAction: submit",
    ):
        step = read_text(text)
        assert isinstance(step, MalformedStep)
        assert "</think>" in step.problem


def test_a_reply_that_was_cut_off_is_malformed() -> None:
    [step] = read_reply(Reply("Action: set_rhs r3 4", finish="length"), "text")
    assert isinstance(step, MalformedStep)
    assert "cut off" in step.problem


def test_a_call_where_text_was_asked_for_is_malformed() -> None:
    [step] = read_reply(Reply("Action: submit", calls=(ToolCall("1", "submit", {}),)), "text")
    assert isinstance(step, MalformedStep)


def test_a_reply_without_a_call_is_malformed_as_tools() -> None:
    [step] = read_reply(Reply("Action: submit"), "tools")
    assert isinstance(step, MalformedStep)


def test_sound_calls_beside_a_broken_one_are_not_run() -> None:
    bad = MalformedCall("2", "drop", "{", "bad_json", "not JSON")
    steps = read_reply(Reply("", calls=(ToolCall("1", "drop", {"row": "r1"}),), malformed=(bad,)), "tools")
    assert steps == [MalformedStep("not JSON")]


@pytest.mark.parametrize(
    "arguments", [{}, {"row": 3, "value": 1}, {"row": "r", "value": "x"}, {"row": "r", "value": True}, {"r": 1}]
)
def test_wrong_arguments_of_a_call_are_malformed(arguments: dict[str, object]) -> None:
    [step] = read_reply(Reply("", calls=(ToolCall("1", "set_rhs", arguments),)), "tools")
    assert isinstance(step, MalformedStep)


def test_every_call_is_answered() -> None:
    reply = Reply("", calls=(ToolCall("a", "get_iis", {}), ToolCall("b", "undo", {})))
    assert [(one.author, one.call_id, one.text) for one in answers(reply, ["1", "2"])] == [
        ("tool", "a", "1"),
        ("tool", "b", "2"),
    ]


def test_held_back_calls_are_answered_too() -> None:
    bad = MalformedCall("b", "drop", "{", "bad_json", "not JSON")
    told = answers(Reply("", calls=(ToolCall("a", "undo", {}),), malformed=(bad,)), ["not JSON"])
    assert [(one.call_id, "Not run" in one.text) for one in told] == [("a", True), ("b", False)]


def test_a_broken_call_without_id_is_answered_by_a_user() -> None:
    bad = MalformedCall("", "", "prose", "prose", "no call was made")
    [told] = answers(Reply("prose", malformed=(bad,)), ["no call was made"])
    assert told.author == "user"


def test_the_steps_of_a_conversation_are_read_from_it() -> None:
    said = [Message("user", "x"), say(Action("get_iis"), "text").as_message(), Message("assistant", "hm")]
    assert [type(step) for step in said_before(said, "text")] == [Action, MalformedStep]


def test_every_action_is_a_tool() -> None:
    assert [spec.name for spec in tool_specs()] == list(ACTIONS)
    assert len(ACTIONS) == 19


@pytest.mark.parametrize("terms", [(("x2", -1.0), ("x3", 4.0)), (("x2", 1.0), ("x3", -1.0))])
def test_a_row_said_as_the_model_shows_it_is_read_again(terms: tuple[tuple[str, float], ...]) -> None:
    action = editing(AddRow("r9", terms, "<=", -3.0))
    assert read_reply(say(action, "text"), "text") == [action]
