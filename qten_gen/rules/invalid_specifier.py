"""A TensorClass uses a specifier of a Module.

Parameters, buffers, submodules and virtual tensors exist in modules only. A TensorClass would ignore the specifier and make the
field a required argument of its constructor. Type checkers would reject that argument, because the specifier tells them that
the field is not in the constructor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import NodePath, TensorClassDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG304", "invalid-specifier")

EXAMPLE = """
-from qten_gen import TensorClass, buffer
-from torch import Tensor, nn
+import torch
+from qten_gen import TensorClass, field
+from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    weight: Tensor = buffer(1, initializer=nn.init.ones_)
-                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
+    weight: Tensor = field(default_factory=lambda: torch.ones(()))
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if not isinstance(context.declaration, TensorClassDecl):
        return
    name = context.declaration.name
    for field in context.field_sources:
        if field.specifier is not None and field.specifier.name == language.VIRTUAL:
            yield _virtual(name, field.place)
        elif field.specifier is not None and field.specifier.name != language.FIELD:
            called = field.specifier.name.rpartition(".")[2]
            help = f"use field(default=...) or field(default_factory=...), or derive {name} from Module"
            yield Diagnostic(
                KIND, f"{called}(...) belongs to a Module, but {name} is a TensorClass", field.specifier.place, help
            )
    for call in context.check_calls:
        help = "raise an error in __post_init__"
        yield Diagnostic(KIND, f"check(...) belongs to a Module, but {name} is a TensorClass", call.place, help)
    for method in context.source.methods if context.source is not None else ():
        if language.VIRTUAL in method.decorators:
            place = method.place / "decorator_list" / method.decorators.index(language.VIRTUAL)
            yield _virtual(name, place)


def _virtual(name: str, place: NodePath) -> Diagnostic:
    return Diagnostic(KIND, f"@virtual belongs to a Module, but {name} is a TensorClass", place, "use @property")
