"""A step of GRPO on plays with a slow tool: Whet's rollouts against TRL's own tool loop, with the same tiny model.

python bench/grpo.py [--quick] [--json FILE]

64 plays (8 groups of 8) of four turns by a tiny random model with LoRA on a processor. Between two turns a tool is
asked, which takes 50 ms. The trainer, its settings, the prompts, the number of tokens drawn a turn and the gradient
step are the same on both sides; what differs is who plays. TRL hears a tool call in every reply (its parser is
replaced, because a random model calls nothing), and its model cannot draw the end of a turn, as Whet's cannot. Then
the same in one turn without a tool; and last, how many of the groups that are trained on have rewards that differ, on
tasks that the model solves now and then, with groups of equal rewards replaced and without.

The sides take turns. A step takes the processor time that it used and the time for which nothing could be done but wait
for a tool, which is what a clock shows on a machine that does nothing else: a busy one changes it little.

It needs the extra `train`.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
import transformers
import trl.trainer.grpo_trainer as trl_grpo
from datasets import Dataset
from rows import Row, arguments, report
from tokenizers import Tokenizer, decoders, models

sys.path.insert(0, str(Path(__file__).parents[1]))

from whet.config.load import validate
from whet.envs.base import Environment, Play, ask
from whet.learn.weights.base import Base, open_base
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.config import GrpoConfig
from whet.learn.weights.groups import GroupBatch
from whet.learn.weights.grpo import GroupRollouts, grpo_arguments, trainer_of
from whet.learn.weights.live import LiveGenerator
from whet.learn.weights.plays import PlayStage
from whet.learn.weights.segment import SegmentClock, SegmentOrder, SegmentParts, quiet
from whet.learn.weights.supply import TaskSupply
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import read_folder
from whet.rollout import continuous
from whet.rollout.conversation import AttemptLimits
from whet.rollout.workbench import Workbench
from whet.types import Label, Policy, Sampling, Score, Split, Task, Work, user

TURNS, NEW, PROMPT = 4, 24, 160
TOOL_SECONDS = 0.05
ANSWER = "deaf"

SPECIALS = ("<pad>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
LETTERS = "abcdefghijklmnop"
TEMPLATE = (
    "{% for m in messages %}<|{{ 'user' if m.role == 'tool' else m.role }}|>{{ m.content }}"
    "{% for call in m.tool_calls or [] %}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}"
    "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


CALLING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for call in m.tool_calls or [] %}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""For both sides where a model's own template knows no tools: TRL refuses those."""


@dataclass(frozen=True, slots=True)
class StepScale:
    """How large a step is, and where it is taken: plays, tokens of a reply, tokens of a prompt, rows at once."""

    groups: int = 8
    draws: int = 8
    new: int = NEW
    prompt: int = PROMPT
    micro: int = 64
    context: int = 1024
    device: str = "cpu"

    @property
    def plays(self) -> int:
        return self.groups * self.draws

    def told(self, turns: int) -> str:
        return f"{self.plays} plays, {turns} turns of {self.new} tokens"


SMALL = StepScale()
WAITED = [0.0]
"""Seconds for which nothing could be done but wait for a tool."""


def look() -> str:
    """
    Look at the thing again.

    Returns:
        What is seen.
    """
    time.sleep(TOOL_SECONDS)
    if threading.current_thread() is threading.main_thread():  # TRL asks a tool while everything else stands still
        WAITED[0] += TOOL_SECONDS
    return ANSWER


def waited_for(futures: Any, timeout: float | None, return_when: str) -> Any:
    """What the driver of plays waits with; how long it waits where nothing else is to be done is counted."""
    began = time.perf_counter()
    done = wait(futures, timeout, return_when)
    if timeout is None:
        WAITED[0] += time.perf_counter() - began
    return done


def own_time() -> float:
    return time.process_time() + WAITED[0]


class Sight(Environment):
    """Every reply but the last asks the tool; solved is what begins with one of `wanted`."""

    name = "sight"
    fingerprint = "sight-1"

    def __init__(self, turns: int, wanted: str, says: Callable[[int], str] | None = None) -> None:
        self.turns, self.wanted, self.says = turns, wanted, says or prompt_of

    def size(self, split: Split) -> int | None:
        return 1000

    def label(self, split: Split, index: int) -> Label:
        return Label("sight", "easy")

    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, self.label(split, index), (user(self.says(index)),), "")

    def play(self, task: Task) -> Play:
        said, reply = task.messages, None
        for turn in range(self.turns):
            reply = yield from ask(said)
            if turn + 1 < self.turns:
                seen = yield Work("call", {"function": f"{__name__}:look", "arguments": {}, "pool": "thread"})
                said = (user(str(seen.value)),)
        assert reply is not None
        earned = reward_of(reply.text, self.wanted)
        return Score(int(earned), earned, earned, {}, "")


