"""How long the worked attempts of `ordebug` are, in tokens of SmolLM2: they must fit a small model's context.

`python bench/ordebug_traces.py [--quick]`. Prompt, answers and replies are counted, under the model's chat template;
its tokenizer is that of the weights that `hf:smollm2` unpacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median, quantiles
from typing import Any

from rows import Row, arguments, report
from transformers import AutoTokenizer

from whet.apps.ordebug.traces import traces
from whet.envs.ordebug.environment import OrDebug
from whet.envs.ordebug.family import FAMILY
from whet.models.hf.address import base_folder

MEDIAN = 1500
"""Tokens that the median on tiny, in table form, must stay under."""

PROMPT = 900
"""Tokens that a prompt on tiny must stay within."""


def measured(quick: bool) -> Iterator[Row]:
    tokenizer = AutoTokenizer.from_pretrained(base_folder("smollm2"))
    for size in ("tiny", "small"):
        for form in ("table", "prose"):
            env = FAMILY.build("", "", {"size": size, "subtlety": "near", "spec": form})
            assert isinstance(env, OrDebug)
            told = [record["messages"] for record, _ in traces(env, range(10 if quick else 40))]
            lengths = [_tokens(tokenizer, said) for said in told]
            middle, high = median(lengths), quantiles(lengths, n=20)[-1]
            bar, holds = (float(MEDIAN), middle < MEDIAN) if (size, form) == ("tiny", "table") else (None, None)
            said = f"{len(lengths)} traces, p95 {high:.0f}, longest {max(lengths)}"
            yield Row(f"traces/{size}_near/{form}", middle, "tokens", bar, holds, condition=said)
            longest = max(_tokens(tokenizer, said[:1]) for said in told)
            bar, holds = (float(PROMPT), longest <= PROMPT) if size == "tiny" else (None, None)
            yield Row(f"prompt/{size}_near/{form}", longest, "tokens", bar, holds, condition="the longest prompt")


def _tokens(tokenizer: Any, said: Any) -> int:
    return len(tokenizer.apply_chat_template(said, tokenize=True)["input_ids"])


if __name__ == "__main__":
    chosen = arguments(__doc__)
    report(measured(chosen.quick), chosen.json)
