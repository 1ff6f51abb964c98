"""A tensor, a module or a type is assigned to a name without an annotation.

Only annotated names are fields, so `head = nn.Linear(2, 2)` is a module that exists once for all instances, and that none of
them registers: it is missing in `parameters()`, and `.to()` does not move it. Objects of a TensorClass cannot even assign such
an attribute, so `mask = None` cannot stand for a field either.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ModuleDecl, Value
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext
from .shared_object import as_specifier, kind_of

KIND = Kind("QG217", "unannotated-attribute")

EXAMPLE = """
-from qten_gen import Module
+from qten_gen import Module, submodule
 from torch import nn


 class Net(Module):
     dim: int
-    head = nn.Linear(8, 2)
-           ^^^^^^^^^^^^^^^
+    head: nn.Linear = submodule(nn.Linear, "dim", 2)
"""

_TYPES = frozenset(f"builtins.{name}" for name in ("bool", "bytes", "complex", "dict", "float", "int", "list", "str"))


def check(context: RuleContext) -> Iterator[Diagnostic]:
    is_module = isinstance(context.declaration, ModuleDecl)
    inherited = {field.name for field in context.declaration.fields}
    for name, value in context.values:
        problem = _problem(name, value, is_module, name in inherited, context)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, value.place, help)


def _problem(
    name: str, value: Value, is_module: bool, is_inherited: bool, context: RuleContext
) -> tuple[str, str] | None:
    """The problem with an attribute of the class, and how to fix it."""
    if name.startswith("__"):
        return None
    type = value.torch_name or value.name
    if type == "torch.Tensor" or (type in _TYPES and not is_module):
        return f"{name} is the type {value.text} itself, not a field", f"write {name}: {value.text}"
    if value.literal == "None" and not is_module and not is_inherited:
        return (
            f"{name} is None for all objects: without an annotation it is not a field",
            f"write {name}: Tensor | None = None",
        )
    if value.partial is not None or value.text.startswith(("functools.partial", "partial(")):
        return None
    what = kind_of(value, context)
    if what is None or (not is_module and what == "module"):
        return None
    if not is_module:
        return f"{name} is a tensor of the class, not a field", f"write {name}: Tensor = field(default_factory=...)"
    annotation = {"module": "...", "parameter": "nn.Parameter", "tensor": "Tensor"}[what]
    held = "contains" if value.is_container else "is"
    return (
        f"{name} {held} a {what} that exists once for all instances, and that none of them registers",
        f"write {name}: {as_specifier(what, value, annotation, context)}",
    )
