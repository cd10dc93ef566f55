"""The play: every step is answered and counted, and the state is what the steps made of it."""

from __future__ import annotations

import pytest
from envs.ordebug.puzzles import acts, crossed, doubled, driven, flipped, instance, played, task, typed

from whet.envs.ordebug.actions import Action
from whet.envs.ordebug.edits import SetRhs
from whet.envs.ordebug.model import LinearProgram
from whet.envs.ordebug.play import OrDebugSettings, play
from whet.envs.ordebug.protocol import say
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Ask, Reply, ToolCall, Work, WorkResult


def told(*lines: str, settings: OrDebugSettings = OrDebugSettings()) -> list[str]:
    """What a policy that acts so on the flipped bakery is told after each step."""
    seen = played(flipped(), acts(*lines), settings)
    return [asked.messages[0].text for asked in seen.asks[1 : len(lines) + 1]]


def test_the_opening_shows_specification_and_algebra() -> None:
    text = task(flipped()).messages[0].text
    assert "Flour" in text
    assert "r2: 2 x1 + x2 >= 50" in text


def test_with_query_the_algebra_must_be_asked_for() -> None:
    settings = OrDebugSettings(reveal="query")
    text = task(flipped(), settings).messages[0].text
    assert "r2: " not in text
    assert "constraints: r1 r2 r3 r4" in text
    assert "r2: 2 x1 + x2 >= 50" in told("show r2", settings=settings)[0]


def test_a_repair_that_is_submitted_is_solved() -> None:
    score = played(flipped(), acts("set_sense r2 <=", "submit")).score
    assert (score.hard, score.soft, score.reason) == (1, 1.0, "repaired")


def test_a_repair_that_is_not_submitted_is_not() -> None:
    score = played(flipped(), acts("set_sense r2 <="), OrDebugSettings(max_steps=3)).score
    assert (score.hard, score.soft, score.reason) == (0, 0.0, "step_limit")
    assert score.parts["repaired_at"] == 1


def test_dropping_the_planted_row_is_feasible_and_no_repair() -> None:
    score = played(flipped(), acts("drop r2", "submit")).score
    assert (score.hard, score.reason, score.parts["feasible"]) == (0, "feasible_only", 1.0)
    assert score.soft <= 0.2


def test_submitting_the_broken_model_is_told_apart() -> None:
    assert played(flipped(), acts("submit")).score.reason == "still_infeasible"


def test_an_edit_is_solved_at_once() -> None:
    assert "Solver: optimal, objective 40." in told("set_sense r2 <=")[0]
    assert "Solver: infeasible." in told("set_rhs r2 49")[0]


def test_an_edit_that_changes_nothing_is_told_and_is_none_to_take_back() -> None:
    same, back = told("set_rhs r2 49", "set_rhs r2 49", "undo")[1:]
    assert "nothing was changed. Solver: infeasible." in same
    assert "Took back the last edit." in back
    assert "there is no edit to take back" in told("set_sense r2 >=", "undo")[1]


def test_an_edit_that_changes_nothing_takes_a_step_and_is_counted() -> None:
    score = played(flipped(), acts("set_sense r2 >=", "set_sense r2 <=", "submit")).score
    assert (score.hard, score.parts["edits"], score.parts["steps"]) == (1, 2.0, 3.0)


def test_a_subsystem_is_told_with_sides() -> None:
    assert "constraint r2 (at least)" in told("get_iis")[0]


def test_there_is_no_subsystem_of_a_feasible_model() -> None:
    assert "no contradiction" in told("set_sense r2 <=", "get_iis")[1]


def test_slack_is_measured_at_the_optimum_or_where_least_is_violated() -> None:
    before, _, after = told("check_slack r2", "set_sense r2 <=", "check_slack r2")
    assert "violated by" in before
    assert "at the optimum, slack 25" in after


def test_slack_needs_a_point_that_respects_the_bounds() -> None:
    answer = played(crossed(), acts("check_slack r1")).asks[1].messages[0].text
    assert "nothing to measure" in answer


def test_undo_takes_one_edit_back_and_reset_all() -> None:
    lines = told("set_rhs r1 30", "set_rhs r1 31", "undo", "show r1", "reset", "show r1")
    assert "<= 30" in lines[3]
    assert "<= 20" in lines[5]


def test_undo_without_an_edit_is_refused() -> None:
    assert "Refused" in told("undo")[0]


