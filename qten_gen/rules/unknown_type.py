"""The annotation of a field names something that nothing defines.

The annotation decides how a field is stored. A name that cannot be followed would be taken for an ordinary Python value. A type
alias that stands below the class cannot be followed either when the class is made, also where the annotation is in quotes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean
from ..model import ClassSource, NodePath, SourceFile, TypeExpr
from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext

KIND = Kind("QG207", "unknown-type")

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensr
            ^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None or context.file is None:
        for declared in context.fields:
            for name, type in _unknown(declared.type):
                message = f"{declared.name} is annotated with {name}, which nothing defines"
                yield Diagnostic(KIND, message, type.place, "define or import it before the class")
        return
    for field in context.source.fields:
        if field.annotation is None:
            continue
        for name, type in _unknown(field.annotation):
            if context.file.has_star_import:
                help = "import it by name: what a star import brings cannot be known"
            else:
                help = did_you_mean(name, sorted(context.file.names), "import it, or define it in this file")
            yield Diagnostic(KIND, f"nothing in this file defines {name}", type.place, help)
        for name in _bound_below(field.annotation, context.source, context.file):
            message = f"{name} is defined below the class, and means nothing yet when the class is made"
            yield Diagnostic(KIND, message, field.annotation.place, f"define {name} above the class")


def _bound_below(type: TypeExpr, cls: ClassSource, file: SourceFile) -> Iterator[str]:
    """The type aliases in an annotation, in quotes perhaps, that stand below the class."""
    for name in dict.fromkeys(name.partition(".")[0] for name in type.names):
        alias = file.aliases.get(name)
        if alias is not None and _line(alias.place) > _line(cls.place):
            yield name


def _line(place: NodePath) -> int:
    """Which of the top-level statements a place is in."""
    return next((step for step in place.steps if isinstance(step, int)), 0)


def _unknown(type: TypeExpr) -> Iterator[tuple[str, TypeExpr]]:
    """The names in a type expression that nothing binds: they have no module."""
    if type.name.isidentifier() and type.name != "None":
        yield type.name, type
    for argument in type.args:
        if isinstance(argument, TypeExpr):
            yield from _unknown(argument)
