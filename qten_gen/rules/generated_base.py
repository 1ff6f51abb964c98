"""A class derives from a generated class instead of its declaration.

`model_qten.Batch` and `model.Batch` are one class at run time, but to a type checker the generated one is a subclass with its
own exact types, which a child would inherit unchanged. A child therefore derives from the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FileDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project

KIND = Kind("QG103", "generated-base")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Marked(Batch):
    mask: Tensor
"""

BAD = """
from torch import Tensor

from .model_qten import Batch


class Marked(Batch):
             ^^^^^
    mask: Tensor
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for cls in file.source.classes:
        for base in cls.bases:
            module, _, name = base.name.rpartition(".")
            if module.rpartition(".")[2].endswith("_qten"):
                declared = module.removesuffix("._qten").removesuffix("_qten")
                help = f"from {declared} import {name}, and derive from that"
                yield Diagnostic(KIND, f"{base.text} is a generated class", base.place, help)
