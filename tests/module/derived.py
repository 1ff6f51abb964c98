"""A module whose virtual tensors all exist twice, cached and computed at every read, and the comparison of the two.

Whatever is done to the module, a cached value has to be what the function would compute now.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule, virtual


class Rates(nn.Module):
    """A child with a tensor and a number."""

    def __init__(self, size: int, device: torch.device | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.rate = 2
        self.weight = nn.Parameter(torch.ones(size, device=device, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Derived(Module):
    """Each `cached_x` has the function of `x`."""

    size: int
    steps: list[int]
    scale: float = 1.0
    limits: tuple[int, ...] = (1, 2)
    weight: nn.Parameter = param("size", "size", initializer=nn.init.ones_)
    fixed: nn.Parameter = param("size", requires_grad=False, initializer=nn.init.ones_)
    running: Tensor = buffer("size", initializer=nn.init.ones_)
    child: Rates = submodule(Rates, "size")

    @virtual
    def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.full((self.size,), self.scale * sum(self.limits), dtype=dtype, device=device)

    cached_table = virtual(cached=True)(table.function)

    @virtual
    def by_default_dtype(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.arange(self.size, device=device) / 3

    cached_by_default_dtype = virtual(cached=True)(by_default_dtype.function)

    @virtual
    def product(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        table = torch.full((self.size, self.size), 1 / 3, dtype=dtype, device=device)
        return table @ table

    cached_product = virtual(cached=True)(product.function)

    @virtual
    def by_mode(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.full((self.size,), float(self.training), dtype=dtype, device=device)

    cached_by_mode = virtual(cached=True)(by_mode.function)

    @virtual
    def of_list(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.tensor(self.steps, device=device)

    cached_of_list = virtual(cached=True)(of_list.function)

    @virtual
    def by_helper(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self._filled(dtype, device) + self._offset

    cached_by_helper = virtual(cached=True)(by_helper.function)

    @virtual
    def of_another(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return self.cached_table + 1

    cached_of_another = virtual(cached=True)(of_another.function)

    @property
    def _offset(self) -> int:
        return len(self.limits)

    def _filled(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return sum(
            (torch.full((self.size,), self.scale, dtype=dtype, device=device) for _ in self.limits), torch.zeros(())
        )

    def forward(self, x: Tensor) -> Tensor:
        compare(self)
        out: Tensor = self.child(x @ self.weight) + self.running
        return out


def derived() -> Derived:
    """One whose values were read in every mode, so that they are kept wherever they ever are."""
    module = Derived(3, [1])
    read_all(module)
    return module


def read_all(module: Derived) -> None:
    """Read every cached value, with and without gradients."""
    for grad_mode in (True, False):
        with torch.set_grad_enabled(grad_mode):
            for name in Derived._specifiers:
                if name.startswith("cached_"):
                    getattr(module, name)


def compare(module: Derived) -> None:
    """Check that every cached value is what the function computes now; twice, as the first read may have stored it."""
    names = [name for name in Derived._specifiers if f"cached_{name}" in Derived._specifiers]
    for name in (*names, *names):
        now: Tensor = getattr(module, name)
        kept: Tensor = getattr(module, f"cached_{name}")
        assert type(kept) is type(now), name
        assert (kept.dtype, kept.device, kept.shape) == (now.dtype, now.device, now.shape), name
        assert kept.requires_grad is now.requires_grad, name
        torch.testing.assert_close(full(kept), full(now), rtol=0, atol=0, equal_nan=True, msg=name)


def full(tensor: Tensor) -> Tensor:
    """A tensor as a whole, where processes hold parts of it."""
    gather: Callable[[], Tensor] | None = getattr(tensor, "full_tensor", None)
    return tensor if gather is None else gather()


def compare_everywhere(module: Derived) -> None:
    """Compare, with and without gradients."""
    compare(module)
    with torch.no_grad():
        compare(module)
