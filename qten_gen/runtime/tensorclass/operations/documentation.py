"""The table as a page of the documentation.

python -m qten_gen.runtime.tensorclass.operations.documentation > docs/operations.md
"""

from __future__ import annotations

from textwrap import fill

import torch

from ..methods.operands import Function
from .entries import Effect, Group, Operation
from .examples import EXAMPLES
from .table import GROUPS

_INTRODUCTION = """\
# Operations

This page lists the tensor operations that work on a whole object. Each applies to every tensor of the object, including those of
nested objects. The result is a new object of the same class, with the static values of the first operand. A method with an
underscore at the end, such as `batch.sin_()`, changes the tensors in place instead. A frozen object refuses it.

A `dim` is a batch dimension, given by position or by name. If torch refuses a tensor, the error names its field. An operation in
place has changed the fields before that one by then.

Type checkers know torch's own signatures, which take and give tensors: `torch.exp(batch)` runs, and is an error to them. Call the
method, such as `batch.exp()` or `Batch.stack([a, b])`. For a function without a method, `lifted(torch.hypot)(a, b)` calls the
same function, with the types that it has for objects.

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
    rows = "\n".join(_row(operation) for operation in group.operations if operation.form != "reflected")
    text = fill(group.text, 120, break_long_words=False, break_on_hyphens=False)
    return (
        f"## {group.title}\n\n{text}\n\n```pycon\n>>> batch = example()\n{EXAMPLES[group.title]}```\n\n"
        f"| method | torch function | what it does | batch dimensions |\n|---|---|---|---|\n{rows}\n"
    )


def _row(operation: Operation) -> str:
    method = ""
    if operation.is_method:
        twin = f", `{operation.in_place_name}`" if operation.in_place is not None else ""
        method = f"`{operation.name}`{twin}"
    functions = ", ".join(_names(operation.torch_functions))
    batch = operation.batch.value if operation.batch is not Effect.KEEPS else ""
    cells = method, functions, operation.doc.replace("|", "\\|"), batch
    return "|".join(["", *(f" {cell} " if cell else " " for cell in cells), ""])


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
