"""A plan cuts the head, and not the embedding that it is tied to, so logits are too wide (transformers#48824)."""

from typing import ClassVar

from torch import nn

from qten_gen.tools.inspect.model_tree import contents_of
from qten_gen.tools.inspect.plans import plan_of

PLAIN = ""
OURS = "lm_head.weight: cut in dimension 0 by tp, but embed_tokens.weight, the same tensor, is whole"


class Decoder(nn.Module):
    _tp_plan: ClassVar = {"lm_head": "colwise_gather_output"}

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(8, 4)
        self.lm_head = nn.Linear(4, 8, bias=False)
        self.lm_head.weight = self.embed_tokens.weight


def plain() -> None:
    """A plan is read when processes run."""


def ours() -> str:
    model = Decoder()
    return "\n".join(map(str, plan_of(model, contents_of(model), {"tp": 2}, None).problems))
