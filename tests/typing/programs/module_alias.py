"""A constructor takes an argument by its alias, and the attribute has the name of the field."""

from typing import assert_type

from kinds.modules import Renamed
from kinds.modules import Renamed as DeclaredRenamed
from torch import nn

from qten_gen import Module, choice, field, submodule


class Block(Module):
    dim: int
    norm_class: type[nn.Module] = field(default=nn.LayerNorm, alias="norm")
    width: int = field(alias="size", kw_only=True)
    norm: nn.Module = submodule(choice("norm_class"), "dim")


block = Block(2, nn.RMSNorm, size=3)
assert_type(block.norm_class, type[nn.Module])
assert_type(block.norm, nn.Module)
Block(2, norm=nn.RMSNorm, size=3)

Block(2, norm_class=nn.RMSNorm, size=3)  # E
Block(2, norm=3, size=3)  # E
Block(2)  # E
Block(2, size="3")  # E
print(block.size)  # E

declared = DeclaredRenamed(norm=nn.RMSNorm, hidden=3, len=[1])
assert_type(declared.hidden, int)
assert_type(declared.given_hidden, int | None)
DeclaredRenamed(norm_class=nn.RMSNorm)  # E
DeclaredRenamed(given_hidden=3)  # E

renamed = Renamed(norm=nn.RMSNorm, hidden=3, len=[1])
assert_type(renamed.hidden, int)
assert_type(renamed.given_hidden, int | None)
Renamed.from_config({"norm": nn.RMSNorm, "hidden": None, "len": []})

Renamed(norm_class=nn.RMSNorm)  # E
Renamed(given_hidden=3)  # E
Renamed(hidden="3")  # E
