"""The types of every method of the table of operations: what is called, and what checkers have to say of it.

`marked_programs` writes the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from qten_gen.runtime.tensorclass.operations.entries import Operation
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS

C, MANY = "C", "tuple[C, ...]"
"""The class, and several objects of it."""

Row = tuple[str, str]
"""A call and its type; the type is `E` where the call is an error. `v` is an object, `x` a tensor, `NAME` the method."""

OF_A_FORM: dict[str, list[Row]] = {
    "unary": [("v.NAME()", C)],
    "cast": [("v.NAME()", C), ("v.NAME(0)", "E")],
    "truth": [("v.NAME()", "bool"), ("v.NAME(0)", C), ("v.NAME((0, 1), keepdim=True)", C), ("v.NAME(1.5)", "E")],
    "new": [("v.NAME(2, 3)", C), ('v.NAME((2,), dtype=torch.int64, device="cpu")', C), ('v.NAME("s")', "E")],
    "like": [("C.NAME(v)", C), ("C.NAME(v, dtype=torch.float64)", C), ("C.NAME(p)", "E")],
    "full like": [("C.NAME(v, 3)", C), ("C.NAME(v)", "E")],
}
"""Rows for all operations of a form."""

OPERATORS: dict[str, Row] = {
    name: (f"v{symbol}v", C)
    for name, symbol in (
        row.split(":")
        for row in "add: + ,sub: - ,mul: * ,truediv: / ,floordiv: // ,mod: % ,pow:**,and: & ,or: | ,xor: ^ ,lshift: << ,"
        "rshift: >> ,eq: == ,ne: != ,lt: < ,le: <= ,gt: > ,ge: >= ".split(",")
    )
} | {"neg": ("-v", C), "pos": ("+v", C), "abs": ("abs(v)", C), "invert": ("~v", C)}

WRITTEN: dict[str, list[Row]] = {
    "fill_": [("v.NAME(0)", C), ('v.NAME("x", 0)', "E")],
    "zero_": [("v.NAME()", C)],
    "reshape": [("v.NAME(2, -1)", C), ("v.NAME(torch.Size([2]))", C), ('v.NAME("s")', "E")],
    "view": [("v.NAME(2, -1)", C), ("v.NAME([2, 3])", C)],
    "flatten": [("v.NAME(0, -1)", C)],
    "unflatten": [("v.NAME(0, (2, -1))", C)],
    "permute": [("v.NAME(1, 0)", C), ('v.NAME(["time", 0])', C)],
    "transpose": [("v.NAME(0, 1)", C), ("v.NAME(0)", "E")],
    "movedim": [("v.NAME(0, 1)", C), ("v.NAME((0, 1), (1, 0))", C)],
    "squeeze": [("v.NAME()", C), ("v.NAME(0)", C)],
    "unsqueeze": [("v.NAME(0)", C), ("v.NAME()", "E")],
    "expand": [("v.NAME(2, -1)", C), ("v.NAME([2, -1])", C)],
    "repeat": [("v.NAME(2, 1)", C), ("v.NAME((2, 1))", C)],
    "repeat_interleave": [("v.NAME(2, dim=0)", C), ("v.NAME(x, 0, output_size=4)", C)],
    "roll": [("v.NAME(1, 0)", C), ("v.NAME((1, 2), (0, 1))", C)],
    "flip": [("v.NAME(0, 1)", C), ("v.NAME([0])", C)],
    "pad": [("v.NAME((0, 1), 0.5)", C), ("v.NAME(1)", "E")],
    "stack": [("C.NAME([v, v], 1)", C), ("C.NAME([v, x])", "E")],
    "cat": [("C.NAME([v, v], dim=1)", C), ("C.NAME(v)", "E")],
    "split": [("v.NAME(2)", MANY), ("v.NAME([2, 1], dim=1)", MANY)],
    "chunk": [("v.NAME(2)", MANY)],
    "unbind": [("v.NAME()", MANY)],
    "gather": [("v.NAME(0, x)", C), ("v.NAME(0, [1])", "E")],
    "masked_fill_": [("v.NAME(v > 0, 2)", C)],
    "masked_fill": [("v.NAME(v > 0, 2)", C), ("v.NAME(x, 2)", C), ("v.NAME(0, 2)", "E")],
    "where": [("v.NAME(v > 0, v)", C), ("v.NAME(x, 0)", C), ("v.NAME(x)", "E")],
    "new_full": [("v.NAME((2,), 7)", C), ("v.NAME(2)", "E")],
    "clone": [("v.NAME()", C), ("v.NAME(recurse=False)", C)],
    "detach_": [("v.NAME()", C)],
    "detach": [("v.NAME()", C)],
    "contiguous": [("v.NAME()", C)],
}
"""Rows for the methods that are written out, by name."""

_HEADER = """\
# Made of tests/typing/operation_rows.py: each operation of the table.

from typing import assert_type

import torch
from shop.model import Batch as C
from shop.model import Point

x = torch.ones(2)
p = Point(x)
"""


def rows() -> Iterator[Row]:
    """All rows, with the name of the method written in."""
    for operation in OPERATIONS:
        if not operation.is_method or operation.form == "reflected":
            continue
        for call, type_ in _rows(operation):
            yield call.replace("NAME", operation.name), type_


def _rows(operation: Operation) -> list[Row]:
    if operation.name.startswith("__"):
        return [OPERATORS[operation.name.strip("_")]]
    return WRITTEN[operation.name] if operation.name in WRITTEN else OF_A_FORM[operation.form]


def program() -> str:
    """The text of the program."""
    lines = [_HEADER, "", "def operations(v: C) -> None:"]
    lines += (f"    {call}  # E" if type_ == "E" else f"    assert_type({call}, {type_})" for call, type_ in rows())
    return "\n".join(lines) + "\n"
