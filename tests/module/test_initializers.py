"""Initialisers: functions, partials, lambdas, methods; what they fill, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode
from torch.overrides import TorchFunctionMode

from qten_gen import Module, buffer, param, rules, submodule
from qten_gen.read.module import read
from tests.linking import link


class Filler:
    """Fills with a number that it keeps."""

    def __init__(self, value: float) -> None:
        self.value = value

    def fill(self, tensor: Tensor) -> None:
        tensor.fill_(self.value)


FOUR = Filler(4.0)


class Filled(Module):
    dim: int = 2
    named: nn.Parameter = param("dim", initializer=nn.init.ones_)
    given: nn.Parameter = param("dim", initializer=partial(nn.init.constant_, val=2.0))
    short: nn.Parameter = param("dim", initializer=lambda tensor: tensor.fill_(3.0))
    method: Tensor = buffer("dim", initializer=FOUR.fill)
    bound: Tensor = buffer("dim", initializer=partial(nn.init.constant_, val=FOUR.value + 1))
    child: nn.Linear = submodule(nn.Linear, "dim", 1)


def test_every_kind_of_initialiser_fills_its_tensor() -> None:
    filled = Filled()

    values = [filled.named, filled.given, filled.short, filled.method, filled.bound]
    assert [value.tolist() for value in values] == [[float(n)] * 2 for n in (1, 2, 3, 4, 5)]


class Sized(Module):
    """Methods initialise with the constructor arguments."""

    dim: int
    std: float = 0.5
    named: nn.Parameter = param("dim", initializer="fill_named")
    optional: nn.Parameter | None = param("dim", when="wide", initializer="fill_named")
    wide: bool = False

    def fill_named(self, tensor: Tensor) -> Tensor:
        return tensor.fill_(self.std)


def test_a_method_initialises_with_the_constructor_arguments() -> None:
    sized = Sized(3, wide=True)

    assert sized.named.tolist() == [0.5] * 3
    assert sized.optional is not None and sized.optional.tolist() == [0.5] * 3


IN_THE_BODY = """
import torch
from torch import Tensor, nn
from qten_gen import Module, buffer

class Net(Module):
    dim: int

    def fill(self, tensor: Tensor) -> None:
        tensor.fill_(self.dim)

    @torch.no_grad()
    def decorated(self, tensor: Tensor) -> None:
        tensor.fill_(self.dim)

    @classmethod
    def of_class(cls, tensor: Tensor) -> None:
        tensor.fill_(len(cls.__name__))

    @staticmethod
    def static(tensor: Tensor) -> None:
        tensor.fill_(4)

    def plain(tensor: Tensor) -> None:
        tensor.fill_(5)

    a: Tensor = buffer(1, initializer=fill)
    b: Tensor = buffer(1, initializer=decorated)
    c: Tensor = buffer(1, initializer=of_class)
    d: Tensor = buffer(1, initializer=static)
    e: Tensor = buffer(1, initializer=plain)
    f: Tensor = buffer(1, initializer="static")
"""


def test_a_function_of_the_class_body_can_be_given_itself() -> None:
    namespace: dict[str, Any] = {"__name__": "in_the_body"}
    exec(IN_THE_BODY, namespace)
    (file,), _ = link([read(IN_THE_BODY.encode(), "in_the_body.py", "in_the_body")[0]])

    net = namespace["Net"](2)
    assert [buffer.item() for buffer in net.buffers()] == [2, 2, 3, 4, 5, 4]
    assert file.declarations == (namespace["Net"]._declaration,) and not rules.check(file)


@pytest.mark.parametrize(
    ("initializer", "codes"),
    [
        ("torch.ones(2)", ["QG315"]),
        ("torch.zeros_like", ["QG315"]),
        ("partial(nn.init.constant_, val=1.0)", []),
        ("partial(nn.init.constant_, val=VALUE)", []),
        ("partial(fill, [torch.ones(2)])", []),
        ("FILLERS[0]", []),
    ],
)
def test_the_command_refuses_what_cannot_fill_a_tensor(initializer: str, codes: list[str]) -> None:
    text = f"""
import torch
from functools import partial
from torch import nn
from qten_gen import Module, param
from elsewhere import FILLERS, VALUE, fill

class Net(Module):
    weight: nn.Parameter = param(2, initializer={initializer})
