"""A specifier declares nothing where it is: in a plain `nn.Module` or a dataclass, in a method, or of a Module in a TensorClass.

Only the constructor that qten-gen generates for a Module or TensorClass knows what `param(...)` or `field(...)` means. In any
other class it stays an ordinary attribute of the class: `module.weight` would be a record of the arguments, `parameters()`
would not contain it, and the optimizer would not train it. Nothing would fail before that.

In a method it means nothing either: `self.weight = param(8)` assigns that record. In a list, a dict or a tuple it is an
element and not the specifier of the field. A comma at the end makes a tuple, too: `param(8),`.

Parameters, buffers, submodules and virtual tensors exist in modules only. A TensorClass would ignore the specifier and make the
field a required argument of its constructor, which type checkers reject, because the specifier tells them that there is none.

The rule reports classes whose bases it knows. A base outside the run may be a declaration; there, the class statement finds
out. In an enum a specifier is the value of a member, for declarations to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ClassSource, ConfigDecl, FieldDecl, FileDecl, TensorClassDecl, language
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import Project, RuleContext, name_of

KIND = Kind("QG111", "misplaced-specifier")

EXAMPLE = """
-from qten_gen import param
+from qten_gen import Module, param
 from torch import nn


-class Scale(nn.Module):
-    weight: nn.Parameter = param(8, initializer=nn.init.ones_)
-    ^^^^^^
+class Scale(Module):
+    dim: int
+    weight: nn.Parameter = param("dim", initializer=nn.init.ones_)
"""

_KNOWN = frozenset({"abc", "builtins", "dataclasses", "enum", "torch", "typing"})
"""Packages in which no declaration is."""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None or field.default.factory:
            continue
        value = field.default.value
        if value.held_specifier is not None and value.is_container:
            called = value.held_specifier.rpartition(".")[2]
            message = f"{called}(...) declares nothing inside another value, so {field.name} would hold a record of its arguments"
            several = "; repeat= and keys= declare several" if called in ("param", "submodule", "sequential") else ""
            yield Diagnostic(KIND, message, value.place, f"write {field.name}: ... = {called}(...) alone{several}")
    if isinstance(context.declaration, TensorClassDecl):
        yield from _of_modules(context.declaration.name, context)


def _of_modules(name: str, context: RuleContext) -> Iterator[Diagnostic]:
    """Specifiers of a Module in a TensorClass of this name."""
    message = f"{{}} belongs to a Module, but {name} is a TensorClass".format
    for field in context.field_sources:
        if field.specifier is not None and field.specifier.name == language.VIRTUAL:
            yield Diagnostic(KIND, message("@virtual"), field.place, "use @property")
        elif field.specifier is not None and field.specifier.name != language.FIELD:
            called = field.specifier.name.rpartition(".")[2]
            help = f"use field(default=...) or field(default_factory=...), or derive {name} from Module"
            yield Diagnostic(KIND, message(f"{called}(...)"), field.specifier.place, help)
    for call in context.check_calls:
        yield Diagnostic(KIND, message("check(...)"), call.place, "raise an error in __post_init__")
    for method in context.source.methods if context.source is not None else ():
        if language.VIRTUAL in method.decorators:
            place = method.place / "decorator_list" / method.decorators.index(language.VIRTUAL)
            yield Diagnostic(KIND, message("@virtual"), place, "use @property")


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for cls in file.source.classes:
        yield from _in_methods(cls)
        qualified = f"{file.source.module}.{cls.qualname}"
        if qualified in project.declarations or not is_plain(cls, project.classes) or _is_enum(cls, project.classes):
            continue
        for field in cls.fields:
            if field.specifier is not None and not field.specifier.of_dataclasses:
                message, help = problem(cls.name, field.name, field.specifier.name)
                yield Diagnostic(KIND, message, name_of(field), help)
        for call in cls.checks:
            message, help = problem(cls.name, "", language.CHECK)
            yield Diagnostic(KIND, message, call.place, help)
        for method in cls.methods:
            if language.VIRTUAL in method.decorators:
                message, help = problem(cls.name, method.name, language.VIRTUAL)
                yield Diagnostic(KIND, message, method.place / "name", help)


def _in_methods(cls: ClassSource) -> Iterator[Diagnostic]:
    """Specifiers that a method assigns, whatever the class is: `self.weight = param(8)` in an `__init__`."""
    for method in cls.methods:
        for change in method.changes:
            specifier = next((name for name in change.makes if name in language.SPECIFIERS), None)
            if specifier is not None and change.action == "assign":
                called = specifier.rpartition(".")[2]
                message = (
                    f"{called}(...) declares nothing in a method: self.{change.name} would be a record of its arguments"
                )
                help = f"write {change.name}: ... = {called}(...) in the class body, or assign what it declares"
                yield Diagnostic(KIND, message, change.place, help)


def problem(cls: str, field: str, specifier: str) -> tuple[str, str]:
    """The problem with a specifier in a class that declares nothing, and how to fix it. The class statement says it too."""
    called = "@virtual" if specifier == language.VIRTUAL else f"{specifier.rpartition('.')[2]}(...)"
    if specifier == language.CHECK:
        return f"check(...) has no effect: {cls} does not derive from Module of qten_gen", f"write class {cls}(Module)"
    root = "TensorClass or Module" if specifier == language.FIELD else "Module"
    message = (
        f"{called} declares nothing here: {cls} does not derive from {root} of qten_gen, so {field} is not a field"
    )
    bases = "TensorClass" if specifier == language.FIELD else "Module"
    instead = "; in a dataclass, write dataclasses.field" if specifier == language.FIELD else ""
    return message, f"write class {cls}({bases}){instead}"


def _is_enum(cls: ClassSource, classes: Mapping[str, ClassSource], seen: frozenset[str] = frozenset()) -> bool:
    """Whether a class derives from one of `enum`."""
    return any(
        base.name.startswith("enum.")
        or (
            base.name in classes and base.name not in seen and _is_enum(classes[base.name], classes, seen | {base.name})
        )
        for base in cls.bases
    )


def is_plain(cls: ClassSource, classes: Mapping[str, ClassSource], seen: frozenset[str] = frozenset()) -> bool:
    """Whether the text says that a class is not a declaration: all its ancestors are known, and none of them is one."""
    if cls.unpacked:
        return False
    for base in cls.bases:
        if base.name.partition(".")[0] in _KNOWN:
            continue
        source = classes.get(base.name)
        if source is None or base.name in seen or not is_plain(source, classes, seen | {base.name}):
            return False
    return True
