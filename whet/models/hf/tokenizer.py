"""A tokenizer's own words about itself: special tokens, their ids, and its chat template. Nothing is tokenized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.models.hf.folder import read_json

_SPARES = ("<|endoftext|>", "<pad>", "<|pad|>", "<|finetune_right_pad_id|>", "<unk>")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Special tokens as text ('' where none is named), all named tokens by id, and the chat template ('' for none)."""

    eos: str
    pad: str
    template: str
    tokens: Mapping[int, str]

    def named(self, ids: Any) -> set[str]:
        """The tokens that an id, or a list of them, stands for; an id without a name is shown as a number."""
        each = ids if isinstance(ids, list) else [] if ids is None else [ids]
        return {self.tokens.get(token, f"id {token}") for token in each}

    def spare(self, turn: str) -> str:
        """A token to pad with: one that the vocabulary has and that no turn ends with."""
        held = set(self.tokens.values())
        return next((token for token in _SPARES if token in held and token != turn), "a token of its own")


def read_tokenizer(folder: Path) -> Tokenizer | None:
    """The tokenizer of a model folder; None where there is none."""
    said = read_json(folder / "tokenizer_config.json")
    whole = read_json(folder / "tokenizer.json")
    if not said or not (whole or (folder / "tokenizer.model").is_file() or (folder / "vocab.json").is_file()):
        return None
    special = read_json(folder / "special_tokens_map.json")
    eos, pad = (_text(said.get(name)) or _text(special.get(name)) for name in ("eos_token", "pad_token"))
    return Tokenizer(eos, pad, _template(folder, said), _tokens(whole, said))


def _template(folder: Path, said: dict[str, Any]) -> str:
    own = folder / "chat_template.jinja"
    if own.is_file():
        return own.read_text(encoding="utf-8", errors="replace")
    written = said.get("chat_template") or read_json(folder / "chat_template.json").get("chat_template") or ""
    if isinstance(written, list):  # several by name
        return "\n".join(str(named.get("template", "")) for named in written if isinstance(named, dict))
    return str(written)


def _tokens(whole: dict[str, Any], said: dict[str, Any]) -> dict[int, str]:
    found: dict[int, str] = {}
    vocabulary = (whole.get("model") or {}).get("vocab")
    if isinstance(vocabulary, dict):
        found.update({place: token for token, place in vocabulary.items() if token.startswith("<")})
    for added in whole.get("added_tokens") or ():
        found[added["id"]] = added["content"]
    for place, added in (said.get("added_tokens_decoder") or {}).items():
        found[int(place)] = _text(added)
    return found


def _text(token: Any) -> str:
    """A token as text, where it may also be an object."""
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else ""
