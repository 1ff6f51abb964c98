"""Failures of other ways to start a large model, one test each: what goes wrong there, and that it does not here."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, param, submodule

from .declared import Decoder, tensors


class Rotary(Module):
    """A cache that is in no checkpoint."""

    dim: int
    inv_freq: Tensor = buffer("dim", persistent=False, initializer="frequencies")

    def frequencies(self, tensor: Tensor) -> None:
        torch.div(1, 10_000 ** (torch.arange(self.dim) / self.dim), out=tensor)


class Layer(Module):
    dim: int
    layer: int
    depth: int
    scale_by_layer: bool
    rotary: Rotary = submodule(Rotary, "dim")
    proj: nn.Parameter = param("dim", "dim", initializer="scaled")

    def scaled(self, tensor: Tensor) -> None:
        over = self.layer + 1 if self.scale_by_layer else self.depth
        nn.init.trunc_normal_(tensor, std=0.02 / (2 * over) ** 0.5)


class Model(Module):
    dim: int = 128
    depth: int = 3
    scale_by_layer: bool = True
    layers: ModuleList[Layer] = submodule(
        Layer, "dim", layer="index", depth="depth", scale_by_layer="scale_by_layer", repeat="depth"
    )


def test_a_non_persistent_buffer_has_its_values() -> None:
    """torchtitan 4783, transformers 45902 and 48892: `to_empty` leaves `inv_freq` uninitialised, and no checkpoint repairs it."""
    model, real = Model.on_meta().materialize("cpu", seed=0), Model()
    for mine, other in zip(model.layers, real.layers, strict=True):
        torch.testing.assert_close(mine.rotary.inv_freq, other.rotary.inv_freq, rtol=0, atol=0)
    assert not any("inv_freq" in name for name in model.state_dict())


def test_initialisation_is_configured_without_changing_the_model() -> None:
    """torchtitan 2633: the scale per layer was in the module's code; here it is a config field and the index."""

    def stds(model: Model) -> list[float]:
        return [float(layer.proj.detach().std()) for layer in model.layers]

    by_layer = stds(Model.on_meta().materialize("cpu", seed=0))
    by_depth = stds(Model.on_meta(scale_by_layer=False).materialize("cpu", seed=0))
    assert by_layer == pytest.approx([0.02 / (2 * (layer + 1)) ** 0.5 for layer in range(3)], rel=0.05)
    assert by_depth == pytest.approx([0.02 / 6**0.5] * 3, rel=0.05)


def test_a_tie_survives_to_empty_assign_and_materialize() -> None:
    """pytorch 188346, accelerate 3668: a tie is lost by `to_empty` from meta and by `load_state_dict(assign=True)`."""
    state = Decoder(7, 4).state_dict()
    for model in (
        Decoder.on_meta(7, 4).materialize("cpu", seed=0),
        Decoder.on_meta(7, 4).to_empty(device="cpu"),
    ):
        assert model.head is model.embed.weight
    model = Decoder.on_meta(7, 4)
    model.load_state_dict(state, assign=True)
    assert model.head is model.embed.weight and not model.head.is_meta

    # What the checkpoint lacks is still on meta after `assign`, and materialize() gives it values.
    left = [name for name, tensor in tensors(model).items() if tensor.is_meta]
    assert left == ["blocks.0.table", "blocks.1.table"]
    model.materialize("cpu", seed=0)
    assert model.blocks[0].table.tolist() == [0.25] * 4
    torch.testing.assert_close(model.head, state["head"], rtol=0, atol=0)


def test_a_cache_that_cannot_be_computed_on_meta_is_computed_afterwards() -> None:
    """torchtitan 612 and 3458: a cache whose code reads a value fails on meta, and had to be computed again by hand."""

    class Cached(Module):
        length: int
        table: Tensor = buffer("length", persistent=False, initializer="compute")

        def compute(self, tensor: Tensor) -> None:
            steps = torch.arange(float(self.length), device=tensor.device)
            if not tensor.is_meta and float(steps.max()) > 1:
                steps = steps / steps.max()
            tensor.copy_(steps)

    assert Cached.on_meta(3).materialize("cpu").table.tolist() == Cached(3).table.tolist() == [0, 0.5, 1]
