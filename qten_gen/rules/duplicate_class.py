"""Two classes of a file have the same name, and one of them is a declaration.

A generated file has one class for each name, so it could fit only one of the two. At run time, the other class statement would
find generated code that does not match it, warn that it is stale, and build its class in memory.

This includes classes under `if` and `try`: the generated code is the same on every machine, so it cannot depend on the
condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import Project

KIND = Kind("QG108", "duplicate-class")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor


-class Batch(TensorClass):
-      ^^^^^
+class Pair(TensorClass):
     left: Tensor
     right: Tensor
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    declared = {declaration.name for declaration in file.declarations}
    for cls in file.source.repeated:
        if cls.name in declared:
            message = f"this file already defines a class {cls.name}"
            yield Diagnostic(
                KIND, message, cls.place / "name", "rename one of them, or move the condition into a single class"
            )
