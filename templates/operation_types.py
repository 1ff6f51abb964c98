"""What checkers see of the table: the text of a file in `stubs/qten_gen_typing`.

python -m templates.operation_types numbers > stubs/qten_gen_typing/numbers.pyi
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import TypeAlias, get_overloads

from qten_gen.runtime.tensorclass.methods.operands import Function
from qten_gen.runtime.tensorclass.operations.entries import Group, Operation
from qten_gen.runtime.tensorclass.operations.table import GROUPS

_WIDTH = 120

Signature: TypeAlias = tuple[tuple[str, ...], str]
"""The parameters and the result."""

_NEW = "dtype: torch.dtype | None = None", "device: DeviceLike = None", "requires_grad: bool = False"

FORMS: dict[str, tuple[Signature, ...]] = {
    "reflected": ((("self", "other: Tensor | complex", "/"), "Self"),),
    "truth": (
        (("self", "dim: None = None", "keepdim: bool = False"), "bool"),
        (("self", "dim: Dim | Sequence[Dim]", "keepdim: bool = False"), "Self"),
    ),
    "new": (
        (("self", "*size: int", *_NEW), "Self"),
        (("self", "size: Sequence[int]", "/", "*", *_NEW), "Self"),
    ),
}
"""Signatures of methods whose result depends on an argument. The others are read from the methods."""

FILES = {
    "operators": ("Operators",),
    "numbers": ("Arithmetic", "Reductions"),
    "arranging": (
        "Batch shape",
        "Put together and taken apart",
        "Some of the items",
        "New objects like another",
        "Copies",
    ),
    "dtypes": ("Dtypes",),
}
"""The files, and the groups of the table that each is made of."""

# A DataLoader takes what has items and a length, but its signature asks for a Dataset, of which `Self` cannot be the argument.
# Operators derive from it because mypy compares `+` in both for each class with several bases otherwise.
_HEADER = """\
from collections.abc import Sequence
from typing import ClassVar, Literal, Never, Self, overload

import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.core.construction import DeviceLike
from qten_gen.runtime.tensorclass.core.sizes import Dim
from qten_gen.runtime.tensorclass.tensorclass import TensorClass
"""


def stub(file: str) -> str:
    """The text of a file of `FILES`."""
    groups = [group for title in FILES[file] for group in GROUPS if group.title == title]
    body = "\n".join(["", *(line for group in groups for line in _members(group))])
    if file == "operators":
        body += (
            "\n    __hash__: ClassVar[None]  # type: ignore[assignment] # objects with tensors for `==` cannot be keys"
        )
    head = "".join(_used(block, body) for block in _HEADER.split("\n\n"))
    name = file.capitalize()
    base = ""
    if file == "operators":
        head = f"{head}from torch.utils.data import Dataset\n\n".replace("\n\nfrom torch.utils", "\nfrom torch.utils")
        head = head.replace("import ClassVar", "import Any, ClassVar")
        base = "(Dataset[Any])"
    doc = '"""Made of the table in `qten_gen.runtime.tensorclass.operations`, by `make generate`."""'
    return f"{head}class {name}{base}:\n    {doc}\n{body}\n"


def _used(block: str, body: str) -> str:
    """The imports of a block that the body needs, and an empty line."""
    lines = []
    for line in block.splitlines():
        start, names = line.rsplit("import ", 1)
        needed = [name for name in names.split(", ") if re.search(rf"\b{name}\b", _code(body))]
        if needed:
            lines.append(f"{start}import {', '.join(needed)}\n")
    return "".join([*lines, "\n"]) if lines else ""


def _code(body: str) -> str:
    """The body without its documentation."""
    return re.sub(r'""".*?"""', "", body)


def _members(group: Group) -> Iterator[str]:
    for operation in group.operations:
        if operation.is_method:
            yield from _method(operation, operation.name, operation.doc, operation.method)
            if operation.in_place is not None:
                doc = f"`{operation.name}`, in place."
                yield from _method(operation, operation.in_place_name, doc, operation.in_place)


def _method(operation: Operation, name: str, doc: str, method: Function) -> Iterator[str]:
    """The lines of a method."""
    written = FORMS.get(operation.form) or _read(method, operation.on_class)
    comment = ""
    if operation.form == "comparison":
        comment = "  # type: ignore[override] # `object` says bool, tensors give tensors"
    if name in ("__add__", "__iadd__"):
        comment = "  # type: ignore[override] # a Dataset joins two"
    for parameters, result in written:
        if len(written) > 1:
            yield "    @overload"
        if operation.on_class:
            yield "    @classmethod"
        if name.startswith("__"):
            yield from _signature(name, parameters, result, f" ...{comment}")
        else:
            yield from _signature(name, parameters, result, "")
            yield f'        """{doc}"""'


def _signature(name: str, parameters: tuple[str, ...], result: str, end: str) -> Iterator[str]:
    """The `def` line, broken as ruff breaks it."""
    line = f"    def {name}({', '.join(parameters)}) -> {result}:"
    if len(line) <= _WIDTH:
        yield line + end
        return
    yield f"    def {name}("
    inner = f"        {', '.join(parameters)}"
    if len(inner) <= _WIDTH:
        yield inner
    else:
        yield from (f"        {parameter}," for parameter in parameters)
    yield f"    ) -> {result}:{end}"


def _read(method: Function, on_class: bool) -> tuple[Signature, ...]:
    """The signatures of a method: of its overloads, where it has some."""
    return tuple(_one(each, on_class) for each in get_overloads(method) or [method])


def _one(method: Function, on_class: bool) -> Signature:
    """The parameters and the result of one signature, as the stub writes them."""
    signature = inspect.signature(method)
    found = ["cls" if on_class else "self"]
    before = None
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and before not in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        ):
            found.append("*")
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not before:
            found.append("/")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        found.append(f"{star}{parameter.name}: {_in_stub(parameter.annotation)}{default}")
        before = parameter.kind
    if before is inspect.Parameter.POSITIONAL_ONLY:
        found.append("/")
    return tuple(found), _in_stub(signature.return_annotation)


def _in_stub(annotation: str) -> str:
    """An annotation as a class writes it."""
    for old, new in (
        (r"\bStored\b", "TensorClass"),
        (r"\bT\b", "Self"),
        (r"\bOperand\b", "Self | Tensor | complex"),
        ("'", '"'),
    ):
        annotation = re.sub(old, new, annotation)
    return annotation


if __name__ == "__main__":
    print(stub(sys.argv[1]), end="")
