"""What a run is made from. Everything outside `control` is identity: change it, and it is another run."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from whet.config.playbooks import BLANK
from whet.keys import bytes_digest
from whet.types import Split


class Section(BaseModel):
    """A part of a config: frozen, and nothing unknown passes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EnvSection(Section):
    name: str = Field(description="address of the environment, as 'whet envs' lists them")
    args: dict[str, Any] = Field(default={}, description="its arguments, as 'whet envs show NAME' lists them")


class SamplingSection(Section):
    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)
    stop: tuple[str, ...] = ()
    logprobs: int | None = Field(default=None, ge=0, le=20)
    effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    votes: int = Field(
        default=1, ge=1, le=99, description="draws of which the target's answer is the majority, where it is a choice"
    )
    until_settled: bool = Field(
        default=False,
        description="end a vote as soon as its majority is settled: the verdict is the same, for fewer draws",
    )


class RoleSection(Section):
    """A model in a role: `target` is improved, `optimizer` proposes, `judge` applies rubrics."""

    model: str = Field(description="scheme:identifier, such as openai:gpt-4.1-mini or embedded:smollm2")
    sampling: SamplingSection = SamplingSection()
    tools: Literal["native", "fenced"] = "native"
    shapes: Literal["schema", "grammar", "none"] | None = Field(
        default=None, description="how replies are held to choices; default: as the scheme can"
    )
    extra: dict[str, Any] = Field(default={}, description="further fields of the request body, passed as they are")


class EvalSection(Section):
    split: Split = "select"
    n: int | Literal["all"] = Field(default=100, description="tasks: a stratified sample, or 'all'")
    repeats: int = Field(default=1, ge=1)
    seed: int = 0
    playbook: str = Field(default="blank", description="a Markdown or JSON file, a folder with SKILL.md, or 'blank'")
    floor: bool = Field(default=True, description="also play the trivial policies, on at most 200 of the tasks")


class LimitsSection(Section):
    """Limits of one attempt that belong to the task: overrunning one is a score."""

    turns: int = Field(default=64, ge=1)
    tokens: int | None = Field(default=None, ge=1, description="completion tokens of one attempt")


class EndpointSection(Section):
    """Where and how a model is reached. Keys are named, never written here."""

    base_url: str | None = None
    key_env: str | None = Field(default=None, description="environment variable that holds the key")
    key_file: str | None = Field(default=None, description="file that holds the key")
    key_command: str | None = Field(default=None, description="command that prints a fresh token")
    auth: Literal["bearer", "api-key"] | None = None
    api_version: str | None = None
    price: tuple[float, float] | None = Field(default=None, description="dollars for a million tokens in, out")
    timeout: float = Field(default=120.0, gt=0, description="seconds for one attempt over HTTP")
    attempts: int = Field(default=6, ge=1)
    width: int | None = Field(default=None, ge=1, description="calls at once; default: what the model can serve")
    send_seed: bool = Field(default=True, description="false for a server that refuses a seed")
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    grammar_field: Literal["grammar", "structured_outputs"] = "grammar"
    context: int | None = Field(default=None, ge=16)
    threads: int = Field(default=1, ge=1)
    slots: int = Field(default=4, ge=1)
    cache: float | None = Field(
        default=None, gt=0, description="hf: GiB for keys and values; default: 40 % of what is free on a GPU"
    )


class BudgetSection(Section):
    """Hard limits over all sessions of a run."""

    usd: float | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    calls: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)


class SandboxSection(Section):
    """Where untrusted code runs. Only a remote sandbox can be given a network."""

    kind: Literal["local", "gvisor", "prime"] = "local"
    network: bool = Field(default=False, description="let the code of a remote sandbox reach the network")
    image: str | None = Field(default=None, description="image of a remote sandbox")
    allow_weak: bool = Field(default=False, description="run untrusted code even where it cannot be isolated")


