"""How generated text writes the builtins that a field may be called after: `_builtins.len` in a class with a field `len`."""

from __future__ import annotations

from typing import NamedTuple

BUILTINS = ("isinstance", "len", "property", "type")
"""Those that a generated TensorClass uses where the names of its fields mean the fields."""


class Builtins(NamedTuple):
    """The builtins in the text of one class."""

    taken: frozenset[str]
    """The names of its fields."""

    def name(self, builtin: str) -> str:
        """How the text writes a builtin.

        >>> Builtins(frozenset({"len"})).name("len")
        '_builtins.len'
        """
        return f"_builtins.{builtin}" if builtin in self.taken else builtin

    def imports(self, *used: str) -> frozenset[str]:
        """What has to be imported for a text that uses these builtins."""
        return frozenset({"_builtins"} if self.taken.intersection(used) else ())
