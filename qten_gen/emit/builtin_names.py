"""How generated text writes the builtins that a field may be called after: `_builtins.len` in a class with a field `len`."""

from __future__ import annotations

from collections.abc import Collection

from ..common.naming import WRITTEN_BUILTINS as WRITTEN_BUILTINS


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
