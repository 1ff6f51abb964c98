"""A compiled function of objects against the same function of tuples: how long a call takes, and how many guards it asks first.

The function constructs, indexes, stacks, moves and adds: what a training step does with a batch. The backend runs the graph as it
is, so what is timed is the way into it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from timeit import Timer
from typing import Any

import torch
from torch import Tensor

from .tensorclass.columns import SMALL, build, columns
from .tensorclass.layouts import THREE
from .timing import Row, interleaved, table, write_json

ROUNDS, CALLS = 25, 200

OF_OBJECTS = """\
def step(a, b):
    made = C(a.q + 1, a.k, a.v, batch_size=a.batch_size)
    stacked = C.stack([made[1:3], b[1:3]]).to(torch.float64)
    return stacked + stacked
"""


def of_tuples(a: Sequence[Tensor], b: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The step for three tensors on each side."""
    made = (a[0] + 1, a[1], a[2])
    stacked = [torch.stack([x[1:3], y[1:3]]).to(torch.float64) for x, y in zip(made, b, strict=True)]
    return tuple(tensor + tensor for tensor in stacked)


def steps() -> Mapping[str, tuple[Callable[..., Any], Any, Any]]:
    """The step of each column, and its arguments. A dataclass has no batch size to compare with, and is left out."""
    batch, width = SMALL
    found: dict[str, tuple[Callable[..., Any], Any, Any]] = {}
    for column in columns():
        if not column.is_tree:
            space: dict[str, Any] = {"C": column.cls(THREE), "torch": torch}
            exec(OF_OBJECTS, space)
            torch.manual_seed(0)
            a, b = (build(column, THREE, [batch], width) for _ in range(2))
            found[column.name] = (space["step"], a, b)
    torch.manual_seed(0)
    a, b = (tuple(torch.rand(SMALL) for _ in range(3)) for _ in range(2))
    return {**found, "tuple": (of_tuples, a, b)}


def guards(step: Callable[..., Any], *arguments: object) -> int:
    """How many guards dynamo installs for a call."""
    torch.compiler.reset()
    return len(torch._dynamo.explain(step)(*arguments).out_guards)


def compare() -> Row:
    """The time of a compiled call in all columns."""
    measurements = {}
    for name, (step, a, b) in steps().items():
        compiled = torch.compile(step, fullgraph=True, backend="eager")
        compiled(a, b)
        timer = Timer("compiled(a, b)", globals={"compiled": compiled, "a": a, "b": b})
        measurements[name] = lambda timer=timer: timer.timeit(CALLS) / CALLS
    return Row("compiled call", interleaved(measurements, ROUNDS), "1.06 of tuple")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts = {name: guards(*given) for name, given in steps().items()}
    torch.compiler.reset()
    row = compare()
    print(table([row], lambda ours, other: f"{ours / other:.2f}", "/"))
    print("guards: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    if options.json:
        write_json(options.json, [row])


if __name__ == "__main__":
    main()
