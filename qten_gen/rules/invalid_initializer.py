"""An initializer does not fill the tensor that it is given.

The constructor allocates each parameter and buffer without values, and an initializer fills it in place, as the functions of
`torch.nn.init` do. `torch.zeros_like` returns another tensor instead, so the field would keep whatever was in memory before. A
number, a tensor or a list cannot be called at all, and `nn.init.constant_` cannot be called without its `val`. Some
initialisers take tensors of certain shapes only: `nn.init.xavier_uniform_` needs two dimensions or more.

A string names a method of the class. It is called with the tensor and can read the config fields.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import BufferDecl, ModuleDecl, ParameterDecl, Value, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .shared_object import kind_of

KIND = Kind("QG315", "invalid-initializer")

EXAMPLE = """
-import torch
 from qten_gen import Module, param
-from torch import nn
+from torch import Tensor, nn


 class Scale(Module):
     dim: int
-    weight: nn.Parameter = param("dim", initializer=torch.zeros_like)
-                                                    ^^^^^^^^^^^^^^^^
+    shift: nn.Parameter = param("dim", initializer=nn.init.zeros_)
+    weight: nn.Parameter = param("dim", initializer="fill")
+
+    def fill(self, tensor: Tensor) -> None:
+        tensor.fill_(self.dim**-0.5)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, ParameterDecl | BufferDecl) and field.value is not None:
            problem = _wrong_value(field.name, field.value, context)
            if problem is not None:
                yield Diagnostic(KIND, problem[0], context.argument_place(field.name, "value"), problem[1])
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is not None:
            problem = _problem(field.name, field.initializer, context)
            if problem is not None:
                message, help = problem
                yield Diagnostic(KIND, message, context.argument_place(field.name, "initializer"), help)
            elif (wrong := _wrong_dimensions(field, context)) is not None:
                yield Diagnostic(KIND, wrong[0], context.argument_place(field.name, "initializer"), wrong[1])


def _wrong_value(name: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """What is wrong with what computes the value of a field, and how to fix it."""
    if given.method is not None:
        return _missing_method(given.method, context, f"define {given.method}(self) -> Tensor, or pass a function")
    is_constant = given.literal is not None or not given.is_callable
    if is_constant or (not given.is_container and kind_of(given, context) is not None):
        shown = given.text if len(given.text) <= _SHOWN else f"{given.text[:_SHOWN]}..."
        help = f"write a function of the module, value=lambda module: {shown}, or the name of a method"
        return f"the value of {name} is {shown}, which is not a function: one object for all instances", help
    return None


def _problem(name: str, given: Value, context: RuleContext) -> tuple[str, str] | None:
    """What is wrong with the initializer of a field, and how to fix it."""
    if given.method is not None:
        return _missing_method(given.method, context, f"define {given.method}(self, tensor), or pass a function")
    if given.literal is not None:
        example = f"partial(nn.init.constant_, val={given.literal})"
        return f"the initializer of {name} is {given.literal}, which is not a function", f"write {example}"
    if given.is_callable:
        wrong = _missing_argument(given) or _string_argument(given)
        if wrong is not None:
            return wrong
    elif given.is_container or kind_of(given, context) is None:
        shown = given.text if len(given.text) <= _SHOWN else f"{given.text[:_SHOWN]}..."
        return f"the initializer of {name} is {shown}, which is not a function", _FILLING
    if not given.is_container and kind_of(given, context) is not None:  # a partial may hold a tensor
        return (
            f"the initializer of {name} is not a function, but a tensor or a module",
            _FILLING,
        )
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    if function.startswith("torch.") and not function.startswith("torch.nn.init.") and not function.endswith("_"):
        return (
            f"{function} does not fill the tensor that it is given, so {name} would stay uninitialised",
            "write a function that fills it in place, such as nn.init.zeros_ or lambda tensor: tensor.normal_()",
        )
    return None


_SHOWN = 60
_FILLING = "write a function that fills the tensor, such as lambda tensor: tensor.copy_(values)"

_DIMENSIONS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(
        ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_"), (2, None)
    ),
    **dict.fromkeys(("eye_", "sparse_"), (2, 2)),
    "dirac_": (3, 5),
}
"""How many dimensions initialisers of `torch.nn.init` take at least and at most, where they do not take any number."""


def _wrong_dimensions(field: ParameterDecl | BufferDecl, context: RuleContext) -> tuple[str, str] | None:
    """What is wrong with an initialiser of torch that does not take tensors of so many dimensions, and how to fix it."""
    given = field.initializer
    if given is None or (isinstance(field, ParameterDecl) and field.tie is not None):
        return None
    source = context.field_source(field.name)
    if source is not None and source.specifier is not None and len(source.specifier.positional) != len(field.dims):
        return None  # another rule reports the sizes that are not dimensions
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    short = function.removeprefix("torch.nn.init.")
    least, most = _DIMENSIONS.get(short, (0, None)) if short != function else (0, None)
    if least <= len(field.dims) <= (most or len(field.dims)):
        return None
    range = f"{least} to {most} dimensions" if most else f"{least} dimensions or more"
    takes = f"{least} dimensions" if least == most else range
    message = f"nn.init.{short} takes a tensor of {takes}, but {field.name} has {len(field.dims)}"
    return message, "write an initializer for any shape, such as nn.init.normal_ or nn.init.zeros_"


_REQUIRED = {"torch.nn.init.constant_": "val", "torch.nn.init.sparse_": "sparsity"}
"""Initialisers of torch that take more than a tensor, each with the argument that has no default."""


def _missing_argument(given: Value) -> tuple[str, str] | None:
    """What is wrong with an initialiser of torch that also needs another argument, and how to fix it."""
    function = given.torch_name or (given.partial.function if given.partial is not None else "")
    argument = _REQUIRED.get(function)
    if argument is None or (given.partial is not None and argument in dict(given.partial.keywords)):
        return None
    short = function.removeprefix("torch.")
    return f"{short} also requires the argument {argument}", f"write partial({short}, {argument}=...)"


_WORDS = ("mode", "nonlinearity")
"""The arguments of initialisers of torch that are strings."""


def _string_argument(given: Value) -> tuple[str, str] | None:
    """What is wrong with a partial that names a config field: its arguments are values."""
    if given.partial is None or not given.partial.function.startswith("torch.nn.init."):
        return None
    for keyword, text in given.partial.keywords:
        if keyword not in _WORDS and isinstance(literal_eval(text), str):
            short = given.partial.function.removeprefix("torch.")
            message = f"the argument {keyword} of {short} is the string {text}, and not an expression"
            return message, 'write initializer="fill", and a method fill(self, tensor) that reads the config field'
    return None


def _missing_method(method: str, context: RuleContext, otherwise: str) -> tuple[str, str] | None:
    """What is wrong with a method that a specifier names. Bases that are not declarations may have it."""
    declaration = context.declaration
    lineage = (declaration, *context.project.ancestors(declaration))
    known = {found.name for one in lineage for found in one.methods}
    if context.source is not None:
        known |= set(context.source.attributes)
    bases = (base.name for one in lineage for base in one.bases)
    outside = any(
        base.partition(".")[0] != language.PACKAGE and base not in context.project.declarations for base in bases
    )
    if method in known or outside:
        return None
    help = did_you_mean(method, sorted(known), otherwise)
    return f"{declaration.name} has no method {method!r}", help
