"""One attempt, told call by call: programs see the page that is open, navigation holds at once, limits are kept."""

from __future__ import annotations

import json

import pytest
from envs.soup1.first_soups import Perform, calls, ok, played, program, score, soup, tasks_of

from whet.envs.soup1.tools import TOOLS
from whet.models.chat import fenced
from whet.models.chat.toolcalls import CallReader
from whet.rollout.drive import Transcript
from whet.types import MalformedCall, Message, Reply, Task, ToolCall

TITLE = "print(make_soup().title.get_text())"


def told(driven: Transcript) -> list[str]:
    """What the policy was told after its first message, in order."""
    return [message.text for asked in driven.asks[1:] for message in asked.messages]


def one(kind: str) -> Task:
    return tasks_of(kind)[0]


def stdout(driven: Transcript) -> str:
    return told(driven)[-1].removeprefix("STDOUT:\n")


def site() -> Task:
    """A task with more than one page."""
    return one("multipage.link_chain")


def test_a_program_finds_the_page_the_query_and_the_constraints(perform: Perform) -> None:
    task = one("core.extract_links")
    code = "print(json.dumps([HTML, QUERY, CONSTRAINTS, str(type(make_soup()))]))"
    html, query, constraints, made = json.loads(stdout(played(soup(output=200_000), task, perform, program(code))))
    assert (html, query) == (task.data["html"], task.data["query"])
    assert constraints["output_schema"]["type"] == "array"
    assert made == "<class 'bs4.BeautifulSoup'>"


@pytest.mark.parametrize("parser", ["html.parser", "lxml", "html5lib"])
def test_all_three_parsers_are_there(perform: Perform, parser: str) -> None:
    task = one("primer.extract_by_id")
    seen = played(soup(), task, perform, program(f"print(make_soup({parser!r}).find(id='target').get_text())"))
    assert stdout(seen) == task.truth["answer"]


def test_navigation_holds_for_the_next_program_at_once(perform: Perform) -> None:
    task = site()
    href, page = next(iter(task.data["pages"].items()))
    seen = played(
        soup(), task, perform, program("print(len(HTML))"), calls(("navigate", href)), program("print(len(HTML))")
    )
    assert told(seen)[0] == f"STDOUT:\n{len(task.data['html'])}"
    assert told(seen)[2] == f"STDOUT:\n{len(page)}"


def test_calls_of_one_message_are_carried_out_in_order(perform: Perform) -> None:
    task = site()
    href, page = next(iter(task.data["pages"].items()))
    seen = played(soup(), task, perform, calls(("navigate", href), ("run_python", "print(len(HTML))")))
    assert told(seen)[1] == f"STDOUT:\n{len(page)}"


@pytest.mark.parametrize("form", ["{0}", " {0} ", "{0}#top", "{0}?ref=nav"])
def test_a_page_is_found_under_the_usual_spellings(perform: Perform, form: str) -> None:
    task = site()
    href = next(href for href in task.data["pages"] if "?" not in href)
    assert told(played(soup(), task, perform, calls(("navigate", form.format(href)))))[0].startswith(f"Opened {href}.")


def test_a_page_that_is_not_there_leaves_the_open_one_open(perform: Perform) -> None:
    task = site()
    seen = played(soup(), task, perform, calls(("navigate", "/nowhere")), program("print(len(HTML))"))
    assert told(seen)[0].startswith("Error: there is no page '/nowhere'")
    assert told(seen)[1] == f"STDOUT:\n{len(task.data['html'])}"


def test_a_site_of_one_page_says_so(perform: Perform) -> None:
    seen = played(soup(), one("core.extract_links"), perform, calls(("navigate", "/about")))
    assert told(seen) == ["Error: this site has only the page that is open."]


def test_a_program_that_fails_shows_its_own_lines_and_nothing_of_ours(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, program("x = 1\nmake_soup().find(id='no').text"))
    assert 'program.py", line 2' in stdout(seen)
    assert "AttributeError" in stdout(seen)
    assert "runner" not in stdout(seen)
    assert stdout(seen).endswith("exit code 1")


def test_variables_are_not_kept_from_one_program_to_the_next(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, program("kept = 1"), program("print(kept)"))
    assert "NameError" in stdout(seen)


def test_output_is_cut_and_says_so(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, program("print('x' * 20_000)"))
    assert stdout(seen).endswith("(output cut after 10,000 characters)")
    assert stdout(seen).count("x") == 10_000


def test_a_program_that_takes_too_long_is_stopped_and_the_attempt_goes_on(perform: Perform) -> None:
    task = one("primer.extract_by_id")
    env = soup(timeout=0.5)
    seen = played(env, task, perform, program("while True: pass"), program("print(1)"), ok(task.truth["answer"]))
    assert told(seen)[0].startswith("TIMEOUT: the program was stopped after 0.5 s.")
    assert seen.score.hard == 1


