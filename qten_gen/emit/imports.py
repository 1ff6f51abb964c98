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
    "_repeat": ImportedName("itertools", "repeat"),
    "_torch": ImportedName("torch", None),
    "_nn": ImportedName("torch", "nn"),
    "_rt": ImportedName("qten_gen.runtime", "generated"),
    "_features": ImportedName("qten_gen.runtime", "generated_features"),
    "_Slot": ImportedName("qten_gen_typing", "Slot"),
    "_ModuleDict": ImportedName("qten_gen", "ModuleDict"),
    "_ModuleList": ImportedName("qten_gen", "ModuleList"),
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
