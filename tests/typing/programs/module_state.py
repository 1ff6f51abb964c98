"""The generated stub knows names: of the state dict, of tensors, of children, of constructor arguments."""

from collections import OrderedDict
from typing import assert_type

import torch
from atlas.maps_qten import Layer as AtlasLayer
from atlas.maps_qten import Reader
from atlas.places_qten import Place
from kinds import modules
from kinds.configured import Config
from kinds.configured_qten import Composed
from kinds.modules_qten import Config as Arguments
from kinds.modules_qten import Holding, Layer, Nested, Renamed, Sizes, Tower, Wider
from shop.model_qten import Attention
from torch import Tensor, nn

from qten_gen import ModuleDict, ModuleList, Sequential

sizes = Sizes(2)
state = sizes.state_dict()
assert_type(state["weight"], Tensor)
state["window"]  # E
state["wieght"]  # E
as_dict: dict[str, Tensor] = state
sizes.load_state_dict(state)
assert_type(sizes.state_dict(prefix="a."), OrderedDict[str, Tensor])
assert_type(Wider(2).state_dict()["gain"], Tensor)
assert_type(Nested(2).state_dict(), OrderedDict[str, Tensor])

assert_type(sizes.get_parameter("weight"), nn.Parameter)
assert_type(sizes.get_buffer("window"), Tensor)
sizes.get_parameter("window")  # E
sizes.get_buffer("weight")  # E
assert_type(Nested(2).get_parameter("sizes.weight"), nn.Parameter)
assert_type(Nested(2).get_parameter("norm.weight"), nn.Parameter)

config = sizes.config()
assert_type(config["rows"], int)
config["row"]  # E
assert_type(Sizes.from_config(config), Sizes)
Sizes.from_config({"rows": 2, "cols": 3}, device="cpu")
Sizes.from_config({"rows": "2", "cols": 3})  # E
Sizes.from_config(Tower(2).config())  # E
assert_type(Sizes.from_config({"rows": 2}), Sizes)  # cols has a default
Sizes.from_config({"cols": 2})  # E
Sizes.from_config({"rows": 2, "cols": "3"})  # E
Sizes.from_config({"rows": 2, "columns": 3})  # E
Renamed.from_config({})
Renamed.from_config({"hidden": 8, "norm": nn.RMSNorm})
Renamed.from_config({"given_hidden": 8})  # E
assert_type(config["cols"], int)
del config["cols"]  # E

tower = Tower(2)
assert_type(tower.layers, ModuleList[Layer])
assert_type(tower.layers[0], Layer)
sides: ModuleDict[Layer] = tower.sides
assert_type(tower.get_submodule("layers"), ModuleList[Layer])
assert_type(tower.layers[0].norm, nn.LayerNorm | None)
assert_type(tower.layers[0].get_submodule("norm"), nn.LayerNorm)
assert_type(tower.mirror, nn.Parameter | None)
attention = Attention(8)
assert_type(attention.get_submodule("norm"), nn.LayerNorm)
assert_type(attention.get_submodule(""), nn.Module)
attention.get_submodule("nrom")  # E
attention.get_submodule("norm.weight")  # E
composed = Composed(Config())
assert_type(composed.get_submodule("kept"), Sequential[nn.ReLU | nn.GELU])
assert_type(composed.get_submodule("either"), nn.ReLU | nn.GELU)
assert_type(attention.get_buffer("scale"), Tensor)
attention.get_buffer("scael")  # E
assert_type(sizes.get_submodule(""), nn.Module)
sizes.get_submodule("norm")  # E
arguments = Arguments(2)
arguments.get_submodule("width")  # E
arguments.get_parameter("width")  # E
arguments.get_buffer("width")  # E
holding = Holding(nn.Linear(2, 2))
assert_type(holding.get_submodule("activation"), nn.Module)
assert_type(holding.get_parameter("activation.weight"), nn.Parameter)
atlas = Reader(Place(torch.zeros(2), batch_size=()))
assert_type(atlas.get_submodule("layers.0"), nn.Module)
assert_type(atlas.get_submodule("layers"), ModuleList[AtlasLayer])
atlas.get_submodule("layers.7")  # E


def by_name(module: nn.Module, name: str) -> nn.Module:
    """A function for any module takes names that are computed."""
    return module.get_submodule(name)


by_name(atlas, "layers.7")
declared: modules.Tower = tower
