"""A class statement that is being executed, as the metaclass in `runtime.declaring` hands it over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..model import Declaration


@dataclass(frozen=True, slots=True)
class ClassStatement:
    """What is known of a class before it is made: `class Batch(Base, frozen=True): ...`."""

    name: str
    module: str
    """The `__module__` of the class: `shop.model`."""
    qualname: str
    """Its name with the classes and functions around it: `make.<locals>.Batch`."""
    namespace: Mapping[str, object]
    """What the body bound: defaults, records of specifiers, functions."""
    annotations: Mapping[str, object]
    """The annotations of the body: objects, strings, or forward references."""
    bases: tuple[type, ...]
    parents: tuple[tuple[str, Declaration], ...]
    """The declared classes among its ancestors in MRO order, each with its qualified name."""
    flags: frozenset[str]
    """The class flags that are on, and unknown ones, which a rule reports."""
    words: Mapping[str, object]
    """The class keywords that take a value, as they are given: `{"checks": "off"}`, `{"init": False}`."""
    resolve: Callable[[str], object]
    """Looks a name up where the statement stands. Raises NameError where it means nothing yet."""
    is_declaration: Callable[[object], bool]
    """Whether an object is a TensorClass."""
    import_of: Callable[[str], str | None]
    """The qualified name that an import of the file gives to a name, those under TYPE_CHECKING included; None without one."""
    defines: Callable[[str], bool]
    """Whether the file binds a name at its top level, further down perhaps."""
    is_declared_elsewhere: Callable[[str], bool]
    """Whether a qualified name that cannot be looked up yet is a TensorClass."""
    classes: dict[str, type]
    """The TensorClasses that annotations turned out to name, by qualified name; filled while they are read."""

    @property
    def qualified(self) -> str:
        """Module and qualified name of the class."""
        return f"{self.module}.{self.qualname}"
