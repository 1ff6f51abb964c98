"""How `__post_init__` reads what the constructor had, and how it is written."""

from __future__ import annotations

from qten_gen.tools.adopt.adoption import Level
from tests.tools.adopt.adopted import adopted

_NET = """
import torch
from timm.layers import to_2tuple
from torch import nn

class Net(nn.Module):
    mask: torch.Tensor

    def __init__(self, dim: int, size: list[int]):
        super().__init__()
        size = to_2tuple(size)
        self.size = size
        self.rows = {"first": size[0]}
        self.proj = nn.Linear(dim, dim)
        nn.init.ones_(self.proj.weight)
        self.register_buffer("mask", torch.ones(dim))
        self.norm = nn.LayerNorm(dim)
"""


def test_a_call_in_place_of_a_name_has_no_parentheses_around_it() -> None:
    text = adopted(_NET, Level.DECLARE)
    assert "        self.size = to_2tuple(self.given_size)\n" in text
    assert '        self.rows = {"first": to_2tuple(self.given_size)[0]}\n' in text


def test_the_new_value_of_an_argument_is_computed_once_for_several_attributes() -> None:
    text = _NET.partition("        nn.init")[0].replace("    mask: torch.Tensor\n", "")
    assert adopted(text.replace("size[0]}", 'size[0], "second": size[1]}'), Level.DECLARE).endswith("""
    def __post_init__(self) -> None:
        size = to_2tuple(self.given_size)
        self.size = size
        self.rows = {"first": size[0], "second": size[1]}
""")


def test_annotations_of_what_is_registered_later_begin_the_method() -> None:
    assert "def __post_init__(self) -> None:\n        self.mask: torch.Tensor\n" in adopted(_NET, Level.DECLARE)
