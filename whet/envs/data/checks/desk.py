"""The files that a chat model works on, with the tools to do so: a mapping, and nothing on any disk.

A coding agent has a folder and tools of its own; what it left there comes with its reply and is taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from whet.sandbox.jobs import name_problem
from whet.tools import Tool
from whet.types import FILES_GONE, FILES_LEFT_OUT, Reply, ToolSpec

MOST_FILES, LONGEST, LARGEST = 200, 256 * 1024, 2 * 1024 * 1024
"""How many files there may be, characters of one, and of all together."""

_ASIDE = ("SKILL.md", "TASK.md")
"""Where an agent's playbook and task lie: no part of the workspace."""


class FileDesk:
    """Files by name, as they stand after what a policy did to them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)

    def tools(self) -> list[Tool]:
        """One for each thing that can be done to a file."""
        deeds: list[tuple[str, str, tuple[str, ...], Callable[[Mapping[str, Any]], str]]] = [
            ("list_files", "Names the files of the workspace.", (), self._list),
            ("read_file", "Gives the text of a file.", ("path",), self._read),
            ("write_file", "Writes a file, whole.", ("path", "text"), self._write),
            ("replace_in_file", "Replaces a text that stands in a file once.", ("path", "old", "new"), self._replace),
            ("delete_file", "Takes a file away.", ("path",), self._delete),
        ]
        return [Tool(ToolSpec(name, about, _texts(fields)), use) for name, about, fields, use in deeds]

    def take(self, reply: Reply) -> list[str]:
        """Takes over what an agent left, and tells what could not be: links, names that lead elsewhere, too much."""
        left_out = [str(name) for note in reply.trace if note.get("type") == FILES_LEFT_OUT for name in note["names"]]
        for note in reply.trace:
            for name in note["names"] if note.get("type") == FILES_GONE else ():
                self.files.pop(str(name), None)
        for name, text in reply.files.items():
            if name in _ASIDE:
                continue
            problem = self._problem(name, text)
            if problem:
                left_out.append(f"{name} ({problem})")
            else:
                self.files[name] = text
        return left_out

    def replay(self, reply: Reply) -> None:
        """Does again what a reply did: its calls, and what an agent left."""
        use = {tool.spec.name: tool.use for tool in self.tools()}
        for call in () if reply.malformed else reply.calls:
            if call.name in use:
                try:
                    use[call.name](call.arguments)
                except (KeyError, ValueError, TypeError):
                    continue
        self.take(reply)

    def _list(self, given: Mapping[str, Any]) -> str:
        return "\n".join(f"{name} ({len(text)} characters)" for name, text in sorted(self.files.items())) or "no files"

    def _read(self, given: Mapping[str, Any]) -> str:
        return self.files[self._known(given["path"])]

    def _write(self, given: Mapping[str, Any]) -> str:
        name, text = given["path"], given["text"]
        if problem := self._problem(name, text):
            raise ValueError(problem)
        self.files[name] = text
        return f"{name} is written"

    def _replace(self, given: Mapping[str, Any]) -> str:
        text = self.files[self._known(given["path"])]
        if (times := text.count(given["old"])) != 1:
            raise ValueError(f"the old text stands in it {times} times, and must stand there once")
        return self._write({"path": given["path"], "text": text.replace(given["old"], given["new"])})

    def _delete(self, given: Mapping[str, Any]) -> str:
        del self.files[self._known(given["path"])]
        return f"{given['path']} is gone"

    def _known(self, name: Any) -> str:
        if name not in self.files:
            raise ValueError(f"there is no file {name!r:.100}; there are: {', '.join(sorted(self.files))[:500]}")
        return str(name)

    def _problem(self, name: Any, text: Any) -> str:
        """Why a file cannot lie here; '' where it can."""
        if not isinstance(name, str) or not isinstance(text, str):
            return "a name and a text are needed"
        if problem := name_problem(name):
            return problem
        total = sum(map(len, self.files.values())) - len(self.files.get(name, "")) + len(text)
        if len(text) > LONGEST or total > LARGEST or (name not in self.files and len(self.files) >= MOST_FILES):
            return f"too much: {MOST_FILES} files of {LONGEST} characters, {LARGEST} together, are the most"
        if any(other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in self.files):
            return "a file and a folder cannot have one name"
        return ""


def _texts(fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": list(fields),
    }