"""
    (file,), _ = link([read(text.encode(), "shop/model.py", "shop.model")[0]])
    assert [found.code for found in rules.check(file)] == codes


def nothing(tensor: Tensor) -> None:
    tensor = tensor + 1  # a mistake that is easily made


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool]
)
@pytest.mark.parametrize("sizes", [(), (2,), (2, 3)])
def test_an_initialiser_that_does_not_write_is_an_error_of_the_constructor(
    dtype: torch.dtype, sizes: tuple[int, ...]
) -> None:
    class Net(Module):
        table: Tensor = buffer(*sizes, dtype=dtype, initializer=nothing)

    with pytest.raises(RuntimeError, match=r"Net.table is not initialised: no initializer"):
        Net()


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.int64, torch.uint8, torch.bool])
@pytest.mark.parametrize("value", [0, 1])
def test_a_write_through_data_counts(dtype: torch.dtype, value: int) -> None:
    class Net(Module):
        table: Tensor = buffer(2, 3, dtype=dtype, initializer=lambda tensor: tensor.data.fill_(value))

    assert Net().table.eq(value).all()


@pytest.mark.parametrize(
    "initializer",
    [lambda tensor: torch.ones(2), lambda tensor: tensor.normal_() * 0.02, lambda tensor: tensor.clone().zero_()],
)
def test_an_initialiser_that_returns_a_new_tensor_is_an_error(initializer: Callable[[Tensor], Tensor]) -> None:
    class Net(Module):
        weight: nn.Parameter = param(2, initializer=initializer)

    with pytest.raises(TypeError, match=r"Net.weight: the initializer <lambda> returned a new tensor"):
        Net()


def test_a_reset_parameters_that_forgets_a_field_is_an_error() -> None:
    class Net(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)
        bias: nn.Parameter = param(2, initializer=nn.init.zeros_)

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)

    with pytest.raises(
        RuntimeError, match=r"Net.bias is not initialised: .* has to call super\(\).reset_parameters\(\)"
    ):
        Net()

    class Calling(Net):
        def reset_parameters(self) -> None:
            super().reset_parameters()
            nn.init.ones_(self.bias)

    assert Calling().bias.tolist() == [1, 1]


def test_tools_that_skip_initialisation_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Net(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        def reset_parameters(self) -> None:
            nn.init.ones_(self.weight)

    class Skipping(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return args[0] if getattr(func, "__name__", "") == "fill_" else func(*args, **kwargs or {})

    with Skipping():
        Net()
    with FakeTensorMode():
        Net()
    assert Net(device="meta").weight.is_meta
    assert nn.utils.skip_init(Net).weight.shape == (2,)  # type: ignore[no-untyped-call] # torch gives it no types
    monkeypatch.setattr(nn.init, "ones_", lambda tensor: tensor)
    Net()


def test_a_reset_parameters_that_is_replaced_after_the_class_statement_skips_initialisation() -> None:
    class Net(Module):
        weight: nn.Parameter = param(2, initializer=lambda tensor: tensor.fill_(1))

    class Wide(Net):
        scale: Tensor = buffer(2, initializer=lambda tensor: tensor.fill_(2))

    with mock.patch.object(Net, "reset_parameters", lambda self: None):
        assert Net().weight.shape == (2,)
        assert Wide().scale.tolist() == [2, 2]
    with mock.patch.object(Wide, "reset_parameters", lambda self: None):
        assert Wide().weight.shape == Wide().scale.shape == (2,)
    assert Wide().weight.tolist() == [1, 1]

    class Forgetful(Net):
        def reset_parameters(self) -> None:
            pass

    with pytest.raises(RuntimeError, match="Forgetful.weight is not initialised"):
        Forgetful()


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn_x2", "bfloat16", "complex64", "uint16", "bool"]
)
def test_an_initialiser_of_the_users_fills_every_dtype(name: str) -> None:
    if not hasattr(torch, name):
        pytest.skip("this torch has no such dtype")

    class Small(Module):
        scale: Tensor = buffer(
            4, dtype=getattr(torch, name), initializer=lambda tensor: tensor.view(torch.uint8).zero_()
        )

    class Forgotten(Module):
        scale: Tensor = buffer(4, dtype=getattr(torch, name), initializer=lambda tensor: None)

    assert not Small().scale.view(torch.uint8).any()
    with pytest.raises(RuntimeError, match="Forgotten.scale is not initialised"):
        Forgotten()


def test_an_initializer_may_return_a_statistic_of_what_it_filled() -> None:
    class Net(Module):
        weight: nn.Parameter = param(3, 2, initializer=lambda tensor: nn.init.ones_(tensor).norm())

    assert Net().weight.eq(1).all()


def test_a_tensor_that_post_init_forgets_is_found_when_an_instance_is_made() -> None:
    class Net(Module):
        weight: nn.Parameter = param(2)

        def __post_init__(self) -> None:
            pass

    with pytest.raises(RuntimeError, match="Net.weight is not initialised"):
        Net()


EXACT = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool]


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("rows", [1, 2])
def test_an_initialiser_that_fills_a_part_is_an_error(dtype: torch.dtype, rows: int) -> None:
    class Net(Module):
        table: Tensor = buffer(3, 2, dtype=dtype, initializer=lambda tensor: tensor[:rows].data.fill_(1))

    message = rf"Net.table is initialised in part: nothing writes to {6 - 2 * rows} of its 6 elements"
    with pytest.raises(RuntimeError, match=message):
        Net()


def test_a_tensor_that_gets_other_memory_may_hold_anything() -> None:
    class Net(Module):
        table: Tensor = buffer(50, 20)

        def reset_parameters(self) -> None:
            self.table.data = torch.ones(50, 20)

    assert bool((Net().table == 1).all())
