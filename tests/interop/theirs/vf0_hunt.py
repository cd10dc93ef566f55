"""An environment of verifiers 0.3 that needs several turns: a number to find, with a hint after every guess."""

from __future__ import annotations

from typing import Any

import verifiers as vf
from datasets import Dataset

TURNS = 6


class HuntEnv(vf.MultiTurnEnv):
    async def setup_state(self, state: Any) -> Any:
        state["hints"] = 0
        return state

    async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
        guess, answer = str(messages[-1].content).strip(), int(state["answer"])
        if guess == str(answer):
            state["final_env_response"] = [{"role": "user", "content": "Found."}]
            return state["final_env_response"]
        state["hints"] += 1
        told = "Say a number." if not guess.isdigit() else "Higher." if int(guess) < answer else "Lower."
        return [{"role": "user", "content": told}]


def found(completion: Any, answer: str, state: Any) -> float:
    guesses = [str(message["content"]).strip() for message in completion if message["role"] == "assistant"]
    return 1.0 / (1 + state["hints"]) if answer in guesses else 0.0


def guesses(state: Any) -> float:
    return float(len(state["trajectory"]))


def load_environment(n: int = 50) -> vf.Environment:
    rows = [{"question": f"Hunt {k}: find my number, from 0 to 63.", "answer": str(k * 37 % 64)} for k in range(n)]
    rubric = vf.Rubric(funcs=[found, guesses], weights=[1.0, 0.0])
    return HuntEnv(dataset=Dataset.from_list(rows), rubric=rubric, system_prompt="Numbers only.", max_turns=TURNS)
