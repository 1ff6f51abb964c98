"""A class derives from a generated class instead of its declaration.

`model_qten.Batch` and `model.Batch` are one class, but its fields stand in `model.py`, and the command reads no generated file
to find them. To a type checker, a subclass would also inherit the calls of handlers unchanged. Derive from the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import Project

KIND = Kind("QG103", "generated-base")

EXAMPLE = """
+from qten_gen import TensorClass
 from torch import Tensor

-from .model_qten import Batch
+
+class Batch(TensorClass):
+    tokens: Tensor


 class Marked(Batch):
-             ^^^^^
     mask: Tensor
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for cls in file.source.classes:
        for base in cls.bases:
            module, _, name = base.name.rpartition(".")
            if module.rpartition(".")[2].endswith("_qten"):
                declared = module.removesuffix("._qten").removesuffix("_qten")
                help = f"derive from the declaration: from {declared} import {name}"
                yield Diagnostic(KIND, f"{base.text} is a generated class", base.place, help)
