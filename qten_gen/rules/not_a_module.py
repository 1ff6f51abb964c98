"""The first argument of `submodule` does not make a module.

The constructor calls it and registers the result. A function of `torch.nn.functional` needs an input, an initialiser fills a
tensor, a TensorClass holds data, and a string cannot be called, so the first construction would raise TypeError. Most functions
have a module that does the same: `nn.ReLU` for `F.relu`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import Argument, ModuleDecl, SpecifierCall, SubmoduleDecl, TensorClassDecl, Value, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG319", "not-a-module")

GOOD = """
from qten_gen import Module, submodule
from torch import nn


class Net(Module):
    act: nn.ReLU = submodule(nn.ReLU)
"""

BAD = """
from qten_gen import Module, submodule
from torch import nn


class Net(Module):
    act: nn.Module = submodule(nn.functional.relu)
                               ^^^^^^^^^^^^^^^^^^
"""

_FUNCTIONS = (
    "torch.nn.functional.",
    "torch.nn.init.",
    "torch.functional.",
    "torch.linalg.",
    "torch.special.",
    "torch.fft.",
)
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, SubmoduleDecl):
            for made in (each for one in _made(field.cls, field.arguments) for each in one.alternatives):
                problem = _problem(made, context)
                if problem is not None:
                    message, help = problem
                    yield Diagnostic(
                        KIND, f"{message}, so {field.name} cannot be constructed from it", made.place, help
                    )


def _made(cls: Value, arguments: tuple[Argument, ...]) -> Iterator[Value]:
    """What is called to make a child, and the children among its arguments."""
    yield cls
    for argument in arguments:
        match argument.value:
            case SpecifierCall(arguments=(Argument(value=Value() as inner), *rest)):
                yield from _made(inner, tuple(rest))


def _problem(made: Value, context: RuleContext) -> tuple[str, str] | None:
    """What is wrong with what makes a child, and how to fix it."""
    if made.name == language.CHAIN:
        return None
    name = made.torch_name or made.name
    last = name.rpartition(".")[2]
    if made.literal is not None or _is_number(made.text):
        return (
            f"{made.literal if made.literal is not None else made.text} is not a class",
            'write the class itself: submodule(nn.Linear, "dim", "dim")',
        )
    if not made.is_container:
        called = next((each.rpartition(".")[2] for each in made.contains if each in _NO_CLASSES), None)
        if called is not None:
            return f"the result of {called}(...) is not a class", 'write the class: submodule(nn.Linear, "dim", "dim")'
    if name in _PARAMETERS:
        return "a parameter is not a module", "write param(...) or buffer(...) with sizes and an initializer"
    if name.startswith("builtins."):
        return f"{last} does not make a module", "annotate it as a config field, without submodule(...)"
    if name.startswith(_FUNCTIONS) or (name.rpartition(".")[0] == "torch" and not last[:1].isupper()):
        layer = _LAYERS.get(last)
        instead = f"write submodule(nn.{layer})" if layer else "call the function in forward"
        return f"{made.text} is a function of tensors", instead
    if not made.is_callable and made.choice is None:
        return f"{made.text} is not a class", 'write the class itself: submodule(nn.Linear, "dim", "dim")'
    if isinstance(context.project.declarations.get(made.name), TensorClassDecl) or made.name in context.project.nested:
        return f"{made.text} is a TensorClass", "declare its tensors as buffer(...), or pass an object to forward"
    return None


_NO_CLASSES = {
    *(language.SPECIFIERS - {language.SUBMODULE}),
    *(f"builtins.{name}" for name in ("len", "int", "float", "str", "abs")),
}
"""Functions whose result is never a class or a function that makes a module."""


def _is_number(text: str) -> bool:
    """Whether a text computes a number from numbers: `6 / 2`."""
    if not text[:1].isdigit():
        return False
    body = ast.parse(text, mode="eval").body
    return isinstance(body, ast.BinOp) and all(not isinstance(node, ast.Name | ast.Call) for node in ast.walk(body))


_LAYERS = {
    name.lower(): name
    for name in "ReLU GELU SiLU ELU SELU CELU Mish Sigmoid Tanh Softmax LogSoftmax Softplus Hardtanh Dropout".split()
} | {"leaky_relu": "LeakyReLU", "layer_norm": "LayerNorm", "cross_entropy": "CrossEntropyLoss", "mse_loss": "MSELoss"}
"""The layers that do what a function does."""
