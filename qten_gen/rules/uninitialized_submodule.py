"""A submodule has tensors that `materialize` cannot initialise.

`on_meta` constructs without values, and `materialize` lets each module initialise its own tensors by its `reset_parameters`.
The class of this submodule registers parameters or buffers in its `__init__`, and has no `reset_parameters`, and neither does
the class that contains it. So `materialize` raises an error, unless a checkpoint has the tensors or a module further up fills
them.

The rule looks at classes of the run whose bases it knows, and only in files that call `on_meta` or `materialize`: constructing
eagerly needs no `reset_parameters`. What it cannot see, `materialize` reports. It is a warning, because the call decides: only
there is it known whether a checkpoint is given, and which module is the root.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ClassSource, ModuleDecl, SubmoduleDecl
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import child_class
from .context import RuleContext

KIND = Kind("QG317", "uninitialized-submodule", "warning")

EXAMPLE = """
 import torch
 from qten_gen import Module, submodule
 from torch import nn


 class Scale(nn.Module):
     def __init__(self, dim: int) -> None:
         super().__init__()
-        self.scale = nn.Parameter(torch.ones(dim))
+        self.scale = nn.Parameter(torch.empty(dim))
+        self.reset_parameters()
+
+    def reset_parameters(self) -> None:
+        nn.init.ones_(self.scale)


 class Net(Module):
     dim: int
     norm: Scale = submodule(Scale, "dim")
-                            ^^^^^


 def start() -> Net:
     return Net.on_meta(8).materialize("cpu")
"""

_METHODS = frozenset({"reset_parameters", "_reset_parameters"})
_GROUND = ("torch.nn.Module", "torch.nn.modules.module.Module")


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if context.file is None or not context.file.materializes or not isinstance(declaration, ModuleDecl):
        return
    if declaration.custom_reset:
        return  # it may fill what its children do not
    for field in context.module_fields:
        source = context.field_source(field.name)
        if not isinstance(field, SubmoduleDecl) or source is None or source.specifier is None:
            continue
        cls = child_class(field.type)
        state = _state_without_reset(cls.name, context)
        if state:
            names = ", ".join(state)
            message = f"materialize() cannot initialise {names} of {field.name}: {cls.text} has no reset_parameters"
            help = f"define reset_parameters in {cls.text}, or one in {declaration.name} that fills self.{field.name}.{state[0]}"
            yield Diagnostic(KIND, message, source.specifier.arguments[0].place, help)


def _state_without_reset(name: str, context: RuleContext) -> tuple[str, ...]:
    """What a class and its bases register without a method that initialises it; nothing where a base is not known."""
    found: dict[str, None] = {}
    queue = [name]
    while queue:
        current = queue.pop()
        if current in _GROUND:
            continue
        source: ClassSource | None = context.project.classes.get(current)
        if source is None or current in context.project.declarations or source.unpacked:
            return ()
        if _METHODS & {method.name for method in source.methods} or _METHODS & set(source.attributes):
            return ()
        found.update((each.name, None) for each in source.registers if each.is_tensor and not each.may_be_none)
        queue += [base.name for base in source.bases]
    return tuple(found)
