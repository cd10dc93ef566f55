"""The end of an epoch: guidance for the target (slow update, judged by the gate) and a memo for the optimiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.keys import digest
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement
from whet.learn.prompt_text import messages, playbook_sections
from whet.learn.reflact.config import ReflactConfig
from whet.learn.reflact.edits import size
from whet.learn.reflact.pairs import EpochPair, comparison_text, kept, longitudinal_pairs
from whet.learn.reflact.step import prompts_of
from whet.learn.replies import Unreadable, ask_json, text_in
from whet.learn.transcripts import shortened
from whet.learn.workshop import Workshop
from whet.types import Outcome, Playbook


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """What the end of an epoch brought. `action` says what became of the guidance."""

    epoch: int
    action: str
    pairs: tuple[EpochPair, ...] = ()
    shown: tuple[EpochPair, ...] = ()
    guidance: str = ""
    reasoning: str = ""
    candidate: Playbook | None = None
    judgement: Judgement | None = None
    meta: str = ""
    meta_reasoning: str = ""
    trouble: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        return f"slow_update_epoch_{self.epoch:02d}"

    def mean(self, side: str) -> float | None:
        scores = [getattr(pair, side).score for pair in self.pairs]
        return sum(score.hard for score in scores) / len(scores) if scores else None

    def slow_data(self, seconds: float, measured: Sequence[Outcome]) -> dict[str, Any]:
        """The content of slow_result.json; `measured` are the rollouts of the candidate before the gate."""

        def mean(metric: str) -> float | None:
            return sum(getattr(outcome, metric) for outcome in measured) / len(measured) if measured else None

        return {
            "reasoning": self.reasoning,
            "slow_update_content": self.guidance,
            "time_s": seconds,
            "prev_hard": self.mean("before"),
            "curr_hard": self.mean("after"),
            "candidate_hash": digest(self.candidate)[:16] if self.candidate else "",
            "update_origin": self.origin,
            "update_target": "current_skill",
            "action": self.action,
            "selection_hard": mean("hard"),
            "selection_soft": mean("soft"),
            "decision": self.judgement.as_data() if self.judgement else None,
            "trouble": list(self.trouble),
        }


async def end_epoch(
    shop: Workshop,
    config: ReflactConfig,
    judge: Judge,
    epoch: int,
    before: Playbook,
    tasks: Sequence[int],
    memo: str,
    step: int,
) -> EpochEnd:
    """From the second epoch on: compare, advise, remember. `before` is the playbook at the end of the epoch before."""
    wanted = (config.slow.use or config.meta.use) and shop.consulting
    if epoch < 2 or not wanted:
        return EpochEnd(epoch, "not_used")
    current = judge.current.playbook
    if current == before and not config.slow.idle:
        return EpochEnd(epoch, "nothing_changed", meta=memo)
    section = config.slow
    pairs = await longitudinal_pairs(
        shop,
        epoch,
        before,
        current,
        tasks,
        samples=section.samples,
        choice=section.pairs,
        seed=config.train.seed,
    )
    shown = kept(pairs, section.pairs, section.samples)
    compared = [
        ("playbook before", before.body or "(empty)"),
        *playbook_sections(current),
        ("comparison", comparison_text(shown, shop.env, config.reflect.show, config.reflect.transcript_chars)),
    ]
    end = EpochEnd(epoch, "not_used", pairs, shown)
    if config.slow.use:
        end = await _slow_update(shop, config, judge, end, compared, step)
    if config.meta.use:
        end = await _meta_skill(shop, config, end, compared, memo)
    return end


MEMO = 4000
"""Characters of the optimiser's memo to itself, which every later prompt repeats."""

Sections = list[tuple[str, str]]


async def _slow_update(
    shop: Workshop, config: ReflactConfig, judge: Judge, end: EpochEnd, compared: Sections, step: int
) -> EpochEnd:
    where = f"e{end.epoch}/end"
    room = config.update.max_bytes - size(replace(judge.current.playbook, hindsight=""))

    def read(data: Mapping[str, Any]) -> tuple[str, str]:
        content = text_in(data, "slow_update_content").strip()
        if "slow_update_content" not in data:
            raise Unreadable("it has no 'slow_update_content'")
        if len(content.encode()) > room:
            raise Unreadable(f"'slow_update_content' has {len(content.encode())} bytes, at most {max(0, room)}")
        return content, text_in(data, "reasoning")

    answered = await ask_json(
        shop, f"{where}/slow_update", messages([prompts_of(shop, config).text("slow")], compared), read
    )
    content, reasoning = answered.value or ("", "")
    end = replace(end, guidance=content, reasoning=reasoning, trouble=answered.trouble)
    if not content:
        return replace(end, action="no_content")
    candidate = replace(judge.current.playbook, hindsight=content)
    end = replace(end, candidate=candidate)
    if not config.slow.gated:
        judge.force(shop.with_playbook(candidate), end.origin, step)
        return replace(end, action="force_accept")
    brought = Candidate(shop.with_playbook(candidate), (), end.origin, step, title="guidance")
    judgement = await judge.bring(f"{where}/decision", brought)
    return replace(end, action=judgement.action, judgement=judgement)


async def _meta_skill(shop: Workshop, config: ReflactConfig, end: EpochEnd, compared: Sections, memo: str) -> EpochEnd:
    def read(data: Mapping[str, Any]) -> tuple[str, str]:
        if "meta_skill_content" not in data:
            raise Unreadable("it has no 'meta_skill_content'")
        return shortened(text_in(data, "meta_skill_content").strip(), MEMO), text_in(data, "reasoning")

    asked = messages([prompts_of(shop, config).text("meta")], [*compared, ("your memo so far", memo)])
    answered = await ask_json(shop, f"e{end.epoch}/end/meta_skill", asked, read)
    content, reasoning = answered.value or (memo, "")
    return replace(end, meta=content or memo, meta_reasoning=reasoning, trouble=(*end.trouble, *answered.trouble))
