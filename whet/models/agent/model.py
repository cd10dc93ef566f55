"""Coding agents as models: a command that is given a folder with the playbook and the task, and answers.

An agent runs as the user, within whatever walls it brings itself. Its environment is scrubbed: it gets PATH, the
language, an empty home directory, the keys that its kind needs, and what `extra = {env = [...]}` names.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whet.errors import FaultError, LimitReached, WhetError, nearest
from whet.keys import bytes_digest, digest
from whet.models.agent.process import ProcessExit, run_command
from whet.models.agent.traces import AgentReport, ClaudeEvents, CodexEvents, OutputFormat, PlainOutput
from whet.models.agent.workspace import Workspace
from whet.models.base import Model, Request
from whet.models.chat import fenced
from whet.models.chat.toolcalls import CallReader, demanded
from whet.models.options import ModelOptions
from whet.types import Fault, Reply

SCHEME = "agent:"
SECONDS = 300.0
"""Time limit of one call unless `extra.time_limit` says otherwise; it is part of what a result depends on."""

_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
_SETTINGS = {"time_limit": float, "env": list, "args": list}
_PLACEHOLDERS = ("{prompt_file}", "{workspace}", "{output_file}")


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """How an agent is called. Without `{prompt_file}` in its words, the prompt is on standard input."""

    words: tuple[str, ...]
    reads: OutputFormat = field(default_factory=PlainOutput)
    keys: tuple[str, ...] = ()
    """Environment variables that hold its key."""
    install: str = ""
    identity: str = ""
    """What stands for it in the fingerprint; '': its words."""


_KNOWN = {
    "codex": AgentCommand(
        ("codex", "exec", "--json", "--color", "never", "--skip-git-repo-check", "--sandbox", "workspace-write"),
        CodexEvents(),
        ("OPENAI_API_KEY", "CODEX_API_KEY"),
        "npm install -g @openai/codex",
    ),
    "claude": AgentCommand(
        ("claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"),
        ClaudeEvents(),
        ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
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
            "agent", command.identity or command.words, _scripts(command.words), dict(options.extra)
        )
        self._command = command
        self._words = (*command.words, *settings.get("args", ()))
        self._seconds = float(settings.get("time_limit", SECONDS))
        self._limit = options.max_reply_bytes
        self._passed = (*_named_keys(command, options), *settings.get("env", ()))
        self._workspaces: dict[str, Workspace] = {}

    async def complete(self, request: Request) -> Reply:
        if request.shape.grammar is not None:
            raise WhetError(f"{self.name} follows no grammar: use a JSON schema, or another model.")
        workspace = self._workspaces.get(request.attempt) or Workspace.make()
        if request.attempt:
            self._workspaces[request.attempt] = workspace
        try:
            await asyncio.to_thread(workspace.lay_out, request)
            ended = await self._run(workspace)
            return await asyncio.to_thread(self._reply, ended, workspace, request)
        finally:
            if not request.attempt:
                await asyncio.to_thread(workspace.remove)

    async def leave(self, attempt: str) -> None:
        if workspace := self._workspaces.pop(attempt, None):
            await asyncio.to_thread(workspace.remove)

    async def close(self) -> None:
        for attempt in list(self._workspaces):
            await self.leave(attempt)

    async def _run(self, workspace: Workspace) -> ProcessExit:
        places = dict(zip(_PLACEHOLDERS, map(str, (workspace.prompt, workspace.place, workspace.answer)), strict=True))
        words = [_filled(word, places) for word in self._words]
        on_stdin = "{prompt_file}" not in " ".join(self._words)
        try:
            return await run_command(
                words,
                cwd=workspace.place,
                env=self._environment(workspace),
                stdin=workspace.prompt if on_stdin else Path(os.devnull),
                seconds=self._seconds,
                limit=self._limit,
            )
        except OSError as error:
            hint = f"; install it: {self._command.install}" if self._command.install else ""
            raise WhetError(f"{self.name}: {words[0]!r} cannot be started ({error.strerror}){hint}") from error

    def _environment(self, workspace: Workspace) -> dict[str, str]:
        home = str(workspace.home)
        kept = {name: os.environ[name] for name in (*_KEPT, *self._passed) if name in os.environ}
        return {"HOME": home, "TMPDIR": home, "TERM": "dumb", "NO_COLOR": "1", **kept}

    def _reply(self, ended: ProcessExit, workspace: Workspace, request: Request) -> Reply:
        """The reply of a call that ended, or the limit or the fault that it ended by."""
        if ended.status is None:
            raise LimitReached("deadline", f"{self.name} had not finished after {self._seconds:g} s")
        asked = any("{output_file}" in word for word in self._words)
        told = self._command.reads.read(ended.stdout, _answer(workspace) if asked else None)
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
            trace=(*told.trace, *_notes(ended, left_out)),
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
        wanted = (int, float) if _SETTINGS[key] is float else (list, tuple)
        if not isinstance(value, wanted) or isinstance(value, bool):
            kind = "a number of seconds" if _SETTINGS[key] is float else "a list of texts"
            raise WhetError(f"{name}: extra.{key} = {value!r} must be {kind}.")
    if extra.get("time_limit", SECONDS) <= 0:
        raise WhetError(f"{name}: extra.time_limit must be above zero.")
    return extra


def _named_keys(command: AgentCommand, options: ModelOptions) -> tuple[str, ...]:
    if options.key_file or options.key_command:
        raise WhetError("an agent reads its key from the environment: name the variable with key_env.")
    if options.key_env is None:
        return command.keys
    return (options.key_env,) if options.key_env else ()


def _absolute(word: str) -> str:
    """A file that the user names from where they stand: the agent stands elsewhere."""
    path = Path(word)
    return str(path.absolute()) if not path.is_absolute() and ("/" in word or path.suffix) and path.is_file() else word


def _scripts(words: tuple[str, ...]) -> list[str]:
    """Digests of scripts among the words: a changed script is another agent. Programs on the PATH count by name."""
    files = [Path(word) for word in words[1:] if word.startswith("/")]
    return [bytes_digest(path.read_bytes()) for path in files if path.is_file()]


def _filled(word: str, places: Mapping[str, str]) -> str:
    for name, path in places.items():
        word = word.replace(name, path)
    return word


def _answer(workspace: Workspace) -> str:
    try:
        return workspace.answer.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _complaint(ended: ProcessExit, told: AgentReport) -> str:
    tail = " ".join((told.problem or ended.stderr or ended.stdout).split())[-300:]
    return f"it ended with status {ended.status} and gave no answer: {tail or 'it printed nothing'}"


def _notes(ended: ProcessExit, left_out: list[str]) -> list[Mapping[str, Any]]:
    """What is worth knowing beside the agent's own trace."""
    notes: list[Mapping[str, Any]] = []
    if ended.stderr.strip():
        notes.append({"type": "stderr", "text": ended.stderr[-4000:]})
    if ended.status:
        notes.append({"type": "exit", "status": ended.status})
    if left_out:
        notes.append({"type": "files_left_out", "names": left_out[:100]})
    return notes
