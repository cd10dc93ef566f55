"""Coding agents as models: a command that is given a folder with the playbook and the task, and answers.

An agent runs behind walls (`walls`): it sees its own folder and programs, its network is one address, and instead of a
key it holds a token that only our proxy takes. With `extra = {walls = false}` it runs outside, as the user, with the
keys of its kind. Its environment holds PATH, the language, an empty home and what `extra = {env = [...]}` names.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from yarl import URL

from whet.errors import FaultError, LimitReached, WhetError, nearest
from whet.keys import bytes_digest, digest
from whet.models.agent.launch import PORT
from whet.models.agent.process import ProcessExit, run_command
from whet.models.agent.proxy import KeyProxy
from whet.models.agent.traces import AgentReport, ClaudeEvents, CodexEvents, OutputFormat, PlainOutput
from whet.models.agent.walls import AgentWalls, agent_uid
from whet.models.agent.workspace import Workspace
from whet.models.base import Model, Request
from whet.models.chat import fenced
from whet.models.chat.endpoint import base
from whet.models.chat.toolcalls import CallReader, demanded
from whet.models.options import ModelOptions
from whet.models.secrets import EnvKey, Key, NoKey, key_for
from whet.types import FILES_GONE, FILES_LEFT_OUT, Fault, Reply

SCHEME = "agent:"
SECONDS = 300.0
"""Time limit of one call unless `extra.time_limit` says otherwise; it is part of what a result depends on."""

_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_SETTINGS = {"time_limit": float, "env": list, "args": list, "walls": bool, "show": list}
_KINDS: Mapping[type, tuple[tuple[type, ...], str]] = {
    float: ((int, float), "a number of seconds"),
    list: ((list, tuple), "a list of texts"),
    bool: ((bool,), "true or false"),
}
_PLACEHOLDERS = ("{prompt_file}", "{workspace}", "{output_file}")


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """How an agent is called. Without `{prompt_file}` in its words, the prompt is on standard input."""

    words: tuple[str, ...]
    reads: OutputFormat = field(default_factory=PlainOutput)
    keys: tuple[str, ...] = ()
    """Environment variables that hold its key."""
    service: str = ""
    """The address that its key is for."""
    install: str = ""
    identity: str = ""
    """What stands for it in the fingerprint; '': its words."""


_KNOWN = {
    "codex": AgentCommand(
        ("codex", "exec", "--json", "--color", "never", "--skip-git-repo-check", "--sandbox", "workspace-write"),
        CodexEvents(),
        ("OPENAI_API_KEY", "CODEX_API_KEY"),
        "https://api.openai.com/v1",
        "npm install -g @openai/codex",
    ),
    "claude": AgentCommand(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"),
        ClaudeEvents(),
        ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
        "https://api.anthropic.com",
        "npm install -g @anthropic-ai/claude-code",
    ),
}


class Agent(Model):
    """A command behind the `Model` protocol. The requests of one attempt share a workspace."""

    places_playbook = True

    def __init__(self, name: str, command: AgentCommand, options: ModelOptions) -> None:
        settings = checked(name, options.extra)
        self.name = name
        self.price = options.price
        self.width = options.slots
        self.fingerprint = digest(
            "agent", command.identity or command.words, _scripts(command.words), {"walls": True, **options.extra}
        )
        self._command = command
        self._words = (*command.words, *settings.get("args", ()))
        self._seconds = float(settings.get("time_limit", SECONDS))
        self._limit = options.max_reply_bytes
        self._passed = tuple(settings.get("env", ()))
        self._shown = [str(Path(path).expanduser().absolute()) for path in settings.get("show", ())]
        self._inside = bool(settings.get("walls", True))
        self._service: URL | None = None
        self._keys: Mapping[str, Key] = {}
        if self._inside:
            self._service, self._keys = way_out(name, command, options, self._passed)
        else:
            self._passed = (*_named_keys(command, options), *self._passed)
            warnings.warn(
                f"{name} runs OUTSIDE all walls (extra.walls = false): it can read, change and send away whatever you "
                "can, keys and other runs included.",
                stacklevel=3,
            )
        self._workspaces: dict[str, Workspace] = {}

    async def complete(self, request: Request) -> Reply:
        tools = () if request.files else request.tools
        request = replace(request, shape=request.shape.kept("schema"), tools=tools)
        if request.shape.grammar is not None:
            raise WhetError(f"{self.name} follows no grammar: use a JSON schema, or another model.")
        workspace = self._workspaces.get(request.attempt) or self._make_workspace()
        if request.attempt:
            self._workspaces[request.attempt] = workspace
        try:
            await asyncio.to_thread(workspace.lay_out, request)
            ended, proxy = await self._run(workspace)
            reply = await asyncio.to_thread(self._reply, ended, workspace, request)
            return reply if proxy is None else _counted(reply, proxy)
        finally:
            if not request.attempt:
                await asyncio.to_thread(workspace.remove)

    async def leave(self, attempt: str) -> None:
        if workspace := self._workspaces.pop(attempt, None):
            await asyncio.to_thread(workspace.remove)

    async def close(self) -> None:
        for attempt in list(self._workspaces):
            await self.leave(attempt)

    def _make_workspace(self) -> Workspace:
        return Workspace.make(agent_uid() if self._inside else None)

    async def _run(self, workspace: Workspace) -> tuple[ProcessExit, KeyProxy | None]:
        places = dict(zip(_PLACEHOLDERS, map(str, (workspace.prompt, workspace.place, workspace.answer)), strict=True))
        words = [_filled(word, places) for word in self._words]
        on_stdin = "{prompt_file}" not in " ".join(self._words)
        given: Any = {
            "cwd": workspace.place,
            "stdin": workspace.prompt if on_stdin else Path(os.devnull),
            "seconds": self._seconds,
            "limit": self._limit,
        }
        if not self._inside:
            try:
                return await run_command(words, env=self._environment(workspace), **given), None
            except OSError as error:
                raise self._unstartable(words[0], error.strerror) from error
        if shutil.which(words[0]) is None:
            raise self._unstartable(words[0], _why_not(words[0]))
        proxy = KeyProxy(self._service, self._keys) if self._service is not None else None
        walls = AgentWalls(self.name, workspace, self._shown, proxy)
        try:
            outer = walls.words(words, {**self._environment(workspace), **_addresses(self._service, proxy)})
            kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
            beside = walls.standing()
            ended = await run_command(outer, env=kept, descriptors=walls.descriptors, beside=beside, **given)
            return ended, proxy
        finally:
            walls.close()

    def _unstartable(self, program: str, why: str | None) -> WhetError:
        hint = f"; install it: {self._command.install}" if self._command.install else ""
        return WhetError(f"{self.name}: {program!r} cannot be started ({why}){hint}")

    def _environment(self, workspace: Workspace) -> dict[str, str]:
        home = str(workspace.home)
        kept = {name: os.environ[name] for name in (*_KEPT, *self._passed) if name in os.environ}
        return {"HOME": home, "TMPDIR": home, "TERM": "dumb", "NO_COLOR": "1", **kept}

    def _reply(self, ended: ProcessExit, workspace: Workspace, request: Request) -> Reply:
        """The reply of a call that ended, or the limit or the fault that it ended by."""
        if ended.status is None:
            raise LimitReached("deadline", f"{self.name} had not finished after {self._seconds:g} s")
        asked = any("{output_file}" in word for word in self._words)
        told = self._command.reads.read(ended.stdout, workspace.read_answer(self._limit) if asked else None)
        if told.limit:
            raise LimitReached(told.limit, f"{self.name} ran into a limit of its own")
        if told.answer is None and (ended.status != 0 or told.problem):
            raise FaultError(Fault("agent_error", self.name, _complaint(ended, told)))
        files, left_out = workspace.collect()
        text = told.answer or ""
        found = fenced.read(text, CallReader.of(request, cut=False)) if request.tools else None
        usage = told.usage
        if usage.usd is None and self.price is not None:
            usage = replace(usage, usd=self.price.of(usage))
        reply = Reply(
            text,
            found.calls if found else (),
            found.malformed if found else (),
            "tool_calls" if found and found.calls else "stop",
            usage,
            told.version,
            files=files,
            trace=(*told.trace, *_notes(ended, left_out), *_gone(workspace)),
        )
        return demanded(reply, request)


def open_agent(address: str, options: ModelOptions) -> Agent:
    """`agent:codex`, `agent:codex:MODEL`, `agent:claude[:MODEL]`, or `agent:` and the words of a command."""
    identifier = address.removeprefix(SCHEME).strip()
    kind, _, model = identifier.partition(":")
    if kind in _KNOWN and " " not in identifier:
        known = _KNOWN[kind]
        words = (*known.words, "--model", model) if model else known.words
        return Agent(address, replace(known, words=words), options)
    try:
        words = tuple(shlex.split(identifier))
    except ValueError as error:
        raise WhetError(f"{address}: the command cannot be read: {error}.") from error
    if not words or (shutil.which(words[0]) is None and not Path(words[0]).is_file()):
        hint = nearest(identifier, _KNOWN)
        raise WhetError(f"{address}: there is no program {words[0] if words else ''!r}.{hint}")
    return Agent(address, AgentCommand(tuple(map(_absolute, words)), identity=identifier), options)


def checked(name: str, extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of an agent, refused by name where one is unknown or of the wrong kind."""
    for key, value in extra.items():
        if key not in _SETTINGS:
            raise WhetError(f"{name}: extra.{key} is unknown.{nearest(key, _SETTINGS)} Known: {', '.join(_SETTINGS)}.")
        wanted, kind = _KINDS[_SETTINGS[key]]
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise WhetError(f"{name}: extra.{key} = {value!r} must be {kind}.")
    if extra.get("time_limit", SECONDS) <= 0:
        raise WhetError(f"{name}: extra.time_limit must be above zero.")
    return extra


