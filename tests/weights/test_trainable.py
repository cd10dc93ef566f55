"""What trains is what was named, parameter by parameter; vision tower and aligner never do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_weights import seeing_weights

from whet.errors import WhetError
from whet.learn.weights.base import open_base
from whet.learn.weights.config import TuneSection
from whet.learn.weights.trainable import assert_exactly, set_trainable
from whet.models.hf.folder import read_folder


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeing_weights(tmp_path_factory.mktemp("vlm"), layers=3)


def trained(module: object) -> list[str]:
    return [name for name, parameter in module.named_parameters() if parameter.requires_grad]  # type: ignore[attr-defined]


def test_adapters_stand_on_the_last_blocks_alone(seeing: Path) -> None:
    base = open_base(read_folder(str(seeing)))
    module, told = set_trainable(base.module, TuneSection(blocks=2, targets=("q_proj", "v_proj"), rank=4))
    names = trained(module)
    assert told.blocks == (1, 2)
    assert len(names) == 2 * 2 * 2
    assert all(".language_model.layers." in name and ".layers.0." not in name for name in names)
    assert not any("vision" in name or "projector" in name for name in names)
    assert {"model.vision_tower", "model.multi_modal_projector"} <= set(told.frozen)
    assert "blocks 1 to 2 of 3" in str(told)
    assert "frozen: model.vision_tower, model.multi_modal_projector" in str(told)


def test_training_all_weights_leaves_what_sees_frozen(seeing: Path) -> None:
    base = open_base(read_folder(str(seeing)))
    module, told = set_trainable(base.module, TuneSection(method="full", blocks="all"))
    assert not any("vision" in name or "projector" in name for name in trained(module))
    assert any("embed_tokens" in name for name in trained(module))
    assert told.frozen == ("model.vision_tower", "model.multi_modal_projector")


def test_the_last_blocks_may_train_themselves(seeing: Path) -> None:
    module, _ = set_trainable(open_base(read_folder(str(seeing))).module, TuneSection(method="full", blocks=1))
    assert trained(module)
    assert all(".language_model.layers.2." in name for name in trained(module))


def test_one_parameter_too_many_or_too_few_is_refused(seeing: Path) -> None:
    base = open_base(read_folder(str(seeing)))
    module, told = set_trainable(base.module, TuneSection(blocks=1, targets=("q_proj",)))
    stray = next(parameter for name, parameter in module.named_parameters() if "vision_tower" in name)
    stray.requires_grad_(True)
    with pytest.raises(WhetError, match=r"what trains is not what was named: .*vision_tower.* trains"):
        assert_exactly(module, told.layers, told.blocks, told.of, ())
    stray.requires_grad_(False)
    lost = next(parameter for name, parameter in module.named_parameters() if "lora_A" in name)
    lost.requires_grad_(False)
    with pytest.raises(WhetError, match=r"lora_A.* does not"):
        assert_exactly(module, told.layers, told.blocks, told.of, ())


def test_layers_and_blocks_that_are_not_there_are_named(base: Path) -> None:
    module = open_base(read_folder(str(base))).module
    with pytest.raises(WhetError, match=r"has no c_attn; it has .*q_proj"):
        set_trainable(module, TuneSection(targets=("c_attn", "q_proj"), blocks=1))
    with pytest.raises(WhetError, match=r"tune.blocks = 9: the model has 2"):
        set_trainable(module, TuneSection(blocks=9))
