"""Virtual tensors: computed when read, following dtype and device, cached on request."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from qten_gen import Module, buffer, param, submodule, virtual


class Mask(Module):
    """Virtual tensors of several kinds."""

    size: int
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    @virtual
    def fresh(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, dtype=dtype, device=device)

    @virtual(cached=True)
    def kept(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, dtype=dtype, device=device)

    @virtual
    def causal(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.size, self.size, dtype=torch.bool).tril()

    @virtual
    def positions(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(self.size)

    @virtual
    def rotary(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.polar(torch.ones(self.size), torch.arange(self.size).float())

    @virtual
    def single(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(self.size, dtype=torch.float32)


class Cast(Module):
    """Virtual tensors that ask for the module's dtype, all of the wrong one."""

    kind: torch.dtype
    weight: nn.Parameter = param(2, initializer=nn.init.ones_)

    @virtual(cast=True)
    def fresh(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2).to(self.kind)

    @virtual(cached=True, cast=True)
    def kept(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2).to(self.kind)


def mask() -> Mask:
    return Mask(3)


def test_it_is_computed_on_every_read() -> None:
    module = mask()
    assert module.fresh is not module.fresh


@pytest.mark.parametrize("name", ["causal", "positions", "rotary", "single"])
def test_the_result_keeps_the_dtype_that_the_function_gives_it(name: str) -> None:
    """Cast to the module's dtype, a mask would be added to scores, positions could not index, angles would be lost."""
    function: Callable[..., Tensor] = Mask._specifiers[name].function  # type: ignore[union-attr, assignment] # a virtual tensor's
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        module = mask().to(dtype)
        expected: Tensor = function(module, dtype, torch.device("cpu"))
        read: Tensor = getattr(module, name)
        assert read.dtype is expected.dtype
        assert torch.equal(read, expected)


@pytest.mark.parametrize("name", ["fresh", "kept"])
def test_a_declaration_can_ask_for_the_module_s_dtype(name: str) -> None:
    """Floating point only, as nn.Module casts."""
    assert getattr(Cast(torch.float32).half(), name).dtype is torch.float16
    assert getattr(Cast(torch.float16), name).dtype is torch.float32
    for kept in (torch.int64, torch.bool, torch.complex64):
        assert getattr(Cast(kept).half(), name).dtype is kept


def test_it_is_moved_to_the_device_that_the_function_ignored() -> None:
    assert mask().to("meta").causal.is_meta


def test_it_is_neither_in_the_state_dict_nor_among_the_buffers() -> None:
    assert list(mask().state_dict()) == ["weight"]
    assert not list(mask().buffers())


@pytest.mark.parametrize("name", ["fresh", "kept"])
def test_it_cannot_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'{name}' of 'Mask' object has no setter"):
        setattr(mask(), name, torch.ones(3))


def test_a_buffer_gives_dtype_and_device_where_there_is_no_parameter() -> None:
    class Buffered(Module):
        steps: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
        level: Tensor = buffer(initializer=nn.init.zeros_)

        @virtual
        def one(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.ones((), dtype=dtype, device=device)

    assert Buffered(dtype=torch.float64).one.dtype is torch.float64
    assert Buffered().half().one.dtype is torch.float16


def test_a_module_without_tensors_still_follows_its_moves() -> None:
    class Bare(Module):
        size: int

        @virtual
        def ones(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.ones(self.size, dtype=dtype, device=device)

    bare = Bare(2, dtype=torch.float64)
    assert bare.ones.dtype is torch.float64
    assert bare.half().ones.dtype is torch.float16
    assert bare.to("meta").ones.device.type == "meta"
    assert Bare.on_meta(2).materialize("cpu", dtype=torch.float64).ones.dtype is torch.float64
    assert not bare.state_dict()


def test_a_class_with_its_own_constructor_follows_its_first_floating_tensor() -> None:
    class Classic(Module):
        layer: nn.Linear

        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2, dtype=torch.float64)

        @virtual
        def one(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.ones((), dtype=dtype, device=device)

    assert Classic().one.dtype is torch.float64
    assert Classic().half().one.dtype is torch.float16


def test_reading_it_computes_no_parametrization() -> None:
    class Counted(nn.Module):
        calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return x

    counted, module = Counted(), mask()
    parametrize.register_parametrization(module, "weight", counted)
    before = counted.calls
    assert module.fresh.dtype is torch.float32
    assert counted.calls == before


def test_an_attribute_error_in_the_function_is_not_taken_for_a_missing_attribute() -> None:
    class Broken(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        @virtual
        def derived(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return self.wieght  # type: ignore[attr-defined, no-any-return] # what the test is about

    with pytest.raises(
        RuntimeError, match=r"Broken\.derived could not be computed: 'Broken' object has no attribute 'wieght'"
    ):
        Broken().derived  # noqa: B018 # what the test is about


def test_a_result_that_is_not_a_tensor_is_refused() -> None:
    class Wrong(Module):
        @virtual
        def derived(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return 3  # type: ignore[return-value] # what the test is about

    with pytest.raises(TypeError, match=r"Wrong\.derived: expected a tensor, got int"):
        Wrong().derived  # noqa: B018 # what the test is about


def test_a_subclass_can_build_on_the_inherited_one() -> None:
    class Base(Module):
        @virtual(cached=True)
        def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.ones(2, dtype=dtype, device=device)

    class Doubled(Base):
        @virtual
        def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return 2 * super().table

    assert Doubled().table.tolist() == [2, 2]
    assert Base().table.tolist() == [1, 1]


class Placed(Module):
    """Has tensors in its child only."""

    linear: nn.Linear = submodule(nn.Linear, 2, 2)

    @virtual(cached=True)
    def positions(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(2, dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        linear: Tensor = self.linear(x)
        return linear + self.positions


def test_it_follows_the_children_where_only_those_leave_meta() -> None:
    placed, source = Placed(device="meta"), Placed()
    assert placed.positions.is_meta
    called = torch.func.functional_call(placed, source.state_dict(), (torch.ones(2),))
    assert torch.equal(called, source(torch.ones(2)))
    model = nn.Sequential(placed)
    model.load_state_dict(nn.Sequential(source).state_dict(), assign=True)

    assert torch.equal(model(torch.ones(2)), source(torch.ones(2)))
    assert torch.equal(torch.compile(model, backend="eager", fullgraph=True)(torch.ones(2)), source(torch.ones(2)))
    assert placed.positions is placed.positions
    assert placed.double().positions.dtype == torch.float64


class Rotary(Module):
    """Has no tensors at all."""

    @virtual(cached=True)
    def angles(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2, dtype=dtype, device=device)


class Rotated(Module):
    linear: nn.Linear = submodule(nn.Linear, 2, 2)
    rotary: Rotary = submodule(Rotary)


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_in_a_module_without_tensors_it_follows_what_is_assigned_around_it(device: str) -> None:
    rotated = Rotated(device=device)
    assert rotated.rotary.angles.device.type == device
    given = nn.Sequential(Rotated(dtype=torch.bfloat16)).state_dict()
    nn.Sequential(rotated).load_state_dict(given, assign=True)

    assert rotated.rotary.angles.tolist() == [1, 1]
    assert rotated.rotary.angles.dtype == torch.bfloat16
    assert list(rotated.state_dict()) == ["linear.weight", "linear.bias"]
