"""TRL's GRPO trainer on plays: rows put together anew, prompts read once, and no row older than it may be."""

from __future__ import annotations

from typing import Any

import torch
from trl import GRPOTrainer

from whet.errors import WhetError
from whet.learn.weights.flush import FlushRows
from whet.learn.weights.mix import SftMix
from whet.learn.weights.rows_by_length import SHARE, pack
from whet.learn.weights.segment import SegmentSteps
from whet.learn.weights.shared import reads_lines, scored_in_line

VERSION = "policy_version"

UNLEARNT = 8
"""Times as many rows at once where no gradient is wanted: what a layer says is let go of when the next has read it."""


class PlayTrainer(SegmentSteps, GRPOTrainer):  # type: ignore[misc]
    """TRL's GRPO trainer, which knows by which weights each row was drawn."""

    most_age = 1
    """Optimizer steps that may be taken from one batch of attempts."""
    mix: SftMix | None = None
    lines: bool | None = False
    """Whether attempts at one task read its prompt once; None: if it turns out that the model can."""
    _buffered_inputs: Any

    @property
    def sent_step(self) -> int:
        """After which step vLLM was last sent the weights."""
        return int(self._last_loaded_step)

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        scored = super()._generate_and_score_completions(inputs)
        drawn = scored["completion_ids"]
        scored[VERSION] = torch.full((drawn.shape[0],), self.state.global_step, device=drawn.device)
        return scored

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        if self.again:
            return self._buffered_inputs[self._step % self.args.steps_per_generation]
        before = self._buffered_inputs
        part = super()._prepare_inputs(generation_batch)
        if not self.model.training or self._buffered_inputs is before:
            return part
        window = self.args.gradient_accumulation_steps
        whole = self.loss_type != "bnpo" and not self.args.entropy_coef  # neither is a mean over a part's tokens
        self._buffered_inputs = pack(self._buffered_inputs, window, sort=whole, together=self._in_lines())
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *given: Any, **named: Any
    ) -> Any:
        plain = super()._get_per_token_logps_and_entropies
        if any(torch.is_tensor(value) for value in (*given, *named.values())):  # pictures, which belong to places
            return plain(model, input_ids, attention_mask, logits_to_keep, *given, **named)
        if self._in_lines() and not named.get("compute_aux_loss"):
            told = self._scored_in_lines(model, input_ids, attention_mask, logits_to_keep, named)
            if told is not None:
                return (*told, None)
        rows = FlushRows(attention_mask, logits_to_keep)
        moved, mask = rows.move(input_ids), rows.moved_mask(attention_mask)
        logps, entropies, other = plain(model, moved, mask, rows.scored, *given, **named)
        return rows.back(logps), None if entropies is None else rows.back(entropies), other

    def _in_lines(self) -> bool:
        if self.lines is None:
            with self.accelerator.autocast():
                self.lines = reads_lines(self.model)
        return self.lines

    def _scored_in_lines(self, model: Any, ids: Any, mask: Any, scored: int, named: dict[str, Any]) -> Any:
        """As many rows at once as TRL says, more where nothing is learnt; None where they cannot stand in a line."""
        most = (named.get("batch_size") or len(ids)) * (1 if torch.is_grad_enabled() else UNLEARNT)
        found = []
        for start in range(0, len(ids), most):
            part = ids[start : start + most], mask[start : start + most]
            with self.accelerator.autocast():
                said = scored_in_line(model, *part, scored, entropy=bool(named.get("compute_entropy")))
            if said is None:
                return None
            found.append(said)
        logps, entropies = zip(*found, strict=True)
        return torch.cat(logps), None if entropies[0] is None else torch.cat(entropies)

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        loss = self._loss_of(model, inputs)
        if self.mix is None or self._step % self.args.gradient_accumulation_steps:
            return loss
        imitated = self.mix.loss(model, self.state.global_step)  # once for all parts of a step
        self._metrics["train"]["sft_loss"].append(float(imitated.detach()))
        return loss + self.mix.weight * imitated

    def _loss_of(self, model: Any, inputs: Any) -> Any:
        share = inputs.get(SHARE, 1.0)
        if not share:  # a part without rows
            return 0.0 * next(tensor for tensor in model.parameters() if tensor.requires_grad).sum()
        ages = self.state.global_step - inputs[VERSION]
        if int(ages.max()) >= self.most_age or int(ages.min()) < 0:
            raise WhetError(
                f"step {self.state.global_step} would learn from attempts of the weights at step "
                f"{int(inputs[VERSION].min())}; at most {self.most_age} steps may be taken from one batch"
            )
        loss = super()._compute_loss(model, inputs)
        return loss if self.loss_type == "dapo" else loss * share  # dapo's is a sum over tokens, others' a mean of rows
