"""The table as a page of the documentation.

python -m templates.operations_page > docs/operations.md
"""

from __future__ import annotations

from textwrap import fill

import torch

from qten_gen.runtime.tensorclass.methods.operands import Function
from qten_gen.runtime.tensorclass.operations.entries import Effect, Group, Operation
from qten_gen.runtime.tensorclass.operations.table import GROUPS
from templates.operations_examples import EXAMPLES

_INTRODUCTION = """\
# Operations

This page lists the tensor operations that work on a whole object. Each applies to every tensor of the object and of its nested
objects. The result is a new object of the same class, with the static values of the first operand. A method with an underscore
at the end, such as `batch.sin_()`, changes the tensors in place; a frozen object refuses it.

A `dim` is a batch dimension, given by position or by name. If torch refuses a tensor, the error names its field; an operation in
place has changed the fields before that one by then.

To type checkers, `torch.exp(batch)` is an error although it runs: torch's signatures take tensors. Call the method,
`batch.exp()`. For a function without a method, `lifted(torch.hypot)(a, b)` calls it with types for objects.

The examples use a batch of four items:

```python
# market/model.py
from torch import Tensor

from qten_gen import TensorClass


class Batch(TensorClass):
    price: Tensor
    weight: Tensor
    unit: str = "kg"
```

```pycon
>>> import torch
>>> from market.model import Batch
>>> from qten_gen import lifted
>>> def example() -> Batch:
...     return Batch(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2, 2), batch_size=[2, 2])

```
"""


def documentation() -> str:
    """The text of the page, in Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(group) for group in GROUPS)])


def _section(group: Group) -> str:
    # `other + batch` goes without saying.
    operations = [operation for operation in group.operations if operation.form != "reflected"]
    plain = [operation for operation in operations if _is_plain(operation)]
    parts = [f"## {group.title}", _filled(group.text), f"```pycon\n>>> batch = example()\n{EXAMPLES[group.title]}```"]
    parts += [_table(rows)] if (rows := [operation for operation in operations if operation not in plain]) else []
    if plain:
        functions = ", ".join(name for operation in plain for name in _names(operation.torch_functions))
        parts.append(_filled(f"{'Also, w' if rows else 'W'}ithout a method: {functions}."))
    return "\n\n".join(parts) + "\n"


def _is_plain(operation: Operation) -> bool:
    """Whether torch's documentation says all of it: a function that only changes the elements, or answers a question."""
    return not operation.is_method and operation.batch is Effect.KEEPS and operation.beyond is Effect.KEEPS


def _filled(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _table(operations: list[Operation]) -> str:
    """A row for each operation. The batch dimensions have a column where an operation changes them."""
    changes = any(operation.batch is not Effect.KEEPS for operation in operations)
    titles = ["method", "torch function", "what it does", *(["batch dimensions"] if changes else [])]
    rows = [titles, ["---"] * len(titles), *(_row(operation)[: len(titles)] for operation in operations)]
    return "\n".join("|".join(["", *(f" {cell} " if cell else " " for cell in row), ""]) for row in rows)


def _row(operation: Operation) -> list[str]:
    method = ""
    if operation.is_method:
        twin = f", `{operation.in_place_name}`" if operation.in_place is not None else ""
        method = f"`{operation.name}`{twin}"
    functions = ", ".join(_names(operation.torch_functions))
    batch = operation.batch.value if operation.batch is not Effect.KEEPS else ""
    return [method, functions, operation.doc.replace("|", "\\|"), batch]


_MODULES = {"torch": torch, "nn.functional": torch.nn.functional, "torch.special": torch.special}


def _names(functions: tuple[Function, ...]) -> list[str]:
    """What functions of torch are called. Methods of Tensor, which stand for operators, are left out."""
    found = [name for function in functions if (name := _name(function)) is not None]
    return list(dict.fromkeys(found))


def _name(function: Function) -> str | None:
    """The public name of a function; None if it has none. Some are bound under another name than their own."""
    own = function.__name__.removeprefix("special_").lstrip("_")
    for prefix, module in _MODULES.items():
        for name in (own, own.replace("_", "")):
            if getattr(module, name, None) is function:
                return f"`{prefix}.{name}`"
    return None


if __name__ == "__main__":
    print(documentation(), end="")
