"""`verdicts.jsonl`: for each ticket a verdict with its reason, the images it cites, what its evidence lacks.

A ticket is released, blocked, or handed to a person. Made from votes alone: the same votes give the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.envs.groupqc.decision.environment import OpenTickets
from whet.envs.groupqc.decision.gap import evidence_gap
from whet.envs.groupqc.tickets.line import json_line
from whet.errors import WhetError
from whet.files import write_atomically, write_json
from whet.keys import digest
from whet.release.threshold import ReleaseRule

if TYPE_CHECKING:
    from rich.console import RenderableType

    from whet.apps.groupqc.audit.run import AuditPlan, Poll

VERDICTS = "verdicts.jsonl"
DECISIONS = "decisions.json"
REJECTS = "rejects.jsonl"
REVIEW = "review"

_CITED = re.compile(r"Image\s*(\d{1,4})|图片[_ ]?(\d{1,4})")


def voter(plan: AuditPlan) -> str:
    """Who decides, and how: a threshold chosen for one voter says nothing about another."""
    asked = plan.env.voter if isinstance(plan.env, OpenTickets) else ""
    ballot, model = plan.settings.ballot, plan.config.target.model
    # A policy without a model is known by its name: its fingerprint stands for the tickets, too.
    who = model if model.startswith("baseline:") else plan.identity.model
    return digest([asked, who, plan.identity.playbook, list(map(str, ballot.grid)), ballot.samples])


def check_rule(plan: AuditPlan, rule: ReleaseRule) -> None:
    """Refuse a threshold that was chosen for another voter, or on tickets that are to be decided."""
    if rule.voter != voter(plan):
        raise WhetError(
            "the threshold was chosen for another model, playbook, pack or ballot; make one: whet groupqc calibrate"
        )
    assert isinstance(plan.env, OpenTickets)
    again = {line.ticket.group_id for line in plan.env.lines} & set(rule.sites)
    if again:
        raise WhetError(
            f"{len(again)} of these sites chose the threshold themselves ({sorted(again)[0]}); calibrate on others"
        )


def write_verdicts(folder: Path, plan: AuditPlan, polls: Sequence[Poll]) -> Mapping[str, Any]:
    """Write the verdicts; returns what `decisions.json` holds."""
    rows = sorted(verdict_rows(plan, polls), key=lambda row: (row["ticket_key"], row["mission"]))
    write_atomically(folder / VERDICTS, b"".join(map(json_line, rows)))
    rejects = [reject.as_line() for reject in plan.env.rejects]
    write_atomically(folder / REJECTS, b"".join(map(json_line, rejects)))
    counted = Counter(row["verdict"] for row in rows)
    rule = plan.rule
    figures = {
        "mode": "decide",
        "environment": plan.env.name,
        "model": plan.config.target.model,
        "n_total": len(polls),
        "n_used": len(rows),
        "n_unfinished": len(polls) - len(rows),
        "n_rejected": len(rejects),
        "verdicts": {verdict: counted[verdict] for verdict in ("pass", "fail", REVIEW)},
        "review": dict(sorted(Counter(row["why_review"] for row in rows if row["why_review"]).items())),
        "threshold": None if rule is None else rule.threshold,
        "false_releases_at_most": None if rule is None or rule.threshold is None else rule.upper,
        "voter": voter(plan),
    }
    write_json(folder / DECISIONS, figures)
    return figures


def verdict_rows(plan: AuditPlan, polls: Sequence[Poll]) -> Iterator[dict[str, Any]]:
    """One row a ticket that has votes."""
    env = plan.env
    assert isinstance(env, OpenTickets)
    for poll in polls:
        if not poll.judged:
            continue
        line = env.lines[poll.task[1]]
        ticket = line.ticket
        pack, mission = env.mission(ticket.mission)
        summaries = env.task(*poll.task).data["summaries"]
        refused = [(photo.image, photo.reason) for photo in ticket.refused]
        gap = evidence_gap(pack, mission, summaries, refused, ticket.site, ticket.submitted)
        votes = poll.votes
        score = round(votes.confidence * (1.0 - gap.score), 6)
        verdict, why = _decided(votes.majority, score, plan.rule)
        reason = next((why for call, why in zip(poll.calls, poll.reasons, strict=True) if call == votes.majority), "")
        yield {
            "ticket_key": ticket.group_id,
            "group_id": ticket.group_id,
            "mission": ticket.mission,
            "verdict": verdict,
            "why_review": why,
            "majority_pred": votes.majority,
            "reason": reason,
            "cited_images": cited_images(reason, ticket.images),
            "confidence": votes.confidence,
            "evidence_gap": gap.as_data(),
            "release_score": score,
            "agreement": votes.agreement,
            "pass_count": votes.passes,
            "fail_count": votes.fails,
            "invalid_count": votes.invalid,
            "file": line.file,
            "line": line.line,
            "images": list(ticket.images),
            "refused_photos": [{"image": photo.image, "reason": photo.reason} for photo in ticket.refused],
        }


def _decided(majority: str | None, score: float, rule: ReleaseRule | None) -> tuple[str, str]:
    """What becomes of a ticket. Blocking releases nothing, so only a pass needs a score."""
    if majority is None:
        return REVIEW, "no valid verdict"
    if majority == "fail":
        return "fail", ""
    if rule is None:
        return REVIEW, "no threshold: nothing bounds false releases"
    if rule.threshold is None:
        return REVIEW, "the threshold file releases nothing"
    if score < rule.threshold:
        return REVIEW, "below the threshold"
    return "pass", ""


def cited_images(reason: str, images: Sequence[str]) -> list[str]:
    """The photos that a reason names by number, each once."""
    numbers = dict.fromkeys(int(first or second) for first, second in _CITED.findall(reason))
    return [images[number - 1] for number in numbers if 1 <= number <= len(images)]


def decision_parts(folder: Path, figures: Mapping[str, Any]) -> list[str | RenderableType]:
    """Decisions on the terminal."""
    counted = figures["verdicts"]
    lines = [
        f"{figures['n_used']} of {figures['n_total']} tickets voted on: {counted['pass']} released, {counted['fail']} "
        f"blocked, {counted[REVIEW]} for a person"
    ]
    lines += [f"  {count} for a person: {why}" for why, count in figures["review"].items()]
    if figures["n_rejected"]:
        lines.append(f"{figures['n_rejected']} lines are no ticket or too long, see {REJECTS}")
    if figures["n_unfinished"]:
        lines.append(f"{figures['n_unfinished']} tickets without a vote: the same command continues")
    bound = figures["false_releases_at_most"]
    if bound is not None:
        lines.append(f"of failing tickets at most {100 * bound:.1f} % are released, by the bound of the threshold file")
    return [*lines, f"verdicts: {folder / VERDICTS}"]
