"""The simulated optimiser: one law of proposing edits, and the reply formats of the systems that ask for them.

The law looks at the skill, at the kinds of the tasks shown, at the edits that the prompt reports as tried and at
whether right answers stand in the prompt, and draws from the pool; the draw is seeded by the prompt. What it knows of
an edit's worth it owes to the right answers it is shown. Every system gets its proposals from `drawn`, whatever it
calls them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reflact_peers.reading import (
    Reflection,
    bullets,
    fenced,
    guidance_before,
    numbered,
    patches_in,
    reads_as,
    support,
    tagged,
)
from reflact_peers.world import World, reference

Json = dict[str, Any]

COUNTS_AFTER_FAILURE = ((1, 0.4), (2, 0.4), (3, 0.2))
COUNTS_AFTER_SUCCESS = ((0, 0.5), (1, 0.5))
REMOVAL = 0.1
ON_SUBJECT = 4.0
TRIED = 0.25
INFORMED = 2.0
"""How much likelier a helpful edit is thought of for a kind of task whose right answers stand in the prompt."""
TAGGED = 0.25
"""How often a reflector lays an attempt to the account of a bullet about its kind."""
DROP = "Do without: "
GUIDANCE = 3
"""Sentences that a slow update keeps in its block at most."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed change: the sentence to add, or with `removes` the one to take out."""

    text: str
    removes: bool = False

    def edit(self) -> Json:
        if self.removes:
            return {"op": "delete", "target": self.text, "content": ""}
        return {"op": "append", "target": "", "content": self.text}


def drawn(
    world: World, seen: Reflection, rng: Random, most: int, informed: frozenset[str] = frozenset()
) -> list[Draft]:
    """Proposals for one reflection: how many, which kinds they speak of, and whether they add or remove."""
    present = world.present(seen.skill)
    tried = world.present(seen.text) - present
    kinds = seen.failed or seen.solved
    counts = COUNTS_AFTER_FAILURE if seen.failed else COUNTS_AFTER_SUCCESS
    count = rng.choices([number for number, _ in counts], [share for _, share in counts])[0]
    made: list[Draft] = []
    taken: set[str] = set()
    for _ in range(min(count, most)):
        if rng.random() < REMOVAL and present - taken:
            name = rng.choice(sorted(present - taken))
            made.append(Draft(world.edits[name].text, removes=True))
        else:
            open_to = sorted(world.edits.keys() - present - taken)
            kind = rng.choice(kinds) if kinds else ""
            weights = [
                (ON_SUBJECT if kind in world.edits[one].about else 1.0)
                * (TRIED if one in tried else 1.0)
                * (INFORMED if kind in informed and world.edits[one].effect.get(kind, 0.0) > 0.0 else 1.0)
                for one in open_to
            ]
            name = rng.choices(open_to, weights)[0]
            made.append(Draft(world.edits[name].text))
        taken.add(name)
    return made


