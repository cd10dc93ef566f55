"""`whet init` on files as people have them: right without a word, or in doubt aloud, and mended with one option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from init.fourth_shapes import fourth_shapes
from init.other_shapes import other_shapes
from init.shapes import Shape, shapes
from init.third_shapes import third_shapes

from whet.envs.data.proposal import DataProposal, Wishes, propose
from whet.envs.data.source import read_source
from whet.envs.data.template import Template
from whet.envs.registry import load_environment
from whet.errors import WhetError

EVERY = [*shapes(), *other_shapes(), *third_shapes(), *fourth_shapes()]


def read(shape: Shape, folder: Path, **wishes: Any) -> DataProposal:
    path = folder / f"rows{shape.ending}"
    if shape.ending == ".parquet":
        pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow, the extra 'data'")
    shape.write(path)
    proposal = propose(read_source(path), Wishes(**wishes))
    load_environment(f"data:{path}", proposal.args)
    return proposal


def is_right(shape: Shape, proposal: DataProposal, folder: Path) -> bool:
    columns = read_source(folder / f"rows{shape.ending}").columns
    shown = Template.parse(proposal.args["prompt"], columns).columns
    return (
        proposal.args.get("answer", "") == shape.answer
        and proposal.args["check"] == shape.check
        and set(shape.asked) <= set(shown)
        and all(proposal.args.get(name) == value for name, value in shape.args.items())
    )


@pytest.mark.parametrize("shape", [shape for shape in EVERY if not shape.mended], ids=lambda shape: shape.name)
def test_a_file_is_understood_without_a_word(shape: Shape, tmp_path: Path) -> None:
    proposal = read(shape, tmp_path)
    assert is_right(shape, proposal, tmp_path), (proposal.args, proposal.unsure)


@pytest.mark.parametrize("shape", [shape for shape in EVERY if shape.mended], ids=lambda shape: shape.name)
def test_what_is_in_doubt_is_said_and_mended_with_one_option(shape: Shape, tmp_path: Path) -> None:
    try:
        doubts = " ".join(read(shape, tmp_path).unsure)
    except WhetError as error:
        doubts = str(error)
    (option,) = shape.mended
    assert f"--{option.replace('_', '-')}" in doubts
    wishes = {**shape.mended} if "rubric" not in shape.mended.values() else {"check": "em"}
    again = tmp_path / "again"
    again.mkdir()
    assert read(shape, again, **wishes).args["answer"] == shape.answer
