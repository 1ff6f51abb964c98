"""`python -m benchmarks.tensorclass`: a generated class beside the same class by hand, of tensordict, and as a pytree.

Small tensors, so that what is timed is the class and not the arithmetic; then large ones, where only smarter ways to the same
result can differ. Before an operation is timed, its results are checked to be the same in all columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch

from ..timing import Row, keep_memory, table, write_json
from .columns import LARGE, SMALL, columns
from .comparison import MEASURE, compare, mean_ratio
from .layouts import LAYOUTS, THREE
from .operations import OPERATIONS, Operation

LIMITS = {MEASURE: "at most 1.05", "tensordict": "at most 0.25", "tensor_only": "at most 0.25"}
"""What is asked of the geometric mean of generated / other, in words."""


def summary(rows: Sequence[Row], limits: Mapping[str, str]) -> str:
    """Geometric means, and the operations that take longer than they may."""
    ours, *others = rows[0].seconds
    lines = [
        f"geometric mean of {ours} / {other}: {mean_ratio(rows, ours, other):.2f}   {limits.get(other, '')}".rstrip()
        for other in others
    ]
    slow = [row.name for row in rows if row.seconds[ours] > float(row.limit) * row.seconds[MEASURE]]
    return "\n".join([*lines, f"above their limit: {', '.join(slow) or 'none'}"])


def chosen(operations: Iterable[Operation], names: Sequence[str]) -> list[Operation]:
    """The operations whose names start with one of `names`, or all."""
    return [found for found in operations if not names or found.name.startswith(tuple(names))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensorclass", description=__doc__)
    parser.add_argument("operations", nargs="*", help="names of operations; all by default")
    parser.add_argument("--layouts", nargs="*", default=[layout.name for layout in LAYOUTS], metavar="NAME")
    parser.add_argument("--columns", nargs="*", default=[column.name for column in columns()], metavar="NAME")
    parser.add_argument("--no-large", dest="large", action="store_false", help="leave out the large tensors")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    keep_memory("benchmarks.tensorclass")
    torch.set_num_threads(1)
    wanted = [column for column in columns() if column.name in {MEASURE, *options.columns}]
    operations = chosen(OPERATIONS, options.operations)
    measured: dict[str, list[Row]] = {}
    for layout in LAYOUTS:
        if layout.name in options.layouts:
            measured[layout.name] = compare(operations, wanted, layout, SMALL, SMALL, options.rounds)
    if options.large and (large := [operation for operation in operations if operation.large]):
        measured["Three, large"] = compare(large, wanted, THREE, LARGE, SMALL, max(3, options.rounds // 2))
    for name, rows in measured.items():
        limits = {MEASURE: LIMITS[MEASURE]} if "large" in name else LIMITS
        print(f"{name}\n\n{table(rows, lambda ours, other: f'{ours / other:.2f}', '/')}\n\n{summary(rows, limits)}\n")
    if options.json:
        write_json(options.json, [row for name, rows in measured.items() for row in named(name, rows)])


def named(layout: str, rows: Iterable[Row]) -> list[Row]:
    """The rows with the layout in their names."""
    return [Row(f"{layout}: {row.name}", row.seconds, row.limit) for row in rows]


if __name__ == "__main__":
    main()
