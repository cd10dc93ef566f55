"""What the weight learners are set up by: what trains and how, where supervised examples come from, how GRPO draws."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from whet.config.schema import Section
from whet.config.train import TrainConfig
from whet.learn.weights.presets import GRPO_PRESETS, PresetName

LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class TuneSection(Section):
    """What trains, for how long, and how often it is saved and judged. The base is the target's model."""

    method: Literal["lora", "full"] = Field(default="lora", description="an adapter, or the weights themselves")
    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32.0, gt=0)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: tuple[str, ...] = Field(default=LINEAR, min_length=1, description="layers of a block that get an adapter")
    blocks: int | Literal["all"] = Field(default=4, description="how many of the last blocks train, or 'all'")
    steps: int = Field(default=100, ge=1, description="optimizer steps of the whole training")
    seconds: float | None = Field(
        default=None, gt=0, description="of training, after which it ends as after its last step; a step is finished"
    )
    segment: int = Field(default=25, ge=1, description="steps between two checkpoints")
    save: int = Field(
        default=10, ge=0, description="steps between two snapshots within a segment, written beside it; 0: none"
    )
    judge: Literal["every", "last"] = Field(default="every", description="which checkpoints come before the gate")
    keep: int = Field(default=2, ge=1, description="checkpoints that stay, besides the best and the current one")
    lr: float = Field(default=2e-4, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    warmup: float = Field(default=0.05, ge=0, lt=1, description="share of the steps")
    decay: float = Field(default=0.0, ge=0, description="weight decay")
    clip: float = Field(default=1.0, gt=0, description="gradient norm")
    micro: int = Field(default=8, ge=1, description="rows that go through the model at once")
    recompute: bool = Field(default=False, description="gradient checkpointing: less memory, a third more time")
    device: str = Field(default="", description="cuda, cpu; default: what there is")

    @model_validator(mode="after")
    def _some_block(self) -> Self:
        if self.blocks != "all" and self.blocks < 1:
            raise ValueError("blocks must be at least 1, or 'all'")
        return self

    @property
    def segments(self) -> int:
        return -(-self.steps // self.segment)


class GrpoTuneSection(TuneSection):
    """Reinforcement takes smaller steps than imitation."""

    lr: float = Field(default=1e-5, gt=0)


class SftSection(Section):
    """Where the conversations come from that are imitated. Only train tasks: `oracle` plays them."""

    source: Literal["oracle", "chat", "run"] = "oracle"
    path: str = Field(default="", description="chat: a JSONL file with messages; run: the folder of a run")
    purpose: str = Field(default="train", description="run: rollouts made for this, such as train or eval")
    playbook: Literal["keep", "drop"] = Field(
        default="keep", description="run: whether what is imitated was said with the playbook in sight; drop distils it"
    )
    batch: int = Field(default=16, ge=1, description="conversations of a step")

    @model_validator(mode="after")
    def _placed(self) -> Self:
        if self.source != "oracle" and not self.path:
            raise ValueError(f"source = {self.source!r} needs a path")
        return self


class MixSection(SftSection):
    """Imitation beside reinforcement, against collapse: its loss is added to each step's, by a weight."""

    weight: float = Field(default=0.0, ge=0, description="of the loss of imitation; 0: none")
    batch: int = Field(default=8, ge=1, description="conversations of a step")


class GrpoSection(Section):
    """How GRPO draws and learns. `preset` sets beta, the clip, dynamic sampling and the loss; each may be set apart."""

    preset: PresetName = "token_loss"
    groups: int = Field(default=8, ge=1, description="tasks of an optimizer step")
    generations: int = Field(default=8, description="attempts at each, compared with one another")
    updates: int = Field(default=1, ge=1, description="optimizer steps from one batch of attempts")
    iterations: int = Field(default=1, ge=1, description="passes over one batch of attempts")
    temperature: float = Field(default=1.0, gt=0, le=5)
    rows: int = Field(default=64, ge=1, description="replies that are generated side by side")
    beta: float | None = Field(default=None, ge=0, description="weight of the KL to the start policy")
    epsilon: float | None = Field(default=None, gt=0, lt=1)
    epsilon_high: float | None = Field(default=None, gt=0)
    dynamic: bool | None = Field(default=None, description="replace groups whose rewards are all equal")
    loss: Literal["grpo", "dapo", "dr_grpo", "bnpo"] | None = None
    scale: Literal["group", "batch", "none"] = Field(default="group", description="what advantages are divided by")
    refill: int = Field(default=4, ge=1, description="rounds in which groups are replaced, at most")
    silent: int = Field(
        default=0, ge=0, description="batches in a row that taught nothing, after which training ends; 0: goes on"
    )
    entropy: float = Field(default=0.0, ge=0, description="weight of an entropy bonus")
    balance: bool = Field(default=False, description="as many groups of each kind of task in a step")
    mask_truncated: bool = Field(default=False, description="do not learn from replies that were cut off")

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if self.generations < 2:
            raise ValueError(
                f"generations = {self.generations}: a group of one has nothing to be compared with; give at least 2"
            )
        return self

    @property
    def rows_a_step(self) -> int:
        return self.groups * self.generations

    def settled(self) -> GrpoSection:
        """With the preset's values where none are set."""
        preset = GRPO_PRESETS[self.preset]
        own = {name: value for name, value in preset.as_data().items() if getattr(self, name) is None}
        return self.model_copy(update=own)

    def effect(self) -> dict[str, Any]:
        """All that a training depends on. From one step a batch no clip is ever reached, so it makes no difference."""
        effect = self.settled().model_dump(exclude={"preset", "silent"})
        return effect | {"epsilon": None, "epsilon_high": None} if self.updates * self.iterations == 1 else effect


class GeneratorSection(Section):
    """Who draws the replies of plays in training: the model in memory, or vLLM, which is sent the weights."""

    kind: Literal["local", "vllm"] = "local"
    mode: Literal["server", "colocate"] = Field(
        default="server", description="vllm: a server on GPUs of its own, or an engine beside the trainer on its GPU"
    )
    url: str = Field(default="http://127.0.0.1:8000", description="server: where it listens, without /v1")
    port: int = Field(default=51216, ge=1, le=65535, description="server: where the weights are handed over")
    patience: float = Field(default=60.0, ge=0, description="server: seconds that it is waited for")
    memory: float = Field(default=0.3, gt=0, lt=1, description="colocate: share of the GPU's memory that is vLLM's")
    gap: float = Field(
        default=0.5, gt=0, description="how far a token's log-probability may be from that of the weights in training"
    )

    @model_validator(mode="after")
    def _whole_address(self) -> Self:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url = {self.url!r}: give the whole address, such as http://127.0.0.1:8000")
        return self


class RewardSection(Section):
    """What is maximised: the environment's own reward, or a sum of parts of its score by weights."""

    preset: Literal["reward", "hard", "soft", "verdict", "composite"] = "reward"
    weights: dict[str, float] = Field(default={}, description="part of the score = weight; instead of the preset")
    check: bool = Field(default=True, description="refuse rewards by which wrong beats right, before training")


class CurriculumSection(Section):
    """Which train tasks come when. Stages name difficulties; `band` follows the solve rate up and down a ladder.

    `env` leaves it to the environment, which says after each step which of its own stages comes next.
    """

    kind: Literal["none", "stages", "band", "env"] = "none"
    stages: tuple[tuple[str, ...], ...] = Field(
        default=(("easy",), ("easy", "medium"), ("medium", "hard"), ("hard",)),
        description="difficulties (or kinds) of each stage; each stage gets an equal share of the steps",
    )
    ladder: tuple[str, ...] = Field(default=(), description="band: difficulties from easy to hard")
    low: float = Field(default=0.3, ge=0, le=1, description="band: below this solve rate it gets easier")
    high: float = Field(default=0.7, ge=0, le=1, description="band: above this solve rate it gets harder")
    rest: int = Field(
        default=0,
        ge=0,
        description="rounds that a task sits out after all attempts at it earned the same; twice as many each time in "
        "a row, up to eight times; 0: none",
    )


class WeightsConfig(TrainConfig):
    """A training of weights."""

    tune: TuneSection = TuneSection()

    def identity(self) -> dict[str, Any]:
        """A training that takes as long as it takes has no word about seconds in its identity."""
        found = TrainConfig.identity(self)
        if self.tune.seconds is None:
            del found["tune"]["seconds"]
        return found


class SftConfig(WeightsConfig):
    """Supervised training on conversations."""

    sft: SftSection = SftSection()


class GrpoConfig(WeightsConfig):
    """Reinforcement on the environment's own plays."""

    tune: GrpoTuneSection = GrpoTuneSection()
    grpo: GrpoSection = GrpoSection()
    generator: GeneratorSection = GeneratorSection()
    reward: RewardSection = RewardSection()
    curriculum: CurriculumSection = CurriculumSection()
    mix: MixSection = MixSection()

    def identity(self) -> dict[str, Any]:
        """What is left as it comes and was added later has no word in it: runs from before are the same runs."""
        found = WeightsConfig.identity(self)
        if not self.curriculum.rest:
            del found["curriculum"]["rest"]
        if not self.grpo.silent:
            del found["grpo"]["silent"]
        return found

    @model_validator(mode="after")
    def _still_when_silent(self) -> Self:
        """Whether equal rewards mean that nothing changes any more."""
        grpo = self.grpo.settled()
        moves = {
            "mix.weight": self.mix.weight,
            "tune.decay": self.tune.decay,
            "grpo.beta": 0 if grpo.dynamic else grpo.beta,
            "grpo.entropy": 0 if grpo.dynamic else grpo.entropy,
            "curriculum.kind": self.curriculum.kind != "none",
        }
        moved = next((name for name, value in moves.items() if value), "")
        if grpo.silent and moved:
            raise ValueError(
                f"grpo.silent = {grpo.silent} ends a training that equal rewards leave as it is, and {moved} changes "
                "it all the same: leave one of them out"
            )
        return self

    @model_validator(mode="after")
    def _whole_batches(self) -> Self:
        grpo, tune = self.grpo, self.tune
        if grpo.rows_a_step % min(tune.micro, grpo.rows_a_step):
            raise ValueError(
                f"tune.micro = {tune.micro} does not divide grpo.groups * grpo.generations = {grpo.rows_a_step}"
            )
        if tune.segment % (grpo.updates * grpo.iterations):
            raise ValueError(
                f"tune.segment = {tune.segment} must be a multiple of grpo.updates * grpo.iterations = "
                f"{grpo.updates * grpo.iterations}: a checkpoint stands between two batches of attempts"
            )
        if (self.generator.kind, self.generator.mode) == ("vllm", "colocate") and tune.segments > 1:
            raise ValueError(
                f"generator.mode = 'colocate' builds an engine for each segment, and a process does not give back the "
                f"memory of the one before: set tune.segment = {tune.steps}, or use a server"
            )
        return self
