"""The names of the classes of nested fields in generated code: globals, which the runtime binds when the classes appear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..common.naming import ALIASES, WRITTEN_BUILTINS
from ..model import Declaration, FieldDecl, FieldKind, TensorClassDecl

NestedNames = Mapping[str, str]
"""The global that holds a class, by the qualified name of the class."""


_TAKEN = frozenset(
    """
    argument batch_size batch_sizes device fn index item items key leaves lock n names other pieces self tensor value values
    """.split()
).union(ALIASES, WRITTEN_BUILTINS)
"""The variables and imports of generated code."""


def nested_names(declarations: Iterable[Declaration]) -> NestedNames:
    """The globals of a generated module: a class goes by its own name unless generated code means something else by it."""
    found = tuple(declarations)
    tensorclasses = [declaration for declaration in found if isinstance(declaration, TensorClassDecl)]
    own = {f"{declaration.module}.{declaration.name}": declaration.name for declaration in found}
    fields = {field.name for declaration in tensorclasses for field in declaration.fields}
    names: dict[str, str] = {}
    for declaration in tensorclasses:
        for qualified in (qualified_name(field) for field in nested_fields(declaration)):
            # The names of the file's classes are free for these alone.
            taken = fields.union(_TAKEN, names.values(), () if qualified in own else own.values())
            names.setdefault(qualified, next(name for name in _candidates(qualified) if name not in taken))
    return names


def nested_fields(declaration: TensorClassDecl) -> Iterator[FieldDecl]:
    """The fields of a class that hold another TensorClass."""
    return (field for field in declaration.fields if field.kind is FieldKind.NESTED)


def qualified_name(field: FieldDecl) -> str:
    """The qualified name of the class that a nested field holds."""
    return next(name for name in field.type.mentioned if name.rpartition(".")[2] == field.nested)


def reference(field: FieldDecl, module: str, names: NestedNames) -> str:
    """How generated code names the class: `Point` in its own file, `.base:Point` beside it, `.base:Point as base_Point`."""
    qualified = qualified_name(field)
    home, _, name = qualified.rpartition(".")
    alias = "" if names[qualified] == name else f" as {names[qualified]}"
    return f"{name}{alias}" if home == module else f"{beside(home, module)}:{name}{alias}"


def beside(home: str, module: str) -> str:
    """The module `home` as `module` imports it: relative where both are in one folder."""
    folder, _, leaf = home.rpartition(".")
    return f".{leaf}" if folder == module.rpartition(".")[0] else home


def _candidates(qualified: str) -> Iterator[str]:
    """`Point`, then `base_Point`, then that with underscores."""
    home, _, name = qualified.rpartition(".")
    yield name
    candidate = f"{home.rpartition('.')[2]}_{name}"
    while True:
        yield candidate
        candidate = f"{candidate}_"
