"""Two dozens of files and keys made apart from the reader: 11 and 10 of 12 were right when it met them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from whet.envs.data.proposal import propose
from whet.envs.data.source import read_source
from whet.envs.data.template import Template

DATA = Path(__file__).parent / "data"
KEYS: list[dict[str, Any]] = json.loads((DATA / "strangers.json").read_text(encoding="utf-8"))
IN_DOUBT = {"A08"}
"""The worked solution is taken for the answer; the answer's own column is named as what it may be as well."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strangers")
    with tarfile.open(DATA / "strangers.tar.xz") as held:
        held.extractall(folder, filter="data")
    return folder


def covered(column: str, shown: set[str]) -> bool:
    """Whether a column, or a part of it, stands in a prompt."""
    return any(name == column or name.startswith(f"{column}.") for name in shown)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key['name']}-{key['shape']}")
def test_a_strangers_file_is_read_as_its_key_says(key: dict[str, Any], files: Path) -> None:
    if key["file"].endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow, the extra 'data'")
    source = read_source(files / key["file"])
    found = propose(source)
    if key["name"] in IN_DOUBT:
        assert any(repr(name) in doubt and "--answer" in doubt for name in key["answer"] for doubt in found.unsure)
        return
    shown = {*Template.parse(found.args["prompt"], source.columns).columns, *found.args.get("options", ())}
    assert found.args.get("answer", "") in key["answer"], found.unsure
    assert found.args["check"] in key["checks"]
    assert [name for name in key["must"] if name in source.columns and not covered(name, shown)] == []
    assert [name for name in key["never"] if covered(name, shown)] == []
