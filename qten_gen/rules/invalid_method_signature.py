"""A method cannot be called as generated code calls it.

The constructor calls `__post_init__(self)`, `reset_parameters(self)` and the methods that initialise a tensor, a virtual tensor
calls its function with a dtype and a device, and loading a state dict calls `migrate` on the class. A method with another
signature would raise TypeError there: when the first object is made, when the attribute is read, or when an old checkpoint is
loaded.

A Module with an `__init__` of its own that declares no tensors and no submodules calls its `reset_parameters` itself, if at all,
so it may have any signature.

Dataclasses pass `InitVar` fields to `__post_init__`; a declaration has none. Every field is an attribute of `self`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import BufferDecl, MethodSource, ModuleDecl, ParameterDecl, SubmoduleDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG113", "invalid-method-signature", can_be_wrong=True)

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
     limit: str

-    def __post_init__(self, limit: str) -> None:
-        ^^^^^^^^^^^^^
-        if limit == "":
+    def __post_init__(self) -> None:
+        if self.limit == "":
             raise ValueError("limit must not be empty")
"""

_STATIC, _CLASS = "builtins.staticmethod", "builtins.classmethod"
_DERIVING = "self, dtype: torch.dtype, device: torch.device"
_LOADING = "cls, state_dict: dict[str, Tensor], version: int"


def check(context: RuleContext) -> Iterator[Diagnostic]:
    filling = {
        field.initializer.method
        for field in context.module_fields
        if isinstance(field, ParameterDecl | BufferDecl) and field.initializer is not None
    }
    for method in context.methods:
        problem = _problem(method, context, filling)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, f"{method.name} {message}", method.place / "name", help)


def _problem(method: MethodSource, context: RuleContext, filling: set[str | None]) -> tuple[str, str] | None:
    """What is wrong with a method, as the end of a sentence, and how to fix it."""
    is_module = isinstance(context.declaration, ModuleDecl)
    if language.VIRTUAL in method.decorators:
        return _of_virtual(method)
    known = {"builtins.property", _STATIC, _CLASS}
    if any(decorator not in known for decorator in method.decorators):
        return None  # a decorator may change what the method takes
    if method.name == "__post_init__" or (method.name == "reset_parameters" and is_module):
        if method.name == "reset_parameters" and context.constructs_itself and not _declares_state(context):
            return None  # no constructor calls it but the user's own
        return _unless_called(method, 0, "self", "without arguments")
    if is_module and method.name in filling:
        if _STATIC in method.decorators and any(_accepts(method.signature.parameters, given) for given in (0, 1)):
            return None  # the first parameter may stand for self
        return _unless_called(method, 1, "self, tensor: Tensor", "with the tensor")
    if is_module and method.name == "migrate":
        if _CLASS not in method.decorators:
            if context.constructs_itself and not _accepts(method.signature.parameters, 2):
                return None  # another thing of the user's, which has the name
            return "is called on the class, so it must be a class method", "write @classmethod above it"
        return _unless_called(method, 2, _LOADING, "with a state dict and its version")
    return None


def _declares_state(context: RuleContext) -> bool:
    """Whether a field of the class or of a base is a tensor or a module, which `reset_parameters` is called for."""
    return any(isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl) for field in context.declaration.fields)


def _of_virtual(method: MethodSource) -> tuple[str, str] | None:
    """What is wrong with the function of a virtual tensor."""
    if len(method.decorators) > 1:
        other = next(name for name in method.decorators if name != language.VIRTUAL).rpartition(".")[2]
        if other in ("property", "staticmethod", "classmethod", "cached_property"):
            return f"is both a virtual tensor and a {other}", f"remove @{other}: @virtual makes the attribute"
        return None
    if method.signature.is_async:
        return "is an async function, but reading an attribute does not await it", "write def without async"
    return _unless_called(method, 2, _DERIVING, "with a dtype and a device")


def _unless_called(method: MethodSource, arguments: int, parameters: str, how: str) -> tuple[str, str] | None:
    """What is wrong with a method that is called with so many positional arguments; None if it can be."""
    if method.signature.is_async:
        return "is an async function, but its caller does not await it", "write def without async"
    if _STATIC in method.decorators:
        return "is a static method, so it does not receive self", f"write def {method.name}({parameters})"
    if _accepts(method.signature.parameters, arguments):
        return None
    return f"is called {how}, which its signature does not allow", f"write def {method.name}({parameters})"


def _accepts(parameters: str, given: int) -> bool:
    """Whether a function with these parameters, `self` left out, can be called with so many positional arguments."""
    try:
        function = ast.parse(f"def f({parameters}): ...").body[0]
    except SyntaxError:
        return True
    if not isinstance(function, ast.FunctionDef):
        return True
    taken = function.args
    positional = len(taken.posonlyargs) + len(taken.args)
    if None in taken.kw_defaults or positional - len(taken.defaults) > given:
        return False
    return positional >= given or taken.vararg is not None
