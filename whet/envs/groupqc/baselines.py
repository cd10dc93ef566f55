"""Policies without a model: always pass, always fail, the checklist on the summaries, its ceiling, and the oracle.

The ceiling knows the planted conventions and applies them to what the prompt shows: what a learner could reach who had
found them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.envs.base import Baseline, Messages
from whet.envs.groupqc.pack.schema import Mission, Pack, TicketVerdict
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.conventions import Convention, judge_with
from whet.envs.groupqc.verdict.lines import write_verdict
from whet.envs.groupqc.verdict.rules import RuleJudgement, judge, reason
from whet.types import Task

MissionOf = Callable[[str], tuple[Pack, Mission]]
ConventionsOf = Callable[[str], tuple[Convention, ...]]

SAID: Mapping[str, Mapping[TicketVerdict, str]] = {
    "zh": {"pass": "总结: 一律判通过", "fail": "总结: 一律判不通过"},
    "en": {"pass": "Overall: every ticket passes", "fail": "Overall: every ticket fails"},
}


def baselines(mission_of: MissionOf, conventions_of: ConventionsOf | None = None) -> dict[str, Baseline]:
    """The reference policies of tickets whose missions `mission_of` knows; the ceiling where conventions are."""

    def always(call: TicketVerdict) -> Baseline:
        def answer(task: Task, said: Messages) -> str:
            language = mission_of(task.data["mission"])[0].language
            return write_verdict(call, SAID[language][call], language)

        return answer

    def rules(task: Task, said: Messages) -> str:
        call, why, language = _judged(mission_of, task)
        return write_verdict(call, why, language)

    def oracle(task: Task, said: Messages) -> str:
        _, why, language = _judged(mission_of, task)
        return write_verdict(task.truth["label"], why, language)

    known: dict[str, Baseline] = {"always_pass": always("pass"), "always_fail": always("fail"), "rules": rules}
    if conventions_of is not None:
        known["ceiling"] = _ceiling(mission_of, conventions_of)
    return {**known, "oracle": oracle}


def _ceiling(mission_of: MissionOf, conventions_of: ConventionsOf) -> Baseline:
    def answer(task: Task, said: Messages) -> str:
        pack, mission = mission_of(task.data["mission"])
        readings = [read_summary(pack, text) for text in task.data["summaries"]]
        standing = conventions_of(mission.name)
        found = judge_with(pack, mission, standing, readings, task.data.get("site", ""), task.data.get("submitted", ""))
        why = reason(pack, RuleJudgement(found.verdict, found.findings))
        return write_verdict(found.verdict, why, pack.language)

    return answer


def _judged(mission_of: MissionOf, task: Task) -> tuple[TicketVerdict, str, str]:
    """What the mission's needs say about what the prompt shows: the truth is not looked at."""
    pack, mission = mission_of(task.data["mission"])
    readings = [read_summary(pack, text) for text in task.data["summaries"]]
    judgement = judge(pack, mission, readings, task.data.get("site", ""), task.data.get("submitted", ""))
    return judgement.verdict, reason(pack, judgement), pack.language
