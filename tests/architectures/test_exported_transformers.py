"""Models of transformers exported with the dynamic shapes that an annotated `forward` says, by which a wrong size is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module
from tests.architectures.models import build

if TYPE_CHECKING:
    from jaxtyping import Float, Int


class Exported(Module):
    """A model of transformers with an annotated call."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: Int[Tensor, "b t"], attention_mask: Int[Tensor, "b t"]
    ) -> Float[Tensor, "b t vocabulary"]:
        found: Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False)[0]
        return found


def inputs(batch: int, length: int) -> tuple[Tensor, Tensor]:
    """Tokens, and a mask that hides the last of the first row."""
    tokens = torch.randint(2, 90, (batch, length), generator=torch.Generator().manual_seed(0))
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[0, -1] = 0
    return tokens, mask


@pytest.mark.parametrize(
    "name",
    [
        "BertModel",
        "GPT2LMHeadModel",
        "LlamaForCausalLM",
        "GPTNeoXForCausalLM",
        "DistilBertModel",
        "ElectraForPreTraining",
    ],
)
def test_a_model_is_exported_with_the_sizes_of_its_call(name: str) -> None:
    model = Exported(build(name)).eval()
    shapes = Exported.dynamic_shapes(b=(1, 64), t=(2, 32))
    exported = torch.export.export(model, inputs(2, 7), dynamic_shapes=shapes).module()
    other = inputs(3, 11)
    torch.testing.assert_close(exported(*other), model(*other))
    with pytest.raises(AssertionError, match="Guard failed"):
        exported(*inputs(65, 7))
