"""A handler is registered on a class that does not dispatch.

A TensorClass holds data, and a plain `nn.Module` has no `register`, so the call raises AttributeError or TypeError when its
file is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ClassSource, FileDecl, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project
from .misplaced_specifier import is_plain
from .unmanaged_tensor import derives_from_layer

KIND = Kind("QG407", "misplaced-handler")

GOOD = """
from qten_gen import Module, TensorClass
from torch import Tensor


class Text(TensorClass):
    tokens: Tensor


class Encoder(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@Encoder.register(Text)
def encode_text(encoder: Encoder, text: Text) -> Tensor:
    return text.tokens
"""

BAD = """
from qten_gen import Module, TensorClass
from torch import Tensor


class Text(TensorClass):
    tokens: Tensor


class Encoder(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@Text.register(Encoder)
 ^^^^
def encode_text(encoder: Encoder, text: Text) -> Tensor:
    return text.tokens
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for registration in file.source.registrations:
        owner = registration.owner
        declared = project.declarations.get(owner.name)
        source = project.classes.get(owner.name)
        if _has_register(owner.name, project.classes, frozenset()) or (
            declared is not None and not isinstance(declared, TensorClassDecl)
        ):
            continue
        if declared is not None:
            message, help = (
                f"{owner.text} is a TensorClass, which has no handlers",
                "register it on the Module that takes it",
            )
        elif derives_from_layer(owner.name, project.classes) and (source is None or is_plain(source, project.classes)):
            message = f"{owner.text} is a plain nn.Module, which has no handlers"
            help = "declare it with Module of qten_gen, or write a Module that contains it"
        else:
            continue
        yield Diagnostic(KIND, message, owner.place, help)


def _has_register(name: str, classes: Mapping[str, ClassSource], seen: frozenset[str]) -> bool:
    """Whether a class of the run or one of its bases defines `register` itself."""
    source = classes.get(name)
    if source is None or name in seen:
        return False
    if "register" in source.attributes or any(method.name == "register" for method in source.methods):
        return True
    return any(_has_register(base.name, classes, seen | {name}) for base in source.bases)
