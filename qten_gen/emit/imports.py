"""The names that generated text uses without defining them: one table says what each is imported as, in `.py` and `.pyi`.

Whoever writes a line notes its names in the `Aliases` of the class; `statements` writes the imports of a file from them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ..model import ImportedName

IMPORTS = {
    "annotations": ImportedName("__future__", "annotations"),
    "_builtins": ImportedName("builtins", None),
    "_t": ImportedName("typing", None),
    "_OrderedDict": ImportedName("collections", "OrderedDict"),
    "Callable": ImportedName("collections.abc", "Callable"),
    "Sequence": ImportedName("collections.abc", "Sequence"),
    "_repeat": ImportedName("itertools", "repeat"),
    "TYPE_CHECKING": ImportedName("typing", "TYPE_CHECKING"),
    "Any": ImportedName("typing", "Any"),
    "Self": ImportedName("typing", "Self"),
    "_torch": ImportedName("torch", None),
    "_nn": ImportedName("torch", "nn"),
    "Tensor": ImportedName("torch", "Tensor", type_checking=True),
    "nn": ImportedName("torch", "nn", type_checking=True),
    "_rt": ImportedName("qten_gen.runtime", "generated"),
    "_Array": ImportedName("qten_gen.runtime.tensorclass.interop.arrays", "Array"),
    "_BatchSize": ImportedName("qten_gen.runtime.tensorclass.core.sizes", "BatchSize"),
    "_DeviceLike": ImportedName("qten_gen.runtime.tensorclass.core.devices", "DeviceLike"),
    "_Index": ImportedName("qten_gen.runtime.tensorclass.core.indices", "Index"),
    "_Key": ImportedName("qten_gen.runtime.tensorclass.core.lookup", "Key"),
    "_NamesLike": ImportedName("qten_gen.runtime.tensorclass.core.names", "NamesLike"),
    "_Default": ImportedName("qten_gen_typing", "Default"),
    "_Destination": ImportedName("qten_gen_typing", "Destination"),
    "_PerItemInput": ImportedName("qten_gen_typing", "PerItemInput"),
    "_Slot": ImportedName("qten_gen_typing", "Slot"),
    "_ModuleDict": ImportedName("qten_gen", "ModuleDict"),
    "_ModuleList": ImportedName("qten_gen", "ModuleList"),
    "_ModuleMethods": ImportedName("qten_gen", "ModuleMethods"),
}
"""What is imported, by the name that the text uses. Those of annotations alone are imported under TYPE_CHECKING."""


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

    >>> statements(["_torch", "Self", "Any"])
    (('from typing import Any, Self',), ('import torch as _torch',))
    """
    wanted = [alias for alias in aliases if not IMPORTS[alias].type_checking]
    groups = (_sorted(alias for alias in wanted if _group(alias) == group) for group in range(3))
    return tuple(group for group in groups if group)


def checking_statements(aliases: Iterable[str]) -> tuple[str, ...]:
    """The imports that bind those of these names that annotations alone use."""
    return _sorted(alias for alias in aliases if IMPORTS[alias].type_checking)


def _group(alias: str) -> int:
    top = IMPORTS[alias].module.partition(".")[0]
    return 0 if top == "__future__" else 1 if top in sys.stdlib_module_names else 2


def _sorted(aliases: Iterable[str]) -> tuple[str, ...]:
    """The statements for some names. What keeps its own name shares a line with the others of its module."""
    lines: dict[tuple[bool, str, str], list[str]] = {}
    for alias in sorted(aliases, key=lambda alias: (not alias.isupper(), alias)):
        imported = IMPORTS[alias]
        own_line = "" if alias == imported.name else alias
        lines.setdefault((imported.name is not None, imported.module, own_line), []).append(alias)
    return tuple(_line(names) for _, names in sorted(lines.items()))


def _line(aliases: list[str]) -> str:
    first, *others = aliases
    return ", ".join([statement(first, IMPORTS[first]), *others])


def _renamed(bound: str, alias: str) -> str:
    return "" if bound == alias else f" as {alias}"
