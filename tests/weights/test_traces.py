"""What is imitated: the very tokens that the model would read, learnt only where it speaks."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from small_world import Hail, sft_config
from tiny_weights import talking_weights

from whet.errors import WhetError
from whet.learn.weights.base import Base, open_base
from whet.learn.weights.config import SftSection
from whet.learn.weights.sft import IGNORED, rows_of
from whet.learn.weights.traces import TokenScribe, gather_traces
from whet.models import ModelOptions, load_model
from whet.models.hf.folder import read_folder
from whet.models.hf.model import LocalModel
from whet.rollout.tokens import TokenSequence
from whet.types import Playbook

FORGETFUL = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.role == 'assistant' and not loop.last %}a{% else %}{{ m.content }}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""Writes what the model said before in another way."""


def opened(folder: Path) -> tuple[Base, TokenScribe]:
    base = open_base(read_folder(str(folder)))
    speaker = load_model(f"hf:{folder}", ModelOptions())
    assert isinstance(speaker, LocalModel)
    return base, TokenScribe(base, speaker.form)


def words(base: Base, sequence: TokenSequence, mark: int) -> str:
    chosen = [token for token, here in zip(sequence.ids, sequence.mask, strict=True) if here == mark]
    return str(base.tokenizer.decode(chosen))


def test_an_oracle_of_two_turns_is_learnt_where_it_speaks(base: Path) -> None:
    held, scribe = opened(base)
    found = gather_traces(SftSection(), Hail(turns=2), range(3), scribe, Playbook("beg"), None)
    [sequence] = found.traces[1].sequences
    assert words(held, sequence, 1) == "hb<|end|>hb<|end|>"
    assert (
        words(held, sequence, 0) == "<|system|>beg<|end|><|user|>bb<|end|><|assistant|><|user|>deaf<|end|><|assistant|>"
    )
    [row] = rows_of(found.traces[1:2])
    assert [label != IGNORED for label in row["labels"]] == [bool(mark) for mark in sequence.mask]


def test_a_message_of_no_weight_is_read_and_not_learnt(base: Path, tmp_path: Path) -> None:
    held, scribe = opened(base)
    said = [("user", "bb"), ("assistant", "ab"), ("user", "deaf"), ("assistant", "hb")]
    messages = [{"role": role, "content": text} for role, text in said]
    messages[1]["weight"] = 0  # type: ignore[assignment]
    file = tmp_path / "chat.jsonl"
    file.write_bytes(orjson.dumps({"messages": messages}) + b"\n")
    found = gather_traces(SftSection(source="chat", path=str(file)), Hail(), (), scribe, Playbook(), None)
    [sequence] = found.traces[0].sequences
    assert words(held, sequence, 1) == "hb<|end|>"
    assert "<|assistant|>ab<|end|>" in words(held, sequence, 0)


def test_a_weight_that_is_no_yes_or_no_is_refused_by_its_line(base: Path, tmp_path: Path) -> None:
    _, scribe = opened(base)
    file = tmp_path / "chat.jsonl"
    messages = [{"role": "user", "content": "bb"}, {"role": "assistant", "content": "hb", "weight": 0.5}]
    file.write_bytes(orjson.dumps({"messages": messages}) + b"\n")
    with pytest.raises(WhetError, match=r"chat\.jsonl:1: .*weight 0\.5: a message is learnt \(1\) or not \(0\)"):
        gather_traces(SftSection(source="chat", path=str(file)), Hail(), (), scribe, Playbook(), None)


def test_a_file_of_conversations_is_learnt_in_the_same_way(base: Path, tmp_path: Path) -> None:
    held, scribe = opened(base)
    said = [("user", "bb"), ("assistant", "hb"), ("user", "deaf"), ("assistant", "hb")]
    file = tmp_path / "chat.jsonl"
    file.write_bytes(orjson.dumps({"messages": [{"role": role, "content": text} for role, text in said]}) + b"\n")
    section = SftSection(source="chat", path=str(file))
    [trace] = gather_traces(section, Hail(), (), scribe, Playbook(), None).traces
    oracle = gather_traces(SftSection(), Hail(turns=2), [1], scribe, Playbook(), None).traces[0]
    assert trace.sequences == oracle.sequences
    assert words(held, trace.sequences[0], 1) == "hb<|end|>hb<|end|>"


def test_a_template_that_rewrites_the_past_makes_two_sequences(tmp_path: Path) -> None:
    held, scribe = opened(talking_weights(tmp_path, FORGETFUL))
    [trace] = gather_traces(SftSection(), Hail(turns=2), [1], scribe, Playbook(), None).traces
    assert [words(held, sequence, 1) for sequence in trace.sequences] == ["hb<|end|>", "hb<|end|>"]


def test_what_is_left_out_is_counted_and_nothing_left_is_an_error(base: Path, tmp_path: Path) -> None:
    _, scribe = opened(base)
    with pytest.raises(WhetError, match=r"no conversation to learn from \(3 too long for the context\)"):
        gather_traces(SftSection(), Hail(), range(3), scribe, Playbook(), 4)
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b'{"messages": [{"role": "user", "content": "a"}]}\n')
    with pytest.raises(WhetError, match=r"1 without a word of the model's"):
        gather_traces(SftSection(source="chat", path=str(empty)), Hail(), (), scribe, Playbook(), None)
    empty.write_bytes(b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": " "}]}\n')
    with pytest.raises(WhetError, match=r"1 with empty replies alone"):
        gather_traces(SftSection(source="chat", path=str(empty)), Hail(), (), scribe, Playbook(), None)
    empty.write_bytes(b'{"message": "a"}\n')
    with pytest.raises(WhetError, match=r"empty.jsonl:1: no chat record"):
        gather_traces(SftSection(source="chat", path=str(empty)), Hail(), (), scribe, Playbook(), None)


def test_a_source_must_say_where(base: Path) -> None:
    with pytest.raises(WhetError, match="source = 'run' needs a path"):
        sft_config(base, sft={"source": "run"})
