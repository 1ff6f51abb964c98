"""Keys that the declaration tells: of dicts of children, lazy stacks, state dicts, and of what writes into fields."""

from typing import assert_type

import torch
from kinds import modules, tensorclasses
from kinds.modules_qten import Layer, Nested, Sizes, Tower
from kinds.tensorclasses_qten import Frozen
from shop import model
from shop.model_qten import Attention, Batch, Point
from torch import Tensor, nn

from qten_gen import LazyStack, ModuleDict

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

tower = Tower(2)
assert_type(tower.sides["left"], Layer)
assert_type([tower.sides[side] for side in tower.sides], list[Layer])
assert_type([layer for _, layer in tower.sides.items()], list[Layer])
by_any_name: ModuleDict[Layer] = tower.sides
tower.sides["right"] = Layer(2)
tower.sides["lfet"]  # E
tower.sides["lfet"] = Layer(2)  # E
del tower.sides["lfet"]  # E
tower.sides.pop("lfet")  # E
assert_type(tower.heads["topic"], nn.Linear)  # its keys are an argument
assert_type(modules.Tower(2).sides["left"], modules.Layer)

lazy = Batch.lazy_stack([batch, batch])
assert_type(lazy, LazyStack[Batch])
assert_type(lazy.get("tokens"), Tensor)
assert_type(lazy[1:].get(("point", "weight")), Tensor)
assert_type(lazy.get("tokens", as_list=True), list[Tensor])
assert_type(lazy.get(("point", "weight"), as_list=True), list[Tensor])
assert_type(lazy.get("mask", as_list=True), list[Tensor | None])
assert_type(lazy.map(lambda one: one.point).get("weight", as_list=True), list[Tensor])
assert_type(lazy.map(lambda one: one.point).get("weight", as_padded_tensor=True, padding_value=1.0), Tensor)
lazy.get("tokns")  # E
lazy.get("tokns", as_list=True)  # E
lazy.get(("point", "wieght"))  # E
lazy.get("source")  # E
lazy.map(lambda one: one.point).get("tokens")  # E
declared = model.Batch(x, model.Point(x, x), batch_size=2)
assert_type(model.Batch.lazy_stack([declared]).get("tokens"), Tensor)

flat = batch.state_dict(flatten=True)
assert_type(flat["point.weight"], Tensor)
assert_type([flat[name] for name in flat.keys()], list[Tensor])
assert_type(flat.get("mask"), Tensor | None)  # a field that is None has no key
plain: dict[str, Tensor] = flat
batch.load_state_dict(flat, from_flatten=True)
flat["point.wieght"]  # E
flat.get("tokns")  # E
batch.state_dict()["tokns"]  # E
batch.state_dict(prefix="batch.")["batch.tokens"]

state = Attention(4).state_dict()
assert_type(state["norm.weight"], Tensor)
assert_type(state.pop("qkv"), Tensor)
state["head.weight"] = x
nn.LayerNorm(4).load_state_dict(state)
state["norm.wieght"]  # E
state.pop("qvk")  # E
Attention(4).get_parameter("norm.wieght")  # E
Layer(2).get_parameter("wieght")  # E

assert_type(batch.pop("mask"), Tensor | None)
assert_type(batch.setdefault("mask", x), Tensor | None)
assert_type(batch.setdefault(("point", "weight"), x), Tensor)
batch.pop("tokens")  # E
batch.pop("source")  # E
batch.pop("masc", None)  # E
batch.setdefault("masc", x)  # E
batch.setdefault("mask", "text")  # E
batch.setdefault(("point", "wieght"), x)  # E

batch.set_("tokens", 0).set_(("point", "weight"), x)
batch.update_({"tokens": 1.0, ("point", "weight"): x}, mask=0)
batch.update_(batch.select("tokens"))
batch.update(batch.select("point"))
batch.update_at_({"tokens": 1.0}, 0)
batch.set_("source", "text")  # E
batch.set_(("point", "wieght"), x)  # E
batch.set_at_("tokns", 0, 0)  # E
batch.update_({"tokns": 1.0})  # E
batch.update_(tokns=1.0)  # E
batch.update_at_({"tokns": 1.0}, 0)  # E
batch.update({("point", "wieght"): x})  # E
batch.update(tokens=x, keys_to_update=["tokns"])  # E
batch.select(("point", "wieght"))  # E

Nested(2).export("squares")  # E
Sizes(2).export("nope")  # E

frozen = Frozen(x)
assert_type(frozen.x, Tensor)
frozen.x = x  # E
frozen.set_("x", x)  # E
frozen.setdefault("x", x)  # E
frozen.pop("x")  # E


def update(frozen: Frozen) -> None:
    frozen.update_({"x": x})  # E


def load(frozen: Frozen) -> None:
    frozen.load_state_dict({})  # E


assert_type(tensorclasses.Frozen(x).x, Tensor)
