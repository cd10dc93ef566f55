"""`whet init`: folders that work as they are, and nothing half written."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import FromFunction
from data_env.rows import QUEUES, as_csv, as_lines, tickets

import whet
from whet.cli.init import init_command
from whet.config.load import load_config
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig
from whet.envs.data.proposal import Wishes
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.files import sweep
from whet.models.base import Request
from whet.run.init import initialise
from whet.run.train import load_train_config
from whet.types import SPLITS, Split

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def learned_from(*words: str) -> FromFunction:
    """A model that sorts tickets right only where its playbook holds all of these words."""

    def answer(request: Request) -> str:
        told = "".join(message.text for message in request.messages if message.author == "system")
        number = re.search(r"number (\d+)", request.messages[-1].text)
        return QUEUES[int(number[1]) % 3] if number and words and all(word in told for word in words) else "hm"

    return FromFunction(answer)


def initialised(folder: Path) -> Path:
    data = as_csv(folder / "tickets.csv", tickets())
    return initialise(folder / "queue", source=data, trial=learned_from("## Example")).folder


def test_the_config_describes_an_environment_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(initialised(tmp_path))
    config = load_config(EvalConfig, Path("config.toml"))
    env = load_environment(config.env.name, config.env.args)
    assert [env.size(split) for split in ("train", "select", "test")] == [12, 6, 6]
    assert "exactly one of" in read_playbook(config.eval.playbook).body


def test_the_folder_holds_config_playbook_readme_data_and_splits(tmp_path: Path) -> None:
    held = sorted(file.name for file in initialised(tmp_path).iterdir() if not file.name.startswith("."))
    assert held == ["README.md", "config.toml", "playbook.md", "tickets.csv", "tickets.csv.splits.json", "train.toml"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["queue", "tickets.csv"]


def test_worked_examples_of_the_playbook_come_from_the_train_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(initialised(tmp_path))
    config = load_config(EvalConfig, Path("config.toml"))
    env = load_environment(config.env.name, config.env.args)
    body = read_playbook("playbook.md").body
    told = {split: sum(_question(env, split, i) in body for i in range(env.size(split) or 0)) for split in SPLITS}
    assert told == {"train": 3, "select": 0, "test": 0}


def _question(env: whet.Environment, split: Split, index: int) -> str:
    return env.task(split, index).messages[0].text.partition("\n")[0] + "\n"


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    folder = initialised(tmp_path)
    (folder / ".made.json").unlink()
    before = (folder / "config.toml").read_bytes()
    with pytest.raises(WhetError, match="is there already"):
        initialise(folder, source=tmp_path / "tickets.csv")
    assert (folder / "config.toml").read_bytes() == before


def test_the_same_command_with_another_option_makes_the_folder_anew(tmp_path: Path) -> None:
    folder = initialised(tmp_path)
    (folder / "runs").mkdir()
    (folder / "runs" / "kept").write_text("a run")
    made = initialise(folder, source=tmp_path / "tickets.csv", wishes=Wishes(answer="customer", check="em"))
    assert "the answer is in column 'customer', as you said" in made.assumed
    config = load_config(EvalConfig, folder / "config.toml")
    assert (config.env.args["answer"], config.env.args["check"]) == ("customer", "em")
    assert (folder / "runs" / "kept").read_text() == "a run"


def test_what_somebody_changed_is_not_written_over(tmp_path: Path) -> None:
    folder = initialised(tmp_path)
    (folder / "playbook.md").write_text("mine")
    with pytest.raises(WhetError, match=r"playbook\.md was changed since it was made"):
        initialise(folder, source=tmp_path / "tickets.csv", wishes=Wishes(answer="customer"))
    assert (folder / "playbook.md").read_text() == "mine"


def test_training_takes_the_data_section_of_the_config(tmp_path: Path) -> None:
    folder = initialised(tmp_path)
    assert load_train_config(folder / "train.toml").env == load_config(EvalConfig, folder / "config.toml").env
    text = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(text.replace("[env.args]", "[env.args]\nseed = 5"))
    assert load_train_config(folder / "train.toml").env.args["seed"] == 5


def test_an_env_that_is_taken_from_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.toml").write_text('learner = "reflact"\n[env]\nfrom = "other.toml"\n')
    with pytest.raises(WhetError, match=r"other\.toml: no such config file"):
        load_train_config(tmp_path / "train.toml")
    (tmp_path / "other.toml").write_text("[eval]\n")
    with pytest.raises(WhetError, match=r"other\.toml has no \[env\] of its own"):
        load_train_config(tmp_path / "train.toml")


def test_examples_of_the_playbook_are_whole_tasks(tmp_path: Path) -> None:
    rows = [
        {"question": f"Which is {i}?\n\nThink.", "A": f"a{i}", "B": f"b{i}", "answer": f"{'ab'[i % 2]}{i}"}
        for i in range(12)
    ]
    folder = initialise(tmp_path / "quiz", source=as_lines(tmp_path / "quiz.jsonl", rows)).folder
    body = read_playbook(str(folder / "suggested.md")).body
    assert body.count("## Example") == body.count("\nA. a") == body.count("\nB. b") == 2


def test_a_playbook_without_anything_certain_is_blank(tmp_path: Path) -> None:
    rows = [{"question": "Why? " + "Long. " * 400 + str(i), "answer": f"because {i}"} for i in range(12)]
    folder = initialise(tmp_path / "long", source=as_lines(tmp_path / "long.jsonl", rows)).folder
    assert read_playbook(str(folder / "playbook.md")).blank
    assert not (folder / "suggested.md").exists()


@pytest.mark.parametrize(
    ("words", "said", "examples"),
    [
        (("exactly one of",), "Playbook.md holds the labels: ", 0),
        (("exactly one of", "## Example"), "Playbook.md holds labels and worked examples: ", 3),
        ((), "Playbook.md is blank, because nothing tried was better: ", None),
    ],
)
def test_the_first_playbook_is_what_helped_on_train_tasks_or_nothing(
    tmp_path: Path, words: tuple[str, ...], said: str, examples: int | None
) -> None:
    data = as_csv(tmp_path / "tickets.csv", tickets(48))
    made = initialise(tmp_path / "queue", source=data, trial=learned_from(*words))
    assert made.playbook.startswith(said[0].lower() + said[1:])
    playbook = read_playbook(str(made.folder / "playbook.md"))
    assert playbook.blank if examples is None else playbook.body.count("## Example") == examples
    assert (made.folder / "suggested.md").exists() == (examples is None)


def test_a_playbook_that_harms_is_not_written(tmp_path: Path) -> None:
    def contrary(request: Request) -> str:
        number = re.search(r"number (\d+)", request.messages[-1].text)
        assert number
        return "hm" if request.messages[0].author == "system" else QUEUES[int(number[1]) % 3]

    data = as_csv(tmp_path / "tickets.csv", tickets(48))
    made = initialise(tmp_path / "queue", source=data, trial=FromFunction(contrary))
    assert read_playbook(str(made.folder / "playbook.md")).blank
    assert "gets 1.00 on 6 train tasks without a playbook, 0.00 with the labels" in made.playbook


def test_the_trial_asks_train_tasks_alone_and_none_that_is_an_example(tmp_path: Path) -> None:
    asked: list[str] = []

    def listen(request: Request) -> str:
        asked.append(request.messages[-1].text)
        return "hm"

    data = as_csv(tmp_path / "tickets.csv", tickets(48))
    folder = initialise(tmp_path / "queue", source=data, trial=FromFunction(listen)).folder
    config = load_config(EvalConfig, folder / "config.toml")
    env = load_environment(f"data:{folder / 'tickets.csv'}", config.env.args)
    train = {env.task("train", index).messages[-1].text for index in range(env.size("train") or 0)}
    suggested = (folder / "suggested.md").read_text()
    assert set(asked) <= train
    assert not any(text in suggested for text in asked)


def test_without_a_model_at_hand_the_playbook_is_blank_and_says_why(tmp_path: Path) -> None:
    data = as_csv(tmp_path / "tickets.csv", tickets())
    for place, trial in enumerate(("", "openai:nobody", "no-such:model")):
        made = initialise(tmp_path / f"queue{place}", source=data, trial=trial)
        assert made.playbook.startswith("playbook.md is blank: ")
        assert "suggested.md holds a first text" in made.playbook
        assert read_playbook(str(made.folder / "playbook.md")).blank


def test_a_person_is_asked_where_the_answer_is_in_doubt(tmp_path: Path) -> None:
    rows = [{"text": f"About matter {i} and more", "mood": "ab"[i % 2], "team": "cd"[i % 2]} for i in range(24)]
    asked: list[tuple[str, ...]] = []

    def choose(columns: Sequence[str]) -> str:
        asked.append(tuple(columns))
        return "mood"

    made = initialise(tmp_path / "x", source=as_lines(tmp_path / "x.jsonl", rows), choose=choose)
    assert asked == [("team", "mood")]
    assert "the answer is in column 'mood', as you said" in made.assumed


@pytest.mark.parametrize(
    "content",
    ["text,queue\na\n", "text\na\n", "text,queue\na,x\nb,\n", "id,text,queue\n1,a,x\n", "", b"text,queue\n\xe9,x\n"],
)
def test_bad_data_leaves_nothing_behind(tmp_path: Path, content: str | bytes) -> None:
    data = tmp_path / "bad.csv"
    data.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(WhetError, match=r"bad\.csv|split: nothing is left"):
        initialise(tmp_path / "queue", source=data)
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


def test_data_that_names_images_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.png").write_bytes(PNG)
    rows = [{"question": f"What is {i}?", "image": "x.png", "answer": f"thing {i}"} for i in range(8)]
    made = initialise(tmp_path / "look", source=as_lines(tmp_path / "look.jsonl", rows))
    assert made.files == ("README.md", "config.toml", "playbook.md", "splits.json", "train.toml")
    monkeypatch.chdir(made.folder)
    config = load_config(EvalConfig, Path("config.toml"))
    assert config.env.name == "data:../look.jsonl"
    assert load_environment(config.env.name, config.env.args).size("train") == 4


def test_a_split_folder_is_copied_whole(tmp_path: Path) -> None:
    for name in ("train", "val"):
        (tmp_path / "set" / name).mkdir(parents=True)
        as_lines(
            tmp_path / "set" / name / "a.jsonl", [{"question": f"{name} {i}", "answer": f"n {i}"} for i in range(3)]
        )
    made = initialise(tmp_path / "queue", source=tmp_path / "set")
    assert "set/val/a.jsonl" in made.files
    assert dict(made.sizes) == {"train": 3, "select": 3, "test": 0}


def test_the_command_tells_what_was_assumed_and_what_is_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = as_csv(tmp_path / "tickets.csv", tickets())
    init_command(str(tmp_path / "queue"), source=data, env=False)
    told = capsys.readouterr().out
    for part in ("train 12, select 6, test 6", "the answer is in column 'queue'", "whet compare before after"):
        assert part in told


@pytest.mark.parametrize(("source", "env"), [(None, False), (Path("x.csv"), True)])
def test_the_command_needs_one_of_file_and_environment(tmp_path: Path, source: Path | None, env: bool) -> None:
    with pytest.raises(WhetError, match="--from FILE"):
        init_command(str(tmp_path / "queue"), source=source, env=env)


def test_a_new_environment_keeps_the_contract_and_passes_its_own_tests(tmp_path: Path) -> None:
    made = initialise(tmp_path / "Larger-Number")
    assert made.environment == "larger_number/environment.py:LargerNumber"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(command, cwd=made.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout


def test_a_new_environment_is_in_the_house_style(tmp_path: Path) -> None:
    folder = initialise(tmp_path / "larger").folder
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["1st", "class", "ümlaut"])
def test_a_name_that_no_package_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WhetError, match="cannot be the name of a Python package"):
        initialise(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def _two_files(folder: Path) -> tuple[Path, Path]:
    found = []
    for name, label in (("first", "Yes"), ("second", "maybe")):
        rows = [
            f"person {i} came at {i * 37 % 101} with {i * i} apples,{('No', label, 'no')[i % 3]}" for i in range(40)
        ]
        found.append(folder / f"{name}.csv")
        found[-1].write_text("\n".join(["text,label", *rows]))
    return found[0], found[1]


def test_a_file_that_was_not_made_here_is_not_written_over(tmp_path: Path) -> None:
    first, second = _two_files(tmp_path)
    initialise(tmp_path / "project", source=first)
    mine = tmp_path / "project" / second.name
    mine.write_text("mine")
    with pytest.raises(WhetError, match=r"second.csv is there, is not from here"):
        initialise(tmp_path / "project", source=second)
    assert mine.read_text() == "mine"
    assert (tmp_path / "project" / first.name).is_file()


@pytest.mark.parametrize("moves", range(7))
def test_a_folder_in_which_the_moves_were_stopped_is_made_anew(
    tmp_path: Path, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _two_files(tmp_path)
    folder = tmp_path / "project"
    initialise(folder, source=first)
    left, move = [moves], Path.replace

    def replace(self: Path, target: Path) -> Path:
        if ".part" in str(self.parent):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        return move(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            initialise(folder, source=second)
    made = initialise(folder, source=second)
    assert {file.name for file in folder.iterdir()} == {*made.files, ".made.json"}


def test_labels_spelled_in_two_ways_are_one_label(tmp_path: Path) -> None:
    made = initialise(tmp_path / "project", source=_two_files(tmp_path)[0])
    assert any("other spellings" in line for line in made.assumed)
    assert 'choices = ["No", "Yes"]' in (tmp_path / "project" / "config.toml").read_text()


def test_splits_beside_the_file_that_were_drawn_by_another_rule_are_left_there_aloud(tmp_path: Path) -> None:
    rows = "".join(f"{n},C{n % 12},Ticket {n} of {n * 7 % 90} about a parcel,{'ab'[n % 2]}\n" for n in range(60))
    (tmp_path / "tickets.csv").write_text("id,customer,text,queue\n" + rows)
    load_environment(f"data:{tmp_path / 'tickets.csv'}", {"answer": "queue", "prompt": "{text}"})
    drawn = (tmp_path / "tickets.csv.splits.json").read_bytes()
    made = initialise(tmp_path / "queue", source=tmp_path / "tickets.csv")
    assert any("tickets.csv.splits.json" in doubt and ".part" not in doubt for doubt in made.unsure)
    assert (tmp_path / "tickets.csv.splits.json").read_bytes() == drawn


def test_what_lies_in_a_folder_called_like_a_part_of_a_file_is_not_swept_away(tmp_path: Path) -> None:
    kept = tmp_path / "sources" / ".p.123.part"
    kept.mkdir(parents=True)
    (kept / "rows.csv").write_text("a,b\n")
    (tmp_path / ".config.toml.123.part").write_text("half")
    sweep(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["rows.csv"]
