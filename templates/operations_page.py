"""The table as a page of the documentation.

python -m templates.operations_page > docs/operations.md
"""

from __future__ import annotations

import re
from textwrap import fill

import torch
from torch import nn

from qten_gen.common.operation_names import CLASS_METHODS, METHODS
from qten_gen.rules.field_names import MODULE, TENSORCLASS
from qten_gen.runtime.tensorclass.methods.operands import Function
from qten_gen.runtime.tensorclass.operations.entries import Group, Operation
from qten_gen.runtime.tensorclass.operations.table import GROUPS
from templates.operations_examples import EXAMPLES

_INTRODUCTION = """\
# Operations

This page lists the tensor operations that work on a whole object: on every tensor of it and of its nested objects. The result is
a new object of the same class. A method with an underscore at the end writes into the tensors.

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
...     return Batch(torch.arange(1.0, 5).view(2, 2), torch.zeros(2, 2), batch_size=[2, 2])
>>> lifted(torch.exp)(example()).weight
tensor([[1., 1.],
        [1., 1.]])
```

Functions of numbers are functions of torch, so that their names are free for fields. Torch declares them for tensors: wrap them
in `lifted` to type-check a call. Each does to the batch dimensions what torch does to the dimensions of a tensor; `pad` alone
begins with the first one. Methods take a `dim` by name too.
"""


def documentation() -> str:
    """The text of the page, in Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(group) for group in GROUPS), _reserved()])


def _reserved() -> str:
    """The section about names that fields cannot have. Those of operations stand above."""
    of_operations = {*METHODS, *CLASS_METHODS}
    of_batches = ", ".join(f"`{name}`" for name in sorted(TENSORCLASS - of_operations))
    of_modules = ", ".join(f"`{name}`" for name in sorted(MODULE - {*dir(nn.Module), "training"}))
    return "\n\n".join(
        [
            "## Names that fields cannot have",
            _filled(f"In a TensorClass the methods above, and {of_batches}."),
            _filled(f"In a Module what `nn.Module` has, and {of_modules}."),
        ]
    )


def _section(group: Group) -> str:
    # `other + batch` goes without saying.
    operations = [operation for operation in group.operations if operation.form != "reflected"]
    parts = [f"## {group.title}", _filled(group.text), f"```pycon\n>>> batch = example()\n{EXAMPLES[group.title]}```"]
    methods = [name for operation in operations for name in _methods(operation)]
    functions = _shortened([name for operation in operations for name in _further_functions(operation)])
    parts += [_filled(f"{', '.join(dict.fromkeys(methods))}.")] if methods else []
    parts += [_filled(f"Functions of torch: {', '.join(functions)}.")] if functions else []
    return "\n\n".join(parts) + "\n"


def _methods(operation: Operation) -> list[str]:
    """How the operation is written, and its twin in place; nothing if it has no method."""
    if not operation.is_method:
        return []
    if operation.name.startswith("__"):
        return [operation.doc.removesuffix(".").replace("batch", "").replace("other", "").replace(" ", "")]
    return [f"`{operation.name}`", *([f"`{operation.in_place_name}`"] if operation.in_place is not None else [])]


def _further_functions(operation: Operation) -> list[str]:
    """The function of torch for which there is no method of that name, one for all its aliases."""
    names = _names(operation.torch_functions)
    return [] if operation.is_method and f"`torch.{operation.name}`" in names else names[:1]


def _shortened(functions: list[str]) -> list[str]:
    """The names without two families of many."""
    kept = [name for name in functions if not re.search("_polynomial_|bessel", name)]
    return kept if kept == functions else [*kept, "the polynomials and Bessel functions of `torch.special`"]


def _filled(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


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
