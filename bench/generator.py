"""Plays of many turns by local weights: a decoder with pages against plain `generate` and continuous batching.

python bench/generator.py [--quick] [--toy] [--json FILE] [--variants] [--profile] [--patience SECONDS]

The batch of a trainer: 24 tasks with 12 draws each, 288 plays of about six turns, prompts of 1,700 tokens, 60 to 100
new tokens a turn and 30 to 70 tokens of a tool's answer in between, by SmolLM2-135M in bf16 on a GPU. The weights are
random in SmolLM2's shape: what is said does not change the time. Lengths are forced, so that all ways read and draw the
same number of tokens:

* plain `generate`, all plays in lock step, the conversation read anew each turn (left-padded, in batches that fit);
* transformers' continuous batching as TRL's `use_transformers_continuous_batching` uses it, a manager for each turn;
  and one manager for all turns, which is asked for the next turn of a play as soon as its last has come;
* `whet.models.hf.decoder`, cold (graphs are recorded) and warm.

It needs torch, transformers and orjson. `--toy` runs the same with a tiny model on any machine, to see that it works;
`--quick` takes a quarter of the plays; `--variants` also times the decoder with other settings. A peer that has not
ended after `--patience` seconds is stopped: its figure is then the least that it takes, and so is the ratio.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from rows import Row, report

sys.path.insert(0, str(Path(__file__).parents[1]))

from whet.models.hf.decoder import Decoder, DecoderLimits
from whet.models.hf.rows import Defaults
from whet.types import Sampling

NO_END = 10**9


@dataclass(frozen=True, slots=True)
class Batch:
    """What is played: for each play its prompt, and for each of its turns the new tokens and the answer to them."""

    prompts: list[list[int]]
    turns: list[list[tuple[int, list[int]]]]

    @property
    def drawn(self) -> int:
        return sum(new for turns in self.turns for new, _ in turns)


def batch(tasks: int, draws: int, prompt: int, new: int, vocabulary: int) -> Batch:
    chance = random.Random(0)

    def tokens(n: int) -> list[int]:
        return [chance.randrange(100 if vocabulary > 1000 else 3, vocabulary) for _ in range(n)]

    prompts = [read for read in (tokens(prompt) for _ in range(tasks)) for _ in range(draws)]
    turns = [
        [
            (chance.randrange(new * 6 // 10, new + 1), tokens(chance.randrange(new * 3 // 10, new * 7 // 10)))
            for _ in range(chance.choice((5, 6, 6, 6, 7)))
        ]
        for _ in prompts
    ]
    return Batch(prompts, turns)


def weights(toy: bool, device: str) -> Any:
    """Random weights in the shape of SmolLM2-135M, or of a toy."""
    torch.manual_seed(0)
    shape: dict[str, Any] = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536}
    shape |= {"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3}
    if toy:
        shape = {"vocab_size": 300, "hidden_size": 48, "intermediate_size": 96}
        shape |= {"num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(
        **shape, max_position_embeddings=8192, tie_word_embeddings=True, eos_token_id=None, bos_token_id=None
    )
    model = transformers.LlamaForCausalLM(config)
    model.generation_config.pad_token_id = 0
    return model.to(device, torch.bfloat16 if device == "cuda" else torch.float32).eval()


class Unfinished(Exception):
    """A peer was stopped; how much it had drawn."""


class Clock:
    """Stops a peer that takes too long."""

    def __init__(self, patience: float) -> None:
        self._until = time.perf_counter() + patience
        self.drawn = 0

    def look(self, drawn: int) -> None:
        self.drawn = drawn
        if time.perf_counter() > self._until:
            raise Unfinished(drawn)


# --------------------------------------------------------------------------------------------- three ways


def by_generate(model: Any, work: Batch, rows: int, clock: Clock) -> int:
    """Lock step: all plays that have a turn left, read anew and padded on the left."""
    talks = [list(prompt) for prompt in work.prompts]
    drawn = 0
    for turn in range(max(map(len, work.turns))):
        left = [at for at, turns in enumerate(work.turns) if turn < len(turns)]
        for start in range(0, len(left), rows):
            clock.look(drawn)
            these = left[start : start + rows]
            width = max(len(talks[at]) for at in these)
            ids = torch.tensor([[0] * (width - len(talks[at])) + talks[at] for at in these], device=model.device)
            mask = torch.tensor([[0] * (width - len(talks[at])) + [1] * len(talks[at]) for at in these])
            most = max(work.turns[at][turn][0] for at in these)
            with torch.inference_mode():
                out = model.generate(
                    input_ids=ids,
                    attention_mask=mask.to(model.device),
                    do_sample=True,
                    max_new_tokens=most,
                    min_new_tokens=most,
                )
            for at, row in zip(these, out[:, width:].tolist(), strict=True):
                new, answer = work.turns[at][turn]
                drawn += new
                talks[at] += [*row[:new], *answer]
    return drawn


def _manager(model: Any, work: Batch, **options: Any) -> Any:
    from transformers import GenerationConfig
    from transformers.generation import ContinuousBatchingConfig

    config = GenerationConfig(do_sample=True, max_new_tokens=128, eos_token_id=-1, pad_token_id=0)
    return model.continuous_batching_context_manager(
        generation_config=config,
        continuous_batching_config=ContinuousBatchingConfig(max_memory_percent=0.5, **options),
        timeout=5,
    )


def _results(manager: Any, clock: Clock) -> Iterator[Any]:
    while True:
        clock.look(clock.drawn)
        result = manager.get_result(timeout=1)
        if result is not None and result.is_finished():
            if result.error is not None:
                raise RuntimeError(result.error)
            yield result
        elif result is None and not manager.is_running():
            raise RuntimeError("the manager has stopped")


def by_turns(model: Any, work: Batch, clock: Clock, **options: Any) -> int:
    """As TRL: a manager for each turn, all plays in lock step."""
    talks = [list(prompt) for prompt in work.prompts]
    drawn = 0
    for turn in range(max(map(len, work.turns))):
        left = [at for at, turns in enumerate(work.turns) if turn < len(turns)]
        with torch.no_grad(), _manager(model, work, **options) as manager:
            # Sorted by prompt, as transformers does it for the sake of its own prefix cache.
            asked = {}
            for at in sorted(left, key=lambda at: talks[at], reverse=True):
                asked[manager.add_request(talks[at], max_new_tokens=work.turns[at][turn][0], eos_token_id=-1)] = at
            results = _results(manager, clock)
            for _ in left:
                result = next(results)
                at = asked[result.request_id]
                drawn = clock.drawn = drawn + len(result.generated_tokens)
                talks[at] += [*result.generated_tokens, *work.turns[at][turn][1]]
        print(f"#   turn {turn + 1}: {drawn} tokens drawn", flush=True)
    return drawn


def by_one_manager(model: Any, work: Batch, clock: Clock, **options: Any) -> int:
    """One manager for all: a play's next turn is asked for as soon as its last has come."""
    talks = [list(prompt) for prompt in work.prompts]
    turn = [0] * len(talks)
    drawn, open_plays = 0, len(talks)
    with torch.no_grad(), _manager(model, work, **options) as manager:
        asked: dict[str, int] = {}

        def ask(at: int) -> None:
            asked[manager.add_request(talks[at], max_new_tokens=work.turns[at][turn[at]][0], eos_token_id=-1)] = at

        for at in range(len(talks)):
            ask(at)
        for result in _results(manager, clock):
            at = asked.pop(result.request_id)
            drawn = clock.drawn = drawn + len(result.generated_tokens)
            talks[at] += [*result.generated_tokens, *work.turns[at][turn[at]][1]]
            turn[at] += 1
            if turn[at] < len(work.turns[at]):
                ask(at)
            else:
                open_plays -= 1
                if not open_plays:
                    break
    return drawn


