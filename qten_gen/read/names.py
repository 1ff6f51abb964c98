"""What a dotted name means in a file, given what the file imports and binds. No syntax tree is needed here."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..common.module_names import absolute
from ..model import ImportedName, language

_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Scope:
    """The top-level names of a file. `inner` are type parameters and nested classes of the class that is read, as `Class.T`."""

    module: str
    is_package: bool
    imports: dict[str, ImportedName]
    bound: frozenset[str]
    classes: frozenset[str]
    inner: dict[str, str] = field(default_factory=dict)
    reexports: Mapping[str, str] = field(default_factory=dict)
    """Names of other files that stand for something outside the run."""

    def resolve(self, dotted: str) -> str:
        """Qualified name of what a dotted name refers to; a name that nothing binds is returned as it is.

        With `from torch import nn`, `nn.Parameter` is `torch.nn.Parameter`; with `class Inner` in `shop.model`, `Inner` is
        `shop.model.Inner`.
        """
        head, _, rest = dotted.partition(".")
        resolved = self._resolve_head(head)
        qualified = f"{resolved}.{rest}" if rest else resolved
        return self._beyond(qualified) if self.reexports else qualified

    def _beyond(self, qualified: str) -> str:
        """What a name means that another file passes on."""
        end = len(qualified)
        while end > 0:
            meant = self.reexports.get(qualified[:end])
            if meant is not None:
                return meant + qualified[end:]
            end = qualified.rfind(".", 0, end)
        return qualified

    def _resolve_head(self, head: str) -> str:
        if head in self.inner:
            return f"{self.module}.{self.inner[head]}"
        if head in self.imports and head not in self.classes:
            return self._resolve_import(self.imports[head])
        if head in self.bound:
            return f"{self.module}.{head}"
        return f"builtins.{head}" if head in _BUILTINS else head

    def _resolve_import(self, imported: ImportedName) -> str:
        module = absolute(imported.module, self.module, self.is_package)
        if imported.name is None:
            return module
        if module.partition(".")[0] == language.PACKAGE:
            return f"{language.PACKAGE}.{imported.name}"
        return f"{module}.{imported.name}" if module else imported.name
