"""`keep_dtype=True`: what casts a module leaves the tensor or child, bit for bit."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize, prune, spectral_norm, weight_norm

from qten_gen import Module, ModuleList, buffer, param, submodule


class Router(Module):
    dim: int
    gate: nn.Parameter = param("dim", "dim", initializer=nn.init.normal_, dtype=torch.float32, keep_dtype=True)
    bias: nn.Parameter = param("dim", initializer=nn.init.normal_)


class Net(Module):
    dim: int = 4
    scale: nn.Parameter = param("dim", "dim", initializer=nn.init.normal_)
    decay: nn.Parameter = param("dim", initializer=nn.init.normal_, dtype=torch.float32, keep_dtype=True)
    frequencies: Tensor = buffer("dim", initializer=nn.init.normal_, dtype=torch.float32, keep_dtype=True)
    norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim", dtype=torch.float32, keep_dtype=True)
    routers: ModuleList[Router] = submodule(Router, "dim", repeat=2)
    mlp: nn.Sequential = submodule(lambda: nn.Sequential(nn.Linear(4, 4)), dtype=torch.float32, keep_dtype=True)
    gains: nn.ParameterList = param("dim", repeat=2, initializer=nn.init.normal_, dtype=torch.float32, keep_dtype=True)
    steps: Tensor = buffer(initializer=nn.init.zeros_, dtype=torch.int64)


KEPT = ["decay", "frequencies", "norm", "mlp", "gains", "routers.0.gate", "routers.1.gate"]
CAST = {"scale", "routers.0.bias", "routers.1.bias"}
BF16 = torch.bfloat16


class Outer(nn.Module):
    """A plain module around a declared one."""

    def __init__(self, inner: Module) -> None:
        super().__init__()
        self.inner = inner
        self.head = nn.Linear(2, 2)


def half_states(net: Module) -> dict[str, Tensor]:
    return {name: value.to(BF16) if value.is_floating_point() else value for name, value in net.state_dict().items()}


def loaded(net: Module, **how: bool) -> Module:
    """The module after it has loaded a checkpoint that somebody has cast."""
    net.load_state_dict(half_states(net), **how)
    return net


def with_gradients(net: Module) -> Module:
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    net.to(BF16)
    assert all(parameter.grad is not None and parameter.grad.dtype == parameter.dtype for parameter in net.parameters())
    return net


def swapped(net: Module) -> Module:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return net.to(BF16)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def moved(net: Net) -> Module:
    """To another device with a cast, and back."""
    expected = copy.deepcopy(net.state_dict())
    net.to("meta", BF16)
    assert {net.decay.dtype, net.norm.weight.dtype} == {torch.float32}
    net.load_state_dict(expected, assign=True)
    return net.to(BF16)


def around(net: Module) -> Module:
    outer = Outer(net)
    outer.to(BF16)
    assert outer.head.weight.dtype == BF16
    return outer.inner


def saved(net: Module) -> Module:
    memory = io.BytesIO()
    torch.save(net.to(BF16), memory)
    memory.seek(0)
    return cast(Module, torch.load(memory, weights_only=False))


CASTS: dict[str, Callable[[Net], Module]] = {
    "to(dtype)": lambda net: net.to(BF16),
    "to(device, dtype)": lambda net: net.to("cpu", BF16),
    "to another device": moved,
    "half": lambda net: net.half().bfloat16(),
    "double": lambda net: net.double().bfloat16(),
    "_apply": lambda net: cast(
        Module, net._apply(lambda tensor: tensor.to(BF16) if tensor.is_floating_point() else tensor)
    ),
    "from a module around it": around,
    "with gradients": with_gradients,
    "with swapped parameters": swapped,
    "torch.save": saved,
}
"""Ways to bfloat16 that leave the values of what is kept."""


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    return Net()


def kept(net: Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in net.state_dict().items() if name.startswith(tuple(KEPT))}


@pytest.mark.parametrize("way", CASTS)
def test_a_cast_leaves_what_is_kept(way: str, net: Net) -> None:
    before = kept(net)
    cast_net = CASTS[way](net)
    assert {name for name, value in cast_net.state_dict().items() if value.dtype == BF16} == CAST
    after = kept(cast_net)
    assert all(value.dtype == before[name].dtype and torch.equal(value, before[name]) for name, value in after.items())
    assert after.keys() == before.keys()


LOADS: dict[str, Callable[[Net, Path], Module]] = {
    "load_state_dict": lambda net, _: loaded(net),
    "load_state_dict(assign=True)": lambda net, _: loaded(net, assign=True),
    "load_state_dict(assign=True) on meta": lambda net, _: on_meta(net),
    "materialize(state_dict=)": lambda net, _: Net.on_meta().materialize(
        "cpu", dtype=BF16, state_dict=half_states(net)
    ),
}
"""Ways to load a checkpoint in bfloat16."""


def on_meta(net: Net) -> Module:
    states = half_states(net)
    fresh = Net.on_meta()
    fresh.load_state_dict(states, assign=True)
    return fresh


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", LOADS)
def test_a_checkpoint_of_another_dtype_is_cast_to_what_is_kept(way: str, net: Net, tmp_path: Path) -> None:
    expected = {name: value.to(BF16) for name, value in kept(net).items() if value.is_floating_point()}
    found = kept(LOADS[way](net, tmp_path))
    for name, value in expected.items():
        assert (found[name].dtype, found[name].tolist()) == (torch.float32, value.float().tolist())


def test_materialize_casts_nothing_that_is_kept() -> None:
    net = Net.on_meta().materialize("cpu", seed=0, dtype=BF16)
    plain = Net.on_meta().materialize("cpu", seed=0)
    assert {name for name, value in net.state_dict().items() if value.dtype == BF16} == CAST
    assert all(torch.equal(value, kept(plain)[name]) for name, value in kept(net).items())


def test_a_cast_to_a_type_leaves_integers_that_are_kept() -> None:
    class Counter(Module):
        steps: Tensor = buffer(initializer=nn.init.zeros_, dtype=torch.int64, keep_dtype=True)

    assert Counter().type(torch.float64).steps.dtype == torch.int64


def fractions() -> Tensor:
    return 1 / 100 ** (torch.arange(0, 8, 2) / 8)


class Fractions(Module):
    """The same numbers, in each place that a dtype can be declared in."""

    value: Tensor = buffer(value=lambda module: fractions(), dtype=torch.float32, persistent=False, keep_dtype=True)
    rates: nn.Parameter = param(value=lambda module: fractions(), dtype=torch.float32, keep_dtype=True)
    filled: Tensor = buffer(4, initializer=lambda tensor: tensor.copy_(fractions()), dtype=torch.float32)
    plain: nn.ParameterList = submodule(lambda: nn.ParameterList([fractions()]), dtype=torch.float32, keep_dtype=True)
    undeclared: Tensor = buffer(value=lambda module: fractions())


class Around(Module):
    """The dtype of a child is the dtype of all that it computes."""

    inner: Fractions = submodule(Fractions, dtype=torch.float32, keep_dtype=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_trainer_constructs_in_another_dtype(dtype: torch.dtype) -> None:
    torch.set_default_dtype(dtype)
    try:
        net, made = Net(), Around()
        made.inner.reset_parameters()
        assert torch.get_default_dtype() == dtype
    finally:
        torch.set_default_dtype(torch.float32)
    assert {value.dtype for value in kept(net).values() if value.is_floating_point()} == {torch.float32}
    assert net.scale.dtype == dtype
    for tensor in (*made.parameters(), *made.buffers()):
        torch.testing.assert_close(tensor.detach(), fractions(), rtol=2**-23, atol=0)


def test_a_child_that_is_replaced_is_kept_too(net: Net) -> None:
    net._modules["norm"] = nn.Sequential(nn.Linear(2, 2))
    assert net.to(BF16).state_dict()["norm.0.weight"].dtype == torch.float32


class Doubled(nn.Module):
    def forward(self, tensor: Tensor) -> Tensor:
        return tensor * 2


@pytest.mark.parametrize("name", ["gate", "bias"])
def test_a_parametrized_tensor_is_kept_if_its_own_is(name: str) -> None:
    router = Router(2)
    parametrize.register_parametrization(router, name, Doubled())
    router.to(BF16)
    assert router.gate.dtype == torch.float32
    assert router.bias.dtype == BF16


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("put", [prune.Identity.apply, weight_norm, spectral_norm])
def test_what_computes_a_kept_tensor_before_each_call_is_kept(put: Callable[[Router, str], object]) -> None:
    router = Router(4)
    put(router, "gate")
    held = {name: tensor.dtype for name, tensor in router.to(BF16).state_dict().items()}
    assert held.pop("bias") == BF16 and len(held) > 1 and set(held.values()) == {torch.float32}


def test_ties_of_a_kept_tensor_hold_and_are_kept() -> None:
    class Tied(Module):
        router: Router = submodule(Router, 2)
        head: nn.Parameter = param(tie="router.gate")

    tied = Tied()
    tied.to(BF16)
    assert tied.head is tied.router.gate
    assert tied.head.dtype == torch.float32
    tied.load_state_dict(half_states(tied), assign=True)
    assert tied.head is tied.router.gate
    assert (tied.head.dtype, tied.router.bias.dtype) == (torch.float32, BF16)


def test_memory_format_and_device_change_where_the_dtype_stays() -> None:
    class Convolution(Module):
        conv: nn.Conv2d = submodule(nn.Conv2d, 3, 3, 3, dtype=torch.float32, keep_dtype=True)

    module = Convolution().to(BF16, memory_format=torch.channels_last)  # type: ignore[call-overload] # as torch has it
    assert module.conv.weight.dtype == torch.float32
    assert module.conv.weight.is_contiguous(memory_format=torch.channels_last)
    assert module.to("meta", BF16).conv.weight.device.type == "meta"
    assert module.conv.weight.dtype == torch.float32


def test_names_of_what_is_kept() -> None:
    class Whole(Module):
        net: Net = submodule(Net)
        router: Router = submodule(Router, 2, dtype=torch.float32, keep_dtype=True)

    assert Whole().kept_names() == ["router", *(f"net.{name}" for name in KEPT)]
