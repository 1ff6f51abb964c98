"""The constructor of a declared module registers what `nn.Module.__init__` and `register_*` register."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_module

from qten_gen import Module, buffer, param, submodule
from qten_gen.runtime.module import registration
from qten_gen.runtime.module.registration import is_known


class Leaf(Module):
    """Two parameters, and buffers in and out of the state dict."""

    dim: int
    name: str = "leaf"
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    bias: nn.Parameter = param("dim", initializer=nn.init.zeros_, requires_grad=False)
    scale: Tensor = buffer("dim", initializer=nn.init.ones_)
    steps: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
    noise: Tensor = buffer("dim", persistent=False, initializer=nn.init.zeros_)


class PlainLeaf(nn.Module):
    """`Leaf`, written by hand."""

    def __init__(self, dim: int, name: str = "leaf") -> None:
        super().__init__()
        self.dim = dim
        self.name = name
        self.register_parameter("weight", nn.Parameter(torch.empty(dim, dim)))
        self.register_parameter("bias", nn.Parameter(torch.empty(dim), requires_grad=False))
        self.register_buffer("scale", torch.empty(dim))
        self.register_buffer("steps", torch.empty((), dtype=torch.int64))
        self.register_buffer("noise", torch.empty(dim), persistent=False)
        with torch.no_grad():
            nn.init.ones_(self.get_parameter("weight"))
            nn.init.zeros_(self.get_parameter("bias"))
            nn.init.ones_(self.get_buffer("scale"))
            nn.init.zeros_(self.get_buffer("steps"))
            nn.init.zeros_(self.get_buffer("noise"))


class Tree(Module):
    """Declared and foreign children."""

    dim: int
    first: Leaf = submodule(Leaf, "dim")
    second: Leaf = submodule(Leaf, "dim")
    norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim")
    rnn: nn.GRU = submodule(nn.GRU, "dim", "dim")


def attributes(module: nn.Module) -> dict[str, tuple[type, object]]:
    """The instance dict, with the names in place of registered values."""
    registries = ("_parameters", "_buffers", "_modules")
    return {name: (type(value), list(value) if name in registries else value) for name, value in vars(module).items()}


def test_the_instance_holds_what_a_plain_one_holds_in_the_same_order() -> None:
    ours, plain = attributes(Leaf(3)), attributes(PlainLeaf(3))
    assert list(ours.items()) == list(plain.items())


def test_with_another_layout_nn_module_constructs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Newer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.__dict__["_something_new"] = {}

    assert is_known(nn.Module()) and not is_known(Newer())
    asked: list[str] = []
    monkeypatch.setattr(registration, "KNOWN", False)
    original = nn.Module.register_parameter

    def register_parameter(self: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        asked.append(name)
        original(self, name, parameter)

    monkeypatch.setattr(nn.Module, "register_parameter", register_parameter)
    assert attributes(Leaf(3)) == attributes(PlainLeaf(3))
    assert asked == ["weight", "bias"] * 2


def logged(log: list[tuple[str, str]], kind: str) -> Callable[[nn.Module, str, object], None]:
    def hook(module: nn.Module, name: str, value: object) -> None:
        log.append((kind, name))

    return hook


def test_global_registration_hooks_are_called() -> None:
    log: list[tuple[str, str]] = []
    handles = [
        torch_module.register_module_parameter_registration_hook(logged(log, "parameter")),
        torch_module.register_module_buffer_registration_hook(logged(log, "buffer")),
        torch_module.register_module_module_registration_hook(logged(log, "module")),
    ]
    try:
        Leaf(2)
        by_ours = list(log)
        log.clear()
        PlainLeaf(2)
        assert by_ours == log and len(log) == 5
        log.clear()
        Tree(2)
        assert [entry for entry in log if entry[0] == "module"] == [
            ("module", n) for n in ("first", "second", "norm", "rnn")
        ]
    finally:
        for handle in handles:
            handle.remove()


def test_a_registration_hook_may_replace_what_is_registered() -> None:
    def halve(module: nn.Module, name: str, parameter: nn.Parameter) -> Any:
        return nn.Parameter(parameter.detach().half())

    handle = torch_module.register_module_parameter_registration_hook(halve)
    try:
        assert Leaf(2).weight.dtype is torch.float16
    finally:
        handle.remove()


def test_patched_registration_is_used_as_accelerate_does(monkeypatch: pytest.MonkeyPatch) -> None:
    original = nn.Module.register_parameter

    def register_on_meta(self: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        original(self, name, parameter)
        if parameter is not None:
            self._parameters[name] = nn.Parameter(parameter.to("meta"), requires_grad=parameter.requires_grad)

    monkeypatch.setattr(nn.Module, "register_parameter", register_on_meta)
    leaf = Leaf(2)
    assert leaf.weight.is_meta and leaf.bias.is_meta and not leaf.scale.is_meta


def test_a_class_with_its_own_registration_is_asked() -> None:
    asked: list[str] = []

    class Watching(Leaf):
        def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
            asked.append(name)
            super().register_parameter(name, param)

        def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
            asked.append(name)
            super().register_buffer(name, tensor, persistent)

        if not TYPE_CHECKING:  # which Module does without

            def __setattr__(self, name: str, value: object) -> None:
                asked.append(name)
                super().__setattr__(name, value)

    Watching(2)
    assert asked == ["dim", "name", "weight", "bias", "scale", "steps", "noise"]


def three() -> Any:
    return 3


def test_a_child_that_is_not_a_module_is_refused_as_by_nn_module() -> None:
    class Parent(Module):
        child: nn.Module = submodule(three)

    with pytest.raises(TypeError, match="int is not a Module subclass"):
        Parent()


@pytest.mark.parametrize(
    ("size", "error", "got"),
    [
        (-1, RuntimeError, "[-1, -1]"),
        (True, TypeError, "[True, True]"),
        (torch.ones(2), (TypeError, RuntimeError), "[tensor([1., 1.]), tensor([1., 1.])]"),
        (2**63, (TypeError, RuntimeError), f"[{2**63}, {2**63}]"),
    ],
)
def test_an_error_about_a_size_names_the_tensor(size: Any, error: Any, got: str) -> None:
    class Square(Module):
        dim: int
        weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)

    class Table(Module):
        dim: int
        rows: Tensor = buffer("dim", "dim", initializer=nn.init.ones_)

    said = "expected integers of at least 0 as its sizes, got"
    with pytest.raises(error, match=rf"^Square\.weight: {said} {re.escape(got)}$"):
        Square(size)
    with pytest.raises(error, match=rf"^Table\.rows: {said} {re.escape(got)}$"):
        Table(size, device="meta")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"dtype": "float32"}, "expected a torch.dtype as its dtype, got 'float32'"),
        ({"dtype": float}, None),
        ({"device": "gpu"}, ".*device string: gpu"),
        ({"device": 3.5}, ".*device"),
        ({"dim": 2**62}, ".*"),
    ],
)
def test_any_error_of_torch_about_a_tensor_names_it(arguments: dict[str, Any], said: str | None) -> None:
    class Row(Module):
        dim: int
        weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)

    given: dict[str, Any] = {"dim": 2, **arguments}
    if said is None:
        assert Row(**given).weight.dtype is torch.float64
        return
    with pytest.raises((TypeError, RuntimeError), match=rf"^Row\.weight: {said}"):
        Row(**given)
