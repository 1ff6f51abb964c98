"""The name of a method is nearly that of one that Python, torch or qten-gen calls.

Nothing calls a method `__postinit__` or `foward`, and nothing says so: the class works, but without the method. A name with two
leading underscores is another one outside the class besides, because Python mangles it.

The rule reports names that differ from a special name by their underscores, or by one letter where the class does not define
the right name as well. It also reports the hooks of attrs and pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import differ_by_one
from ..model import MethodSource, ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG112", "misspelled-method", can_be_wrong=True)

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor

-    def __postinit__(self) -> None:
-        ^^^^^^^^^^^^
+    def __post_init__(self) -> None:
         if self.tokens.ndim < 2:
             raise ValueError("tokens need two dimensions")
"""

_OTHER_HOOKS = {"__attrs_post_init__": "__post_init__", "model_post_init": "__post_init__"}
"""Hooks of attrs and pydantic."""
_SPECIAL = ("__post_init__", "__init__")
_OF_MODULES = ("forward", "reset_parameters", "extra_repr", "migrate")
_MEANT_OTHERWISE = frozenset({"__int__", "post_init", "init", "_init", "_post_init", "forwards"})
"""Names that mean something else, or are ordinary helpers that the class calls itself."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    is_module = isinstance(context.declaration, ModuleDecl)
    bound = {method.name for method in context.methods} | set(context.attributes)
    bound |= {field.name for field in context.fields}
    for method in context.methods:
        meant = _meant(method, is_module)
        if meant is not None and meant not in bound:
            message = f"nothing calls the method {method.name} of {context.declaration.name}"
            yield Diagnostic(KIND, message, method.place / "name", f"did you mean {meant}?")


def _meant(method: MethodSource, is_module: bool) -> str | None:
    """The special name that the name of a method stands for; None for any other name, right ones included."""
    name = method.name
    names = (*_SPECIAL, *_OF_MODULES) if is_module else _SPECIAL
    if name in names:
        return None
    if name in _OTHER_HOOKS:
        return _OTHER_HOOKS[name]
    if name == "__int__" and method.signature.parameters:
        return "__init__"  # the special method takes nothing
    if name in _MEANT_OTHERWISE or name[-1].isdigit():  # `reset_parameters2` is a second one, and no slip
        return None
    return next((meant for meant in names if _differ_little(name, meant)), None)


def _differ_little(name: str, meant: str) -> bool:
    """Whether two names differ by their underscores or by one letter; a name with underscores in front is not one without."""
    if name == f"__{meant}__":
        return True
    if name.startswith("_") != meant.startswith("_"):
        return False
    if meant.startswith("_"):
        return name.replace("_", "") == meant.replace("_", "") or differ_by_one(name, meant)
    return differ_by_one(name, meant)