def test_reset_does_not_give_steps_back() -> None:
    assert "[step 3 of 20]" in told("set_rhs r1 30", "reset", "get_iis")[2]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("set_rhs r9 4", "Refused: there is no constraint 'r9'"),
        ("drop x1", "Refused: there is no constraint 'x1'"),
        ("set_bounds r1 0 1", "Refused: there is no variable 'r1'"),
        ("set_coef r1 y 2", "Refused: there is no variable 'y'"),
        ("check_slack nothing", "Refused: there is no constraint 'nothing'"),
        ("show nothing", "Refused: there is no constraint or variable 'nothing'"),
        ("diagnose r1 nothing", "Refused: there is no constraint or variable 'nothing'"),
        ("relax r1 -5", "Refused: relax takes an amount of 0 or more"),
        ("add r1: x1 <= 4", "Refused: there is a constraint 'r1' already"),
        ("add r9: y <= 4", "Refused: r9 has a term in 'y'"),
        ("set_type x1 binary 0 5", "Refused: x1 is binary"),
        ("set_rhs r1 abc", "Not an action: a finite number was expected, not 'abc'"),
        ("set_coef r1 x1 nan", "Not an action: a finite number"),
        ("explode", "Not an action: there is no action 'explode'"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_play_goes_on(line: str, answer: str) -> None:
    seen = played(flipped(), acts(line, "set_sense r2 <=", "submit"))
    assert seen.asks[1].messages[0].text.startswith(answer)
    assert seen.score.hard == 1


def test_a_malformed_reply_is_a_step_and_is_counted() -> None:
    seen = played(flipped(), ["what?", *acts("set_sense r2 <=", "submit")])
    assert "[step 1 of 20]" in seen.asks[1].messages[0].text
    assert (seen.score.parts["malformed"], seen.score.parts["steps"]) == (1.0, 3.0)
    assert seen.score.soft < 1.0


def test_nonsense_ends_at_the_step_limit() -> None:
    seen = played(flipped(), [], OrDebugSettings(max_steps=5))
    assert len(seen.replies) == 5
    assert seen.score.reason == "only_malformed"


def test_the_last_diagnosis_counts() -> None:
    score = played(flipped(), acts("diagnose r1 r3", "diagnose r2", "submit")).score
    assert (score.parts["precision"], score.parts["recall"]) == (1.0, 1.0)


def test_without_a_diagnosis_the_edits_say_what_was_blamed() -> None:
    score = played(flipped(), acts("relax r1 10", "drop r2", "submit")).score
    assert (score.parts["precision"], score.parts["recall"]) == (0.5, 1.0)


def test_a_row_added_and_dropped_again_leaves_no_trace() -> None:
    score = played(flipped(), acts("add r9: x1 <= 4", "drop r9", "set_sense r2 <=", "submit")).score
    assert (score.parts["edit_cost"], score.parts["minimal"]) == (1.0, 1.0)


def test_a_repair_by_other_words_is_a_repair() -> None:
    score = played(flipped(), acts("drop r2", "add hours: 2 x1 + x2 <= 50", "submit")).score
    assert (score.hard, score.parts["minimal"]) == (1, 0.0)


def test_the_first_optimum_and_the_first_repair_are_remembered() -> None:
    parts = played(flipped(), acts("drop r1", "undo", "set_sense r2 <=", "submit")).score.parts
    assert (parts["first_optimal"], parts["repaired_at"]) == (1.0, 3.0)


def test_tools_speak_of_the_same_play() -> None:
    settings = OrDebugSettings(protocol="tools")
    lines = [
        Reply("", (ToolCall("1", "get_iis", {}), ToolCall("2", "set_sense", {"row": "r2", "sense": "<="}))),
        Reply("", (ToolCall("3", "submit", {}),)),
    ]
    seen = played(flipped(), lines, settings)
    assert seen.asks[0].tools[0].name == "get_iis"
    assert [message.call_id for message in seen.asks[1].messages] == ["1", "2"]
    assert (seen.score.hard, seen.score.parts["steps"]) == (1, 3.0)


def test_many_calls_at_once_do_not_outrun_the_limit() -> None:
    settings = OrDebugSettings(protocol="tools", max_steps=4)
    calls = tuple(ToolCall(str(place), "set_rhs", {"row": "r1", "value": place}) for place in range(50))
    assert played(flipped(), [Reply("", calls)], settings).score.parts["steps"] == 4.0


def test_a_driver_that_stops_early_still_gets_a_score() -> None:
    one = flipped()
    with Workbench() as perform:
        seen = drive(play(one, task(one).messages, OrDebugSettings()), lambda said, asked: "hm", perform, max_turns=2)
    assert seen.score.reason == "only_malformed"


def test_a_solver_that_does_not_finish_is_told_and_the_play_goes_on() -> None:
    """Only the works of the second step are lost; the repair after it is graded as usual."""
    one = flipped()
    lost = iter([True, True, False])

    def perform(job: Work) -> WorkResult:
        slow = job.payload["function"].endswith((":resolve", ":explain")) and next(lost, False)
        return WorkResult(error="deadline") if slow else real(job)

    replies = iter(acts("set_rhs r2 49", "get_iis", "reset", "set_sense r2 <=", "submit"))
    with Workbench() as real:
        seen = drive(play(one, task(one).messages, OrDebugSettings()), lambda said, asked: next(replies), perform)
    assert "not solved within its limits" in seen.asks[1].messages[0].text
    assert "did not finish" in seen.asks[2].messages[0].text
    assert seen.score.hard == 1


def test_a_number_beyond_the_solver_is_told_and_the_play_goes_on() -> None:
    lines = ["set_coef r1 x1 1e200", "get_iis", "check_slack r1", "undo", "set_sense r2 <=", "submit"]
    seen = played(flipped(), acts(*lines))
    answers = [asked.messages[0].text for asked in seen.asks[1:]]
    assert "the solver gave up" in answers[0]
    assert "did not finish" in answers[1]
    assert "did not finish" in answers[2]
    assert seen.score.hard == 1


def test_a_submission_beyond_the_solver_is_a_score() -> None:
    score = played(flipped(), acts("set_coef r1 x1 1e200", "submit")).score
    assert score.reason == "still_error"


def test_a_work_that_breaks_is_a_defect_and_not_a_score() -> None:
    one, replies = flipped(), iter(acts("set_rhs r1 30"))
    with pytest.raises(RuntimeError, match="resolve: raised"):
        drive(
            play(one, task(one).messages, OrDebugSettings()),
            lambda said, asked: next(replies),
            lambda job: WorkResult(error="raised", detail="ZeroDivisionError"),
        )


def test_a_time_limit_reaches_the_solver() -> None:
    jobs: list[Work] = []

    def perform(job: Work) -> WorkResult:
        jobs.append(job)
        return real(job)

    one, replies = flipped(), iter(acts("set_rhs r1 30", "submit"))
    settings = OrDebugSettings(time_limit=3.0)
    with Workbench() as real:
        drive(play(one, task(one, settings).messages, settings), lambda said, asked: next(replies), perform)
    assert {job.payload["arguments"]["time_limit"] for job in jobs} == {3.0}


def test_a_name_shared_by_a_row_and_a_column_can_be_told_apart() -> None:
    assert "Noted: column:x1 row:r2." in told("diagnose row:r2 column:x1")[0]


def test_showing_a_variable_says_where_it_is_used() -> None:
    assert "0 <= x1 <= 15; cost 3; in r1 r2 r3" in told("show x1")[0]


def test_types_are_repaired_with_their_bounds() -> None:
    assert played(typed(), acts("set_type x3 integer 0 10", "submit")).score.soft == 1.0


def test_a_row_too_many_is_repaired_by_dropping_it() -> None:
    assert played(doubled(), acts("drop r5", "submit")).score.soft == 1.0


def test_what_is_asked_does_not_depend_on_the_truth() -> None:
    lines = acts("get_iis", "check_slack r1", "diagnose r2", "set_rhs r1 30", "submit")
    one, other = flipped(), instance(SetRhs("r2", 10.0), original=_other_original(), breaking=[SetRhs("r2", 50.0)])
    assert one.sabotaged.digest == other.sabotaged.digest
    texts = [
        [message.text for asked in played(each, lines).asks for message in asked.messages] for each in (one, other)
    ]
    assert texts[0] == texts[1]


def _other_original() -> LinearProgram:
    return SetRhs("r2", 10.0).apply(flipped().sabotaged)


def test_a_policy_may_be_a_function_of_the_conversation() -> None:
    def answer(said: object, asked: Ask) -> Reply:
        return say(Action("submit"), "text")

    assert driven(flipped(), answer).score.parts["steps"] == 1.0
