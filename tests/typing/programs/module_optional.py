"""Optional, tied and repeated fields have the types that they have at run time."""

from functools import partial
from typing import assert_type

from torch import Tensor, nn

from qten_gen import Module, ModuleDict, ModuleList, buffer, param, submodule


class Layer(Module):
    dim: int
    use_bias: bool = True
    weight: nn.Parameter = param("dim", initializer=partial(nn.init.normal_, std=0.02))
    bias: nn.Parameter | None = param("dim", when="use_bias", initializer=nn.init.zeros_)
    gate: Tensor | None = buffer("dim", when="use_bias", initializer=lambda tensor: tensor.fill_(1))
    norm: nn.LayerNorm | None = submodule(nn.LayerNorm, "dim", when="use_bias")


class Tower(Module):
    dim: int
    depth: int
    tasks: tuple[str, ...]
    tied: bool = True
    embed: nn.Embedding = submodule(nn.Embedding, 3, "dim")
    layers: ModuleList[Layer] = submodule(Layer, "dim", use_bias=False, repeat="depth")
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys="tasks")
    pair: ModuleDict[nn.Linear] = submodule(nn.Linear, "dim", 1, keys=("left", "right"))
    head: nn.Parameter = param(3, "dim", tie="embed.weight")
    other: nn.Parameter | None = param(tie="embed.weight", when="tied")


tower = Tower(3, 2, ("a",))
for layer in tower.layers:
    assert_type(layer, Layer)
assert_type(tower.layers[0].bias, nn.Parameter | None)
assert_type(tower.layers[0].gate, Tensor | None)
assert_type(tower.layers[0].norm, nn.LayerNorm | None)
assert_type(tower.layers[1:], ModuleList[Layer])
assert_type(tower.heads["a"], nn.Linear)
for name, head in tower.heads.items():
    assert_type(name, str)
    assert_type(head, nn.Linear)
assert_type(tower.head, nn.Parameter)
assert_type(tower.other, nn.Parameter | None)
assert_type(Tower.from_config(tower.get_config()), Tower)
nn.Sequential(*tower.layers)

tower.layers.append(nn.Linear(1, 1))  # E
tower.heads["b"] = Layer(1)  # E
tower.layers[0].bias.zero_()  # E
Tower(3, 2, ("a",), layers=2)  # E


class Wrong(Module):
    dim: int
    use_bias: bool
    first: nn.Parameter = param("dim", when="use_bias", initializer=nn.init.zeros_)  # E
    second: Tensor = buffer("dim", when="use_bias", initializer=nn.init.zeros_)  # E
    third: nn.LayerNorm = submodule(nn.LayerNorm, "dim", when="use_bias")  # E
    fourth: Layer = submodule(Layer, "dim", repeat=2)  # E
    fifth: ModuleList[nn.Linear] = submodule(Layer, "dim", repeat=2)  # E
    sixth: ModuleList[Layer] = submodule(Layer, "dim", keys="use_bias")  # E
    seventh: nn.Parameter = param(tie="first", requires_grad=False)  # E
