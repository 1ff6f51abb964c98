"""The name of a field starts with an underscore, and means something else.

A field of a TensorClass may be called `_tokens`, but not like an attribute of every object, such as `_batch_size`, nor like the
attribute in which generated code stores another field: a field `tokens` is stored in `_tokens`. A name that starts with two
underscores is another one outside the class, because Python mangles it.

In a Module, names with underscores belong to `torch.nn.Module`, and every field is a public argument of the constructor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..common.naming import ALIASES
from ..model import PRIVATE_NAMES, BufferDecl, ModuleDecl, ParameterDecl, SubmoduleDecl, storage
from ..model.diagnostics import Diagnostic, Kind
from ..model.field_kinds import is_kw_only
from .rule_input import RuleContext

KIND = Kind("QG205", "private-name")

EXAMPLE = """
+from typing import ClassVar
+
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    _tokens: Tensor
-    ^^^^^^^
+    _mask: Tensor
+    _registry: ClassVar[dict[str, int]] = {}
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.fields:
        if not field.name.startswith("_") or is_kw_only(field.type):
            continue
        problem = _problem(field.name, context)
        if problem:
            public = field.name.lstrip("_").rpartition("__")[2].strip("_") or "value"
            help = f"rename it to {public}, or annotate it with ClassVar if it belongs to the class"
            if isinstance(field, ParameterDecl | BufferDecl | SubmoduleDecl):
                help = f"rename it to {public}, here and in checkpoints, or register it in __post_init__"
            yield Diagnostic(KIND, f"the field {field.name} {problem}", field.place / "target", help)


def _problem(name: str, context: RuleContext) -> str:
    """The problem with a name that starts with an underscore; empty if nothing is."""
    declaration = context.declaration
    if isinstance(declaration, ModuleDecl):
        return "starts with an underscore"
    if name.startswith("__") or re.match(rf"_{re.escape(declaration.name.lstrip('_'))}__", name):
        return "starts with two underscores, so Python mangles it"
    if name in PRIVATE_NAMES | ALIASES:
        return "has a name that generated code uses"
    for other in declaration.fields:
        if other.name != name and storage(other.name) in (name, storage(name)):
            return f"has the name of the attribute that stores {other.name}"
    return ""
