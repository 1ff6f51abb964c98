"""The annotations of a handler name other types than those it is registered for.

`@Encoder.register(Text)` calls the handler with an `Encoder` and a `Text`. If it is annotated with another class, either the
registration or the annotation is wrong, and the handler reads fields that the object does not have.

The rule compares plain names only: builtins, `Tensor` and declared classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl, RegistrationDecl, SourceFile
from ..model.diagnostics import Diagnostic, Kind
from .context import Project
from .known_types import known_ancestors

KIND = Kind("QG406", "handler-type-mismatch")

EXAMPLE = """
 from qten_gen import Module, TensorClass
 from torch import Tensor


 class Text(TensorClass):
     tokens: Tensor


-class Image(TensorClass):
-    pixels: Tensor
-
-
 class Encoder(Module):
     def forward(self, x: Tensor) -> Tensor:
         return x


 @Encoder.register(Text)
-def encode_text(encoder: Encoder, image: Image) -> Tensor:
-    ^^^^^^^^^^^
-    return image.pixels
+def encode_text(encoder: Encoder, text: Text) -> Tensor:
+    return text.tokens
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for declaration, registration in project.registrations(file.source.module):
        problem = _problem(registration, declaration, file.source, project)
        if problem is not None:
            message, help = problem
            yield Diagnostic(KIND, message, registration.signature.place / "name", help)


def _problem(
    registration: RegistrationDecl, owner: ModuleDecl, source: SourceFile, project: Project
) -> tuple[str, str] | None:
    """What is wrong with the annotations of a handler, and how to fix it."""
    module, item = _annotations(registration.signature.parameters)
    meant = _meaning(module, source)
    if meant is not None and _is_other(owner.qualified, meant, project):
        message = f"the handler is for {owner.name}, but its first parameter is annotated {module}"
        return message, f"write {owner.name}, or register it on {module}"
    meant = _meaning(item, source)
    if meant is not None and _is_other(registration.type.name, meant, project):
        message = f"the handler is for {registration.type.text}, but its second parameter is annotated {item}"
        return message, f"write {registration.type.text}, or register it for {item}"
    return None


def _annotations(parameters: str) -> tuple[str, str]:
    """The annotations of the first two parameters that are plain names; empty for others."""
    try:
        function = ast.parse(f"def f({parameters}): ...").body[0]
    except SyntaxError:
        return "", ""
    if not isinstance(function, ast.FunctionDef):
        return "", ""
    found = [argument.annotation for argument in (*function.args.posonlyargs, *function.args.args)][:2]
    if len(found) < 2:
        return "", ""  # another rule reports it
    names = [annotation.id if isinstance(annotation, ast.Name) else "" for annotation in found]
    return names[0], names[1]


def _meaning(name: str, source: SourceFile) -> str | None:
    """The qualified name of a class that a file names; None where the text does not say."""
    if any(cls.qualname == name for cls in source.classes):
        return f"{source.module}.{name}"
    imported = source.imports.get(name)
    if imported is None or imported.name is None:
        return f"builtins.{name}" if name in _BUILTINS and name not in source.names else None
    return f"{imported.module}.{imported.name}" if not imported.module.startswith(".") else None


_BUILTINS = ("bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple")


def _is_other(given: str, annotated: str, project: Project) -> bool:
    """Whether objects of one class are surely not of another: both are known, and neither derives from the other."""
    if not {given, annotated} <= project.declarations.keys() | {f"builtins.{name}" for name in _BUILTINS} | {
        "torch.Tensor"
    }:
        return False
    above, below = known_ancestors(given, project), known_ancestors(annotated, project)
    if above is None or below is None:
        return False
    return annotated not in above and given not in below
