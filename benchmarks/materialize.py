"""Starting a module by `on_meta` and `materialize`, against eager construction and torch's own way over meta.

python -m benchmarks.materialize

torch's way is the constructor under `torch.device("meta")`, `to_empty`, and `reset_parameters` of each module that has one. Each
start is measured after one that is not, in which torch imports what fake tensors need.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.timing import Row, interleaved, table, time_call
from qten_gen import Module, ModuleList, param, submodule


class Block(Module):
    """A block of a transformer, as far as its state goes."""

    dim: int
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    up: nn.Linear = submodule(nn.Linear, "dim", "4*dim")
    down: nn.Linear = submodule(nn.Linear, "4*dim", "dim")
    scale: nn.Parameter = param("dim", initializer=nn.init.ones_)


class Net(Module):
    """Blocks of one size."""

    dim: int
    depth: int
    blocks: ModuleList[Block] = submodule(Block, "dim", repeat="depth")


SIZES = {"96 blocks of dimension 16": (16, 96), "2 blocks of dimension 768": (768, 2)}
"""Many small tensors, where the count of operations is what takes time; and few large ones, where the draws are."""


def start(dim: int, depth: int) -> Net:
    """What is measured: construction on meta, and values on the CPU."""
    return Net.on_meta(dim, depth).materialize("cpu", seed=0)


def start_by_hand(dim: int, depth: int) -> Net:
    """The same with torch alone, in numbers that depend on their order."""
    with torch.device("meta"):
        made = Net(dim, depth)
    made.to_empty(device="cpu")
    for module in reversed(list(made.modules())):
        reset = getattr(module, "reset_parameters", None)
        if callable(reset):
            reset()
    return made


def starts(dim: int, depth: int) -> dict[str, Callable[[], nn.Module]]:
    """The ways to start a module, by the name of their column."""
    return {
        "on_meta and materialize": lambda: start(dim, depth),
        "eager": lambda: Net(dim, depth),
        "to_empty and reset_parameters": lambda: start_by_hand(dim, depth),
    }


def measured(rounds: int = 5) -> list[Row]:
    """A row for each size."""
    rows = []
    for name, (dim, depth) in SIZES.items():
        calls = starts(dim, depth)
        for call in calls.values():
            call()
        columns = {column: (lambda call=call: time_call(call)) for column, call in calls.items()}
        rows.append(Row(name, interleaved(columns, rounds)))
    return rows


def main() -> None:
    torch.set_num_threads(1)
    print(table(measured(), lambda found, other: f"{found / other:.2f}", "ratio to"))


if __name__ == "__main__":
    main()
