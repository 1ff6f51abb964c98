"""Two classes of a file have one name, and the name is that of a declaration.

What is generated goes by the name, so it can be that of one of them only, and would be stale for the other. That goes for classes
under `if` and `try` too: output is the same on every machine, and does not know which of them is made.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project

KIND = Kind("QG108", "duplicate-class")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Pair(TensorClass):
    left: Tensor
    right: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Batch(TensorClass):
      ^^^^^
    left: Tensor
    right: Tensor
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    declared = {declaration.name for declaration in file.declarations}
    for cls in file.source.repeated:
        if cls.name in declared:
            message = f"this file has another class {cls.name} above"
            yield Diagnostic(
                KIND, message, cls.place / "name", "rename one of them; under conditions, decide inside of one class"
            )
