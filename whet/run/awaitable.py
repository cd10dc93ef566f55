"""The functions of Whet for a program with a loop: `await whet.aevaluate(...)` and so on, each named after its own.

    import asyncio, whet
    one, other = await asyncio.gather(whet.aevaluate(env, "openai:a"), whet.aevaluate(env, "openai:b"))

Each works in a thread of its own, so the loop goes on meanwhile. Cancelled, a run stops as by Ctrl-C: what is done is
kept, and the same call continues it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from whet.gate.simulate import simulate
from whet.rollout.loop import awaited
from whet.run.api import compare, decide, evaluate, rebuild, resume, train
from whet.run.contract.check import check

Params = ParamSpec("Params")
Result = TypeVar("Result")


def _twin(function: Callable[Params, Result]) -> Callable[Params, Coroutine[Any, Any, Result]]:
    async def twin(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        return await awaited(functools.partial(function, *args, **kwargs))

    functools.update_wrapper(twin, function)
    twin.__name__ = twin.__qualname__ = f"a{function.__name__}"
    return twin


acheck = _twin(check)
acompare = _twin(compare)
adecide = _twin(decide)
aevaluate = _twin(evaluate)
arebuild = _twin(rebuild)
aresume = _twin(resume)
asimulate = _twin(simulate)
atrain = _twin(train)
