"""A skill is put into an agent's folder whole or not at all, over nothing that is not ours, and the agent is better."""

from __future__ import annotations

import multiprocessing
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from command_line import Whet
from docs.pages import ROOT
from promoted_champion import SKILL, promoted

from whet.errors import WhetError
from whet.release import install as room
from whet.release.champion import Champions
from whet.release.install import install, skills_folder, uninstall
from whet.release.package import write_package
from whet.release.trail import Trail
from whet.types import Example, Playbook

OTHER = Playbook("Say the sum twice.", (Example("1 + 1", "2 2"),), {"notes/more.md": "more"})


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_an_agent_finds_a_skill_with_its_evidence(tmp_path: Path) -> None:
    champion = promoted(tmp_path / "releases", OTHER)
    done = install(champion, str(tmp_path / "skills"), releases=tmp_path / "releases")
    assert done.folder == tmp_path / "skills" / "sums"
    found = files(done.folder)
    assert {*found} == {"SKILL.md", "EVIDENCE.md", "notes/more.md", ".whet.json"}
    assert found["SKILL.md"].startswith("---\nname: sums\ndescription: ")
    assert "Say the sum twice." in found["SKILL.md"]
    assert "2 2" in found["SKILL.md"]
    assert "accepted by paired" in found["EVIDENCE.md"]
    assert champion.digest in found["EVIDENCE.md"]
    assert done.folder.stat().st_mode & 0o777 == 0o755  # an agent may be another user
    assert [entry.kind for entry in Trail.of(tmp_path / "releases").entries()] == ["promote", "install"]


def test_each_agent_has_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert skills_folder("codex") == tmp_path / ".agents" / "skills"
    assert skills_folder("claude") == tmp_path / ".claude" / "skills"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    assert skills_folder("claude") == tmp_path / "c" / "skills"
    assert skills_folder("./codex") == Path("codex")


def test_another_version_takes_the_place_of_the_one_before_and_a_rollback_too(tmp_path: Path) -> None:
    releases, skills = tmp_path / "releases", str(tmp_path / "skills")
    install(promoted(releases), skills)
    first = files(tmp_path / "skills")
    assert install(promoted(releases, OTHER), skills).before == "sums@v1"
    assert "notes/more.md" in files(tmp_path / "skills" / "sums")
    install(Champions(releases).rollback("sums"), skills)
    assert files(tmp_path / "skills") == first
    uninstall("sums", skills, releases=releases)
    assert list((tmp_path / "skills").iterdir()) == []
    with pytest.raises(WhetError, match="no skill of that name was installed there"):
        uninstall("sums", skills)


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    champion, skills = promoted(tmp_path / "releases"), tmp_path / "skills"
    mine = skills / "sums" / "SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    for act in (lambda: install(champion, str(skills)), lambda: uninstall("sums", str(skills))):
        with pytest.raises(WhetError, match="was not written by Whet"):
            act()
    assert files(skills) == {"sums/SKILL.md": "mine"}


@pytest.mark.parametrize("change", ["edited", "added", "gone", "linked"])
def test_what_was_changed_since_stays(change: str, tmp_path: Path) -> None:
    releases, skills = tmp_path / "releases", tmp_path / "skills"
    folder = install(promoted(releases), str(skills)).folder
    skill = folder / "SKILL.md"
    if change == "edited":
        skill.write_text("better")
    elif change == "added":
        (folder / "mine.md").write_text("mine")
    elif change == "gone":
        skill.unlink()
    else:
        text = skill.read_text()
        skill.unlink()
        (tmp_path / "elsewhere.md").write_text(text)
        skill.symlink_to(tmp_path / "elsewhere.md")
    before = files(skills)
    for act in (lambda: install(promoted(releases, OTHER), str(skills)), lambda: uninstall("sums", str(skills))):
        with pytest.raises(WhetError, match="was changed or added since sums@v1 was installed"):
            act()
    assert files(skills) == before


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "sums").symlink_to(tmp_path / "precious")
    with pytest.raises(WhetError, match="is a link"):
        install(promoted(tmp_path / "releases"), str(tmp_path / "skills"))
    assert list((tmp_path / "precious").iterdir()) == []


class Kill(BaseException):
    """As a signal ends a process: nothing catches it."""


