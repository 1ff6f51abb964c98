"""The dtype of a parameter or buffer does not allow what is done with it.

torch records gradients for floating point and complex tensors only, so a trainable parameter of integers raises RuntimeError
when the first instance is made. Most initialisers of `torch.nn.init` draw floating point numbers, which an integer tensor
cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import BufferDecl, ModuleDecl, ParameterDecl, Value
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG321", "invalid-dtype")

GOOD = """
import torch
from qten_gen import Module, buffer
from torch import Tensor, nn


class Vocabulary(Module):
    size: int
    counts: Tensor = buffer("size", dtype=torch.int64, initializer=nn.init.zeros_)
"""

BAD = """
import torch
from qten_gen import Module, param
from torch import nn


class Vocabulary(Module):
    size: int
    counts: nn.Parameter = param("size", dtype=torch.int64, initializer=nn.init.zeros_)
                                               ^^^^^^^^^^^
"""

_WHOLE = frozenset(
    f"torch.{name}"
    for name in "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 short int long char byte".split()
)
_FILL_WITH_ANY = frozenset({"zeros_", "ones_", "constant_", "eye_", "dirac_"})
"""The initialisers of `torch.nn.init` that also fill integers."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if not isinstance(field, ParameterDecl | BufferDecl) or field.dtype is None:
            continue
        dtype = field.dtype.torch_name or ""
        if dtype not in _WHOLE:
            continue
        place = context.argument_place(field.name, "dtype")
        if isinstance(field, ParameterDecl) and field.requires_grad:
            message = f"the parameter {field.name} is trainable, but {dtype} has no gradients"
            help = "declare a buffer(...), or write requires_grad=False"
            yield Diagnostic(KIND, message, place, help)
        elif (function := _draws(field.initializer)) is not None:
            message = f"{function} fills {field.name} with floating point numbers, which {dtype} cannot hold"
            yield Diagnostic(
                KIND, message, place, "write a floating point dtype, or an initializer that fills integers"
            )


def _draws(initializer: Value | None) -> str | None:
    """The initialiser of torch that draws floating point numbers; None for any other."""
    if initializer is None:
        return None
    name = initializer.torch_name or (initializer.partial.function if initializer.partial is not None else "")
    short = name.removeprefix("torch.nn.init.")
    return None if short == name or short in _FILL_WITH_ANY else f"nn.init.{short}"
