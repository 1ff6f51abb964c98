"""What a module holds has exact types; what is looked up by a string has those of nn.Module."""

from typing import Any, assert_type

from kinds.modules import Layer, Renamed, Sizes, Tower
from torch import Tensor, nn

from qten_gen import ModuleDict, ModuleList

sizes = Sizes(2)
as_dict: dict[str, Tensor] = sizes.state_dict()
sizes.load_state_dict(sizes.state_dict())
assert_type(sizes.get_parameter("weight"), nn.Parameter)
assert_type(sizes.get_config(), dict[str, Any])
assert_type(Sizes.from_config(sizes.get_config()), Sizes)
Sizes.from_config({"rows": 2, "cols": 3}, device="cpu")
Sizes.from_config(2)  # E

tower = Tower(2)
assert_type(tower.layers, ModuleList[Layer])
assert_type(tower.layers[0], Layer)
sides: ModuleDict[Layer] = tower.sides
assert_type(tower.get_submodule("layers"), nn.Module)
assert_type(tower.layers[0].norm, nn.LayerNorm | None)
assert_type(tower.mirror, nn.Parameter | None)
assert_type(Renamed().hidden, int)
print(tower.layers[0].typo)  # E
print(tower.layers.typo)  # E