def test_ten_replies_without_an_answer_end_the_attempt(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, *[calls(("navigate", "/x"))] * 12)
    assert len(seen.asks) == 10
    assert seen.score.reason == "turn_limit"


def test_more_than_ten_calls_are_not_run_and_earn_nothing(perform: Perform) -> None:
    task = one("primer.extract_by_id")
    many = calls(*[("run_python", TITLE)] * 0, *[("navigate", "/x")] * 10, ("run_python", "print(HTML)"))
    seen = played(soup(), task, perform, many, ok(task.truth["answer"]))
    assert told(seen)[-1].startswith("Error: not run")
    assert seen.score.reward == 0.0


@pytest.mark.parametrize(
    "reply",
    [
        Reply("", (ToolCall("c", "run_python", {"code": 3}, ""),)),
        Reply("", (ToolCall("c", "run_python", {"code": None}, ""),)),
        Reply("", (ToolCall("c", "run_python", {}, ""),)),
        Reply("", (ToolCall("c", "run_python", {"code": " "}, ""),)),
        Reply("", (ToolCall("c", "navigate", {"href": ["/x"]}, ""),)),
        Reply("", (ToolCall("c", "get_answer", {"code": "print(1)"}, ""),)),
        Reply("", (ToolCall("", "", {}, ""),)),
    ],
)
def test_a_call_with_odd_arguments_is_told_so_and_the_attempt_goes_on(perform: Perform, reply: Reply) -> None:
    task = one("primer.extract_by_id")
    seen = played(soup(), task, perform, reply, program("print(make_soup().span)"), ok(task.truth["answer"]))
    assert told(seen)[0].startswith("Error: call run_python(code) or navigate(href)")
    assert (seen.score.hard, seen.score.reward) == (1, pytest.approx(0.9))


def test_a_malformed_call_is_explained_and_never_run(perform: Perform) -> None:
    task = one("primer.extract_by_id")
    bad = MalformedCall("c", "run_python", '{"code": "print(', "cut_off", "the arguments were cut off")
    seen = played(soup(), task, perform, Reply("", malformed=(bad,)), program(TITLE), ok("?"))
    assert told(seen)[0] == "Error: the arguments were cut off"


def test_code_that_is_not_unicode_is_refused_and_said(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, program("print('\ud800')"))
    assert told(seen)[0].startswith("NOT RUN: ")


def test_every_task_shows_the_same_notices_whether_it_has_a_limit_or_not() -> None:
    env = soup()
    tasks = [env.task("train", index) for index in range(120)]
    assert {"limit" in task.truth for task in tasks} == {True, False}
    notices = {task.messages[1].text.partition("## When the page does not hold")[2] for task in tasks}
    assert len(notices) == 1
    assert len({task.messages[0] for task in tasks}) == 1


def test_the_page_and_the_truth_are_not_in_the_prompt() -> None:
    for task in tasks_of("core.extract_text_by_id", 5):
        shown = "".join(message.text for message in task.messages)
        assert task.truth["answer"] not in shown
        assert "<html" not in shown


def test_a_5_mb_answer_gets_a_score(perform: Perform) -> None:
    task = one("primer.extract_by_id")
    assert score(soup(), task, perform, program(TITLE), ok("A" * 5_000_000)).reason == "too_long"


def test_tool_results_answer_their_calls(perform: Perform) -> None:
    seen = played(soup(), one("primer.extract_by_id"), perform, calls(("navigate", "/a"), ("navigate", "/b")))
    results: tuple[Message, ...] = seen.asks[1].messages
    assert [(message.author, message.call_id) for message in results] == [("tool", "c0"), ("tool", "c1")]


@pytest.mark.parametrize("fault", ["", '"code": 3'])
def test_a_model_without_tool_calls_plays_in_fences(perform: Perform, fault: str) -> None:
    task = one("primer.extract_by_id")
    reader = CallReader({spec.name: spec for spec in TOOLS}, cut=False, limit=1000, prefix="call")
    arguments = fault or '"code": "print(make_soup().find(id=\'target\').text)"'
    text = f'I look.\n```tool\n{{"name": "run_python", "arguments": {{{arguments}}}}}\n```'
    found = fenced.read(text, reader)
    seen = played(soup(), task, perform, Reply(text, found.calls, found.malformed), ok(task.truth["answer"]))
    assert bool(found.malformed) == bool(fault)
    assert seen.score.reason == ("no_program" if fault else "correct")
    assert "run_python" in fenced.spoken(task.messages, TOOLS, must_call=False)[0].text
