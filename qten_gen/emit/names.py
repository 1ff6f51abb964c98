"""The names in generated text: what they are imported as, how builtins and the classes of nested fields are written."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..common.naming import ALIASES, WRITTEN_BUILTINS
from ..model import Declaration, FieldDecl, ImportedName, TensorClassDecl

IMPORTS = {
    "annotations": ImportedName("__future__", "annotations"),
    "_builtins": ImportedName("builtins", None),
    "_t": ImportedName("typing", None),
    "_OrderedDict": ImportedName("collections", "OrderedDict"),
    "_torch": ImportedName("torch", None),
    "_nn": ImportedName("torch", "nn"),
    "_rt": ImportedName("qten_gen.runtime", "generated"),
    "_features": ImportedName("qten_gen.runtime", "generated_features"),
}
"""The imports, by the name that the text uses. No class can have one of these names, and few would want one."""


class Aliases:
    """The names of `IMPORTS` that the lines of one class use, noted where a line is written."""

    def __init__(self, *used: str) -> None:
        self._used = set(used)

    @property
    def used(self) -> frozenset[str]:
        """All that was noted so far."""
        return frozenset(self._used)

    def use(self, alias: str) -> str:
        """Note a name, and give it back for the line.

        >>> aliases = Aliases()
        >>> f"{aliases.use('_torch')}.Tensor", aliases.used
        ('_torch.Tensor', frozenset({'_torch'}))
        """
        self._used.add(alias)
        return alias


def statement(alias: str, imported: ImportedName) -> str:
    """The statement that imports one name.

    >>> statement("_nn", ImportedName("torch", "nn"))
    'from torch import nn as _nn'
    """
    if imported.name is None:
        return f"import {imported.module}{_renamed(imported.module, alias)}"
    return f"from {imported.module} import {imported.name}{_renamed(imported.name, alias)}"


def statements(aliases: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The imports that bind these names when the module runs, sorted as ruff sorts them.

    `__future__`, the standard library and the rest are groups of their own; a group without imports is left out.

    >>> statements(["_torch", "_t", "_nn"])
    (('import typing as _t',), ('import torch as _torch', 'from torch import nn as _nn'))
    """
    wanted = list(aliases)
    groups = (_sorted(alias for alias in wanted if _group(alias) == group) for group in range(3))
    return tuple(group for group in groups if group)


def _group(alias: str) -> int:
    top = IMPORTS[alias].module.partition(".")[0]
    return 0 if top == "__future__" else 1 if top in sys.stdlib_module_names else 2


def _sorted(aliases: Iterable[str]) -> tuple[str, ...]:
    """The statements for some names, imports of modules first."""
    ordered = sorted(
        aliases,
        key=lambda alias: (IMPORTS[alias].name is not None, IMPORTS[alias].module, IMPORTS[alias].name or alias),
    )
    return tuple(statement(alias, IMPORTS[alias]) for alias in ordered)


def _renamed(bound: str, alias: str) -> str:
    return "" if bound == alias else f" as {alias}"


class Builtins:
    """The builtins in the text of one class, noted where a line is written."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = frozenset(taken)
        self._prefixed = False

    def name(self, builtin: str) -> str:
        """How the text writes a builtin, where `taken` are names that mean something else there.

        >>> Builtins({"len"}).name("len")
        '_builtins.len'
        """
        if builtin not in self._taken:
            return builtin
        self._prefixed = True
        return f"_builtins.{builtin}"

    def names(self, *used: str) -> dict[str, str]:
        """How a template writes the builtins that it uses."""
        return {builtin: self.name(builtin) for builtin in used}

    @property
    def imports(self) -> frozenset[str]:
        """The imports that all the text so far needs."""
        return frozenset({"_builtins"} if self._prefixed else ())


NestedNames = Mapping[str, str]
"""The global that holds a class, by the qualified name of the class."""


_TAKEN = frozenset(
    """
    batch_size device lock n names self value
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
    """The fields of a class that hold another TensorClass, or rows of one."""
    return (field for field in declaration.fields if field.nested is not None)


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
