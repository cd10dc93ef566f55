"""What stands for vLLM where there is none: a server that speaks its wire on loopback, and an engine with its face.

Both hold a model of their own and draw with it token by token, as plain transformers would; weights reach them only by
the way that TRL sends them. TRL's own client is used as it is. What is replaced is what needs a GPU: the broadcast,
which is a queue here.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
import transformers
import trl.generation.vllm_client as trl_client
import trl.generation.vllm_generation as trl_generation

Answer = tuple[int, Any]


@dataclass(slots=True)
class HeldModel:
    """A model of its own, which draws what it is asked for."""

    folder: Path
    deaf: bool = False
    """Whether weights that are sent are acknowledged and not taken."""
    updates: int = 0
    model: Any = field(init=False)
    tokenizer: Any = field(init=False)
    _lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.model = transformers.AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float32).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder)

    def load(self, tensors: Sequence[tuple[str, torch.Tensor]]) -> None:
        known = dict(self.model.named_parameters())
        with self._lock, torch.no_grad():
            for name, tensor in tensors:
                assert known[name].shape == tensor.shape
                if not self.deaf:
                    known[name].copy_(tensor)

    def draw(self, ids: Sequence[int], asked: dict[str, Any]) -> tuple[list[int], list[float]]:
        """Tokens and their log-probabilities after the temperature, up to one of `stop_token_ids`."""
        noise = torch.Generator().manual_seed(asked["seed"])
        new: list[int] = []
        told: list[float] = []
        with self._lock, torch.no_grad():
            while len(new) < asked["max_tokens"]:
                scores = self.model(input_ids=torch.tensor([[*ids, *new]])).logits[0, -1] / asked["temperature"]
                logprobs = scores.log_softmax(-1)
                token = int(torch.multinomial(logprobs.exp(), 1, generator=noise))
                new.append(token)
                told.append(float(logprobs[token]))
                said = self.tokenizer.decode(new, skip_special_tokens=True)
                if token in asked["stop_token_ids"] or any(stop in said for stop in asked["stop"]):
                    break
        return new, told


@dataclass(slots=True)
class WireServer:
    """vLLM's server as TRL's client asks it: the paths, bodies and answers that it knows, and no others."""

    held: HeldModel
    line: queue.Queue[tuple[str, torch.Tensor]]
    config: dict[str, Any] = field(
        default_factory=lambda: {
            "weight_transfer_config": {"backend": "nccl"},
            "model_config": {"logprobs_mode": "processed_logprobs"},
        }
    )
    dev: bool = True
    context: int = 4096
    ill: str = ""
    """A path that answers with an error."""
    seen: list[str] = field(default_factory=list)
    url: str = ""
    _updating: bool = False

    def get(self, path: str) -> Answer:
        if path == "/health":
            return 200, {}
        if path == "/v1/models":
            return 200, {"data": [{"id": "tiny", "max_model_len": self.context}]}
        if path == "/server_info?config_format=json" and self.dev:
            return 200, {"vllm_config": self.config}
        if path == "/get_world_size" and self.dev:
            return 200, {"world_size": 1}
        return 404, {}

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        self.seen.append(path)
        known: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "/v1/completions": self.completions,
            "/tokenize": self.tokenize,
            "/init_weight_transfer_engine": self.init_transfer,
            "/start_weight_update": self.start_update,
            "/update_weights": self.update,
            "/finish_weight_update": self.finish_update,
            "/reset_prefix_cache": lambda body: (200, {"success": True}),
        }
        if path == self.ill:
            return 400, {"error": {"message": "the engine is dead"}}
        return known[path](body) if path in known else (404, {})

    def tokenize(self, body: dict[str, Any]) -> Answer:
        tokens = self.held.tokenizer(body["prompt"], add_special_tokens=body["add_special_tokens"])["input_ids"]
        return 200, {"count": len(tokens), "max_model_len": self.context, "tokens": tokens}

    def completions(self, body: dict[str, Any]) -> Answer:
        assert body["return_token_ids"]
        assert body["return_tokens_as_token_ids"]
        assert body["n"] == 1
        choices = []
        for ids in body["prompt"]:
            new, told = self.held.draw(ids, body)
            tokens = [f"token_id:{token}" for token in new]
            logprobs = {"tokens": tokens, "token_logprobs": told, "top_logprobs": [None] * len(new)}
            choices.append({"prompt_token_ids": ids, "token_ids": new, "logprobs": logprobs, "text": ""})
        return 200, {"choices": choices}

    def init_transfer(self, body: dict[str, Any]) -> Answer:
        assert body["init_info"]["world_size"] == 2
        assert body["init_info"]["packed"]
        return 200, {}

    def start_update(self, body: dict[str, Any]) -> Answer:
        self._updating = True
        return 200, {}

    def update(self, body: dict[str, Any]) -> Answer:
        told = body["update_info"]
        assert self._updating
        came = [self.line.get(timeout=30) for _ in told["names"]]
        assert [name for name, _ in came] == told["names"]
        assert [list(tensor.shape) for _, tensor in came] == told["shapes"]
        assert {str(tensor.dtype).removeprefix("torch.") for _, tensor in came} == set(told["dtype_names"])
        self.held.load(came)
        return 200, {}

    def finish_update(self, body: dict[str, Any]) -> Answer:
        assert self._updating
        self._updating = False
        self.held.updates += 1
        return 200, {}


@contextmanager
def listening(server: WireServer) -> Iterator[WireServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer(*server.get(self.path))

        def do_POST(self) -> None:
            said = self.rfile.read(int(self.headers.get("content-length") or 0))
            self._answer(*server.post(self.path, json.loads(said or b"{}")))

        def log_message(self, *_: Any) -> None: ...

        def _answer(self, code: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        server.url = f"http://127.0.0.1:{http.server_port}"
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def lay_line(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[tuple[str, torch.Tensor]]:
    """Have TRL believe that vLLM is installed and a GPU there; what it broadcasts comes out of the queue."""
    line: queue.Queue[tuple[str, torch.Tensor]] = queue.Queue()

    def broadcast(iterator: Any, group: Any, src: int, post_iter_func: Any) -> None:
        for item in iterator:
            line.put((item[0], post_iter_func(item).detach().clone()))

    device = SimpleNamespace(type="cuda", index=None)
    stands = {
        "is_vllm_available": lambda min_version=None: True,
        "get_ip": lambda: "127.0.0.1",
        "open_trainer_endpoint": lambda info: SimpleNamespace(group=SimpleNamespace(store=object(), socket=object())),
        "packed_nccl_broadcast_producer": broadcast,
        "torch": SimpleNamespace(device=lambda *_: device),
        "_HAS_STATEFUL_TRAINER_ENGINE": True,
        "_HAS_RESET_PREFIX_CACHE_SUCCESS": True,
    }
    for name, value in stands.items():
        monkeypatch.setattr(trl_client, name, value, raising=False)
    monkeypatch.setattr(trl_generation, "is_vllm_available", lambda min_version=None: True)
    module = ModuleType("vllm")
    module.SamplingParams = lambda **settings: settings  # type: ignore[attr-defined]
    module.__spec__ = SimpleNamespace(name="vllm", loader=None)  # type: ignore[assignment]
    monkeypatch.setitem(__import__("sys").modules, "vllm", module)
    return line


class ColocatedModel:
    """The face of `vllm.LLM` as TRL and Whet use it."""

    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, model: str, **settings: Any) -> None:
        self.held = HeldModel(Path(model))
        self.made.append(settings)
        runner = SimpleNamespace(model=SimpleNamespace(load_weights=self.held.load))
        worker = SimpleNamespace(model_runner=runner)
        self.llm_engine = SimpleNamespace(model_executor=SimpleNamespace(driver_worker=worker))

    def reset_prefix_cache(self) -> None:
        self.held.updates += 1

    def generate(self, prompts: Any, sampling_params: Any, use_tqdm: bool) -> list[Any]:
        assert len(prompts) == len(sampling_params)
        return [
            self._answer(asked["prompt_token_ids"], wish) for asked, wish in zip(prompts, sampling_params, strict=True)
        ]

    def _answer(self, ids: list[int], wish: dict[str, Any]) -> Any:
        new, told = self.held.draw(ids, wish)
        steps = [{token: SimpleNamespace(logprob=value)} for token, value in zip(new, told, strict=True)]
        return SimpleNamespace(prompt_token_ids=ids, outputs=[SimpleNamespace(token_ids=new, logprobs=steps)])
