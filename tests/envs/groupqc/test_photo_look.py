"""Perceptual looks: copies are found whatever their size and compression, and other photos are not."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from photo_trees import picture
from PIL import Image as Picture

from whet.envs.groupqc.photos.look import NEAR, SPOT, PhotoLook, copies, perceptual_look


def are_copies(one: bytes, other: bytes) -> bool:
    return bool(copies({"a": perceptual_look(one), "b": perceptual_look(other)}, {"a": "a", "b": "b"}))


@pytest.mark.parametrize("quality", [95, 75, 50])
@pytest.mark.parametrize("size", [(480, 360), (240, 180), (960, 720)])
def test_another_size_and_compression_stay_near(size: tuple[int, int], quality: int) -> None:
    original = picture(7, size=(480, 360))
    assert are_copies(original, picture(7, size=size, form="JPEG", quality=quality))


def test_different_photos_are_far_apart() -> None:
    looks = [perceptual_look(picture(seed)) for seed in range(40)]
    pairs = [(look.distance(other), look.spot(other)) for at, look in enumerate(looks) for other in looks[:at]]
    assert min(bits for bits, _ in pairs) > 2 * NEAR
    assert min(spot for _, spot in pairs) > 2 * SPOT


def test_photos_that_differ_in_one_spot_are_no_copies() -> None:
    with Picture.open(io.BytesIO(picture(7, size=(480, 360)))) as opened:
        marked = opened.convert("RGB")
    marked.paste((255, 0, 255), (100, 100, 130, 130))
    file = io.BytesIO()
    marked.save(file, "PNG")
    assert perceptual_look(file.getvalue()).distance(perceptual_look(picture(7, size=(480, 360)))) <= 4 * NEAR
    assert not are_copies(file.getvalue(), picture(7, size=(480, 360)))


def test_a_copy_in_another_group_is_found_and_one_in_its_own_is_not() -> None:
    looks = {
        "a/1": perceptual_look(picture(1, size=(480, 360))),
        "b/1": perceptual_look(picture(1, size=(300, 225), form="JPEG", quality=60)),
        "b/2": perceptual_look(picture(1, size=(480, 360))),
        "c/1": perceptual_look(picture(2)),
    }
    pairs = copies(looks, {name: name[0] for name in looks})
    assert [(pair.first, pair.second) for pair in pairs] == [("a/1", "b/1"), ("a/1", "b/2")]


def test_pictures_without_structure_are_copies_of_nothing() -> None:
    def plain(colour: str) -> bytes:
        file = io.BytesIO()
        Picture.new("RGB", (64, 64), colour).save(file, "PNG")
        return file.getvalue()

    looks = {name: perceptual_look(plain(name)) for name in ("black", "white", "grey")}
    assert copies(looks, {name: name for name in looks}) == []


@given(st.lists(st.integers(1, 2**256 - 1), min_size=1, max_size=6), st.sets(st.integers(0, 255), max_size=NEAR))
def test_every_pair_within_reach_is_found(values: list[int], flipped: set[int]) -> None:
    near = values[0]
    for bit in flipped:
        near ^= 1 << bit
    looks = {str(at): PhotoLook(value, b"same") for at, value in enumerate(values)} | {"near": PhotoLook(near, b"same")}
    found = {(copy.first, copy.second): copy.distance for copy in copies(looks, {name: name for name in looks})}
    assert near == 0 or found[("0", "near")] == len(flipped)


def test_what_is_no_image_is_an_error() -> None:
    with pytest.raises(OSError, match="cannot identify"):
        perceptual_look(b"no image")
