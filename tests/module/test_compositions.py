"""Sequences, choices, lists and dicts of children, and the groups of an optimizer that they name."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen import (
    DeclarationError,
    Module,
    ModuleDict,
    ModuleList,
    Sequential,
    buffer,
    choice,
    param,
    sequential,
    submodule,
)


def make_head(width: int, outputs: int = 2) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, outputs), nn.Tanh())


class Composed(Module):
    dim: int
    depth: int = 2
    act: str = "gelu"
    rms: bool = False
    use_norm: bool = True
    tasks: tuple[str, ...] = ("topic", "tone")
    mlp: Sequential = sequential(
        submodule(nn.Linear, "dim", "2*dim"),
        submodule(choice("act", {"relu": nn.ReLU, "gelu": nn.GELU})),
        submodule(nn.LayerNorm, "2*dim", when="use_norm"),
        submodule(nn.Linear, "2*dim", "2*dim", bias=False, repeat="depth"),
        sequential(submodule(nn.Linear, "2*dim", "dim"), nn.ReLU),
    )
    named: Sequential = sequential(proj=submodule(nn.Linear, "dim", "dim"), act=nn.ReLU)
    norm: nn.RMSNorm | nn.LayerNorm = submodule(choice("rms", {True: nn.RMSNorm, False: nn.LayerNorm}), "dim")
    head: nn.Sequential = submodule(make_head, "dim", outputs=3)
    grid: ModuleList[ModuleList[nn.Linear]] = submodule(
        submodule(nn.Linear, "dim", "dim+index", repeat=2), repeat="depth"
    )
    experts: ModuleDict[ModuleList[nn.Linear]] = submodule(submodule(nn.Linear, "dim", 1, repeat="depth"), keys="tasks")
    rates: nn.Parameter = param("dim", value="log_range")
    mask: Tensor = buffer(
        "dim", "dim", value=lambda module: torch.ones(module.dim, module.dim).tril(), persistent=False
    )
    steps: Tensor = buffer(value=lambda module: torch.arange(module.dim))
    scales: nn.ParameterList = param("dim", "index+1", repeat="depth", initializer=nn.init.normal_)
    gains: nn.ParameterDict = param("dim", keys="tasks", initializer=nn.init.ones_)

    def log_range(self) -> Tensor:
        return torch.arange(1, self.dim + 1).float().log()


class Plain(nn.Module):
    def __init__(self, dim: int, depth: int = 2, act: str = "gelu", rms: bool = False, use_norm: bool = True) -> None:
        super().__init__()
        tasks = ("topic", "tone")
        self.mlp = nn.Sequential(
            nn.Linear(dim, 2 * dim),
            {"relu": nn.ReLU, "gelu": nn.GELU}[act](),
            nn.LayerNorm(2 * dim) if use_norm else nn.Identity(),
            *[nn.Linear(2 * dim, 2 * dim, bias=False) for _ in range(depth)],
            nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU()),
        )
        self.named = nn.Sequential(OrderedDict(proj=nn.Linear(dim, dim), act=nn.ReLU()))
        self.norm = nn.RMSNorm(dim) if rms else nn.LayerNorm(dim)
        self.head = make_head(dim, outputs=3)
        self.grid = nn.ModuleList(
            nn.ModuleList(nn.Linear(dim, dim + index) for index in range(2)) for _ in range(depth)
        )
        self.experts = nn.ModuleDict({task: nn.ModuleList(nn.Linear(dim, 1) for _ in range(depth)) for task in tasks})
        self.rates = nn.Parameter(torch.arange(1, dim + 1).float().log())
        self.register_buffer("mask", torch.ones(dim, dim).tril(), persistent=False)
        self.register_buffer("steps", torch.arange(dim))
        self.scales = nn.ParameterList(torch.randn(dim, index + 1) for index in range(depth))
        self.gains = nn.ParameterDict({task: torch.ones(dim) for task in tasks})


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 3), st.sampled_from(["relu", "gelu"]), st.booleans(), st.booleans())
def test_it_has_the_keys_values_and_tree_of_a_plain_module(
    dim: int, depth: int, act: str, rms: bool, use_norm: bool
) -> None:
    torch.manual_seed(0)
    plain = Plain(dim, depth, act, rms, use_norm)
    torch.manual_seed(0)
    declared = Composed(dim, depth, act, rms, use_norm)
    expected, found = plain.state_dict(), declared.state_dict()
    assert set(found) == set(expected)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert torch.equal(declared.mask, plain.get_buffer("mask"))
    assert str(declared.mlp) == str(plain.mlp)
    x = torch.randn(3, dim)
    assert torch.equal(declared.mlp(x), plain.mlp(x))
    plain.load_state_dict(found)
    twin = Composed.from_config(declared.get_config())
    twin.load_state_dict(expected)


def test_a_random_value_is_drawn_once_and_again_by_reset_parameters() -> None:
    class Noise(Module):
        dim: int
        noise: Tensor = buffer(value=lambda module: torch.randn(module.dim))

    torch.manual_seed(0)
    noise = Noise(4)
    first = noise.noise.clone()
    torch.manual_seed(0)
    assert torch.equal(first, torch.randn(4))
    memory = noise.noise
    noise.reset_parameters()
    assert noise.noise is memory
    assert not torch.equal(first, memory)


def test_a_value_has_the_declared_shape_and_is_a_tensor() -> None:
    class Wrong(Module):
        dim: int
        mask: Tensor = buffer("dim", value=lambda module: torch.ones(3))

    class NoTensor(Module):
        mask: Tensor = buffer(value=lambda module: 3)  # type: ignore[arg-type] # what the test is about

    with pytest.raises(ValueError, match=r"Wrong.mask: the computed value has shape \(3,\), expected \(2,\)"):
        Wrong(2)
    with pytest.raises(TypeError, match=r"NoTensor.mask: value=<lambda> returned int, expected a tensor"):
        NoTensor()  # pyright: ignore[reportCallIssue] # as above


def test_a_field_with_a_value_may_be_none() -> None:
    class Masked(Module):
        causal: bool
        mask: Tensor | None = buffer(value=lambda module: torch.ones(2), when="causal", persistent=False)
        gain: nn.Parameter | None = param(value=lambda module: torch.ones(2), when="causal")

    masked = Masked(True)
    assert masked.mask is not None
    assert list(masked.state_dict()) == ["gain"]
    empty = Masked(False)
    assert empty.mask is None
    assert empty.gain is None
    empty.reset_parameters()


def test_an_unknown_choice_names_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"Composed.mlp: act is 'rleu'; expected 'relu' or 'gelu'; did you mean relu\?"
    ):
        Composed(2, act="rleu")


def test_a_choice_that_does_not_cover_its_field_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"mode may be 'slow', which is not among the options"):

        class Net(Module):
            mode: Literal["fast", "slow"]
            act: nn.Module = submodule(choice("mode", {"fast": nn.ReLU}))


def test_members_have_names_or_none() -> None:
    with pytest.raises(TypeError, match="members with names or without names"):
        sequential(nn.ReLU, act=nn.ReLU)


class Numbered(Module):
    """Knows its place among its siblings, and starts with weights that are smaller the deeper it is."""

    dim: int
    layer: int
    weight: nn.Parameter = param("dim", initializer="scaled")

    def scaled(self, tensor: torch.Tensor) -> None:
        nn.init.constant_(tensor, 1 / (self.layer + 1))


def test_a_subclass_cannot_give_the_index_another_meaning() -> None:
    class Stack(Module):
        children_: ModuleList[Numbered] = submodule(Numbered, 2, "index", repeat=2)

    with pytest.raises(DeclarationError, match="index is the position of each child of children_, and also a config"):

        class Wide(Stack):
            index: int = 3


class Scale(Module):
    dim: int
    weight: nn.Parameter = param("dim", initializer=nn.init.ones_, group="default")
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, group="no_decay")


class Net(Module):
    dim: int
    embed: nn.Embedding = submodule(nn.Embedding, 5, "dim", group="embeddings")
    scales: ModuleList[Scale] = submodule(Scale, "dim", repeat=2)
    mlp: Sequential = sequential(submodule(nn.Linear, "dim", "dim"), nn.ReLU, group="default")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim", group="no_decay")
    gains: nn.ParameterList = param("dim", repeat=2, initializer=nn.init.ones_, group="no_decay")
    head: nn.Parameter = param(tie="embed.weight")


def grouped(module: Module) -> dict[str, set[str]]:
    names = {parameter: name for name, parameter in module.named_parameters()}
    return {group["name"]: {names[each] for each in group["params"]} for group in module.optimizer_groups()}


def test_the_nearest_declaration_decides() -> None:
    assert grouped(Net(3)) == {
        "embeddings": {"head"},
        "default": {"scales.0.weight", "scales.1.weight", "mlp.0.weight", "mlp.0.bias"},
        "no_decay": {"scales.0.bias", "scales.1.bias", "norm.weight", "norm.bias", "gains.0", "gains.1"},
    }


def test_an_optimizer_takes_the_groups_with_their_options() -> None:
    groups = Net(3).optimizer_groups({"no_decay": {"weight_decay": 0.0}, "embeddings": {"lr": 0.5}})
    optimizer = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.2)
    assert {group["name"]: (group["lr"], group["weight_decay"]) for group in optimizer.param_groups} == {
        "embeddings": (0.5, 0.2),
        "default": (0.1, 0.2),
        "no_decay": (0.1, 0.0),
    }


def test_parametrizations_stay_in_the_group_of_their_parameter() -> None:
    net = Scale(3)
    nn.utils.parametrize.register_parametrization(net, "bias", nn.Identity())
    assert grouped(net)["no_decay"] == {"parametrizations.bias.original"}


def test_an_unknown_group_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"Net has no parameter group 'no_decoy': did you mean no_decay\?"):
        Net(3).optimizer_groups({"no_decoy": {"weight_decay": 0.0}})
    with pytest.raises(ValueError, match="contain 'params'"):
        Net(3).optimizer_groups({"no_decay": {"params": []}})


def test_children_with_names_are_made_by_name() -> None:
    class Heads(Module):
        rows: dict[str, int]
        heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, "rows[key] + index", keys="rows", when="key != 'b'")
        gains: nn.ParameterDict = param("rows[key]", keys="rows", initializer=nn.init.ones_)

    made = Heads({"a": 3, "b": 4, "c": 5})
    assert {name: head.out_features for name, head in made.heads.items()} == {"a": 3, "c": 7}
    assert {name: gain.shape for name, gain in made.gains.items()} == {"a": (3,), "b": (4,), "c": (5,)}
    with pytest.raises(DeclarationError, match="key is the name of each child of heads, and also a config field"):

        class Wide(Heads):
            key: str = "a"
