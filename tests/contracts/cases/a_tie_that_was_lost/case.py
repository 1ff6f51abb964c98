"""The head was untied from the embedding and trained; a tied model loads one of the two, without a word (transformers#43159)."""

import torch
from torch import nn

from qten_gen import compare

PLAIN = ""
OURS = (
    "  untied: a declared tie refuses different values; of one made by hand the last counts, for both names\n"
    "    head.weight: embedding.weight"
)


def model() -> nn.Module:
    made = nn.ModuleDict({"embedding": nn.Embedding(3, 2), "head": nn.Linear(2, 3, bias=False)})
    made["head"].weight = made["embedding"].weight
    return made


def checkpoint() -> dict[str, torch.Tensor]:
    return {"embedding.weight": torch.zeros(3, 2), "head.weight": torch.ones(3, 2)}


def plain() -> None:
    model().load_state_dict(checkpoint(), strict=True)


def ours() -> str:
    return "\n".join(compare(model(), checkpoint()))
