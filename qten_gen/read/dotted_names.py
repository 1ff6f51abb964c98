"""Resolves dotted names in a file, based on the names that it imports and binds."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ..common.naming import absolute
from ..common.records import field, record
from ..model import ImportedName, Reexports, language

_BUILTINS = frozenset(dir(builtins))


@record(frozen=True, slots=True)
class Scope:
    """The top-level names of a file. `inner` maps type parameters and nested classes of a class to names such as `Class.T`."""

    module: str
    is_package: bool
    imports: dict[str, ImportedName]
    bound: frozenset[str]
    classes: frozenset[str]
    inner: dict[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    """The names that mean values of the class body in an annotation which is not quoted."""
    reexports: Reexports | None = None
    """Names that other files reexport from outside the run, and their origin."""
    lines: Sequence[str] = ()
    """The lines of the text that expressions are read from."""

    def resolve(self, dotted: str) -> str:
        """The qualified name that a dotted name refers to. A name that is not bound is returned unchanged.

        With `from torch import nn`, `nn.Parameter` is `torch.nn.Parameter`; with `class Inner` in `shop.model`, `Inner` is
        `shop.model.Inner`.
        """
        head, _, rest = dotted.partition(".")
        resolved = self._resolve_head(head)
        qualified = f"{resolved}.{rest}" if rest else resolved
        if qualified in language.SAME:
            return language.SAME[qualified]
        return qualified if self.reexports is None else self._beyond(qualified, self.reexports)

    def _beyond(self, qualified: str, reexports: Reexports) -> str:
        """The origin of a qualified name that another file reexports."""
        end = len(qualified)
        while end > 0:
            meant = reexports.get(qualified[:end])
            if meant is not None:
                return meant + qualified[end:]
            end = qualified.rfind(".", 0, end)
        return qualified

    def _resolve_head(self, head: str) -> str:
        if head in self.inner:
            return f"{self.module}.{self.inner[head]}"
        # `try: from lib import Base`, and in `except` a class of that name.
        if head in self.imports and head not in self.classes:
            return self.resolve_import(self.imports[head])
        if head in self.bound:
            return f"{self.module}.{head}"
        return f"builtins.{head}" if head in _BUILTINS else head

    def resolve_import(self, imported: ImportedName) -> str:
        """The qualified name that an import gives to what it binds."""
        module = absolute(imported.module, self.module, self.is_package)
        if imported.name is None:
            return module
        if module.partition(".")[0] == language.PACKAGE:
            return f"{language.PACKAGE}.{imported.name}"
        return f"{module}.{imported.name}" if module else imported.name
