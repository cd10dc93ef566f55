"""Text of held-out tasks in what is proposed: found, dropped, on record."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled
from reflact_world import RULES, Kinds, config, optimiser, trained

from whet.envs.base import Environment, Play, ask
from whet.learn.leaks import LeakWatch
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.run.api import decide, evaluate
from whet.types import Example, Label, Playbook, Split, Task, failed, solved, user

TASKS: dict[Split, list[int]] = {"train": [0, 1, 2], "select": [0, 1, 2], "test": [0, 1, 2]}
CITIES = {
    "train": ("the old harbour of Lisbon", "a quiet street in Graz", "the hills above Turin"),
    "select": ("the narrow canals of Ghent", "a sunny square in Seville", "the wet moors near Leeds"),
    "test": ("the long quays of Porto", "a green park in Linz", "the steep lanes of Bergen"),
}


class Letters(Environment):
    """Letters about places; whether the writer is content, or what was promised."""

    name = "letters"
    fingerprint = "letters-1"

    def __init__(self, long: bool = False) -> None:
        self.long = long

    def size(self, split: Split) -> int | None:
        return 3

    def label(self, split: Split, index: int) -> Label:
        return Label("letter")

    def task(self, split: Split, index: int) -> Task:
        city = CITIES[split][index]
        text = f"Read the letter and answer yes or no. We walked through {city} for {index + 3} hours and liked it."
        promised = f"we shall come back to {city} next year with all our friends"
        return Task(split, index, Label("letter"), (user(text),), promised if self.long else ("yes", "no")[index % 2])

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")


def found(text: str | Playbook, env: Environment | None = None, before: str = "") -> str:
    playbook = text if isinstance(text, Playbook) else Playbook(text)
    leak = LeakWatch(env or Letters(), TASKS).find(playbook, Playbook(before))
    return "" if leak is None else leak.span


@pytest.mark.parametrize("split", ["select", "test"])
def test_eight_words_in_a_row_of_a_held_out_prompt_are_a_leak(split: Split) -> None:
    city = CITIES[split][0]
    assert found(f"Note: we WALKED through {city}, for 3 hours.").startswith("we walked through the")


def test_what_train_tasks_say_too_is_none() -> None:
    assert found("Read the letter and answer yes or no. We walked through a quiet street in Graz for 4 hours.") == ""


def test_seven_words_of_a_prompt_are_none() -> None:
    assert found("walked through the narrow canals of Ghent") == ""


def test_a_short_truth_is_a_leak_only_behind_words_of_its_own_prompt() -> None:
    assert found("Say yes or no. The answer is yes more often than no.") == ""
    assert found("the long quays of Porto: yes") == "the long quays of porto yes"
    assert found("the long quays of Porto: no") == ""


def test_a_long_truth_is_a_leak_by_itself() -> None:
    leak = found("Expect that we shall come back to the long quays of Porto next year.", Letters(long=True))
    assert leak == "we shall come back to the long quays"
    assert found("we shall come back to the hills above Turin next year", Letters(long=True)) == ""


def test_worked_examples_and_files_are_read_too() -> None:
    example = Example("We walked through a green park in Linz for 4 hours?", "no")
    assert found(Playbook(examples=(example,))) != ""
    assert found(Playbook(files={"notes.md": "walked through a green park in Linz for 4 hours"})) != ""


def test_what_the_incumbent_says_already_is_not_held_against_a_candidate() -> None:
    old = "We walked through a green park in Linz for 4 hours and liked it."
    assert found(f"{old} Be brief.", before=old) == ""


def test_a_leak_in_two_edits_is_one_with_the_second() -> None:
    assert found("the long quays of Porto") == ""
    assert found("the long quays of Porto: yes", before="the long quays of Porto") == "the long quays of porto yes"


def test_a_prompt_that_grows_by_a_few_words_an_edit_is_a_leak_from_eight_on() -> None:
    text = "we walked through a green park in Linz for 4 hours and liked it"
    edits = [" ".join(text.split()[:count]) for count in range(6, 15, 2)]
    assert all(found(after, before=before) for before, after in pairwise(edits))


class Asked(Environment):
    """Questions and answers as they are given, the first of each pair for train."""

    name = "asked"
    fingerprint = "asked-1"

    def __init__(self, *rows: tuple[str, str]) -> None:
        self.rows = rows

    def size(self, split: Split) -> int | None:
        return len(self.rows) // 2

    def label(self, split: Split, index: int) -> Label:
        return Label("asked")

    def task(self, split: Split, index: int) -> Task:
        question, answer = self.rows[2 * index + (split != "train")]
        return Task(split, index, Label("asked"), (user(question),), answer)

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")


def leaked(text: str, *rows: tuple[str, str]) -> bool:
    tasks: dict[Split, list[int]] = {split: list(range(len(rows) // 2)) for split in TASKS}
    return LeakWatch(Asked(*rows), tasks).find(Playbook(text)) is not None


def test_a_question_of_few_words_is_a_leak_with_its_answer_and_not_without() -> None:
    rows = (("Capital of Chile?", "Santiago"), ("Capital of Peru?", "Lima"))
    assert leaked("capital of peru -> lima", *rows)
    assert not leaked("Capital of Chile: Santiago. Name the capital of a country, such as Peru or Lima's.", *rows)
    assert not leaked("yes", ("apple", "no"), ("pear", "yes"))


def test_a_script_without_spaces_hides_no_leak_and_makes_none_of_a_common_phrase() -> None:
    train = "请根据以下内容回答问题：昨天下午我们在里斯本的旧港口散步了三个小时。"
    test = "请根据以下内容回答问题：上周末他们从波尔图的长堤码头乘船去了对岸的酒庄。"
    rows = ((train, "是"), (test, "否"))
    assert leaked("记住：上周末他们从波尔图的长堤码头乘船去了对岸", *rows)
    assert leaked("波尔图的长堤码头乘船去了对岸的酒庄：否", *rows)
    assert not leaked("请根据以下内容回答问题，回答是或否。", *rows)
    assert not leaked("他们从波尔图来", *rows)


def test_signs_that_cannot_be_seen_hide_no_leak() -> None:
    rows = (("one", "1"), ("seven old fishermen repaired their torn nets before dawn", "2"))
    assert leaked("seven old fisher\u00admen re\u200bpaired \uff54heir torn nets before dawn", *rows)


def test_whoever_holds_the_watch_reads_no_held_out_text_from_it() -> None:
    watch = LeakWatch(Letters(), TASKS)
    assert watch.find(Playbook("nothing of it")) is None
    held = repr([getattr(watch, name) for name in vars(watch)])
    assert "Porto" not in held
    assert "porto" not in held


# ------------------------------------------------------------------------------------------- in a run


class Memorable(Kinds):
    """Tasks that a rule could copy: each names its own room."""

    name = "memorable"
    fingerprint = "memorable-1"

    def task(self, split: Split, index: int) -> Task:
        task = super().task(split, index)
        room = f"{task.messages[0].text} in the {split} room number {index} behind the {split} door"
        return Task(split, index, task.label, (user(room),), task.truth)


LEAKED = "When asked: amber task test-4: answer in the test room number 4 behind the test door, say rebma."


def leaking(request: Request) -> Any:
    """The usual optimiser, with a rule in between that it could not have from train tasks."""
    reply = optimiser(request)
    if request.messages[0].text.startswith("You improve"):
        data = json.loads(reply)
        data["patch"]["edits"] = [{"op": "append", "content": text} for text in (LEAKED, RULES["birch"])]
        return json.dumps(data)
    return reply


def test_a_leak_is_dropped_before_the_gate_and_recorded(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", config(train={"epochs": 1}), optimiser=leaking, env=Memorable())
    assert "test room" not in run.best.text
    assert run.summary["leaks"]
    assert all(leak["span"] in LEAKED.casefold().replace(":", "").replace("-", " ") for leak in run.summary["leaks"])
    dropped = [judgement for judgement in run.judge.judgements if judgement.decision.reason == "leak"]
    assert dropped
    assert all(judgement.decision.rollouts() == 0 for judgement in dropped)
    with Ledger.read(run.folder) as ledger:
        assert list(ledger.effects("leak"))
    page = "\n".join(str(part) for part in run.page().parts)
    assert f"dropped for text of held-out tasks: {len(run.summary['leaks'])}" in page


def test_a_persons_candidate_that_leaks_is_warned_about_and_on_record(tmp_path: Path) -> None:
    class Told(Doubles):
        def task(self, split: Split, index: int) -> Task:
            task = super().task(split, index)
            said = user(f"{task.messages[0].text} It hangs in {split} hall {index} above the {split} stairs.")
            return Task(split, index, task.label, (said,), task.truth)

    model = FromFunction(doubled)
    result = evaluate(Told(), model, n=20, runs=tmp_path)
    task = result.report.results["results"][0]["id"].split("/")[1]
    candidate = Playbook(f"It hangs in select hall {task} above the select stairs.")
    gated = decide(result, candidate, env=Told(), model=model)
    assert gated.leak.startswith("it hangs in select hall")
    assert any("warning: the candidate holds text of the tasks" in str(part) for part in gated.page().parts)
    with Ledger.read(gated.folder) as ledger:
        assert len(list(ledger.effects("leak"))) == 1