def way_out(
    name: str, command: AgentCommand, options: ModelOptions, passed: Sequence[str]
) -> tuple[URL | None, Mapping[str, Key]]:
    """The one service that an agent behind walls may reach, and the keys for it by the variable it looks in."""
    if "HOME" in passed:
        raise WhetError(
            f"{name}: behind walls it has a home of its own; one that is logged in runs with walls = false."
        )
    named = options.key_env or options.key_file or options.key_command
    given = options.base_url or command.service
    if not given:
        if named:
            raise WhetError(f"{name}: name the service that its key is for with base_url, or set extra.walls = false.")
        return None, {}
    own = not options.base_url
    if named or not command.keys:
        variable = options.key_env or next(iter(command.keys), "WHET_API_KEY")
        key = key_for(options, variable, own=own, needed=False)
        return base(given), {} if isinstance(key, NoKey) else {variable: key}
    held = [variable for variable in command.keys if own and options.key_env is None and os.environ.get(variable)]
    return base(given), {variable: EnvKey(variable) for variable in held}


_BASES = ("WHET_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")


def _addresses(service: URL | None, proxy: KeyProxy | None) -> dict[str, str]:
    """Variables that tell an agent behind walls where its service is, and what to show there."""
    if service is None or proxy is None:
        return {}
    inside = f"http://127.0.0.1:{PORT}{service.path.rstrip('/')}"
    return {**dict.fromkeys(_BASES, inside), **proxy.tokens}