@pytest.mark.parametrize("point", ["write", "exchange", "between"])
def test_a_kill_in_the_middle_leaves_the_skill_as_it_was(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases, skills = tmp_path / "releases", tmp_path / "skills"
    install(promoted(releases), str(skills))
    before = files(skills / "sums")
    other = promoted(releases, OTHER)

    def dies(*_: object) -> None:
        raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(room.shutil, "rmtree", lambda *_, **__: None)  # a kill cleans nothing up
        if point == "write":
            patch.setattr(room, "write_json", dies)
        elif point == "exchange":
            patch.setattr(room, "_exchange", dies)
        else:  # a file system without an exchange, killed between its two steps
            patch.setattr(room.ctypes, "CDLL", lambda *_, **__: object())
            renames = iter([Path.rename, dies])
            patch.setattr(Path, "rename", lambda path, to: next(renames)(path, to))
        with pytest.raises(Kill):
            install(other, str(skills))
    if point != "between":
        assert files(skills / "sums") == before
    install(other, str(skills))
    assert "notes/more.md" in files(skills / "sums")
    assert [path.name for path in skills.iterdir()] == ["sums"]


@pytest.mark.parametrize("into", ["", "  "])
def test_nowhere_is_no_folder(into: str, tmp_path: Path, whet: Whet) -> None:
    promoted(tmp_path / "releases")
    for words in (("install", "sums", "--into", into), ("uninstall", "sums", "--from", into)):
        said = whet("release", *words, "--releases", tmp_path / "releases")
        assert said.code == 2
        assert "say where: codex, claude or a folder" in said.err
    assert [entry.kind for entry in Trail.of(tmp_path / "releases").entries()] == ["promote"]


def _installs(releases: Path, skills: Path, title: str, times: int) -> None:
    champions = Champions(releases)
    champion = champions.get("sums", int(title[-1]))
    for _ in range(times):
        install(champion, str(skills))


def test_two_installs_at_once_and_kills_at_any_moment_leave_a_whole_skill(tmp_path: Path) -> None:
    releases, skills = tmp_path / "releases", tmp_path / "skills"
    wanted = {}
    for playbook in (SKILL, OTHER):
        champion = promoted(releases, playbook)
        install(champion, str(skills))
        wanted[champion.title] = files(skills / "sums")
    fork, chance, seen = multiprocessing.get_context("fork"), random.Random(5), Counter[str]()
    for _ in range(12):
        both = [fork.Process(target=_installs, args=(releases, skills, f"v{n}", 10**6)) for n in (1, 2)]
        for process in both:
            process.start()
        time.sleep(0.02 + 0.06 * chance.random())
        for process in both:
            process.kill()
            process.join()
        found = files(skills / "sums")  # there at every moment, and one of the two
        seen.update(title for title, whole in wanted.items() if whole == found)
    assert sum(seen.values()) == 12
    install(Champions(releases).get("sums", 1), str(skills))
    assert [path.name for path in skills.iterdir()] == ["sums"]  # what kills left is gone


def test_a_file_system_without_an_exchange_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(promoted(tmp_path / "releases"), str(tmp_path / "skills"))
    monkeypatch.setattr(room.ctypes, "CDLL", lambda *_, **__: object())
    install(promoted(tmp_path / "releases", OTHER), str(tmp_path / "skills"))
    assert "Say the sum twice." in files(tmp_path / "skills")["sums/SKILL.md"]
    assert [path.name for path in (tmp_path / "skills").iterdir()] == ["sums"]


def test_a_blank_playbook_is_nothing_that_an_agent_could_load(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="its playbook is blank"):
        install(promoted(tmp_path / "releases", Playbook()), str(tmp_path / "skills"))
    assert not (tmp_path / "skills").exists()


def test_a_package_is_installed_where_nothing_was_promoted(tmp_path: Path, whet: Whet) -> None:
    releases = tmp_path / "a" / "releases"
    champion = promoted(releases)
    write_package(Champions(releases), champion, tmp_path / "sums.zip")
    said = whet("release", "install", "sums.zip", "--into", "skills")
    assert said.code == 0, said.err
    assert f"its digest is {champion.digest}: compare it" in said.out
    assert not Path("releases").exists()
    assert whet("release", "uninstall", "sums", "--from", "skills").code == 0


AGENT = """
import json, pathlib, re, sys

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def loaded(folder):
    # What the documentation of codex and of claude asks for: SKILL.md in a folder of the skill's own name; front matter
    # from the first line on, with a name and a description that fit.
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    front, _, body = text.removeprefix("---\\n").partition("\\n---\\n")
    assert text.startswith("---\\n") and body.strip()
    told = dict(line.split(": ", 1) for line in front.splitlines())
    name, description = told["name"], json.loads(told["description"])
    assert name == folder.name and NAME.fullmatch(name) and len(name) <= 64
    assert 0 < len(description) <= 1024 and not set("<>\\n") & set(description)
    return name, description, body


skills, prompt = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
found = [loaded(folder) for folder in sorted(skills.iterdir()) if folder.name[0] != "."]
known = any("sums" in description and "Add the two numbers" in body for _, description, body in found)
left, sign, right = re.search(r"(\\d+) ([+-]) (\\d+)", prompt).groups()
print(int(left) + int(right) if known and sign == "+" else int(left) - int(right) if known else "I do not know")
"""


@pytest.mark.parametrize(("into", "place"), [("codex", ".agents/skills"), ("claude", ".claude/skills")])
def test_an_agent_does_better_with_the_skill_that_was_installed(
    into: str, place: str, tmp_path: Path, whet: Whet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    Path("agent.py").write_text(AGENT)
    skills = tmp_path / place
    skills.mkdir(parents=True)
    promoted(Path("releases"), SKILL)

    def solved(run: str) -> float:
        model = f"agent:{sys.executable} agent.py {skills} {{prompt_file}}"
        show = f'target.extra.show=["{skills}"]'
        env = f"{ROOT}/examples/sums.py:Sums"
        said = whet("eval", env, "-m", model, "-n", "4", "--run", run, "--set", show, "--set", "eval.floor=false")
        assert said.code == 0, said.err
        found = re.search(r"total +4 +(\d\.\d+)", said.out)
        assert found is not None, said.out
        return float(found[1])

    assert solved("before") == 0.0
    assert whet("release", "install", "sums", "--into", into).code == 0
    assert solved("after") == 1.0
    assert whet("release", "uninstall", "sums", "--from", into).code == 0
    assert list(skills.iterdir()) == []


def test_a_name_that_no_agent_would_load_is_no_champions(tmp_path: Path) -> None:
    for name in ("a--b", "-a", "a-", "A", "a_b", "a" * 65, ""):
        with pytest.raises(WhetError, match="cannot be a champion's name"):
            promoted(tmp_path, name=name)
