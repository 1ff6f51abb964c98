"""The annotation of a field contains a name that is not defined.

The annotation decides how a field is stored, and qten-gen would treat an unknown name as an ordinary Python class: a field
annotated `Tensr` would not be indexed with the batch, and `.to()` would not move it. If annotations are evaluated, the class
statement raises NameError.

A type alias below the class is reported too, even if the annotation is quoted: the alias does not exist yet when the class is
created, and qten-gen needs its meaning then.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..common.suggestions import did_you_mean, only_near
from ..model import ClassSource, NodePath, SourceFile, TypeExpr
from ..model.diagnostics import Diagnostic, Fix, Kind
from .rule_input import RuleContext

KIND = Kind("QG207", "unknown-type")

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
-    tokens: Tensr
-            ^^^^^
+    tokens: Tensor
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is None or context.file is None:
        for declared in context.fields:
            for name, type in _unknown(declared.type):
                message = f"{declared.name} is annotated with {name}, which is not defined"
                yield Diagnostic(KIND, message, type.place, "define or import it before the class")
        return
    for field in context.source.fields:
        if field.annotation is None:
            continue
        for name, type in (*_unknown(field.annotation), *_unknown_heads(field.annotation, context.file)):
            if name in context.source.attributes:
                message = f"{name} is bound in the class body, where generated code does not see it"
                yield Diagnostic(KIND, message, type.place, "import or define it above the class")
                continue
            if context.file.has_star_import:
                help = "import it by name; qten-gen does not know what a star import or globals() binds"
            elif name in context.file.names:
                yield Diagnostic(KIND, f"{name} is a module, not a type", type.place, "write the name of a class")
                continue
            else:
                help = did_you_mean(name, sorted(context.file.names), "import it, or define it in this file")
            fix = _fix(name, type, field.annotation, context.file)
            yield Diagnostic(KIND, f"{name} is not defined in this file", type.place, help, fix=fix)
        for name in _bound_below(field.annotation, context.source, context.file):
            message = f"{name} is defined below the class, so it does not exist yet when the class is created"
            yield Diagnostic(KIND, message, field.annotation.place, f"define {name} above the class")


def _fix(name: str, type: TypeExpr, annotation: TypeExpr, file: SourceFile) -> Fix | None:
    """The one name of the file that a slip of one letter makes this one of. It may as well be a name that is not imported."""
    is_whole = type.text == name and not any(quote in annotation.text for quote in "'\"")  # what is quoted has no place
    meant = only_near(name, file.names) if is_whole else None
    return None if meant is None else Fix(meant, type.place, is_sure=False)


def _bound_below(type: TypeExpr, cls: ClassSource, file: SourceFile) -> Iterator[str]:
    """The type aliases of an annotation, quoted ones included, that are defined below the class."""
    for name in dict.fromkeys(name.partition(".")[0] for name in type.names):
        alias = file.aliases.get(name)
        if alias is not None and _line(alias.place) > _line(cls.place):
            yield name


def _line(place: NodePath) -> int:
    """The index of the top-level statement that contains a place."""
    return next((step for step in place.steps if isinstance(step, int)), 0)


def _unknown(type: TypeExpr) -> Iterator[tuple[str, TypeExpr]]:
    """The names in a type expression that are not bound, which is why they have no module."""
    if type.name.isidentifier() and type.name != "None":
        yield type.name, type
    for argument in type.args:
        if isinstance(argument, TypeExpr):
            yield from _unknown(argument)


def _unknown_heads(type: TypeExpr, file: SourceFile) -> Iterator[tuple[str, TypeExpr]]:
    """The `nn` of `nn.Parameter`, where nothing binds it: then the name means what is written."""
    head, dot, _ = type.name.partition(".")
    if dot and head.isidentifier() and type.text.startswith(f"{head}.") and head not in file.names:
        yield head, type
    for argument in type.args:
        if isinstance(argument, TypeExpr):
            yield from _unknown_heads(argument, file)