def _counted(reply: Reply, proxy: KeyProxy) -> Reply:
    """With the calls that really went to the service, which the agent need not have told."""
    usage = replace(reply.usage, calls=max(reply.usage.calls, proxy.calls))
    note = {"type": "network", "calls": proxy.calls, "refused": proxy.refused}
    seen = proxy.calls or proxy.refused
    return replace(reply, usage=usage, trace=(*reply.trace, note) if seen else reply.trace)


def _named_keys(command: AgentCommand, options: ModelOptions) -> tuple[str, ...]:
    if options.key_file or options.key_command:
        raise WhetError(
            "an agent outside the walls reads its key from the environment: name the variable with key_env."
        )
    if options.key_env is None:
        return command.keys
    return (options.key_env,) if options.key_env else ()


def _absolute(word: str) -> str:
    """A file that the user names from where they stand: the agent stands elsewhere, where `..` leads nowhere."""
    path = Path(word)
    ours = not path.is_absolute() and ("/" in word or path.suffix) and path.is_file()
    return os.path.abspath(path) if ours else word  # noqa: PTH100 - links stay what they are


def _scripts(words: tuple[str, ...]) -> list[str]:
    """Digests of scripts among the words: a changed script is another agent. Programs on the PATH count by name."""
    files = [Path(word) for word in words[1:] if word.startswith("/")]
    return [bytes_digest(path.read_bytes()) for path in files if path.is_file()]


def _why_not(program: str) -> str:
    return "it is not executable: chmod +x" if Path(program).is_file() else "No such file or directory"


def _filled(word: str, places: Mapping[str, str]) -> str:
    for name, path in places.items():
        word = word.replace(name, path)
    return word


def _complaint(ended: ProcessExit, told: AgentReport) -> str:
    tail = " ".join((told.problem or ended.stderr or ended.stdout).split())[-300:]
    return f"it ended with status {ended.status} and gave no answer: {tail or 'it printed nothing'}"


def _gone(workspace: Workspace) -> list[Mapping[str, Any]]:
    """A note on files that the agent took away."""
    gone = workspace.gone()
    return [{"type": FILES_GONE, "names": gone[:100]}] if gone else []


def _notes(ended: ProcessExit, left_out: list[str]) -> list[Mapping[str, Any]]:
    """What is worth knowing beside the agent's own trace."""
    notes: list[Mapping[str, Any]] = []
    if ended.stderr.strip():
        notes.append({"type": "stderr", "text": ended.stderr[-4000:]})
    if ended.status:
        notes.append({"type": "exit", "status": ended.status})
    if left_out:
        notes.append({"type": FILES_LEFT_OUT, "names": left_out[:100]})
    return notes
