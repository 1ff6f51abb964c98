"""Kinds of fields."""

from typing import assert_type

import torch
from jaxtyping import Float
from kinds.tensorclasses import Cast, Layered, Listed, Lookup
from torch import Tensor

from qten_gen import PerItem, TensorClass

x = torch.ones(2)


class Unchecked(TensorClass, checks="off"):
    x: Float[Tensor, "*batch _"]


class Misspelled(TensorClass, checks="none"):  # E pyright
    x: Tensor


assert_type(Unchecked(x).x, Tensor)

lookup = Lookup(x, x, batch_size=2)
assert_type(lookup.table, Tensor)
assert_type(lookup.scale, Tensor | None)
lookup.table = x
lookup.table = "s"  # E
lookup.table = None  # E
Lookup(x, None)  # E
assert_type(lookup[0].bias, Tensor | None)
assert_type(lookup.vmap(lambda item: item.ids), Tensor)
assert_type(lookup.vmap(lambda item: (item, item.ids), -1), tuple[Lookup, Tensor])
lookup.vmap(lambda item: item.nothing)  # E
lookup.vmap(lambda item: item.ids, randomness="some")  # E

assert_type(Layered([x], {"a": x}).layers, list[Tensor])
assert_type(Layered([x]).tables["a"], Tensor)
Layered(x)  # E
Layered([x], {"a": 1})  # E

layered = Layered([x], batch_size=2)
assert_type(layered[0].layers[0], Tensor)
assert_type(layered.heads, dict[str, Tensor] | None)
layered.layers = {"a": x}  # E

one = Listed(x, ["a", "b"], PerItem([1, 2]), batch_size=2)
assert_type(one.titles, PerItem[str])
assert_type(one[0].titles.item(), str)
assert_type(one.ids, PerItem[int] | None)
assert_type(one.notes.values(), tuple[list[str] | None, ...])
one.titles = ["c", "d"]
one.titles = one.titles
one.titles = [3]  # E
one.ids = [1, 2]
Listed(x, [1])  # E

one.from_dict(one.to_dict(), batch_size=2).update(one.to_dict()).update(one.select("titles"))
layered.from_dict(layered.to_dict(), batch_size=2).update(layered.to_dict()).update(layered.select("rest"))
one.ids = ["a"]  # E

cast = Cast(x, weight=2, batch_size=2)
assert_type(cast.weight, Tensor | None)
cast.weight = None
cast.weight = x
cast.weight = "heavy"  # E
