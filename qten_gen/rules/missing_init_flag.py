"""A Module inherits a hand-written `__init__` that does not fit what the classes declare, and does not say so.

Where a class in the chain declares fields that make a constructor, a type checker gives a class without its own `__init__` the
constructor of all the fields, even if a base nearer to it wrote another one by hand. So it would accept calls that fail at run
time, and reject calls that work. `init=False` tells the checker to use the inherited constructor.

The same holds for a class that adds an annotation without a value, `width: int`, where nothing in the class and its bases sets
`width`: it looks like an argument of the constructor, and is none.

Below classes that write their constructors by hand and declare nothing, the command asks nobody for the flag. Type checkers need
it there too if the constructor has arguments: without it, they think that the class takes `device` and `dtype` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ClassSource, ModuleDecl, VirtualDecl
from ..model.diagnostics import Diagnostic, Kind
from ..model.written_init import is_plain_annotation
from .rule_input import RuleContext, name_of

KIND = Kind("QG307", "missing-init-flag")

EXAMPLE = """
 from qten_gen import Module


 class Sized(Module):
     size: int


 class Doubled(Sized):
     def __init__(self, dim: int) -> None:
         super().__init__(2 * dim)


-class Child(Doubled):
-      ^^^^^
-    pass
+class Child(Doubled, init=False):
+    def halved(self) -> float:
+        return self.size / 2
+
+
+class Other(Doubled):
+    def __init__(self, wide: bool) -> None:
+        super().__init__(8 if wide else 4)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl) or _writes_init(declaration) or declaration.keeps_init:
        return
    parents = [parent for parent in context.project.ancestors(declaration) if isinstance(parent, ModuleDecl)]
    writer = next((parent for parent in parents if _writes_init(parent)), None)
    keeper = next((parent for parent in parents if parent.keeps_init), None)
    bases = ", ".join(base.text for base in declaration.bases)
    statement = f"class {declaration.name}({bases}, init=False)"
    if writer is not None and any(map(_has_generated_init, parents)):
        message = f"{declaration.name} has no __init__, but its base {writer.name} has a hand-written one"
        help = f"write {statement} to inherit it, or define __init__ here too"
        yield Diagnostic(KIND, message, context.name_place, help)
    elif (writer is not None or keeper is not None) and not any(source.specifier for source in context.field_sources):
        # QG306 reports a specifier, and says the same.
        reason, way_out = _kept(writer, keeper)
        for name in _unset_fields(declaration, context.project.classes) if context.source is not None else ():
            source = context.field_source(name)
            message = f"{declaration.name} has {reason}, and nothing sets {name}"
            help = f"define __init__ here too, {way_out}or write {statement} if {name} is set from outside"
            yield Diagnostic(KIND, message, context.name_place if source is None else name_of(source), help)


def _kept(writer: ModuleDecl | None, keeper: ModuleDecl | None) -> tuple[str, str]:
    """The constructor that a class has, and what to change so that one is generated."""
    if writer is not None:
        return f"the hand-written __init__ of {writer.name}", ""
    assert keeper is not None
    return "the __init__ of nn.Module", f"remove init=False from {keeper.name}, "


def _writes_init(declaration: ModuleDecl) -> bool:
    return any(method.name == "__init__" for method in declaration.methods)


def _has_generated_init(declaration: ModuleDecl) -> bool:
    return not declaration.custom_init and any(not isinstance(field, VirtualDecl) for field in declaration.fields)


_WITHOUT_FIELDS = frozenset({"abc", "builtins", "qten_gen", "torch", "typing", "typing_extensions"})
"""Packages whose classes set no attribute that a class of the user annotates."""


def _unset_fields(declaration: ModuleDecl, classes: Mapping[str, ClassSource]) -> tuple[str, ...]:
    """The new fields of a class that nothing in the text of the class and its bases sets; none where a base is not known."""
    statement = classes.get(declaration.qualified)
    own = {field.name for field in (statement.fields if statement else ()) if is_plain_annotation(field)}
    queue, seen = [declaration.qualified], set[str]()
    while queue and own:
        name = queue.pop()
        source = classes.get(name)
        if name in seen or (source is None and name.partition(".")[0] in _WITHOUT_FIELDS):
            continue
        if source is None or source.unpacked or source.sets_any:
            return ()
        seen.add(name)
        own -= _bound(source, is_base=name != declaration.qualified)
        queue += [base.name for base in source.bases]
    return tuple(field.name for field in declaration.fields if field.name in own)


def _bound(source: ClassSource, *, is_base: bool) -> set[str]:
    """The attributes that a class body binds, a base annotates, or a method sets."""
    parts = (source, source.conditional, source.for_checkers)
    found = {field.name for part in parts for field in part.fields if is_base or not is_plain_annotation(field)}
    found.update(source.attributes, (each.name for each in source.registers))
    for method in (method for part in parts for method in part.methods):
        found.update((method.name, *method.registers_later), (change.name for change in method.changes))
    return found
