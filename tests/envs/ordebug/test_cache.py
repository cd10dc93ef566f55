"""The cache: made once, read back the same, never trusted blindly; splits share no content."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.envs import splits
from whet.envs.ordebug import cache, maker
from whet.envs.ordebug.cache import certified, default_folder, generator_digest
from whet.envs.ordebug.families import SEEN
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.ladder import cell
from whet.types import SPLITS


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    cache._certified.cache_clear()


def ask(folder: Path, index: int = 0) -> Instance:
    return certified(cell("B", "easy"), "train", index, families=SEEN, folder=folder)


def again(folder: Path) -> Instance:
    """As another process would ask."""
    cache._certified.cache_clear()
    return ask(folder)


def no_more(*_: object) -> Instance:
    raise AssertionError("made again")


def test_an_instance_is_made_once_and_read_back_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ask(tmp_path)
    monkeypatch.setattr(maker, "make", no_more)
    assert again(tmp_path).to_data() == made.to_data()


def test_two_folders_get_the_same_instance(tmp_path: Path) -> None:
    assert ask(tmp_path / "one").to_data() == ask(tmp_path / "two").to_data()


def test_objects_are_named_by_their_content(tmp_path: Path) -> None:
    ask(tmp_path)
    (named,) = (tmp_path / "objects").iterdir()
    (request,) = (tmp_path / "names").iterdir()
    assert request.read_text() == named.stem


def test_an_object_that_was_tampered_with_is_made_again(tmp_path: Path) -> None:
    made = ask(tmp_path)
    (named,) = (tmp_path / "objects").iterdir()
    named.write_bytes(named.read_bytes().replace(b'"easy"', b'"hard"'))
    assert again(tmp_path).difficulty == made.difficulty


def test_files_that_were_swapped_are_found_out(tmp_path: Path) -> None:
    """Each file is sound in itself; only together they would serve the problem of another request."""
    first, second = ask(tmp_path), ask(tmp_path, 1)
    names = sorted((tmp_path / "names").iterdir())
    one, other = (name.read_text() for name in names)
    names[0].write_text(other)
    names[1].write_text(one)
    assert again(tmp_path) == first
    assert ask(tmp_path, 1) == second


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert ask(blocked).kind == "B"


def test_other_code_or_another_solver_asks_for_other_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(tmp_path)
    monkeypatch.setattr(cache, "generator_digest", lambda: "another")
    again(tmp_path)
    assert len(list((tmp_path / "names").iterdir())) == 2


def test_every_instance_belongs_to_its_split_by_content(tmp_path: Path) -> None:
    for split in SPLITS:
        for index in range(3):
            one = certified(cell("A", "easy"), split, index, families=SEEN, folder=tmp_path)
            assert splits.split_of(one.content) == split


def test_the_folder_follows_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "whet" / "ordebug"


def test_the_generator_is_known_by_a_digest_that_does_not_change() -> None:
    first = generator_digest()
    generator_digest.cache_clear()
    assert generator_digest() == first
