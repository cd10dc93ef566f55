"""Configs have versions: what a result depends on does not change under one, and a run says which it had."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from command_line import Whet

from whet.config.lineage import ConfigFolder
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 1, 5)

PLAIN = """# What it is for.

[env]
name = "sums.py:Sums"

[target]
model = "baseline:oracle"
sampling = { max_tokens = 64 } # short

[eval]
n = 4
floor = false

[control]
concurrency = 2
"""


@pytest.fixture
def configs(tmp_path: Path) -> ConfigFolder:
    (tmp_path / "sums.toml").write_text(PLAIN)
    folder = ConfigFolder(tmp_path)
    folder.bump("sums", "First.", "whet 0.1.0", TODAY)
    return folder


def edit(folder: ConfigFolder, old: str, new: str, name: str = "sums") -> None:
    file = folder.folder / f"{name}.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_first_version_is_a_header_and_nothing_else_changes(configs: ConfigFolder) -> None:
    text = (configs.folder / "sums.toml").read_text()
    header = '[config]\nversion = "v1"\ncreated = "2026-01-05"\nenv_version = "whet 0.1.0"\nnotes = "First."\n\n'
    assert text == PLAIN.replace("[env]", f"{header}[env]")
    assert configs.findings() == []
    assert configs.version("sums@v1").text == text


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("max_tokens = 64", "max_tokens = 65", "target.sampling.max_tokens=65"),
        ("baseline:oracle", "openai:other", "target.model='openai:other'"),
        ("n = 4\n", "", "eval.n=None"),
        ("[eval]\n", "[eval]\nseed = 7\n", "eval.seed=7"),
    ],
)
def test_a_changed_key_without_another_version_is_an_error(configs: ConfigFolder, old: str, new: str, key: str) -> None:
    edit(configs, old, new)
    (found,) = configs.findings()
    assert f"sums.toml: {key} has changed since v1 was registered" in found
    assert "whet configs bump sums" in found
    assert configs.bump("sums", "Another.", "whet 0.1.0", TODAY).version == "v2"
    assert configs.findings() == []
    assert configs.registry()["active"] == {"sums": "v2"}
    assert configs.registry()["configs"]["sums"]["versions"]["v2"]["based_on"] == "sums@v1"


def test_control_and_comments_may_change_under_a_version(configs: ConfigFolder) -> None:
    edit(configs, "concurrency = 2", "concurrency = 8")
    edit(configs, "# short", "# as short as it gets")
    assert configs.findings() == []
    with pytest.raises(WhetError, match="nothing that a result depends on has changed"):
        configs.bump("sums", "Faster.", "whet 0.1.0", TODAY)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('notes = "First."', 'notes = "Other."', "config.notes is 'Other.', and 'First.' was registered"),
        ('version = "v1"', 'version = "v2"', "v2 is not registered"),
        ('version = "v1"', 'version = "2"', "version = '2': string should match"),
        ('notes = "First."\n', "", "notes is missing"),
        ('notes = "First."', 'notes = "First."\nbased_on = "sums@v9"', "config.based_on"),
        ("[config]", "[config]\nauthor = 'me'", "unknown key 'author'"),
    ],
)
def test_a_header_that_does_not_agree_with_the_registry_is_an_error(
    configs: ConfigFolder, old: str, new: str, told: str
) -> None:
    edit(configs, old, new)
    found = configs.findings()
    assert any(told in line for line in found), found
    assert all("\n" not in line for line in found)


def test_a_version_that_a_person_wrote_is_registered_as_it_is(configs: ConfigFolder) -> None:
    edit(configs, 'version = "v1"', 'version = "v2"')
    edit(configs, "n = 4", "n = 5")
    assert configs.bump("sums", "", "whet 0.1.0", TODAY).version == "v2"
    assert configs.findings() == []


def test_a_kill_between_the_file_and_the_registry_is_found_and_mended(
    configs: ConfigFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    edit(configs, "n = 4", "n = 5")
    with monkeypatch.context() as patch:
        patch.setattr("whet.config.lineage.write_json", dies)
        with pytest.raises(KeyboardInterrupt):
            configs.bump("sums", "Another.", "whet 0.1.0", TODAY)
    assert "v2 is not registered" in configs.findings()[0]
    assert configs.bump("sums", "", "whet 0.1.0", TODAY).version == "v2"
    assert configs.findings() == []


def test_an_old_version_comes_back_and_the_next_is_made_from_it(configs: ConfigFolder) -> None:
    first = (configs.folder / "sums.toml").read_text()
    edit(configs, "n = 4", "n = 5")
    with pytest.raises(WhetError, match="holds changes that are in no version"):
        configs.activate("sums@v1")
    configs.bump("sums", "More tasks.", "whet 0.1.0", TODAY)
    assert configs.activate("sums@v1").version == "v1"
    assert (configs.folder / "sums.toml").read_text() == first
    assert configs.findings() == []
    edit(configs, "n = 4", "n = 6")
    made = configs.bump("sums", "Other tasks.", "whet 0.1.0", TODAY)
    assert (made.version, made.based_on) == ("v3", "sums@v1")


def test_a_version_that_was_edited_and_a_file_that_is_gone_are_found(configs: ConfigFolder) -> None:
    snapshot = configs.folder / "versions" / "sums@v1.toml"
    text = snapshot.read_text()
    snapshot.write_text(text.replace("n = 4", "n = 400"))
    assert "is not what was registered" in configs.findings()[0]
    snapshot.unlink()
    assert "is gone; restore it" in configs.findings()[0]
    (configs.folder / "sums.toml").unlink()
    assert "knows sums, whose file is gone" in configs.findings()[0]


def test_a_version_that_is_not_active_is_proved_too_and_not_put_back_edited(configs: ConfigFolder) -> None:
    edit(configs, "n = 4", "n = 5")
    configs.bump("sums", "More tasks.", "whet 0.1.0", TODAY)
    before = (configs.folder / "sums.toml").read_text()
    snapshot = configs.folder / "versions" / "sums@v1.toml"
    snapshot.write_text(snapshot.read_text().replace("n = 4", "n = 400"))
    assert ["is not what was registered" in line for line in configs.findings()] == [True]
    with pytest.raises(WhetError, match="is not what was registered"):
        configs.activate("sums@v1")
    assert (configs.folder / "sums.toml").read_text() == before


def test_an_env_of_another_file_is_found_from_a_version_too(configs: ConfigFolder) -> None:
    (configs.folder / "check.toml").write_text('[env]\nfrom = "sums.toml"\n\n[target]\nmodel = "openai:any"\n')
    configs.bump("check", "First.", "whet 0.1.0", TODAY)
    assert configs.findings() == []
    name = configs.file("sums").data["env"]["name"]
    edit(configs, f'name = "{name}"', 'name = "soup"')
    assert any(
        "check.toml: the [env] that it takes from another file has changed" in line for line in configs.findings()
    )
    assert configs.bump("check", "As sums.", "whet 0.1.0", TODAY).version == "v2"
    assert not any("check" in line for line in configs.findings())


@pytest.mark.parametrize(
    "mangle",
    [
        lambda held: held.pop("configs"),
        lambda held: held.update(configs=5),
        lambda held: held.update(active=[]),
        lambda held: held["configs"]["sums"]["versions"].update(vx={}),
        lambda held: held["configs"]["sums"]["versions"].update(v2=5),
        lambda held: held["configs"]["sums"]["versions"]["v1"].pop("identity"),
    ],
)
def test_a_registry_that_somebody_mangled_is_one_line(
    configs: ConfigFolder, mangle: Callable[[dict[str, Any]], object]
) -> None:
    held = configs.registry()
    mangle(held)
    (configs.folder / "registry.json").write_text(json.dumps(held))
    with pytest.raises(WhetError, match="is no registry of configs"):
        configs.findings()


def test_a_version_that_is_taken_out_of_the_registry_is_one_line(configs: ConfigFolder) -> None:
    edit(configs, "n = 4", "n = 5")
    configs.bump("sums", "More tasks.", "whet 0.1.0", TODAY)
    held = configs.registry()
    del held["configs"]["sums"]["versions"]["v2"]
    (configs.folder / "registry.json").write_text(json.dumps(held))
    with pytest.raises(WhetError, match="v2 is not registered"):
        configs.activate("sums@v1")


def test_runs_worlds_and_versions_are_no_configs(configs: ConfigFolder) -> None:
    run = configs.folder / "runs" / "r1"
    run.mkdir(parents=True)
    (run / "ledger.sqlite").write_text("")
    shutil.copy(configs.folder / "sums.toml", run / "config.toml")
    (configs.folder / "world.toml").write_text("select = 40\n")
    assert [config.name for config in configs.files()] == ["sums"]


def test_a_header_is_no_part_of_the_identity_and_says_what_was_set_over_the_file(configs: ConfigFolder) -> None:
    file = configs.folder / "sums.toml"
    plain = configs.folder / "plain.toml"
    plain.write_text(PLAIN)
    registered = load_config(EvalConfig, file)
    bare = load_config(EvalConfig, plain)
    assert registered.identity() == bare.identity()
    assert "config" not in bare.model_dump(mode="json")
    assert str(registered.config) == "sums@v1 (2026-01-05): First."
    other = load_config(EvalConfig, file, {"eval": {"n": 9}}, ["control.concurrency=3", "target.sampling.top_p=0.5"])
    assert other.config is not None
    assert other.config.altered == ("eval.n=9", "target.sampling.top_p=0.5")
    assert "sums@v1, with eval.n=9" in str(other.config)


def test_every_run_records_its_lineage(whet: Whet) -> None:
    shutil.copy(ROOT / "examples" / "sums.py", "sums.py")
    Path("sums.toml").write_text(PLAIN)
    assert whet("configs", "bump", "sums", "--notes", "First.").code == 0
    said = whet("eval", "-c", "sums.toml", "--run", "r1", "--set", "eval.n=3")
    assert said.code == 0, said.err
    assert "config: sums@v1, with eval.n=3" in whet("runs", "show", "r1").out
    assert json.loads(Path("runs/r1/results.json").read_text())["config"]["version"] == "v1"
    assert whet("verify", "r1").code == 0
    assert whet("resume", "r1", "--set", "control.concurrency=1").code == 0
    assert "with eval.n=3 (" in whet("runs", "show", "r1").out


def test_the_commands_say_what_they_do(whet: Whet) -> None:
    shutil.copy(ROOT / "examples" / "sums.py", "sums.py")
    Path("sums.toml").write_text(PLAIN)
    assert "not registered" in whet("configs", "list").out
    assert whet("configs", "check").code == 1
    assert whet("configs", "bump", "sums").code == 2  # without a word on why
    assert "registered sums@v1" in whet("configs", "bump", "sums", "--notes", "First.").out
    Path("sums.toml").write_text(Path("sums.toml").read_text().replace("n = 4", "n = 5"))
    assert "eval.n: 4 → 5" in whet("configs", "diff", "sums@v1").out
    assert whet("configs", "bump", "sums", "--notes", "More.").code == 0
    assert whet("configs", "check").out == "every config is what its version says\n"
    assert "* sums@v2" in whet("configs", "list").out
    assert "n = 4" in whet("configs", "show", "sums@v1").out
    assert "n = 5" in whet("configs", "show", "sums").out
    assert "eval.n: 5 → 4" in whet("configs", "diff", "sums@v2", "sums@v1").out
    assert "active: sums@v1" in whet("configs", "activate", "sums@v1").out
    for words in (("show", "sumz@v1"), ("show", "sums@v9"), ("bump", "nothing"), ("check", "--configs", "nowhere")):
        said = whet("configs", *words)
        assert (said.code, said.err.count("\n")) == (2, 1), said


def test_the_examples_are_what_their_versions_say(whet: Whet) -> None:
    assert whet("configs", "check", "--configs", ROOT / "examples").out == "every config is what its version says\n"