class Optimizer:
    """Answers the prompts of all systems, in the form each of them asks for."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed

    def reply(self, system: str, user: str) -> str:
        """The text of a reply; what is asked for is told by the prompt itself."""
        rng = Random(hashlib.blake2b(f"{self.seed}\x1f{system}\x1f{user}".encode(), digest_size=16).hexdigest())
        match reads_as(system, user):
            case "gepa":
                return self._instruction(Reflection.of_gepa(user, self.world), rng)
            case "reflector":
                return json.dumps(self._lesson(Reflection.of_reflector(user, self.world), rng))
            case "curator":
                return json.dumps(self._operations(user))
            case "analyst":
                return json.dumps(self._analysis(Reflection.of_analyst(system, user, self.world), rng))
            case "merge":
                return json.dumps({"reasoning": "Merged.", "edits": merged(patches_in(user))})
            case "rank":
                return json.dumps({"reasoning": "Ranked.", "selected_indices": ranked(numbered(user), rng)})
            case "rate":
                return json.dumps({"learning_rate": 2, "reasoning": "As usual.", "confidence": "low", "risk_notes": []})
            case "mend":
                return json.dumps({"edits": []})
            case "slow":
                return json.dumps(self._guidance(user, rng))
            case "meta":
                said = "Prefer rules about how notes are written; look at the kinds of tasks that fail most."
                return json.dumps({"reasoning": "Distilled.", "meta_skill_content": said})
        raise ValueError(f"the simulated optimiser does not know this prompt:\n{system[:400]}\n{user[:400]}")

    def _informed(self, seen: Reflection) -> frozenset[str]:
        """The kinds of tasks in a prompt that shows their right answer too."""
        shown = {found["name"]: found.groupdict().get("kind", "") for found in self.world.asked.finditer(seen.text)}
        return frozenset(kind for name, kind in shown.items() if reference(self.seed, name) in seen.text)

    def _instruction(self, seen: Reflection, rng: Random) -> str:
        text = seen.skill.strip()
        for draft in drawn(self.world, seen, rng, 99, self._informed(seen)):
            if draft.removes:
                text = "\n".join(line for line in text.split("\n") if line.strip() != draft.text)
            else:
                text = f"{text}\n{draft.text}"
        return fenced(text)

    def _lesson(self, seen: Reflection, rng: Random) -> Json:
        """A reflector of ACE: the drafts of every reflection as insights, and a tag now and then for what is there.

        An attempt is laid to the account of a bullet about its kind, more often where the right answers show it so.
        """
        informed = self._informed(seen)
        insights = [f"{DROP}{draft.text}" if draft.removes else draft.text for draft in self._drafts(seen, rng)]
        tags = []
        for text, name in bullets(seen.text).items():
            edit = next((edit for edit in self.world.edits.values() if edit.text == text), None)
            for tag, kinds, sign in (("helpful", seen.solved, 1.0), ("harmful", seen.failed, -1.0)):
                for kind in kinds if edit is not None else ():
                    fits = kind in informed and sign * edit.effect.get(kind, 0.0) > 0.0
                    if kind in edit.about and rng.random() < (INFORMED if fits else 1.0) * TAGGED:
                        tags.append({"id": name, "tag": tag})
        found = [
            {"error": "Wrong number.", "root_cause": "", "correct_approach": "", "key_insight": text}
            for text in insights
        ]
        return {"reasoning": "Compared.", "insights": found, "bullet_tags": tags}

    def _drafts(self, seen: Reflection, rng: Random) -> list[Draft]:
        return drawn(self.world, seen, rng, 99, self._informed(seen))

    def _operations(self, user: str) -> Json:
        """A curator of ACE: adds every insight, and removes what an insight says."""
        known, made = bullets(user), []
        for insight in json.loads(tagged(user, "insights")):
            text = insight["key_insight"]
            if not text.startswith(DROP):
                made.append({"type": "ADD", "section": "Notes", "content": text})
            elif name := known.get(text.removeprefix(DROP)):
                made.append({"type": "REMOVE", "id": name})
        return {"reasoning": "Curated.", "operations": made}

    def _analysis(self, seen: Reflection, rng: Random) -> Json:
        made = [draft.edit() for draft in drawn(self.world, seen, rng, seen.most, self._informed(seen))]
        patch = {"reasoning": "What these tasks have in common.", "edits": made}
        if not seen.failed:
            return {
                "batch_size": len(seen.solved),
                "success_patterns": ["The note was read line by line."],
                "patch": patch,
            }
        kinds = sorted(set(seen.failed))
        summary = [
            {"failure_type": kind, "count": seen.failed.count(kind), "description": f"Wrong number for {kind}."}
            for kind in kinds
        ]
        return {"batch_size": len(seen.failed), "failure_summary": summary, "patch": patch}

    def _guidance(self, user: str, rng: Random) -> Json:
        """A slow update: the guidance there was, and one more sentence by the law of every reflection."""
        seen = Reflection.of_comparison(user, self.world)
        kept = [self.world.edits[name].text for name in sorted(self.world.present(guidance_before(user)))]
        added = [draft.text for draft in drawn(self.world, seen, rng, 1) if not draft.removes]
        text = "\n".join((added + kept)[:GUIDANCE]) or "Keep to the rules above."
        return {"reasoning": "Compared.", "slow_update_content": text}


def merged(patches: Sequence[Json]) -> list[Json]:
    """All edits of all patches in their order, each once, with the support added up."""
    found: dict[tuple[str, str], Json] = {}
    for patch in patches:
        for edit in patch.get("edits") or patch.get("patch", {}).get("edits", ()):
            key = (edit.get("target", ""), edit.get("content", ""))
            support = int(edit.get("support_count") or 1)
            if key in found:
                found[key]["support_count"] += support
            else:
                found[key] = {**edit, "support_count": support}
    return list(found.values())


def ranked(items: Sequence[str], rng: Random) -> list[int]:
    """Indices in an order that follows the support where one is told, and chance otherwise."""
    return sorted(range(len(items)), key=lambda index: (-support(items[index]), rng.random()))
