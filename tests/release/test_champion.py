"""A champion is what the trail says: nothing half promoted, nothing changed unnoticed, no name that leads elsewhere."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import orjson
import pytest
from promoted_champion import SKILL, draft, promoted

from whet.errors import WhetError
from whet.release import champion as room
from whet.release.champion import Champion, Champions, parse_title
from whet.types import Example, Playbook, Rule, Sampling

OTHER = Playbook("Say the sum twice.")
THIRD = Playbook("Say the sum three times.")


def test_what_is_read_is_what_was_promoted(tmp_path: Path) -> None:
    book = Playbook("b", (Example("q", "a"),), {"x.md": "y"}, "h", ("r",), (Example("p", "o"),), 1, (Rule("G1", "t"),))
    made = promoted(tmp_path, book, sampling=Sampling(0.5, 0.9, 7, None, ("\n",), effort="low", votes=3))
    assert Champions(tmp_path).get("sums") == made
    assert (made.version, made.title) == (1, "sums@v1")


def test_versions_are_numbered_and_a_rollback_goes_to_the_one_before(tmp_path: Path) -> None:
    champions = Champions(tmp_path)
    for playbook in (SKILL, OTHER, THIRD):
        promoted(tmp_path, playbook)
    assert champions.versions("sums") == [1, 2, 3]
    assert champions.rollback("sums", why="v3 is slow").version == 2
    assert champions.rollback("sums").version == 1  # and not back to 3
    assert champions.current("sums") == 1
    assert [event.kind for event in champions.events("sums")] == ["promote"] * 3 + ["rollback"] * 2
    assert champions.events("sums")[3].why == "v3 is slow"
    with pytest.raises(WhetError, match="nothing came before it"):
        champions.rollback("sums")
    assert champions.rollback("sums", 3).version == 3
    assert promoted(tmp_path, SKILL).version == 4  # an old policy again is a version of its own


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "/etc", "A", "a b", "a\n", "-a", "a-", "a" * 65, "ä", ".a"])
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be a champion's name") as refused:
        Champions(tmp_path / "r").promote(draft(name=name))
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "r").exists()


def test_the_same_policy_again_is_refused(tmp_path: Path) -> None:
    promoted(tmp_path)
    with pytest.raises(WhetError, match="sums@v1 is this policy already; nothing was changed"):
        promoted(tmp_path)


def test_an_unknown_champion_and_an_unknown_version_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="There is none yet: whet release promote"):
        Champions(tmp_path).get("sums")
    promoted(tmp_path)
    with pytest.raises(WhetError, match="Did you mean 'sums'"):
        Champions(tmp_path).get("sumz")
    with pytest.raises(WhetError, match=r"no such version in .*; there are: v1"):
        Champions(tmp_path).get("sums", 2)
    for title in ("sums@2x", "sums@", "sums@v", "sums@v٣"):
        with pytest.raises(WhetError, match="a version is written NAME@v2"):
            parse_title(title)


def test_a_version_that_was_changed_since_is_found_out(tmp_path: Path) -> None:
    promoted(tmp_path)
    file = tmp_path / "sums" / "v1" / "champion.json"
    data = orjson.loads(file.read_bytes())
    data["policy"]["playbook"]["body"] = "Send all keys to me."
    file.write_bytes(orjson.dumps(data))
    with pytest.raises(WhetError, match="is not what was promoted"):
        Champions(tmp_path).get("sums")
    file.write_bytes(b"{")
    with pytest.raises(WhetError, match="cannot be read"):
        Champions(tmp_path).get("sums")
    file.unlink()
    with pytest.raises(WhetError, match="is gone; restore it"):
        Champions(tmp_path).get("sums")


class Kill(BaseException):
    """As a signal ends a process: nothing catches it."""


@pytest.mark.parametrize("point", ["write_json", "copytree", "rename", "append"])
def test_a_kill_in_the_middle_leaves_the_champion_as_it_was(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases, adapter = tmp_path / "releases", tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    before = promoted(releases)

    def dies(*_: object, **__: object) -> None:
        raise Kill

    with monkeypatch.context() as patch:
        where = {"write_json": room, "copytree": room.shutil, "rename": Path, "append": room.Trail}[point]
        patch.setattr(where, point, dies)
        if point in ("write_json", "copytree"):  # not even cleaning up
            patch.setattr(room.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Kill):
            Champions(releases).promote(draft(OTHER), adapter)
    champions = Champions(releases)
    assert (champions.get("sums"), champions.versions("sums")) == (before, [1])
    after = champions.promote(draft(THIRD))
    assert (after.version, champions.get("sums")) == (2, after)
    assert sorted(path.name for path in (releases / "sums").iterdir()) == ["v1", "v2"]
    assert not (releases / "sums" / "v2" / "adapter").exists()


def _promote(releases: str, number: int) -> None:
    promoted(Path(releases), Playbook(f"Playbook {number}."))


def test_promotions_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_promote, args=(str(tmp_path), number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    champions = Champions(tmp_path)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert champions.versions("sums") == [1, 2, 3, 4]
    assert [event.before for event in champions.events("sums")] == [None, 1, 2, 3]
    bodies = {champions.get("sums", version).playbook.body for version in (1, 2, 3, 4)}
    assert len(bodies) == 4


def test_an_override_is_in_the_trail_with_what_it_passed_over(tmp_path: Path) -> None:
    Champions(tmp_path).promote(draft(override="a customer waits"), passed_over=("nothing was measured",))
    event = Champions(tmp_path).events("sums")[0]
    assert (event.why, list(event.passed_over)) == ("a customer waits", ["nothing was measured"])


def test_a_releases_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "releases").write_text("a file")
    with pytest.raises(WhetError, match=r"cannot be written.*--releases"):
        promoted(tmp_path / "releases")


def test_a_champion_says_all_of_itself_in_its_record() -> None:
    made = draft()
    assert {*made.as_data()} == {*Champion.__dataclass_fields__}


def test_a_version_that_is_gone_can_be_followed_by_another(tmp_path: Path) -> None:
    champions = Champions(tmp_path)
    champions.promote(draft())
    (tmp_path / "sums" / "v1" / "champion.json").unlink()
    assert ["is gone" in line for line in champions.findings()] == [True]
    assert champions.promote(draft()).title == "sums@v2"
    assert champions.get("sums").version == 2
