"""A class statement that is being executed, as the metaclass hands it over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..model import Declaration


@dataclass(frozen=True, slots=True)
class ClassStatement:
    """What is known of a class before it is made.

    `resolve` looks a name up where the statement stands and raises NameError. `parents` are the declared classes among
    the new class's ancestors in MRO order, each with its qualified name. Names that cannot be looked up yet are those
    that an import under TYPE_CHECKING gives (`import_of`) or that the file defines further down (`defines`);
    `is_declared_elsewhere` tells whether such a name is a TensorClass.
    """

    name: str
    module: str
    qualname: str
    namespace: Mapping[str, object]
    annotations: Mapping[str, object]
    bases: tuple[type, ...]
    parents: tuple[tuple[str, Declaration], ...]
    flags: frozenset[str]
    words: Mapping[str, object]
    """The class keywords that take a word, and what they are given."""
    resolve: Callable[[str], object]
    is_declaration: Callable[[object], bool]
    import_of: Callable[[str], str | None]
    defines: Callable[[str], bool]
    is_declared_elsewhere: Callable[[str], bool]
    classes: dict[str, type]
    """The TensorClasses that annotations turned out to name, by qualified name; filled while they are read."""

    @property
    def qualified(self) -> str:
        """Module and qualified name of the class."""
        return f"{self.module}.{self.qualname}"
