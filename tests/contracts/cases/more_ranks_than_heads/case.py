"""Keys have fewer heads than a mesh has ranks: each rank gets a part of one, and a view fails once it runs (torchtitan#2574)."""

from pathlib import Path

from torch import Tensor, nn

from qten_gen import Module, submodule
from qten_gen.tools.inspect.model_tree import contents_of
from qten_gen.tools.inspect.plans import plan_of

PLAIN = "shape '[2, 3, -1, 16]' is invalid for input of size 48"
OURS = "wk.weight: dimension 0: `kv_heads % tp`: tp is 1 or 2, as kv_heads is 2"


class Attention(Module):
    dim: int = 64
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 16
    wq: nn.Linear = submodule(nn.Linear, "dim", "heads*head_dim", bias=False)
    wk: nn.Linear = submodule(nn.Linear, "dim", "kv_heads*head_dim", bias=False)
    wo: nn.Linear = submodule(nn.Linear, "heads*head_dim", "dim", bias=False)

    def keys(self, x: Tensor) -> Tensor:
        keys: Tensor = self.wk(x)
        return keys.view(*x.shape[:2], -1, self.head_dim)


def plain() -> None:
    import torch

    attention = Attention()
    attention.wk.weight = nn.Parameter(attention.wk.weight.chunk(4)[0])  # what the first of four ranks has
    attention.keys(torch.rand(2, 3, 64))


def ours() -> str:
    attention = Attention()
    plan = str(Path(__file__).parent / "plan.py")
    return "\n".join(map(str, plan_of(attention, contents_of(attention), {"tp": 4}, f"{plan}:tp_plan").problems))
