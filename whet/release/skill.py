"""A champion's playbook as a skill folder: SKILL.md with front matter, the files beside it, and its evidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import orjson

from whet import wire
from whet.errors import WhetError
from whet.learn.documents import document
from whet.learn.rules.book import RuleBook
from whet.learn.rules.guidance import guidance_data
from whet.release.champion import Champion

SKILL, EVIDENCE, MANIFEST = "SKILL.md", "EVIDENCE.md", ".whet.json"

LONGEST = 1024
"""Characters of a description that agents read."""

LONGEST_NAME = 200
"""Bytes of a file's name with its folders."""

_FRONT = re.compile(r"\A---[ \t]*\n(?P<front>.*?)^---[ \t]*\n?", re.DOTALL | re.MULTILINE)
_DESCRIPTION = re.compile(r"^description:[ \t]*(?P<text>.+)$", re.MULTILINE)


def skill_files(champion: Champion, description: str = "") -> dict[str, bytes]:
    """The files of the skill by name; refused where the playbook holds nothing that an agent could read."""
    playbook = champion.playbook
    if playbook.blank:
        raise WhetError(
            f"{champion.title}: its playbook is blank, so an agent has nothing to load; serve it: whet serve "
            f"{champion.name}, or hand on its weights: whet release package {champion.name}"
        )
    front, body = parted(playbook.body)
    text = document(replace(playbook, body=body, files={}))
    head = front_matter(champion, description or front)
    files = {SKILL: f"{head}\n{text}".encode(), EVIDENCE: "\n".join(evidence_lines(champion)).encode() + b"\n"}
    taken = {name.casefold() for name in (*files, MANIFEST)}
    for name, content in sorted(playbook.files.items()):
        safe_name(name, f"{champion.title}: the playbook's file")
        if name.casefold() in taken:
            raise WhetError(f"{champion.title}: the playbook's file {name!r} stands twice, or has a name of ours")
        taken.add(name.casefold())
        files[name] = content.encode("utf-8", "replace")
    return files


def parted(body: str) -> tuple[str, str]:
    """The description in a skill's own front matter, if it has one, and the rest of it."""
    found = _FRONT.match(body)
    if found is None:
        return "", body
    told = _DESCRIPTION.search(found["front"])
    text = told["text"].strip() if told else ""
    return text.strip("\"'"), body[found.end() :].lstrip()


def front_matter(champion: Champion, description: str = "") -> str:
    """Name and description, as agents read them. The description is quoted, so that no text in it is another key."""
    about = description or f"{champion.about or champion.environment}. Use it whenever a task is of this kind."
    plain = " ".join(about.translate({ord("<"): None, ord(">"): None}).split())[:LONGEST]
    return f"---\nname: {champion.name}\ndescription: {wire.dumps(plain).decode()}\n---\n"


def evidence_lines(champion: Champion) -> Iterator[str]:
    """Why it was promoted, for whoever reads the skill."""
    claim, decision = champion.claim, champion.decision
    yield f"# Why {champion.title} is the champion"
    yield ""
    yield f"* policy {champion.content}: {champion.target['model']} ({champion.policy.model}) with this playbook"
    yield f"* measured on {champion.environment} (fingerprint {champion.fingerprint})"
    yield f"* run {champion.run}, ledger head: {champion.head}"
    yield f"* gate: {decision['says']}" if decision else "* gate: none"
    yield f"* sealed test: {claim['says']}" if claim else "* sealed test: none"
    if claim:
        yield (
            f"* figures: {claim['metric']} {_number(claim.get('value'))} {_interval(claim.get('interval'))} on "
            f"{claim['tasks']} tasks, opening {claim.get('opening') or 1} of this test"
        )
    if champion.lineage:
        yield f"* config: {champion.lineage.get('name')}@{champion.lineage.get('version')}"
    yield from (f"* note: {note}" for note in champion.notes)
    if champion.override:
        yield f"* promoted against objections, because: {champion.override}"
    yield f"* digest: {champion.digest}"


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else "-"


def _interval(value: object) -> str:
    return f"[{value[0]:.3f}, {value[1]:.3f}]" if isinstance(value, list | tuple) else ""


def safe_name(name: str, whose: str) -> str:
    """A name that lies inside a folder wherever it is unpacked; anything else is refused."""
    steps = PurePosixPath(name).parts
    odd = any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for letter in name)
    outside = not steps or name.startswith("/") or ".." in steps or "." in steps or name != "/".join(steps)
    if outside or odd or set(name) & set('\\:*?"<>|') or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise WhetError(f"{whose} {name!r} cannot lie in a folder of its own: give it a plain relative name")
    return name


def guidance(champion: Champion) -> Mapping[str, object]:
    """The rules of a champion as `guidance.json` has them, which `--playbook FILE` reads."""
    rules = champion.playbook.rules
    mission = str(champion.arguments.get("mission", champion.name))
    return guidance_data(mission, max((rule.created for rule in rules), default=0), RuleBook(rules), {})


def json_bytes(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
