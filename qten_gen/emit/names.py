"""The names in generated text: what they are imported as, how builtins and the classes of nested fields are written."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..common.naming import ALIASES, WRITTEN_BUILTINS
from ..model import Declaration, FieldDecl, ImportedName, TensorClassDecl
from . import layout

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


def statement(alias: str, imported: ImportedName) -> str:
    """The statement that imports one name.

    >>> statement("_nn", ImportedName("torch", "nn"))
    'from torch import nn as _nn'
    """
    if imported.name is None:
        return f"import {imported.module}{_renamed(imported.module, alias)}"
    return f"from {imported.module} import {imported.name}{_renamed(imported.name, alias)}"


_STRING = r'""".*?"""|"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
_STRING_OR_NAME = re.compile(rf"{_STRING}|\b({'|'.join(IMPORTS)})\b", re.DOTALL)
"""A string, or one of the names of `IMPORTS` outside of strings."""


def runtime_imports(texts: Iterable[str], *always: str) -> tuple[tuple[str, ...], ...]:
    """The imports that bind the names in texts of classes, and others, when the module runs.

    `__future__`, the standard library and the rest are groups of their own; a group without imports is left out.

    >>> runtime_imports(["x = _torch.ones(2)", "_nn.ReLU()"], "_t")
    (('import typing as _t',), ('import torch as _torch', 'from torch import nn as _nn'))
    """
    wanted = {*always, *(name for text in texts for name in _STRING_OR_NAME.findall(text) if name)}
    groups = (combined({alias: IMPORTS[alias] for alias in wanted if _group(alias) == group}) for group in range(3))
    return tuple(group for group in groups if group)


def combined(imports: Mapping[str, ImportedName]) -> tuple[str, ...]:
    """The imports that bind these names, sorted as ruff sorts them: one for each module.

    >>> combined({"Tensor": ImportedName("torch", "Tensor"), "nn": ImportedName("torch", "nn")})
    ('from torch import Tensor, nn',)
    """
    plain: dict[str, list[str]] = {}
    lines: list[tuple[bool, str, str]] = []
    for alias, imported in sorted(imports.items()):
        if imported.name == alias:
            plain.setdefault(imported.module, []).append(alias)
        else:
            lines.append((imported.name is not None, imported.module, statement(alias, imported)))
    for module, names in plain.items():
        line = f"from {module} import {', '.join(names)}"
        is_long = len(line) + 4 > layout.WIDTH
        lines.append((True, module, layout.stacked(f"from {module} import (", names, ")", 4) if is_long else line))
    # Modules come first, and what is relative last.
    return tuple(text for *_, text in sorted(lines, key=lambda line: (line[0], line[1].startswith("."), line)))


def _group(alias: str) -> int:
    top = IMPORTS[alias].module.partition(".")[0]
    return 0 if top == "__future__" else 1 if top in sys.stdlib_module_names else 2


def _renamed(bound: str, alias: str) -> str:
    return "" if bound == alias else f" as {alias}"


class Builtins:
    """The builtins in the text of one class, where `taken` are names that mean something else."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = frozenset(taken)

    def name(self, builtin: str) -> str:
        """How the text writes a builtin.

        >>> Builtins({"len"}).name("len")
        '_builtins.len'
        """
        return f"_builtins.{builtin}" if builtin in self._taken else builtin

    def names(self, *used: str) -> dict[str, str]:
        """How a template writes the builtins that it uses."""
        return {builtin: self.name(builtin) for builtin in used}


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