def prompt_of(index: int) -> str:
    return "".join(LETTERS[(index * 7 + at * (1 + index % 5)) % len(LETTERS)] for at in range(PROMPT))


def reward_of(text: str, wanted: str) -> float:
    return float(text.startswith(tuple(wanted)))


def weights(folder: Path) -> Path:
    """A language model of few letters."""
    torch.manual_seed(0)
    pieces = [*SPECIALS, *LETTERS]
    letters = Tokenizer(models.BPE(vocab={piece: at for at, piece in enumerate(pieces)}, merges=[]))
    letters.decoder = decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<|end|>", additional_special_tokens=list(SPECIALS[2:])
    )
    tokenizer.chat_template = TEMPLATE
    config = transformers.LlamaConfig(
        vocab_size=len(pieces),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    transformers.utils.logging.disable_progress_bar()
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def opened(folder: Path, config: GrpoConfig) -> Base:
    """The model with its adapter, which cannot draw a mark: so every reply is as long as it may be."""
    base = open_base(read_folder(str(folder)), config.tune.device)
    base = replace(base, folder=replace(base.folder, context=config.control.target.context))
    if "tool_calls" not in (base.tokenizer.chat_template or ""):
        base.tokenizer.chat_template = CALLING
    head = base.module.lm_head
    deaf = torch.nn.Linear(head.in_features, head.out_features).to(head.weight.device, head.weight.dtype)
    with torch.no_grad():
        deaf.weight.copy_(head.weight)
        deaf.bias.zero_()
        deaf.bias[base.tokenizer.all_special_ids] = -1e9
    base.module.lm_head = deaf
    transformers.set_seed(0)
    module, _ = set_trainable(base.module, config.tune, None)
    return replace(base, module=module)


def config_of(folder: Path, steps: int, *, dynamic: bool, scale: StepScale = SMALL) -> GrpoConfig:
    said = {
        "learner": "grpo",
        "env": {"name": "sight"},
        "target": {"model": f"hf:{folder}", "sampling": {"max_tokens": scale.new}},
        "tune": {
            "blocks": "all",
            "rank": 8,
            "steps": steps,
            "segment": steps,
            "micro": scale.micro,
            "device": scale.device,
        },
        "grpo": {
            "preset": "no_kl",
            "groups": scale.groups,
            "generations": scale.draws,
            "rows": scale.plays,
            "dynamic": dynamic,
            "refill": 8,
        },
        "control": {"target": {"context": scale.context}},
    }
    return validate(GrpoConfig, said, "bench")


@dataclass(slots=True)
class Clock(transformers.TrainerCallback):  # type: ignore[misc]
    """When each step ended, from the beginning of the first."""

    now: Callable[[], float] = own_time
    marks: list[float] = field(default_factory=list)

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.marks.append(self.now())

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.marks.append(self.now())

    @property
    def seconds(self) -> float:
        """Of a step, without the first, which warms up."""
        taken = [after - before for before, after in zip(self.marks, self.marks[1:], strict=False)]
        return statistics.median(taken[1:])


def order_of(config: GrpoConfig, folder: Path) -> SegmentOrder:
    return SegmentOrder(1, config.tune.steps, None, Shelf(folder), config.tune, 0)


def run_whet(
    folder: Path,
    env: Sight,
    steps: int,
    work: Path,
    *,
    dynamic: bool = False,
    scale: StepScale = SMALL,
    now: Callable[[], float] = own_time,
) -> tuple[float, list[GroupBatch]]:
    """Seconds of a step, and the batches."""
    config = config_of(folder, steps, dynamic=dynamic, scale=scale)
    base, grpo = opened(folder, config), config.grpo.settled()
    labels = {index: env.label("train", index) for index in range(400)}
    supply = TaskSupply(labels, config.curriculum, seed=0, steps=steps)
    sampling = Sampling(max_tokens=scale.new, temperature=1.0, top_p=1.0)
    policy = Policy("tiny", sampling)
    form = ChatForm("tiny", "")
    with quiet(), Workbench() as bench, closing(LiveGenerator(base, form, 1.0, grpo.rows)) as generator:
        stage = PlayStage(env, policy, AttemptLimits(), lambda score: score.reward, bench)
        rollouts = GroupRollouts(stage, supply, grpo, 1, generator)
        order = order_of(config, work)
        clock = SegmentClock(order, SegmentParts(lambda *_: None), {}, order.snapshots)
        trainer = trainer_of(config, order, base, base.module, rollouts, work, clock)
        clock = Clock(now)
        trainer.add_callback(clock)
        trainer.remove_callback(transformers.PrinterCallback)
        trainer._save_checkpoint = lambda *_: None
        trainer.train()
    return clock.seconds, [batch for _, batch in rollouts.batches]


def run_trl(
    folder: Path,
    env: Sight,
    steps: int,
    work: Path,
    *,
    scale: StepScale = SMALL,
    now: Callable[[], float] = own_time,
) -> tuple[float, list[float]]:
    """Seconds of a step, and the share of groups whose rewards differ, step by step."""
    config = config_of(folder, steps, dynamic=False, scale=scale)
    base = opened(folder, config)
    tokenizer = base.tokenizer
    tokenizer.response_schema = {"type": "object"}
    args = grpo_arguments(config, order_of(config, work), work, scale.device)
    args.max_completion_length = scale.context - scale.prompt
    args.max_tool_calling_iterations = env.turns - 1

    def calls(tokenizer: Any, ids: Sequence[int], **_: Any) -> dict[str, Any]:
        said = {"role": "assistant", "content": tokenizer.decode(ids, skip_special_tokens=True)}
        call = {"type": "function", "function": {"name": "look", "arguments": {}}}
        return {**said, "tool_calls": [call]} if env.turns > 1 else said

    def earned(completions: Sequence[Sequence[dict[str, Any]]], **_: Any) -> list[float]:
        return [reward_of(messages[-1]["content"], env.wanted) for messages in completions]

    signal: list[float] = []

    class Trainer(trl_grpo.GRPOTrainer):  # type: ignore[misc]
        def log(self, logs: dict[str, float], *rest: Any, **more: Any) -> None:
            silent = self._metrics["train"].get("frac_reward_zero_std") or []
            signal.extend(1 - share for share in silent)
            super().log(logs, *rest, **more)

    parse, trl_grpo.parse_response = trl_grpo.parse_response, calls
    try:
        with quiet():
            prompts = [[{"role": "user", "content": env.says(index)}] for index in range(scale.groups * steps)]
            clock = Clock(now)
            trainer = Trainer(
                model=base.module,
                reward_funcs=[earned],
                args=args,
                train_dataset=Dataset.from_dict({"prompt": prompts}),
                processing_class=tokenizer,
                tools=[look] if env.turns > 1 else None,
                callbacks=[clock],
            )
            trainer.generation_config.max_new_tokens = scale.new
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train()
    finally:
        trl_grpo.parse_response = parse
    return clock.seconds, signal


def compared(
    name: str, unit: str, bar: float, rounds: int, ours: Callable[[], float], theirs: Callable[[], float], told: str
) -> Row:
    """In turns, so that a busy machine is busy for both; the median of each."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    value, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = peer / value
    return Row(name, value, unit, bar, ratio >= bar, "TRL", peer, ratio, told)


def rows(quick: bool) -> Any:
    torch.set_num_threads(1)
    continuous.wait = waited_for
    steps = 3 if quick else 6
    with tempfile.TemporaryDirectory() as place:
        folder, work = weights(Path(place) / "base"), Path(place) / "work"
        for name, turns, bar in (("grpo_multi_turn_step", TURNS, 3.0), ("grpo_single_turn_step", 1, 1.0)):
            env = Sight(turns, LETTERS[:8])
            told = SMALL.told(turns) + (", a tool of 50 ms" if turns > 1 else "")
            yield compared(
                name,
                "own s a step",
                bar,
                (1 if quick else 2) if turns > 1 else (3 if quick else 4),
                lambda env=env: run_whet(folder, env, steps, work)[0],
                lambda env=env: run_trl(folder, env, steps, work)[0],
                told,
            )
        rare = Sight(1, LETTERS[:1])
        many = 2 * steps
        _, batches = run_whet(folder, rare, many, work, dynamic=True)
        _, plain = run_trl(folder, rare, many, work)
        ours, theirs = statistics.mean(batch.signal for batch in batches), statistics.mean(plain)
        cost = statistics.mean(batch.generated_per_trained for batch in batches)
        told = f"{many} steps, refill up to 8 rounds, {cost:.1f} groups played for each that teaches"
        holds = ours >= 0.9 and theirs < 0.5
        yield Row("grpo_groups_with_signal", ours, "share", 0.9, holds, "TRL", theirs, ours / max(theirs, 1e-9), told)


if __name__ == "__main__":
    asked = arguments(__doc__)
    report(rows(asked.quick), asked.json)