class RaySection(Section):
    """Where attempts are made with `engine = "ray"`: actors on this machine, or on those of a cluster."""

    address: str | None = Field(
        default=None, description="a cluster, as HOST:PORT or 'auto'; default: one on this machine, for this run"
    )
    workers: int | None = Field(
        default=None, ge=1, description="actors; default: one for each processor of the cluster"
    )
    cpus: float = Field(default=1.0, ge=0, description="processors that each actor owns")
    gpus: float = Field(default=0.0, ge=0, description="GPUs that each actor owns, for weights of its own")
    silence: float = Field(default=60.0, gt=0, description="seconds without a sign of life: the actor is replaced")
    start: float = Field(default=180.0, gt=0, description="seconds until an actor must be ready")


class ControlSection(Section):
    """What a result does not depend on; may change when a run is started again."""

    concurrency: int | None = Field(
        default=None, ge=1, description="attempts at once; default: 64, or the model's width"
    )
    processes: int | None = Field(
        default=None,
        ge=0,
        description="processes for what plays compute; default: threads, in training on a GPU up to 12",
    )
    deadline: float = Field(default=900.0, gt=0, description="seconds for one attempt")
    call_timeout: float = Field(default=600.0, gt=0, description="seconds for one reply, retries included")
    patience: int = Field(default=25, ge=0, description="faults in a row after which the run stops; 0: never")
    engine: Literal["local", "ray"] = Field(default="local", description="where attempts are made")
    ray: RaySection = RaySection()
    shard: str | None = Field(
        default=None,
        pattern=r"^[1-9][0-9]{0,5}/[1-9][0-9]{0,5}$",
        description="play only this part of an evaluation, as 2/8; 'whet merge' makes the parts into one",
    )
    budget: BudgetSection = BudgetSection()
    sandbox: SandboxSection = SandboxSection()
    target: EndpointSection = EndpointSection()
    optimizer: EndpointSection = EndpointSection()
    judge: EndpointSection = EndpointSection()
    sinks: dict[str, dict[str, Any]] = Field(
        default={}, description="who else is told the figures: jsonl, tensorboard, wandb, mlflow, each with its options"
    )


class GuardSection(Section):
    """A metric that may not get worse."""

    metric: str
    bound: float = Field(default=0.0, ge=0)
    better: Literal["up", "down"] = "up"
    level: float | None = Field(
        default=None, ge=0.5, lt=1, description="hold the bound against the upper bound of the mean at this level"
    )
    among: str = Field(default="", description="only tasks whose score has this part above 0")
    optional: bool = Field(default=False, description="pass it over where no score reports it")


class GateSection(Section):
    """How a candidate is judged. The published rules have no alpha, effect, limit or guards of their own."""

    name: str = Field(default="paired", description="paired, strict, none, gepa, rule_search or an installed gate")
    alpha: float | None = Field(
        default=None,
        description="how often a candidate that is no better may be accepted; by default 0.1, for patient 0.05",
    )
    metric: str = Field(default="hard", description="hard, soft, mixed(w), reward, or a part of the score")
    min_effect: float = Field(default=0.0, description="a mean gain up to this counts as none")
    max_rollouts: int | None = Field(default=None, description="the most that one decision may take")
    guards: tuple[GuardSection, ...] = ()
    pace: Literal["eager", "steady", "patient", "brief"] = Field(
        default="eager",
        description="eager and steady race and drop what falls behind; patient and brief draw all tasks of both",
    )
    exclude: tuple[int, ...] = Field(default=(), description="tasks, by their index, left out for both arms")
    max_regressions: float | None = Field(
        default=None, ge=0, le=1, description="share of tasks that may go from solved to not solved"
    )
    spending: float | None = Field(default=None, gt=0, lt=1, description="bound on the false accepts of a whole run")
    seed: int = 0
    args: dict[str, Any] = Field(default={}, description="arguments of the gate that have no key of their own")


