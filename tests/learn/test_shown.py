"""What the optimiser is shown: shared text once, failures by reason, the feedback before all else, and no megabytes."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from fact_tasks import TASKS
from reflact_world import NULLS, Kinds, config, optimiser, trained

from whet.errors import WhetError
from whet.learn.sealed import SealedEnvironment
from whet.learn.transcripts import Passage, attempts_text, fitted, shared_text
from whet.models.base import Request
from whet.run.train import load_train_config
from whet.types import (
    Feedback,
    Image,
    Label,
    Reply,
    Rollout,
    Score,
    Task,
    Ticket,
    ToolCall,
    ToolSpec,
    Turn,
    failed,
    solved,
    system,
    tool_result,
    user,
)

LOOK_UP = ToolSpec("look_up", "Looks a word up.")
CALL = ToolCall("1", "look_up", {"word": "reef"})


def attempt(index: int, score: Score, *, output: str = "a ridge under water", reasoning: str = "") -> Rollout:
    """One attempt with a tool: asked, looked up, answered."""
    opening = (system("Answer with one word."), user(f"coral task train-{index}: answer"))
    turns = (
        Turn("target", opening, Reply("", (CALL,)), (LOOK_UP,)),
        Turn("target", (tool_result(CALL, output),), Reply("reef", reasoning=reasoning)),
    )
    return Rollout(Ticket("train", "train", index), Label("coral"), str(index), "", "", turns, score)


def shown(*rollouts: Rollout, limit: int = 2000) -> str:
    return attempts_text(rollouts, Kinds(), show="truth", limit=limit)


def test_system_text_and_tools_are_shown_once() -> None:
    text = shown(*(attempt(index, failed("wrong")) for index in (2, 6, 10)))
    assert text.count("Answer with one word.") == 1
    assert text.count("Looks a word up.") == 1
    assert text.count("(calls look_up") == 3


def test_what_every_task_begins_and_ends_with_is_shown_once() -> None:
    rule = "Read the note and say which of the words it is about; the words are those of the house, " * 2

    def asked(index: int) -> Rollout:
        turn = Turn("target", (user(f"{rule}\nnote {index}\n{rule}"),), Reply("?"))
        return Rollout(Ticket("train", "train", index), Label("coral"), "", "", "", (turn,), failed("wrong"))

    rollouts = [asked(index) for index in (2, 6)]
    assert str(shared_text(rollouts)).count(rule.strip()) == 2
    assert shown(*rollouts).count(rule.strip()) == 2
    assert "[user] note 6" in shown(*rollouts)


def test_failures_of_one_reason_stand_together() -> None:
    text = shown(attempt(2, failed("wrong")), attempt(6, failed("no_answer")), attempt(10, failed("wrong")))
    assert re.findall(r"^(?:## \w+|### train/\d+)", text, re.M) == [
        *("## wrong", "### train/2", "### train/10"),
        *("## no_answer", "### train/6"),
    ]


def test_tool_output_and_reasoning_are_cut_before_the_question_the_answer_and_the_feedback() -> None:
    endless = attempt(2, failed("wrong"), output="x" * 100_000, reasoning="y" * 100_000)
    text = shown(endless, limit=1000)
    assert len(text) < 3000
    for kept in ("Expected: laroc", "coral task train-2: answer", "[assistant] reef", "characters left out"):
        assert kept in text


def test_passages_of_equal_importance_are_cut_alike() -> None:
    text = fitted([Passage(1, "a" * 5000), Passage(1, "b" * 5000), Passage(3, "c" * 500)], 3000)
    assert abs(text.count("a") - text.count("b")) < 20
    assert text.count("c" * 500) == 1


def test_a_solved_attempt_needs_no_feedback() -> None:
    assert "Expected" not in shown(attempt(2, solved()))


def test_there_is_no_feedback_on_held_out_tasks() -> None:
    env = SealedEnvironment(Kinds())
    with pytest.raises(WhetError, match="train tasks alone"):
        env.feedback(env.task("select", 0), attempt(0, failed("wrong")))


class Pictures(Kinds):
    """Tasks with an image each, and feedback of their own."""

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return Feedback("the word on the sign", why="not read", images=(Image("ab" * 32),))

    def blob(self, sha256: str) -> bytes:
        return b"\x89PNG"


def test_images_are_shown_where_the_config_says_so(tmp_path: Path) -> None:
    seen: list[int] = []

    def looking(request: Request) -> str:
        seen.append(sum(isinstance(part, Image) for part in request.messages[1].content))
        return optimiser(request)

    trained(tmp_path / "run", config(train={"epochs": 1}, reflect={"images": 1}), optimiser=looking, env=Pictures())
    assert max(seen) == 1


@pytest.mark.parametrize("evidence", [False, True])
def test_what_was_undecided_is_not_proposed_for_ever(tmp_path: Path, evidence: bool) -> None:
    """From a score of 0.00 no candidate is told from the playbook; each step must hear what the others tried."""
    proposed: list[str] = []

    def next_of(request: Request) -> str:
        if not request.messages[0].text.startswith("You improve"):
            return optimiser(request)
        tried = re.search(r"(?s)<earlier steps>(.*?)</earlier steps>", request.messages[1].text)
        fresh = [null for null in NULLS if null not in (tried[1] if tried else "")]
        proposed.append(fresh[0] if fresh else "")
        edits = [{"op": "append", "content": fresh[0]}] if fresh else []
        return json.dumps({"batch_size": 1, "patch": {"edits": edits}})

    once = config(
        train={"epochs": 2, "batch_size": 12},
        reflect={"minibatch": 12},
        update={"evidence": evidence},
        slow={"use": False},
        meta={"use": False},
    )
    result = trained(tmp_path / "run", once, optimiser=next_of, target=lambda request: "?")
    assert proposed == [*NULLS, ""]
    actions = {step.action for step in result.training.steps}
    assert "undecided" in actions or result.summary["total_rejects"] or (evidence and "skip_not_promising" in actions)


MEGABYTE = "x" * 1_000_000


@pytest.mark.parametrize("prose", [True, False], ids=["prose", "an edit"])
def test_a_megabyte_of_reply_goes_into_no_other_prompt(tmp_path: Path, prose: bool) -> None:
    sizes: list[int] = []
    edit = json.dumps({"batch_size": 4, "patch": {"edits": [{"op": "append", "content": MEGABYTE}]}})

    def endless(request: Request) -> str:
        sizes.append(sum(len(message.text) for message in request.messages))
        return MEGABYTE if prose else edit

    result = trained(tmp_path / "run", config(train={"epochs": 1}), optimiser=endless)
    assert result.best.blank
    assert max(sizes) < 40_000


def test_prompts_beside_the_config_replace_those_that_come_along(tmp_path: Path) -> None:
    file = tmp_path / "train.toml"
    models = '[target]\nmodel = "openai:t"\n[optimizer]\nmodel = "openai:o"\n'
    file.write_text(f'[env]\nname = "data:{TASKS[0].write(tmp_path)}"\n{models}')
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/analyst_failure.md").write_text("You improve tickets. At most $budget $things. FAILED")
    settings = load_train_config(file)
    assert settings.identity()["reflect"]["prompts"] == {
        "analyst_failure": "You improve tickets. At most $budget $things. FAILED"
    }
    (tmp_path / "prompts/analist.md").write_text("x")
    with pytest.raises(WhetError, match="no prompt 'analist' to replace"):
        load_train_config(file)
    (tmp_path / "prompts/analist.md").unlink()
    (tmp_path / "prompts/rank.md").write_text("Choose $many.")
    with pytest.raises(WhetError, match=r"\$many in the prompt 'rank' is not filled in; placeholders here: \$budget"):
        load_train_config(file)


class Advice(Kinds):
    """An environment that knows better what to ask for."""

    def prompts(self) -> dict[str, str]:
        return {"analyst_failure": "You improve words. FAILED. $budget $things"}


def test_a_config_replaces_a_prompt_of_the_environment(tmp_path: Path) -> None:
    heard: list[str] = []

    def listening(request: Request) -> str:
        heard.append(request.messages[0].text)
        return optimiser(request)

    once = {"train": {"epochs": 1}}
    trained(tmp_path / "a", config(**once), optimiser=listening, env=Advice())
    assert any(text.startswith("You improve words.") for text in heard)
    heard.clear()
    own = {"analyst_failure": "You improve all. FAILED"}
    trained(tmp_path / "b", config(**once, reflect={"prompts": own}), optimiser=listening, env=Advice())
    assert not any(text.startswith("You improve words.") for text in heard)
    assert any(text.startswith("You improve all.") for text in heard)


def knows_every_form(request: Request) -> str:
    """Answers in all forms at once, first in none of them, with an edit whose target is nowhere."""
    if len(request.messages) == 2 and request.messages[0].text.startswith("You choose"):
        return "Two, I think."
    told = str(request.sampling.seed)
    edits = [{"op": "replace", "target": "nowhere", "content": "x"}]
    edits += [{"op": "append", "content": f"{text} {told}"} for text in ("One", "Two", "Three")]
    forms = {
        "edits": edits,
        "revise_suggestions": [{"title": text, "instruction": f"{text} {told}"} for text in ("One", "Two", "Three")],
        "skill_candidates": [{"new_skill": f"Whole {told}", "title": "t"}],
    }
    asked = {"new_skill": "Whole", "slow_update_content": "Keep on.", "meta_skill_content": "Rules help."}
    chosen = {"selected_indices": [0], "learning_rate": 2, "confidence": 0.5, "failure_summary": [], "batch_size": 1}
    notes = {"appendix_notes": [f"note {told}", f"other {told}"]}
    return json.dumps({**forms, **asked, **chosen, **notes, "patch": forms, "reasoning": "r"})


def test_every_prompt_that_comes_along_can_be_replaced(tmp_path: Path) -> None:
    """`again`, which every stage may need, was replaced by name and asked for as it came along."""
    room = Path(str(files("whet.learn.reflact") / "prompts"))
    own = {file.stem: f"{file.read_text().strip()}\n[own {file.stem}]" for file in room.glob("*.md")}
    seen: set[str] = set()

    def listening(request: Request) -> str:
        for message in request.messages:
            seen.update(re.findall(r"\[own (\w+)\]", message.text))
        return knows_every_form(request)

    reflect = {"prompts": own, "lapses": True, "consolidate_above": 1, "calls": 0, "minibatch": 2}
    for number, update in enumerate(
        (
            {"mode": "patch", "scheduler": "autonomous"},
            {"mode": "patch", "scheduler": "constant", "edits": 1, "min_edits": 1},
            {"mode": "rewrite_from_suggestions"},
            {"mode": "full_rewrite_minibatch"},
        )
    ):
        trained(
            tmp_path / f"run{number}",
            config(train={"epochs": 2, "batch_size": 6}, reflect=reflect, update=update, slow={"idle": True}),
            optimiser=listening,
            target=lambda request: "rebma" if request.messages[-1].text.startswith("amber") else "?",
            env=Kinds(train=6, select=8, test=2),
        )
    assert seen == set(own)


def test_reasoning_effort_is_set_by_stage(tmp_path: Path) -> None:
    efforts: dict[str, set[str | None]] = {}

    def weighing(request: Request) -> str:
        stage = "analyst" if request.messages[0].text.startswith("You improve") else "other"
        efforts.setdefault(stage, set()).add(request.sampling.effort)
        return optimiser(request)

    trained(tmp_path / "run", config(train={"epochs": 1}, reflect={"effort": {"analyst": "high"}}), optimiser=weighing)
    assert efforts["analyst"] == {"high"}
    assert efforts["other"] == {None}
