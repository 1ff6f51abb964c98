"""Kinds of fields, declared and generated."""

from typing import assert_type

import torch
from jaxtyping import Float
from kinds.tensorclasses import Layered as DeclaredLayered
from kinds.tensorclasses import Lookup as DeclaredLookup
from kinds.tensorclasses_qten import Layered, Lookup
from torch import Tensor

from qten_gen import TensorClass

x = torch.ones(2)


class Unchecked(TensorClass, checks="off"):
    x: Float[Tensor, "*batch _"]


class Misspelled(TensorClass, checks="none"):  # E pyright
    x: Tensor


assert_type(Unchecked(x).x, Tensor)

declared = DeclaredLookup(x, x, batch_size=2)
assert_type(declared.table, Tensor)
assert_type(declared.bias, Tensor | None)
assert_type(declared.scale, Tensor | None)
declared.table = x
declared.table = "s"  # E
declared.table = None  # E
DeclaredLookup(x, None)  # E

lookup = Lookup(x, x, batch_size=2)
assert_type(lookup.table, Tensor)
assert_type(lookup[0].bias, Tensor | None)
assert_type(lookup.get("scale"), Tensor | None)
assert_type(lookup.to_dict()["table"], Tensor)
lookup.replace(table=None)  # E
torch.vmap(lambda item: item.ids, in_dims=(lookup.vmap_dims(),))(lookup)

assert_type(DeclaredLayered([x], {"a": x}).layers, list[Tensor])
assert_type(DeclaredLayered([x]).tables["a"], Tensor)
DeclaredLayered(x)  # E
DeclaredLayered([x], {"a": 1})  # E

layered = Layered([x], batch_size=2)
assert_type(layered[0].layers[0], Tensor)
assert_type(layered.heads, dict[str, Tensor] | None)
assert_type(layered.get("rest"), list[Tensor] | None)
assert_type(layered.to_dict()["tables"], dict[str, Tensor])
layered.layers = {"a": x}  # E
