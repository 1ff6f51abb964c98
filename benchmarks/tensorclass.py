"""A generated class of three fields against the one an expert writes by hand, and against tensordict where it is installed.

Small tensors, so that what is timed is the class and not the arithmetic. Before it is timed, every operation is checked to give
the same tensors and batch sizes in all columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import new_class

import torch
from torch import Tensor

from qten_gen import TensorClass

from .handwritten import Handwritten
from .timing import Row, table, time_statements, write_json

ROUNDS = 15

OPERATIONS = {
    "construct": "C(q, k, v, batch_size=size)",
    "attribute get": "a.q",
    "attribute set": "a.q = q",
    "batch_size get": "a.batch_size",
    "len": "len(a)",
    "index int": "a[1]",
    "index slice": "a[1:3]",
    "index mask": "a[mask]",
    "index long tensor": "a[rows]",
    "set item int": "a[1] = row",
    "clone": "a.clone()",
    "detach": "a.detach()",
    "reshape": "a.reshape(2, 2)",
    "unsqueeze": "a.unsqueeze(0)",
    "split": "a.split(2)",
    "unbind": "a.unbind(0)",
    "apply": "a.apply(neg)",
    "+": "a + b",
    "stack": "C.stack([a, b, a, b])",
    "cat": "C.cat([a, b, a, b])",
}

LIMITS = {"construct": "1.05", "attribute get": "1.05"}


class Generated(TensorClass):
    """Queries, keys and values."""

    q: Tensor
    k: Tensor
    v: Tensor


def peer() -> type | None:
    """The same class of tensordict, or None where it is not installed."""
    if find_spec("tensordict") is None:
        return None
    base: type = import_module("tensordict").TensorClass
    body = {"__annotations__": dict.fromkeys("qkv", Tensor), "__module__": __name__}
    return new_class("Peer", (base,), exec_body=lambda namespace: namespace.update(body))


def namespace(cls: type) -> Mapping[str, object]:
    """What the statements of `OPERATIONS` name, built of `cls`."""
    torch.manual_seed(0)
    size = torch.Size([4])
    q, k, v, *others = (torch.rand(4, 3) for _ in range(6))
    names: dict[str, object] = {"C": cls, "size": size, "q": q, "k": k, "v": v, "neg": torch.neg}
    names["mask"] = torch.tensor([True, False, True, True])
    names["rows"] = torch.tensor([2, 0])
    names["a"] = cls(q, k, v, batch_size=size)
    names["b"] = cls(*others, batch_size=size)
    names["row"] = cls(*(other[0].clone() for other in others), batch_size=())
    return names


def leaves(value: object) -> Iterator[object]:
    """What is compared of a result: values, batch sizes and numbers, in order."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif hasattr(value, "batch_size"):
        for name in ("batch_size", "q", "k", "v"):
            yield from leaves(getattr(value, name))
    elif isinstance(value, Tensor):
        yield value.tolist()
    else:
        yield value


def result(statement: str, cls: type) -> list[object]:
    """The leaves of what an expression gives, or of the object that a statement changes."""
    names = dict(namespace(cls))
    if " = " in statement:
        exec(statement, names)
        return list(leaves(names["a"]))
    return list(leaves(eval(statement, names)))


def compare(columns: Mapping[str, type]) -> list[Row]:
    """Check, then time, every operation.

    Raises `SystemExit` naming the operation and the column whose result differs from the hand-written class.
    """
    rows = []
    for name, statement in OPERATIONS.items():
        expected = result(statement, Handwritten)
        for column, cls in columns.items():
            if result(statement, cls) != expected:
                raise SystemExit(f"{name}: the result of {column} differs from the hand-written class")
        cells = {column: (statement, namespace(cls)) for column, cls in columns.items()}
        rows.append(Row(name, time_statements(cells, ROUNDS), LIMITS.get(name, "")))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tensorclass", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the times there as well")
    options = parser.parse_args()
    torch.set_num_threads(1)
    columns: dict[str, type] = {"generated": Generated, "hand": Handwritten}
    if (other := peer()) is not None:
        columns["tensordict"] = other
    rows = compare(columns)
    print(table(rows, lambda generated, other: f"{generated / other:.2f}", "/"))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