def decoder_of(model: Any, work: Batch, **options: Any) -> Decoder:
    limits = DecoderLimits(slots=len(work.prompts), chunk=max(4096, 2 * len(work.prompts)))
    return Decoder(model, Defaults(1.0, 1.0, frozenset()), str, replace(limits, **options))


def by_decoder(decoder: Decoder, work: Batch) -> int:
    talks = [list(prompt) for prompt in work.prompts]
    turn = [0] * len(talks)
    asked: dict[int, int] = {}
    drawn = 0

    def ask(at: int) -> None:
        sampling = Sampling(1.0, max_tokens=work.turns[at][turn[at]][0], seed=97 * at + turn[at], logprobs=0)
        asked[decoder.submit(talks[at], sampling)] = at

    for at in range(len(talks)):
        ask(at)
    while decoder.busy:
        for ticket, result in decoder.step():
            if isinstance(result, Exception):
                raise result
            at = asked.pop(ticket)
            drawn += len(result.completion_ids)
            talks[at] += [*result.completion_ids, *work.turns[at][turn[at]][1]]
            turn[at] += 1
            if turn[at] < len(work.turns[at]):
                ask(at)
    return drawn


# --------------------------------------------------------------------------------------------- figures


def timed(run: Callable[[], int], work: Batch) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    began = time.perf_counter()
    drawn = run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    spent = time.perf_counter() - began
    assert drawn == work.drawn, f"{drawn} tokens drawn, {work.drawn} were to be"
    return spent


def attempt(name: str, run: Callable[[Clock], int], work: Batch, patience: float) -> tuple[float, str] | None:
    """Seconds and a word on them, or None where a peer does not run on this machine; why is printed."""
    began, word = time.perf_counter(), ""
    try:
        spent = timed(lambda: run(Clock(patience)), work)
    except Unfinished as stop:
        spent = time.perf_counter() - began
        word = f"stopped after {stop.args[0]} of {work.drawn} tokens; "
    except Exception as error:  # noqa: BLE001 - a peer that does not run is a finding, not an end
        print(f"# {name} does not run here: {type(error).__name__}: {str(error)[:300]}", flush=True)
        return None
    print(f"# {name}: {word}{spent:.2f} s", flush=True)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return spent, word


