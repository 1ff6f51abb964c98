"""TensorClasses as pytrees: leaves, key paths, vmap, gradients, export."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn

from qten_gen import TensorClass

from ..declared import assert_applied, assert_sound, batch, flat, tensors


@pytest.mark.parametrize("full", [True, False])
def test_the_leaves_are_the_tensors_and_lead_back(full: bool) -> None:
    value = batch(2, 3, full=full).to("cpu")
    leaves, spec = pytree.tree_flatten(value)
    assert [id(leaf) for leaf in leaves] == [id(tensor) for tensor in tensors(value).values()]
    back = pytree.tree_unflatten(leaves, spec)
    assert_applied(back, value, lambda tensor: tensor)
    assert (back.device, back.source, back.mask is None) == (torch.device("cpu"), "test", not full)


def test_key_paths_are_attributes() -> None:
    paths, _ = pytree.tree_flatten_with_path(batch(4))
    assert [pytree.keystr(path) for path, _ in paths][:3] == [".tokens", ".point.position", ".point.weight"]


def test_objects_of_different_batch_sizes_have_one_structure() -> None:
    assert pytree.tree_structure(batch(4)) == pytree.tree_structure(batch(5))
    assert pytree.tree_structure(batch(4)) != pytree.tree_structure(batch(4).replace(source="other"))
    assert pytree.tree_structure(batch(4)) != pytree.tree_structure(batch(4, full=False))


def test_a_tree_of_nothing_has_no_batch_size() -> None:
    mapped = pytree.tree_map(lambda tensor: None, flat(4).to("cpu"))
    assert (mapped.batch_size, mapped.device, mapped.x, mapped.y) == ((), None, None, None)


def test_a_mapped_tree_has_the_batch_size_of_its_tensors() -> None:
    value = batch(4, 5)
    assert_applied(pytree.tree_map(lambda tensor: tensor[0], value), value, lambda tensor: tensor[0], (5,))
    assert_applied(pytree.tree_map(lambda tensor: tensor[None], value), value, lambda tensor: tensor[None], (1, 4, 5))


def test_a_mapped_tree_is_sound_whatever_the_function_does() -> None:
    value = batch(4, 5)
    assert_sound(pytree.tree_map(lambda tensor: tensor.sum(-1), value))
    assert_sound(pytree.tree_map(lambda tensor: tensor[..., None], value))
    assert_sound(pytree.tree_map(lambda tensor: tensor.reshape(-1), value))


def test_a_mapped_tree_follows_the_device_of_its_tensors() -> None:
    value = flat(4).to("cpu")
    assert pytree.tree_map(lambda tensor: tensor.to("meta"), value).device == torch.device("meta")
    assert pytree.tree_map(lambda tensor: tensor.to("meta"), flat(4)).device is None


def test_leaves_can_be_anything_in_between() -> None:
    shapes: Any = pytree.tree_map(lambda tensor: list(tensor.shape), flat(4))
    assert (shapes.x, shapes.batch_size) == ([4, 3], ())


def test_an_object_without_tensors_keeps_its_batch_size() -> None:
    class Note(TensorClass):
        text: str

    assert pytree.tree_map(torch.neg, Note("a", batch_size=3)).batch_size == (3,)


class Mask(TensorClass):
    """Perhaps without a tensor that could say the batch size."""

    kept: Tensor | None = None


class Masked(TensorClass):
    x: Tensor
    mask: Mask


@pytest.mark.parametrize("size", [(4, 5), (4, 4)])
def test_an_object_without_tensors_follows_the_batch_size_of_its_holder(size: tuple[int, ...]) -> None:
    value = Masked(torch.rand(*size, 2), Mask(batch_size=(*size, 7)), batch_size=size)
    seen: list[torch.Size] = []

    def scaled(item: Masked) -> Masked:
        seen.extend([item.batch_size, item.mask.batch_size])
        return item * 2

    mapped = torch.vmap(scaled)(value)
    assert seen == [size[1:], (*size[1:], 7)]
    assert (mapped.batch_size, mapped.mask.batch_size) == (size, (*size, 7))
    assert value.mask.batch_size == (*size, 7)
    assert pytree.tree_map(lambda tensor: tensor[:2], value).mask.batch_size == (2, *size[1:], 7)


def test_an_object_without_tensors_keeps_its_names_with_its_dimensions() -> None:
    value = Masked(torch.rand(4, 2), Mask(batch_size=4, names=["time"]), batch_size=4)
    assert pytree.tree_map(torch.neg, value).mask.names == ("time",)
    assert pytree.tree_map(lambda tensor: tensor[:2], value).mask.names == ("time",)
    assert pytree.tree_map(lambda tensor: tensor[0], value).mask.names == ()


def test_objects_without_tensors_have_one_structure_whatever_their_batch_sizes() -> None:
    assert pytree.tree_structure(Mask(batch_size=3)) == pytree.tree_structure(Mask(batch_size=4))


class Prefixed(TensorClass):
    text: Tensor
    x: Tensor | None
    text_lengths: Tensor


class Scaled(nn.Module):
    def forward(self, value: Prefixed) -> Prefixed:
        return value.replace(text=value.text * 2)


@pytest.mark.parametrize("strict", [False, True])
def test_a_field_whose_name_begins_with_the_name_of_another_is_exported(strict: bool) -> None:
    value = Prefixed(torch.rand(3, 4), None, torch.rand(3), batch_size=3)
    found = torch.export.export(Scaled(), (value,), strict=strict).module()(value)
    assert torch.equal(found.text, value.text * 2) and torch.equal(found.text_lengths, value.text_lengths)
    mapped = pytree.tree_map(lambda tensor: tensor + 1, value)
    assert torch.equal(mapped.text, value.text + 1) and mapped.x is None
    assert torch.equal(torch.vmap(lambda one: one * 2)(value).text_lengths, value.text_lengths * 2)
