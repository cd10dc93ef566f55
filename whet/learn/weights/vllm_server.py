"""A vLLM server before a training trusts it: does it answer, can it be sent weights, and is its vocabulary ours?

TRL's client sends the weights and asks for replies; what is looked at here would otherwise fail late or not at all.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from whet.errors import WhetError
from whet.learn.weights.config import GeneratorSection

ANSWER_SECONDS = 30.0
"""How long one question about the server may take."""

SAMPLES = 64
"""Tokens, from all over the vocabulary, by whose text two vocabularies are compared."""

PROCESSED = "processed_logprobs"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says of itself: the name that it serves its model under, and the longest conversation."""

    url: str
    model: str
    context: int | None


def require_vllm() -> None:
    """vLLM also brings the trainer's end of the line by which weights travel."""
    if find_spec("vllm") is None:
        raise WhetError(
            "generator.kind = 'vllm' needs vLLM beside the trainer too: it brings the line by which weights are sent; "
            "run: pip install vllm, or set generator.kind = 'local'"
        )


def ask_server(section: GeneratorSection, base: str) -> ServerFacts:
    """What the server at `url` is, waited for with the patience of the config; one that cannot be used is refused."""
    url = section.url.rstrip("/")
    serve = (
        f'VLLM_SERVER_DEV_MODE=1 vllm serve {base} --weight-transfer-config \'{{"backend": "nccl"}}\' '
        f"--logprobs-mode {PROCESSED}"
    )
    _wait(url, section.patience, serve)
    try:
        listed = _asked(f"{url}/v1/models")["data"][0]
        name, context = str(listed["id"]), listed.get("max_model_len")
        config = _asked(f"{url}/server_info?config_format=json")["vllm_config"]
        transfer, mode = config["weight_transfer_config"], config["model_config"]["logprobs_mode"]
    except urllib.error.HTTPError as refused:
        refused.close()
        why = "has no endpoints for weights" if refused.code == 404 else f"answers {refused.code} to {refused.url}"
        raise WhetError(f"vLLM at {url} {why}; start it with: {serve}") from None
    except (KeyError, IndexError, TypeError, AttributeError):
        raise WhetError(
            f"what answers at {url} is no vLLM server that this version of TRL knows; start it with: {serve}"
        ) from None
    if transfer is None:
        raise WhetError(f"vLLM at {url} was started without weight transfer; start it with: {serve}")
    if mode != PROCESSED:
        raise WhetError(
            f"vLLM at {url} tells {mode}, which leave out the temperature that GRPO learns at; start it with: {serve}"
        )
    return ServerFacts(url, name, context if isinstance(context, int) else None)


def check_vocabulary(facts: ServerFacts, tokenizer: Any) -> None:
    """Have the server tokenise a text of ours: ids that mean something else there would be learnt as if said here."""
    ids = list(range(0, len(tokenizer), max(1, len(tokenizer) // SAMPLES)))
    text = str(tokenizer.decode(ids))
    ours = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    body = {"model": facts.model, "prompt": text, "add_special_tokens": False}
    try:
        theirs = _asked(f"{facts.url}/tokenize", body)["tokens"]
    except (urllib.error.HTTPError, KeyError, TypeError) as problem:
        raise WhetError(
            f"vLLM at {facts.url} does not tokenise a text ({problem}), so its vocabulary is unknown"
        ) from None
    if not isinstance(theirs, list) or theirs != ours:
        raise WhetError(
            f"vLLM at {facts.url} serves {facts.model}, which has another vocabulary than the base in training: a "
            f"text of {len(ours)} tokens comes out as others there; serve the base of the config"
        )


def _wait(url: str, patience: float, serve: str) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=ANSWER_SECONDS):
                return
        except OSError as problem:  # refused, unreachable, or loading its model still
            left = end - time.monotonic()
            if left <= 0:
                said = getattr(problem, "reason", problem)
                raise WhetError(
                    f"no vLLM server answers at {url} ({said}); set generator.url, or start one with: {serve}"
                ) from None
        time.sleep(min(1.0, left))


def _asked(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return json.loads(answer.read())
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise WhetError(f"{url} does not answer in JSON: what listens there is no vLLM server") from None
    except urllib.error.HTTPError:
        raise
    except OSError as problem:
        raise WhetError(f"{url} does not answer: {getattr(problem, 'reason', problem)}") from None
