"""Policies without a model: always pass, always fail, the mission's own rules on the summaries, and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whet.envs.base import Baseline, Messages
from whet.envs.groupqc.pack.schema import Mission, Pack, TicketVerdict
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.lines import write_verdict
from whet.envs.groupqc.verdict.rules import judge, reason
from whet.types import Task

MissionOf = Callable[[str], tuple[Pack, Mission]]

SAID: Mapping[str, Mapping[TicketVerdict, str]] = {
    "zh": {"pass": "总结: 一律判通过", "fail": "总结: 一律判不通过"},
    "en": {"pass": "Overall: every ticket passes", "fail": "Overall: every ticket fails"},
}


def baselines(mission_of: MissionOf) -> dict[str, Baseline]:
    """The reference policies of tickets whose missions `mission_of` knows."""

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

    return {"always_pass": always("pass"), "always_fail": always("fail"), "rules": rules, "oracle": oracle}


def _judged(mission_of: MissionOf, task: Task) -> tuple[TicketVerdict, str, str]:
    """What the mission's needs say about what the prompt shows: the truth is not looked at."""
    pack, mission = mission_of(task.data["mission"])
    judgement = judge(pack, mission, [read_summary(pack, text) for text in task.data["summaries"]])
    return judgement.verdict, reason(pack, judgement), pack.language