class McpSection(Section):
    """A server of tools, started behind walls: it sees its program and what `show` names, and no network."""

    command: tuple[str, ...] = Field(min_length=1, description="the program and its arguments")
    show: tuple[str, ...] = Field(default=(), description="further files and folders that it may read")
    start: float = Field(default=30.0, gt=0, description="seconds until it must have told its tools")
    memory: int = Field(default=1024, ge=16, description="MiB of data that each of its processes may have")


class ToolsSection(Section):
    """Tools from elsewhere that an environment may call by name."""

    mcp: dict[str, McpSection] = Field(default={}, description="MCP servers over stdio, by name")


class ConfigHeader(Section):
    """Which version of a config it is and where it comes from. No result depends on it; every run records it."""

    version: str = Field(pattern=r"^v[1-9][0-9]{0,5}$", description="v1, v2, …: another one for every change")
    created: date = Field(description="the day of this version, as 2026-01-05")
    env_version: str = Field(description="the version of the environment it was written for")
    based_on: str = Field(default="", description="the version it was made from, as NAME@v1; '' for a first one")
    notes: str = Field(min_length=1, description="what changed, and why")
    name: str = Field(default="", description="of the config; by default that of its file")
    altered: tuple[str, ...] = Field(default=(), description="keys that the command line set over the file")

    def __str__(self) -> str:
        based = f", based on {self.based_on}" if self.based_on else ""
        over = f", with {', '.join(self.altered)}" if self.altered else ""
        return f"{self.name}@{self.version}{over} ({self.created}{based}): {self.notes}"


class PolicyConfig(Section):
    """What any run needs: who plays where, under which limits, with which means."""

    config: ConfigHeader | None = None
    env: EnvSection
    target: RoleSection
    judge: RoleSection | None = None
    limits: LimitsSection = LimitsSection()
    tools: ToolsSection = ToolsSection()
    control: ControlSection = ControlSection()

    starts_from: ClassVar[str] = ""
    """The section whose `playbook` the run starts from; '': it has none."""

    def identity(self) -> dict[str, Any]:
        """What the result depends on, as plain data: servers of tools with what the files of their commands hold.

        A role whose shapes are left to its scheme is as it ever was.
        """
        apart = {"config", "control"} if self.tools.mcp else {"config", "control", "tools"}
        found = self.model_dump(mode="json", exclude=apart)
        for role in found.values():
            if isinstance(role, dict) and role.get("shapes", "") is None:
                del role["shapes"]
        for name, server in self.tools.mcp.items():
            found["tools"]["mcp"][name]["files"] = [_content(word) for word in (*server.command[1:], *server.show)]
        return found

    @model_serializer(mode="wrap")
    def _told(self, told: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A config without a header says nothing about one."""
        data: dict[str, Any] = told(self)
        return {key: value for key, value in data.items() if key != "config" or value is not None}

    @property
    def first_split(self) -> Split:
        """The split that the run plays first."""
        return "train"

    @property
    def playbook_source(self) -> str:
        """Where the config says its playbook is."""
        return str(getattr(self, self.starts_from).playbook) if self.starts_from else BLANK

    def with_playbook_at(self, path: str) -> Self:
        """The config with the copy of the playbook that its run keeps, where it has one."""
        if self.playbook_source == BLANK:
            return self
        section = getattr(self, self.starts_from)
        return self.model_copy(update={self.starts_from: section.model_copy(update={"playbook": path})})


def _content(path: str) -> str:
    """What a file holds, by its digest; '' for a word that names none."""
    file = Path(path)
    return bytes_digest(file.read_bytes()) if file.is_file() else ""


class EvalConfig(PolicyConfig):
    """An evaluation: one policy on a sample of one split."""

    starts_from: ClassVar[str] = "eval"

    eval: EvalSection = EvalSection()

    @property
    def first_split(self) -> Split:
        return self.eval.split
