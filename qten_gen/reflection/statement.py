"""The record of a running class statement, which the metaclasses in `runtime` pass to the readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..common.records import field, record
from ..common.specifier_records import RecordedCall
from ..model import Declaration, Meaning


@record(frozen=True, slots=True)
class ClassStatement:
    """The known parts of a class before it is created: `class Batch(Base, frozen=True): ...`."""

    name: str
    module: str
    """The `__module__` of the class: `shop.model`."""
    qualname: str
    """Its name with the classes and functions around it: `make.<locals>.Batch`."""
    namespace: Mapping[str, object]
    """The names that the body bound: defaults, records of specifiers, functions."""
    annotations: Mapping[str, object]
    """The annotations of the body: objects, strings, or forward references."""
    bases: tuple[type, ...]
    parents: tuple[tuple[str, Declaration], ...]
    """The declared classes among its ancestors in MRO order, each with its qualified name."""
    mixins: tuple[tuple[type, bool], ...]
    """The classes among its ancestors that declare nothing, each with whether it stands before the first declared base."""
    flags: frozenset[str]
    """The class flags that are on, and unknown ones in brackets, which a rule reports."""
    options: Mapping[str, object]
    """The class keywords that are not flags, as given: `{"checks": "off"}`, `{"init": False}`."""
    passed: Mapping[str, object]
    """All other class keywords, which are for the `__init_subclass__` of a base: `{"tag": "x"}`."""
    resolve: Callable[[str], object]
    """Looks up a name in the scope of the statement. Raises NameError if it does not exist yet."""
    is_declaration: Callable[[object], bool]
    """Whether an object is a TensorClass."""
    import_of: Callable[[str], str | None]
    """The qualified name of an imported name, including imports under TYPE_CHECKING; None if it is not imported."""
    defines: Callable[[str], bool]
    """Whether the file binds a name at its top level, even below the statement."""
    elsewhere: Callable[[str], Meaning | None]
    """The meaning as a type of a qualified name that cannot be looked up yet; None if nobody knows."""
    classes: dict[str, type]
    """The TensorClasses in the annotations, by qualified name. It is filled while the annotations are read."""
    children: Callable[[], Mapping[str, Declaration]] = dict
    """Finds the declarations of the classes among the arguments of specifiers, and of their children's, by qualified name."""
    checks: tuple[RecordedCall, ...] = ()
    """The statements `check(...)` of the body."""
    declared: set[str] = field(default_factory=set)
    """The qualified names of all TensorClasses in the annotations, also of those that do not exist yet. Filled likewise."""

    @property
    def is_visible_to_itself(self) -> bool:
        """Whether its name means the class in its own annotations, as at the top level and in functions."""
        return self.qualname == self.name or self.qualname.endswith(f"<locals>.{self.name}")

    @property
    def qualified(self) -> str:
        """Module and qualified name of the class."""
        return f"{self.module}.{self.qualname}"