def same_words(model: Any, work: Batch) -> float:
    """Share of greedy replies in float32 that are plain `generate`'s, token for token, over two turns."""
    model = model.float()
    short = Batch([prompt[:200] for prompt in work.prompts[::12][:8]], [turns[:2] for turns in work.turns[::12][:8]])
    decoder = decoder_of(model, short)
    talks = [list(prompt) for prompt in short.prompts]
    same = total = 0
    for turn in range(2):
        asked = [decoder.submit(talk, Sampling(0.0, max_tokens=40)) for talk in talks]
        found: dict[int, Any] = {}
        while decoder.busy:
            found |= dict(decoder.step())
        for at, ticket in enumerate(asked):
            ids = torch.tensor([talks[at]], device=model.device)
            with torch.inference_mode():
                out = model.generate(input_ids=ids, attention_mask=ids * 0 + 1, do_sample=False, max_new_tokens=40)
            wanted = out[0, len(talks[at]) :].tolist()
            same += wanted == list(found[ticket].completion_ids)
            total += 1
            talks[at] += [*wanted, *short.turns[at][turn][1]]
    decoder.close()
    return same / total


def rows(given: argparse.Namespace) -> Iterator[Row]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = weights(given.toy, device)
    size = (2, 3, 40, 10) if given.toy else (given.tasks or (6 if given.quick else 24), 12, 1700, 100)
    work = batch(*size, model.config.vocab_size)
    told = f"{size[0]} x {size[1]} plays of {size[2]} tokens, {work.drawn} drawn, {_machine(device)}"
    print(f"# {told}", flush=True)
    if given.profile:
        profile(model, work)
    decoder = decoder_of(model, work)
    cold = timed(lambda: by_decoder(decoder, work), work)
    decoder.refresh()
    read = decoder.read
    warm = []
    for _ in range(3):
        warm.append(timed(lambda: by_decoder(decoder, work), work))
        decoder.refresh()
    own = sorted(warm)[1]
    print(
        f"# decoder: cold {cold:.2f} s, warm {', '.join(f'{spent:.2f}' for spent in warm)} s, {read} read", flush=True
    )
    yield Row("generator_seconds", own, "s", condition=f"warm, median of 3; cold {cold:.2f} s; {told}")
    decoder.close()
    if given.variants:
        for name, options in VARIANTS.items():
            other = decoder_of(model, work, **options)
            first = timed(lambda other=other: by_decoder(other, work), work)  # type: ignore[misc]
            other.refresh()
            again = timed(lambda other=other: by_decoder(other, work), work)  # type: ignore[misc]
            other.close()
            print(f"# decoder with {name}: cold {first:.2f} s, warm {again:.2f} s", flush=True)
    share = same_words(model, work)
    yield Row("generator_same_as_generate", share, "share", 1.0, share == 1.0, condition="greedy, float32, two turns")
    model = weights(given.toy, device)
    peers: dict[str, tuple[float | None, Callable[[Clock], int]]] = {
        "continuous batching, a manager a turn": (4.0, lambda clock: by_turns(model, work, clock)),
        "continuous batching, one manager": (None, lambda clock: by_one_manager(model, work, clock)),
        "plain generate": (6.0, lambda clock: by_generate(model, work, given.rows, clock)),
    }
    for name, (bar, run) in peers.items():
        if name in given.skip:
            continue
        ended = attempt(name, run, work, given.patience)
        if ended is not None:
            spent, word = ended
            if word and name != "plain generate":  # its thread may still be at work, and would disturb the next manager
                given.skip.append("continuous batching, one manager")
            ratio = spent / own
            label = f"generator_over_{name.replace(',', '').replace(' ', '_')}"
            judged = bar is not None and device == "cuda" and not given.toy
            holds = ratio >= bar if judged and bar is not None else None
            yield Row(label, ratio, "x", bar, holds, name, spent, ratio, word + told)


VARIANTS: dict[str, dict[str, Any]] = {
    "stride 1": {"stride": 1},
    "stride 8": {"stride": 8},
    "no graphs": {"graphs": False},
    "half the slots": {"slots": 144},
}


def profile(model: Any, work: Batch) -> None:
    """Where the device's time goes, by kernel."""
    decoder = decoder_of(model, work)
    by_decoder(decoder, work)
    decoder.refresh()
    some = Batch(work.prompts, [turns[:1] for turns in work.turns])
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        by_decoder(decoder, some)
    print(seen.key_averages().table(sort_by="cuda_time_total", row_limit=22, max_name_column_width=70), flush=True)
    decoder.close()


def _machine(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else "processor"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the plays")
    parser.add_argument("--toy", action="store_true", help="a tiny model, on any machine")
    parser.add_argument("--variants", action="store_true", help="also other settings of the decoder")
    parser.add_argument("--profile", action="store_true", help="also where the device's time goes")
    parser.add_argument("--tasks", type=int, help="so many tasks with 12 draws each")
    parser.add_argument("--rows", type=int, default=288, help="rows that plain generate takes at once")
    parser.add_argument("--patience", type=float, default=1800.0, help="seconds for a peer")
    parser.add_argument("--skip", nargs="*", default=[], help="peers to leave out, by name")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    given = parser.parse_args()
    report(rows(given), given.json)
