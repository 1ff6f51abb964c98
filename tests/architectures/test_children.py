"""Models of transformers, timm and diffusers as children of a declared module have the values that their libraries give them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, submodule

from .libraries import made_of, skip_without
from .models import MODELS, build

TIMM = (
    *("beit_base_patch16_224", "cait_xxs24_224", "coatnet_0_rw_224", "convnext_atto", "edgenext_xx_small"),
    *("eva02_tiny_patch14_224", "levit_128s", "mixer_s32_224", "mobilenetv3_small_050", "nfnet_f0", "pit_ti_224"),
    *("regnetx_002", "swin_tiny_patch4_window7_224", "swinv2_tiny_window8_256", "vit_tiny_patch16_224"),
    "xcit_nano_12_p16_224",
)


def made(library: str, name: str) -> nn.Module:
    """A model of a library, as its users make it."""
    return build(name) if library == "transformers" else made_of(library)[name]()


class Holder(Module):
    library: str
    name: str
    model: nn.Module = submodule(made, "library", "name")


def tensors(module: nn.Module) -> dict[str, Tensor]:
    return {name: each.detach().double() for name, each in (*module.named_parameters(), *module.named_buffers())}


@pytest.mark.parametrize(
    ("library", "name"),
    [
        *(("transformers", name) for name in MODELS),
        *(("timm", name) for name in TIMM),
        *(("diffusers", name) for name in made_of("diffusers")),
    ],
)
def test_a_child_has_the_distribution_that_it_has_eagerly(library: str, name: str) -> None:
    skip_without(library)
    torch.manual_seed(1)
    eager = tensors(Holder(library, name))
    found = tensors(Holder.on_meta(library, name).materialize("cpu", seed=0))
    assert found.keys() == eager.keys()
    for key, expected in eager.items():
        value, size = found[key], expected.numel()
        if not torch.equal(value, expected) and size >= 64:
            # Not the deviation: timm's truncated normal draws one number in 16 million that is a hundred times as large.
            far = expected.abs().mean()
            assert abs(value.abs().mean() / far - 1) < 6 / size**0.5, key
            assert abs(value.mean() - expected.mean()) < 10 * far / size**0.5, key
