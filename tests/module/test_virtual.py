"""Virtual tensors: computed when read, following dtype and device, cached on request."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import parametrize

from qten_gen import DeclarationError, Module, buffer, param, virtual

from .declared import Block, batch


class Mask(Module):
    """Counts how often its virtual tensors are computed."""

    size: int
    calls: list[str]
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    @virtual
    def fresh(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        self.calls.append("fresh")
        return torch.ones(self.size, dtype=dtype, device=device)

    @virtual(cached=True)
    def kept(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        self.calls.append("kept")
        return torch.ones(self.size, dtype=dtype, device=device)

    @virtual(cached=True)
    def scaled(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        self.calls.append("scaled")
        return 2 * self.weight

    @virtual
    def whole(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(self.size)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.kept + self.scaled


def mask() -> Mask:
    return Mask(3, [])


def test_it_is_computed_on_every_read() -> None:
    module = mask()
    assert module.fresh is not module.fresh
    assert module.calls == ["fresh", "fresh"]


def test_it_follows_the_dtype_and_the_device_of_the_module() -> None:
    module = mask().double()
    assert module.fresh.dtype is torch.float64
    assert Mask(3, [], device="meta").fresh.device.type == "meta"


def test_the_result_is_cast_where_the_function_ignores_the_dtype() -> None:
    assert mask().half().whole.dtype is torch.float16


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


def test_gradients_flow_through_it() -> None:
    class Squared(Module):
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        @virtual
        def square(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return self.weight.square()

    squared = Squared()
    (gradient,) = torch.autograd.grad(squared.square.sum(), squared.weight)
    assert torch.equal(gradient, torch.full((2,), 2.0))


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
        @virtual(cached=True)
        def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return 2 * super().table

    assert Doubled().table.tolist() == [2, 2]
    assert Base().table.tolist() == [1, 1]


def test_a_cached_one_is_computed_once() -> None:
    module = mask()
    assert module.kept is module.kept
    assert module.calls == ["kept"]


def change_config(module: Mask) -> None:
    module.size = 4


def move(module: Mask) -> None:
    module.double()


def change_in_place(module: Mask) -> None:
    with torch.no_grad():
        module.weight.mul_(2)


def replace_a_parameter(module: Mask) -> None:
    module.weight = nn.Parameter(torch.zeros(3))


def spoil_the_value(module: Mask) -> None:
    module.kept.zero_()


@pytest.mark.parametrize("change", [change_config, move, change_in_place, replace_a_parameter, spoil_the_value])
def test_a_change_makes_it_compute_again(change: Callable[[Mask], None]) -> None:
    module = mask()
    before = module.kept
    module.calls.clear()
    change(module)
    module.calls.clear()
    assert module.kept is not before
    assert module.kept.eq(1).all()
    assert module.calls == ["kept"]


def test_a_value_that_takes_part_in_autograd_is_not_kept() -> None:
    module = mask()
    assert module.scaled is not module.scaled
    for _ in range(2):
        (gradient,) = torch.autograd.grad(module.scaled.sum(), module.weight)
        assert gradient.tolist() == [2, 2, 2]


def test_a_value_computed_without_gradients_is_not_shown_with_them() -> None:
    module = mask()
    with torch.no_grad():
        assert not module.scaled.requires_grad
    assert module.scaled.requires_grad


def test_a_value_of_inference_mode_stays_there() -> None:
    module = mask()
    with torch.inference_mode():
        assert module.kept.is_inference()
    assert not module.kept.is_inference()


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda module: pickle.loads(pickle.dumps(module)),
        lambda module: module._replicate_for_data_parallel(),
    ],
)
def test_copies_compute_their_own(copied: Callable[[Mask], Mask]) -> None:
    module = mask()
    first = module.kept
    twin = copied(module)
    assert torch.equal(twin.kept, first) and twin.kept is not first


def test_nothing_is_kept_while_a_graph_is_traced() -> None:
    block = Block(4)
    compiled = torch.compile(block, fullgraph=True, backend="eager")
    compiled(batch())
    assert "_derived" not in vars(block)


def test_nothing_is_kept_of_a_functional_transform() -> None:
    module = mask()

    def loss(weight: Tensor) -> Tensor:
        out: Tensor = functional_call(module, {"weight": weight}, (torch.ones(3),))
        return out.sum()

    assert torch.func.grad(loss)(torch.ones(3)).tolist() == [2, 2, 2]
    assert "_derived" not in vars(module)


def test_nothing_is_kept_under_fake_tensors() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    module = mask()
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert type(module.kept).__name__ == "FakeTensor"
    assert type(module.kept) is Tensor


class Rotation(Module):
    """A cached value that says what it is derived from."""

    size: int
    other: int
    calls: list[str]
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)
    base: Tensor = buffer("size", initializer=nn.init.ones_)

    @virtual(cached=True, sources=("size", "base"))
    def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        self.calls.append("table")
        return 2 * self.base[: self.size]


def test_a_value_with_sources_is_computed_once() -> None:
    rotation = Rotation(3, 0, [])
    assert rotation.table is rotation.table
    assert rotation.calls == ["table"] and list(rotation.state_dict()) == ["weight", "base"]


@pytest.mark.parametrize(
    "change",
    [
        lambda module: setattr(module, "size", 2),
        lambda module: module.base.mul_(3),
        lambda module: setattr(module, "base", torch.full((3,), 5.0)),
        lambda module: module.double(),
        lambda module: module.to("meta"),
        lambda module: module.load_state_dict(Rotation(3, 0, []).state_dict()),
        lambda module: module.load_state_dict(Rotation(3, 0, [], dtype=torch.float64).state_dict(), assign=True),
        lambda module: module.table.zero_(),
    ],
)
def test_a_change_of_a_source_or_a_move_makes_it_compute_again(change: Callable[[Rotation], object]) -> None:
    rotation = Rotation(3, 0, [])
    before = rotation.table
    change(rotation)
    after = rotation.table
    assert after is not before
    assert (after.dtype, after.device) == (rotation.weight.dtype, rotation.weight.device)
    assert after.is_meta or torch.equal(after, 2 * rotation.base[: rotation.size])


def test_a_change_of_anything_else_does_not() -> None:
    rotation = Rotation(3, 0, [])
    before = rotation.table
    rotation.other = 1
    with torch.no_grad():
        rotation.weight.mul_(2)
    assert rotation.table is before


def test_a_value_with_sources_is_kept_for_each_grad_mode() -> None:
    rotation = Rotation(3, 0, [])
    with torch.no_grad():
        before = rotation.table
    assert rotation.table is not before


def test_a_value_of_a_frozen_parameter_is_computed_again_with_gradients_once_it_is_not_frozen() -> None:
    module = mask().requires_grad_(False)
    assert module.scaled is module.scaled
    module.requires_grad_(True)
    (gradient,) = torch.autograd.grad(module.scaled.sum(), module.weight)
    assert gradient.tolist() == [2, 2, 2]


def test_a_value_kept_with_gradients_enabled_is_kept_without_them() -> None:
    rotation = Rotation(3, 0, [])
    before = rotation.table
    with torch.no_grad():
        assert rotation.table is before


def test_a_trace_and_a_dispatch_mode_compute_it_anew() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    rotation = Rotation(3, 0, [])
    assert type(rotation.table) is Tensor
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert type(rotation.table).__name__ == "FakeTensor"
    assert type(rotation.table) is Tensor


def test_a_source_that_is_not_a_field_is_refused() -> None:
    with pytest.raises(DeclarationError, match="QG312 .*sise is not a config field, parameter or buffer of Misspelt"):

        class Misspelt(Module):
            size: int

            @virtual(cached=True, sources=("sise",))
            def ramp(self, dtype: torch.dtype, device: torch.device) -> Tensor:
                return torch.arange(self.size)
