"""`Module.dynamic_shapes`: the sizes that vary between calls, for `torch.export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from decoder.model import Decoder
from torch import Tensor, nn

from qten_gen import Module, param, submodule

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class Net(Module):
    width: int = 8
    table: nn.Parameter = param(50, "width", initializer=nn.init.normal_)
    out: nn.Linear = submodule(nn.Linear, "width", "2*width")

    def forward(
        self, tokens: Int[Tensor, "b t"], mask: Float[Tensor, "b t"] | None = None, scale: float = 1.0
    ) -> Float[Tensor, "b t 2*width"]:
        x = nn.functional.embedding(tokens, self.table)
        result: Tensor = self.out(x if mask is None else x * mask[..., None])
        return result * scale


class Fixed(Module):
    width: int

    def forward(self, x: Float[Tensor, "#b rgb=3 width width//2 _ 2*t"]) -> Tensor:
        return x


class Open(Module):
    def forward(self, x: Float[Tensor, "*b t"]) -> Tensor:
        return x


def test_a_module_is_exported_with_the_sizes_that_its_annotations_name() -> None:
    shapes = Net.dynamic_shapes(b=(1, 64), t=(2, 128))
    inputs = torch.zeros(3, 7, dtype=torch.int64), torch.ones(3, 7), 1.0
    exported = torch.export.export(Net(), inputs, dynamic_shapes=shapes).module()
    assert exported(torch.zeros(5, 9, dtype=torch.int64), torch.ones(5, 9), 1.0).shape == (5, 9, 16)
    with pytest.raises(AssertionError, match=r"tokens.*\[0\] <= 64"):
        exported(torch.zeros(65, 9, dtype=torch.int64), torch.ones(65, 9), 1.0)


class Annotated(Decoder):
    def forward(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t vocabulary"]:
        return super().forward(tokens)


def test_the_decoder_of_the_examples_is_exported() -> None:
    model = Annotated(context=16, width=32, depth=2).eval()
    shapes = Annotated.dynamic_shapes(b=(1, 64), t=(2, 15))
    exported = torch.export.export(model, (torch.zeros(2, 7, dtype=torch.int64),), dynamic_shapes=shapes).module()
    tokens = torch.arange(33).view(3, 11)
    torch.testing.assert_close(exported(tokens), model(tokens))
    with pytest.raises(AssertionError, match=r"tokens.*\[1\] <= 15"):
        exported(torch.zeros(2, 17, dtype=torch.int64))


def test_one_name_is_one_size() -> None:
    shapes = Net.dynamic_shapes(b=(1, 64))
    assert list(shapes) == ["tokens", "mask", "scale"]
    assert (shapes["tokens"][0] is shapes["mask"][0], shapes["scale"]) == (True, None)
    assert (shapes["tokens"][0].__name__, shapes["tokens"][0].max) == ("b", 64)


def test_numbers_and_config_fields_are_fixed_and_expressions_are_found_out() -> None:
    shape = Fixed.dynamic_shapes()["x"]
    assert (list(shape), shape[4], shape[5]) == ([0, 4, 5], torch.export.Dim.AUTO, torch.export.Dim.AUTO)


@pytest.mark.parametrize(
    ("module", "bounds", "message"),
    [
        (Net, {"c": (1, 2)}, "Net.dynamic_shapes(): c is no dimension of forward; its dimensions are b, t"),
        (Fixed, {"width": (1, 2)}, "Fixed.dynamic_shapes(): width is a constructor argument, so it is fixed"),
        (Open, {}, "Open.dynamic_shapes(): *b of x is any number of dimensions; torch.export has one rank"),
    ],
)
def test_what_torch_cannot_export_is_an_error(
    module: type[Module], bounds: dict[str, tuple[int, int | None]], message: str
) -> None:
    with pytest.raises(ValueError) as raised:
        module.dynamic_shapes(**bounds)
    assert str(raised.value) == message
