"""What `@virtual(cached=...)` keeps, and for how long. `test_virtual_anything` checks that it is never wrong."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, derived, param, submodule, virtual

from .declared import Block, batch

CALLS: Counter[str] = Counter()


@dataclasses.dataclass(frozen=True)
class Shape:
    """A config field that cannot change."""

    rows: int
    columns: tuple[int, ...]


class Mask(Module):
    """Values that are derived from attributes."""

    size: int
    shape: Shape = Shape(2, (3,))  # it is frozen
    middle: int = derived("size // 2")
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "size")

    @virtual(cached=True)
    def kept(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        CALLS["kept"] += 1
        return torch.ones(self.size, dtype=dtype, device=device)

    @virtual(cached=True)
    def shaped(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.zeros(self.shape.rows, self.columns(), dtype=dtype)

    def columns(self) -> int:
        return self.shape.columns[0]

    @virtual(cached=True)
    def built(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        total: Tensor = self.kept + self.shaped.sum()
        return total

    @virtual(cached=True)
    def halved(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.middle, dtype=dtype, device=device)

    @virtual(cached=True)
    def scalar(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones((), dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(x * self.kept) + 2 * self.weight
        return out


def mask() -> Mask:
    CALLS.clear()
    return Mask(3)


@pytest.mark.parametrize("name", ["kept", "shaped", "built", "halved", "scalar"])
def test_what_is_derived_from_attributes_is_computed_once(name: str) -> None:
    module = mask()
    assert getattr(module, name) is getattr(module, name)
    assert CALLS["kept"] <= 1


def test_a_change_of_what_is_no_source_does_not() -> None:
    module = mask()
    before = module.kept, module.shaped
    with torch.no_grad():
        module.weight.mul_(2)
        assert (module.kept, module.shaped)[0] is before[0]
    torch.optim.SGD(module.parameters(), lr=1.0).step()
    module.shape = Shape(1, (2,))
    module.norm = nn.LayerNorm(4)
    assert module.kept is before[0]
    assert module.shaped is not before[1]


def test_nothing_is_kept_while_a_graph_is_traced() -> None:
    block = Block(4)
    compiled = torch.compile(block, fullgraph=True, backend="eager")
    compiled(batch())
    assert "_virtual_values" not in vars(block)


class Written(Module):
    """Its constructor is written by hand, and what it assigns counts when the module runs."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.base = nn.Parameter(torch.ones(size), requires_grad=False)

    @virtual(cached=True)
    def ramp(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(self.size)

    @virtual(cached=True)
    def doubled(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return 2 * self.base


def test_what_a_written_constructor_assigns_is_a_source() -> None:
    module = Written(3)
    assert module.ramp is module.ramp and module.doubled is not module.doubled
    module.size = 2
    module.base.add_(1)
    assert (module.ramp.tolist(), module.doubled.tolist()) == ([0, 1], [4, 4, 4])


class Inherited(Mask):
    """Reads further values in a method that an inherited virtual tensor calls."""

    more: int = 1
    rate: Tensor = buffer(1, initializer=nn.init.ones_)

    def columns(self) -> int:
        return self.more


def test_what_a_method_of_a_subclass_reads_counts() -> None:
    module = Inherited(3)
    assert module.shaped is module.shaped
    module.more = 5
    assert module.shaped.shape == (2, 5)


def outside(module: Mask) -> int:
    return module.size


@pytest.mark.parametrize(
    "columns",
    [
        lambda self: outside(self),
        lambda self: int(self.rate.sum()),
        lambda self: self.norm.weight.numel(),
        lambda self: len(self._get_name()),
    ],
)
def test_what_an_edited_method_reads_counts_although_no_rule_has_seen_it(
    columns: Callable[[Inherited], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept where the method passes the module on, or reads a tensor, a child or a method of another class."""
    monkeypatch.setattr(Inherited, "columns", columns)
    module = Inherited(3)
    assert module.shaped is not module.shaped
    assert module.kept is module.kept
