"""Playbooks as files: Markdown is a body, JSON the whole record, a folder SKILL.md with the files beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.config.adapters import adapter_playbook, is_adapter
from whet.errors import WhetError
from whet.types import Playbook

BLANK = "blank"
"""The empty playbook, where a config names one."""

EXAMPLES, BANK = "examples.jsonl", "bank.jsonl"
PARTS = {"body", "examples", "files", "hindsight", "reminders", "bank", "nearest", "rules"}

NEAREST = 4
"""How many of a bank each task is shown, where a folder holds one and nobody says."""


def read_playbook(source: str) -> Playbook:
    """The playbook at `source`; 'blank' is the empty one."""
    if source == BLANK:
        return Playbook()
    path = Path(source)
    try:
        if path.is_dir():
            return _from_folder(path)
        if path.suffix == ".json":
            data = orjson.loads(path.read_bytes())
            return wire.playbook_in(_checked(path, {"rules": _guidance(path, data)} if _is_guidance(data) else data))
        return Playbook(path.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        raise WhetError(f"{source}: no such playbook; give a Markdown or JSON file, a folder, or 'blank'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{source}: playbook cannot be read: {error}") from None
    except TypeError as error:
        raise WhetError(f"{source}: a field of the playbook is of another kind than it must be: {error}") from None
    except orjson.JSONDecodeError as error:
        raise WhetError(f"{source}: playbook is not valid JSON: {error}") from None


def write_playbook(playbook: Playbook) -> bytes:
    """The JSON form, which holds all of it."""
    return wire.dumps(wire.playbook_out(playbook), pretty=True)


def _from_folder(folder: Path) -> Playbook:
    skill = folder / "SKILL.md"
    if not skill.is_file() and is_adapter(folder):
        return adapter_playbook(folder)
    if not skill.is_file():
        raise WhetError(f"{folder}: a playbook folder needs a SKILL.md")
    examples, bank = (_lines(folder / name) for name in (EXAMPLES, BANK))
    files = {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in (skill, folder / EXAMPLES, folder / BANK)
    }
    body = skill.read_text(encoding="utf-8").strip()
    banked = {"bank": bank, "nearest": NEAREST} if bank else {}
    return wire.playbook_in(_checked(folder, {"body": body, "examples": examples, "files": files, **banked}))


def _lines(file: Path) -> list[Any]:
    return [orjson.loads(line) for line in file.read_bytes().splitlines() if line.strip()] if file.is_file() else []


def _is_guidance(data: Any) -> bool:
    sections = data.values() if isinstance(data, dict) else ()
    return bool(sections) and all(isinstance(section, dict) and "experiences" in section for section in sections)


def _guidance(path: Path, data: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules of a guidance.json, those that are told and those that are retired; it is of one mission."""
    if len(data) != 1:
        raise WhetError(f"{path}: holds the rules of {len(data)} missions; a playbook is for one, so leave one in it")
    mission, section = next(iter(data.items()))
    told, known = section["experiences"], section.get("metadata", {})
    if not isinstance(told, dict) or not isinstance(known, dict):
        raise WhetError(f"{path}: 'experiences' and 'metadata' are objects, by the id of a rule")
    kept = {rule: about for rule, about in known.items() if isinstance(about, dict) and about.get("status")}
    texts = {**told, **{rule: about.get("text", "") for rule, about in kept.items() if rule not in told}}
    made = []
    for rule, text in texts.items():
        about = {"scope": mission if rule == "G0" else "", **kept.get(rule, {})}
        if rule not in told and about["status"] == "active":
            raise WhetError(
                f"{path}: rule {rule} is active in 'metadata' and not among 'experiences'; add it there, or set its "
                "status to 'retired'"
            )
        if rule == "G0" and about["scope"] not in ("", mission):
            raise WhetError(
                f"{path}: its rules are under {mission!r} and its G0 is of {about['scope']!r}; name one mission"
            )
        if about.get("text", text) != text:
            about.pop("predicate", None)  # it says where the rule spoke before somebody worded it anew
        fields = {name: about[name] for name in ("scope", "parent", "created", "retired", "predicate") if name in about}
        status = "active" if rule in told else about["status"]
        made.append({"id": rule, "text": text, "status": status, "evidence": about.get("sources", ()), **fields})
    return made


def _checked(path: Path, data: Any) -> dict[str, Any]:
    """Refuses what is not a playbook, by the field that is wrong."""
    if not isinstance(data, dict) or set(data) - PARTS:
        raise WhetError(f"{path}: a playbook is an object with {', '.join(sorted(PARTS))}")
    if not isinstance(data.get("body", ""), str) or not isinstance(data.get("hindsight", ""), str):
        raise WhetError(f"{path}: the body of a playbook is text")
    for where, field in (("", "examples"), ("of the bank ", "bank")):
        for place, example in enumerate(data.get(field, ()), 1):
            if not isinstance(example, dict) or not all(
                isinstance(example.get(part), str) for part in ("question", "answer")
            ):
                raise WhetError(f"{path}: example {place} {where}needs a 'question' and an 'answer', both text")
    if type(data.get("nearest", 0)) is not int or data.get("nearest", 0) < 0:
        raise WhetError(f"{path}: 'nearest' says how many examples of the bank a task is shown: a whole number")
    for place, rule in enumerate(data.get("rules", ()), 1):
        if not isinstance(rule, dict) or not all(isinstance(rule.get(part), str) for part in ("id", "text")):
            raise WhetError(f"{path}: rule {place} needs an 'id' and a 'text', both text")
    return data
