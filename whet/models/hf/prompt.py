"""A conversation as the tokens that a model reads, by its chat template.

A conversation that the model itself has brought this far is continued: the tokens that were read and drawn stay as
they are, and only what came after the last reply is rendered and tokenised. Text that is tokenised again may come out
as other tokens, and then a trainer would learn from what the model never said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import TemplateError

from whet.types import Sampling

Chat = list[dict[str, Any]]

_MARK = "\u2042 here stood the reply \u2042"
"""Put in the place of a reply, to find what a template writes around it."""

_OVERHANG = 200
"""Characters that may follow a reply in its tokens: the stop string that ended it, which is no part of its text."""

KEPT = 1024
"""Texts that are not rendered or tokenised again: what several draws begin with or are answered, what stood before."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation ready for a chat template, its images in the order in which it names them."""

    chat: Chat
    images: tuple[bytes, ...]
    sampling: Sampling
    settings: Mapping[str, Any]
    """Further variables of the chat template."""
    prior_ids: tuple[int, ...] = ()
    """The tokens of this conversation up to and with its last reply, where they are known."""


class Renderer:
    """The chat template and the tokenizer of one model; `ends` are the tokens that end a reply."""

    def __init__(self, processor: Any, ends: frozenset[int]) -> None:
        self._processor = processor
        self._tokenizer = getattr(processor, "tokenizer", processor)
        self._ends = ends
        self._tokenised = lru_cache(maxsize=KEPT)(self._tokenise)
        self._written = lru_cache(maxsize=KEPT)(self._write)

    def text(self, prompt: Prompt) -> str:
        """The conversation in the words of the template, up to where the reply begins."""
        return self._rendered(prompt, prompt.chat, asks=True)

    def ids(self, prompt: Prompt, *, own: bool = False) -> list[int]:
        """The conversation as tokens: `prior_ids` and what follows them, or all of it rendered anew.

        `own`: the caller knows that `prior_ids` are of this very conversation, and that is not looked into.

        It is rendered anew where the template writes an earlier part differently now (one that strips the thinking of
        past turns, say), where the tools or the system text have changed, and where `prior_ids` are not of this
        conversation. What begins a text (BOS) is the template's to write, so the tokenizer adds nothing.
        """
        whole = self.text(prompt)
        return self._continued(prompt, whole, own) or self._tokens(whole)

    def _continued(self, prompt: Prompt, whole: str, own: bool) -> list[int] | None:
        """`prior_ids` and the tokens after them; None where they are not the beginning of this very conversation."""
        replies = [at for at, message in enumerate(prompt.chat) if message["role"] == "assistant"]
        if not prompt.prior_ids or not replies or replies[0] == 0:
            return None
        last = replies[-1]
        try:
            before = self._rendered(prompt, prompt.chat[:last], asks=True)
            after = self._after_reply(prompt, last, before, whole)
            if after is None or not (own or self._is_of(prompt, replies[0], last, before)):
                return None
        except TemplateError:
            return None
        new = self._tokens(after)
        if prompt.prior_ids[-1] in self._ends:
            # The end of the reply was drawn, so it is there already. One that was cut off is ended by the template.
            if new[:1] != [prompt.prior_ids[-1]]:
                return None
            new = new[1:]
        return [*prompt.prior_ids, *new]

    def _after_reply(self, prompt: Prompt, last: int, before: str, whole: str) -> str | None:
        """What the template writes after the last reply; None where it changes what stands before it, or itself.

        Mostly it can be seen: the reply stands there word for word, and what follows begins with no blank that might
        belong to either. Else a mark is put in its place.
        """
        reply = prompt.chat[last]
        said = _text(reply)
        after = whole[len(before) + len(said) :]
        if said and said == said.strip() and whole.startswith(before + said) and after == after.lstrip():
            return after
        marked = {**reply, "content": _MARK if isinstance(reply["content"], str) else [{"type": "text", "text": _MARK}]}
        around = self._rendered(prompt, [*prompt.chat[:last], marked, *prompt.chat[last + 1 :]], asks=True)
        at = around.find(_MARK, len(before))
        if at < 0 or not around.startswith(before) or around[len(before) : at].strip():
            return None
        after = around[at + len(_MARK) :]
        said = whole[len(before) : len(whole) - len(after)]
        same = whole.startswith(before) and whole.endswith(after) and said.strip() == _text(reply).strip()
        return after if same else None

    def _is_of(self, prompt: Prompt, first: int, last: int, before: str) -> bool:
        """Whether `prior_ids` are this conversation, from its first question to its last reply."""
        head = self._rendered(prompt, prompt.chat[:first], asks=False)
        return self._begins(prompt.prior_ids, head) and self._ends_alike(prompt, last, before)

    def _begins(self, ids: Sequence[int], head: str) -> bool:
        """Whether `ids` begin with what stands before the first reply: the system text, with tools, and a question."""
        known = self._tokens(head)
        return list(ids[: len(known)]) == known

    def _ends_alike(self, prompt: Prompt, last: int, before: str) -> bool:
        """Whether `prior_ids` hold as many turns and every message, and end with the last question and its reply.

        Compared as text without blanks, because a reply is known as text: without special tokens, and without the
        stop string that ended it, which may follow here.
        """
        asked = _text(prompt.chat[last - 1]).strip()[-200:]
        lead = before[max(0, before.rfind(asked)) :]
        wanted = _solid(self._decoded(self._tokens(lead)) + _text(prompt.chat[last]))
        found = _solid(self._decoded(prompt.prior_ids))
        at = found.rfind(wanted)
        same_turns = self._ends_in(prompt.prior_ids[:-1]) == self._ends_in(self._tokens(before))
        if not same_turns or at < 0 or len(found) - at - len(wanted) > _OVERHANG:
            return False
        passed, shown = 0, _solid(self._decoded(self._tokens(before)))
        for message in prompt.chat[:last]:
            said = _solid(self._decoded(self._tokens(_text(message))))
            place = found.find(said, passed)
            if place >= 0:
                passed = place + len(said)
            elif said in shown:  # what a template leaves out or rewrites is not to be found in either
                return False
        return True

    def _ends_in(self, ids: Sequence[int]) -> int:
        """How many turns have ended: a reply has no end token but its last, and the template writes one for each."""
        return sum(token in self._ends for token in ids)

    def _rendered(self, prompt: Prompt, chat: Chat, *, asks: bool) -> str:
        try:
            return self._written(tuple(tuple(message.items()) for message in chat), (*prompt.settings.items(),), asks)
        except TypeError:  # parts of a message, and settings that are lists, are not known again
            return self._write(chat, prompt.settings, asks)

    def _write(self, chat: Iterable[Any], settings: Any, asks: bool) -> str:
        text: str = self._processor.apply_chat_template(
            [dict(message) for message in chat], add_generation_prompt=asks, tokenize=False, **dict(settings)
        )
        return text

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenised(text))

    def _tokenise(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _decoded(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _solid(text: str) -> str:
    """`text` without its blanks, with which tokenizers take liberties."""
    return "".join(text.split())
