"""How a child of a constructor is declared."""

from __future__ import annotations

import pytest

from qten_gen.tools.adopt.adoption import Level
from tests.tools.adopt.adopted import adopted, report

_BLOCK = """
from torch import nn
from timm.layers import DropPath

class Block(nn.Module):
    def __init__(self, dim: int, rate: float = 0.0):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        {body}
        self.norm = nn.LayerNorm(dim)
"""


@pytest.mark.parametrize(
    "body",
    [
        "self.drop = DropPath(rate) if rate > 0.0 else nn.Identity()",
        "if rate > 0.0:\n            self.drop = DropPath(rate)\n        else:\n            self.drop = nn.Identity()",
    ],
)
def test_a_class_of_a_library_is_one_of_modules_where_nn_identity_takes_its_place(body: str) -> None:
    text = adopted(_BLOCK.format(body=body), Level.DECLARE)
    assert "    drop: DropPath | nn.Identity = submodule(\n" in text
    assert "        lambda rate: DropPath(rate) if rate > 0.0 else nn.Identity(),\n" in text
    assert "__post_init__" not in text


@pytest.mark.parametrize("body", ["DropPath(rate)", "DropPath(rate) if rate > 0.0 else nn.ReLU()"])
def test_a_class_of_a_library_alone_may_be_anything(body: str) -> None:
    found = report(_BLOCK.format(body=f"self.drop = {body}"), Level.DECLARE)["Block"]
    assert "do 2 statements in __post_init__" in [line for _, line in found.done]
