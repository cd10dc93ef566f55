"""Weights of a folder in memory, and one left-padded batch of conversations put through them.

Padding stands on the left: a decoder-only model continues what stands last in a row, and rows of a batch differ in
length by their text and by how many tokens an image takes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import transformers
from PIL import Image, ImageOps

from whet.errors import LimitReached, WhetError
from whet.models.hf.adapter import laid_over
from whet.models.hf.folder import Folder
from whet.models.hf.prompt import Prompt, Renderer
from whet.models.hf.rows import BatchRow, Chooser, Defaults, RowResult, Watcher, text_of, top_entries


class LoadedWeights:
    """A model in memory with its processor, which pads on the left from here on. Used from one thread at a time."""

    def __init__(self, processor: Any, model: Any, context: int | None) -> None:
        self._processor, self.model, self.context = processor, model, context
        self._tokenizer = getattr(processor, "tokenizer", processor)
        self._tokenizer.padding_side = "left"
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self.defaults = model_defaults(model.generation_config, self._tokenizer)
        self._renderer = Renderer(processor, self.defaults.ends)
        self.device = model.device

    def generate(
        self, prompts: Sequence[Prompt], stopped: Callable[[], bool] = lambda: False
    ) -> list[RowResult | Exception]:
        """A reply for each prompt, in their order; a prompt that leaves no room for one gets `LimitReached`."""
        ids, inputs = self._inputs(prompts)
        room = [self._room(len(row)) for row in ids]
        if all(left is None or left > 0 for left in room):
            return list(self._generate(prompts, ids, inputs, room, stopped))
        results: list[RowResult | Exception] = [self._overflow(len(row)) for row in ids]
        fitting = [at for at, left in enumerate(room) if left is None or left > 0]
        if fitting:
            for at, made in zip(fitting, self.generate([prompts[at] for at in fitting], stopped), strict=True):
                results[at] = made
        return results

    def ids(self, prompt: Prompt) -> list[int]:
        """The tokens of a prompt without images."""
        return self._renderer.ids(prompt)

    def _inputs(self, prompts: Sequence[Prompt]) -> tuple[list[list[int]], Mapping[str, Any]]:
        """The tokens of each prompt, and the tensors that the model takes; raises where an image is none."""
        if any(prompt.images for prompt in prompts):
            return self._seen(prompts)
        ids = [self.ids(prompt) for prompt in prompts]
        width = max(len(row) for row in ids)
        pad = self._tokenizer.pad_token_id
        padded = torch.tensor([[pad] * (width - len(row)) + row for row in ids], device=self.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in ids], device=self.device)
        return ids, {"input_ids": padded, "attention_mask": mask}

    def _seen(self, prompts: Sequence[Prompt]) -> tuple[list[list[int]], Mapping[str, Any]]:
        """Prompts with images, which the processor alone can turn into tokens: all of the conversation each time."""
        texts = [self._renderer.text(prompt) for prompt in prompts]
        begins = self._tokenizer.bos_token
        inputs = self._processor(
            text=texts,
            images=[[_image(data) for data in prompt.images] for prompt in prompts],
            padding=True,
            return_tensors="pt",
            add_special_tokens=not (begins and all(text.startswith(begins) for text in texts)),
        ).to(self.device, dtype=self.model.dtype)
        rows = zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        return [row[mask.bool()].tolist() for row, mask in rows], inputs

    def _generate(
        self,
        prompts: Sequence[Prompt],
        ids: Sequence[Sequence[int]],
        inputs: Mapping[str, Any],
        room: Sequence[int | None],
        stopped: Callable[[], bool],
    ) -> Iterator[RowResult]:
        limits = [
            prompt.sampling.max_tokens if left is None else min(prompt.sampling.max_tokens, left)
            for prompt, left in zip(prompts, room, strict=True)
        ]
        rows = [BatchRow(prompt.sampling, limit) for prompt, limit in zip(prompts, limits, strict=True)]
        with torch.inference_mode():
            self.model.generate(
                **inputs,
                do_sample=False,
                max_new_tokens=max(limits),
                pad_token_id=self._tokenizer.pad_token_id,
                logits_processor=[Chooser(rows, self.defaults)],
                stopping_criteria=[Watcher(rows, self.defaults, self.decode, stopped)],
            )
        for row, read in zip(rows, ids, strict=True):
            text = text_of(row, self.defaults.ends, self.decode)
            entries = top_entries(row, self.decode)
            yield RowResult(text, row.finish or "length", read, row.ids, entries, row.logprobs)

    def decode(self, ids: Sequence[int]) -> str:
        decoded: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return decoded

    def _room(self, length: int) -> int | None:
        return None if self.context is None else self.context - length

    def _overflow(self, length: int) -> Exception:
        return LimitReached("context_overflow", f"a prompt of {length} tokens in a context of {self.context}")


def load_weights(folder: Folder, device: str, dtype: str, threads: int) -> LoadedWeights:
    """The weights of a folder, on the first GPU unless a device is named."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cpu":
        torch.set_num_threads(threads)
    with _quiet():
        processor, model = _loaded(folder, dtype, device)
    return LoadedWeights(processor, model.to(device).eval(), folder.context)


def _loaded(folder: Folder, dtype: str, device: str) -> tuple[Any, Any]:
    where, offline = str(folder.path), {"local_files_only": True, "trust_remote_code": False}
    kind = transformers.AutoModelForImageTextToText if folder.sees else transformers.AutoModelForCausalLM
    reader = transformers.AutoProcessor if folder.sees else transformers.AutoTokenizer
    try:
        processor = reader.from_pretrained(where, **offline)
        model = kind.from_pretrained(where, dtype=dtype, **offline)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, AttributeError) as problem:
        said = " ".join(str(problem).split())[:300]
        raise WhetError(f"transformers {transformers.__version__} cannot load {where}: {said}") from problem
    if not (getattr(processor, "chat_template", None) or getattr(processor, "tokenizer", processor).chat_template):
        raise WhetError(f"{where} has no chat template: a base model cannot hold a conversation")
    if folder.adapter is None:
        return processor, model
    return processor, laid_over(model.to(_under_adapter(model.dtype, dtype, device)), folder.adapter)


def _under_adapter(saved: torch.dtype, asked: str, device: str) -> torch.dtype:
    """The number type of a base under an adapter: on a GPU bfloat16, in which adapters are trained there.

    In float32 its products would be computed aside from the matrix units. What is asked for by name holds, and weights
    without an adapter are as they were saved: they may have been trained in steps that bfloat16 cannot say.
    """
    wide = asked == "auto" and device.startswith("cuda") and saved == torch.float32
    return torch.bfloat16 if wide else saved


def model_defaults(config: Any, tokenizer: Any) -> Defaults:
    """What a model's generation config says of sampling, and the tokens that end a reply."""
    ends = config.eos_token_id if config.eos_token_id is not None else tokenizer.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    sampled = bool(config.do_sample)
    temperature = (1.0 if config.temperature is None else config.temperature) if sampled else 0.0
    top_p = config.top_p if sampled and config.top_p is not None else 1.0
    return Defaults(temperature, top_p, frozenset(token for token in listed if token is not None))


def _image(data: bytes) -> Image.Image:
    """An image the right way up: a camera may write how it was held instead of turning the picture."""
    with Image.open(io.BytesIO(data)) as opened:
        return ImageOps.exif_transpose(opened).convert("RGB")


@contextmanager
def _quiet() -> Iterator[None]:
    """Loading draws progress bars on the terminal; ours is the only one there."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
