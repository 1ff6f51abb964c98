"""Specifiers have the types of the attributes that they declare."""

import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, const, derived, field, param, submodule, virtual


def fill_(tensor: Tensor) -> None:
    tensor.zero_()


class Good(Module):
    n: int
    first: nn.Parameter = param("n", 3, initializer=fill_, dtype=torch.float16, requires_grad=False)
    second: Tensor = param("n", initializer=nn.init.ones_)
    third: Tensor = buffer("n", initializer=nn.init.xavier_normal_, persistent=False)
    layer: nn.Module = submodule(nn.Linear, "n", 3, bias=False)
    conv: nn.Conv1d = submodule(nn.Conv1d, "n", 1, 3, padding_mode=const("circular"))
    after: int = 3
    twice: int = derived("2*n")
    last: str = field(default="x", kw_only=True)


print(Good(2).twice.wrong)  # E
Good(2, twice=3)  # E


class Bad(Module):
    n: int
    first: nn.Parameter = buffer("n")  # E
    second: int = param("n")  # E
    third: nn.Linear = submodule(nn.LayerNorm, "n")  # E
    fourth: nn.Parameter = param(1.5)  # E
    fifth: nn.Parameter = param("n", initializer=3)  # E
    sixth: nn.Parameter = param("n", initialiser=fill_)  # E
    seventh: Tensor = buffer("n", requires_grad=True)  # E
    eighth: Tensor = submodule(int, "n")  # E
    ninth: int = field(default="x")  # E
    tenth: list[int] = field(default=[], default_factory=list)  # E

    @virtual  # E
    def no_device(self, dtype: torch.dtype) -> Tensor:
        return torch.ones(2, dtype=dtype)

    @virtual(cached=1.5)  # E
    def odd(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(2)

    @virtual()  # E
    def no_tensor(self, dtype: torch.dtype, device: torch.device) -> int:
        return 2
