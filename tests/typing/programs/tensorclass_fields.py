"""Kinds of fields, declared and generated."""

from typing import assert_type

import torch
from jaxtyping import Float
from kinds.tensorclasses import Layered, Listed, Lookup
from kinds.tensorclasses import Layered as DeclaredLayered
from kinds.tensorclasses import Listed as DeclaredListed
from kinds.tensorclasses import Lookup as DeclaredLookup
from torch import Tensor

from qten_gen import PerItem, TensorClass

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
torch.vmap(lambda item: item.ids, in_dims=(lookup.vmap_dims(),))(lookup)
assert_type(lookup.vmap(lambda item: item.ids), Tensor)
assert_type(lookup.vmap(lambda item: (item, item.ids), -1), tuple[Lookup, Tensor])
lookup.vmap(lambda item: item.nothing)  # E
lookup.vmap(lambda item: item.ids, randomness="some")  # E

assert_type(DeclaredLayered([x], {"a": x}).layers, list[Tensor])
assert_type(DeclaredLayered([x]).tables["a"], Tensor)
DeclaredLayered(x)  # E
DeclaredLayered([x], {"a": 1})  # E

layered = Layered([x], batch_size=2)
assert_type(layered[0].layers[0], Tensor)
assert_type(layered.heads, dict[str, Tensor] | None)
layered.layers = {"a": x}  # E

one = DeclaredListed(x, ["a", "b"], PerItem([1, 2]), batch_size=2)
assert_type(one.titles, PerItem[str])
assert_type(one[0].titles.item(), str)
assert_type(one.ids, PerItem[int] | None)
assert_type(one.notes.values(), tuple[list[str] | None, ...])
one.titles = ["c", "d"]
one.titles = one.titles
one.titles = [3]  # E
one.ids = [1, 2]
DeclaredListed(x, [1])  # E

listed = Listed(x, ["a", "b"], PerItem([1, 2]), batch_size=2)
assert_type(listed.titles, PerItem[str])
assert_type(listed.ids, PerItem[int] | None)
listed.from_dict(listed.to_dict(), batch_size=2).update(listed.to_dict()).update(listed.select("titles"))
layered.from_dict(layered.to_dict(), batch_size=2).update(layered.to_dict()).update(layered.select("rest"))
listed.ids = [1, 2]
listed.ids = ["a"]  # E
