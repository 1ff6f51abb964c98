"""The type of declared classes: the tables that the metaclass fills in for each of them.

`outright.py` reads the facts of a `Summary` from a class statement whose generated class is fresh. Where it is not sure,
`in_memory.py` takes them from the declaration that the generator's reader makes.
"""

from __future__ import annotations

import typing
from abc import ABCMeta
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import typing_extensions

from ...common.field_kinds import AnnotatedField, FieldKind
from ...common.fingerprint_rows import Row, attributes
from ...common.records import field, fields, record
from .fields import Default

if TYPE_CHECKING:
    from .generator import Declaration

    ProtocolMeta = ABCMeta  # the metaclass of Protocol has no public name
else:
    # The one of typing_extensions, which torch brings along, derives from the one of typing, or is the same.
    ProtocolMeta = type(typing_extensions.Protocol)


C = TypeVar("C", bound="DeclaredClass")


def without_annotations(metaclass: type[C]) -> type[C]:
    """Remove the annotations of a metaclass itself, which are for type checkers.

    From Python 3.14 on, `cls.__annotations__` of its classes would find the metaclass's, or a base's: the descriptor of
    `type` is the one to answer.
    """
    if "__annotations__" in vars(metaclass):
        del metaclass.__annotations__
    return metaclass


@without_annotations
class DeclaredClass(ProtocolMeta):
    """Ground of the metaclasses: `isinstance(cls, DeclaredClass)` is true for a TensorClass or Module.

    It derives from the metaclass of Protocol, which derives from ABCMeta, so that `class Base(Module, ABC)` and
    `class Net(Module, Runs)` with a protocol work; instances are checked as by `type`.
    """

    _declared_as: Summary
    """The declaration of the class, as far as the runtime asks for it. The roots, TensorClass and Module, have none."""
    _declaration: Declaration
    """The declaration of the class. A `LaterDeclaration` reads it when somebody asks."""
    _defaults: dict[str, Default]
    """Defaults of constructor arguments, inherited ones included."""
    _specifiers: dict[str, object]
    """Records of the field specifiers, inherited ones included."""
    _nests: ClassVar[bool] = False
    """True if its classes can be the type of a field that holds tensors."""

    def __new__(
        mcls: type[C], name: str, bases: tuple[type, ...], namespace: dict[str, object], /, **keywords: object
    ) -> C:
        # From Python 3.12 on, that of Protocol takes a class with Generic among its bases for a protocol. It is not asked, so
        # that what it refuses is refused here.
        if typing.Protocol in bases or typing_extensions.Protocol in bases:
            others = [base for base in bases if isinstance(base, DeclaredClass)]
            raise TypeError(
                f"Protocols can only inherit from other protocols, got {others[0] if others else bases[0]!r}"
            )
        return ABCMeta.__new__(mcls, name, bases, namespace, **keywords)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], /, **keywords: object) -> None:
        # Not Protocol's, which works out the members of a protocol.
        ABCMeta.__init__(cls, name, bases, namespace)

    if not TYPE_CHECKING:  # checkers would take it for leave to set anything

        def __setattr__(cls, name, value):
            # `dataclass` sets this before anything else; cloudpickle gives a class that it rebuilds the record of ours.
            if name == "__dataclass_params__" and type(value).__module__ == "dataclasses":
                raise TypeError(
                    f"@dataclass would replace the constructor of {cls.__name__}, which qten-gen generates: remove it"
                )
            super().__setattr__(name, value)

    # Those of Protocol are Python functions, which every look-up of a class in a table of torch's or ours would call.
    __eq__ = type.__eq__
    __hash__ = type.__hash__
    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


class LaterDeclaration:
    """The declaration of a class as an attribute of it, read when it is first asked for: a fresh class needs its summary only."""

    __slots__ = ("_found", "_read")

    def __init__(self, read: Callable[[], Declaration]) -> None:
        self._read: Callable[[], Declaration] | None = read
        self._found: Declaration | None = None

    def __get__(self, obj: object, owner: type | None = None) -> Declaration:
        if self._read is not None:
            self._found = self._read()
            self._read = None  # the namespace of the statement is not needed any more
        assert self._found is not None
        return self._found

    def __reduce__(self) -> tuple[Callable[[Declaration], LaterDeclaration], tuple[Declaration]]:
        # Read now: the function that reads holds the namespace of the statement, which no pickle takes.
        return known_declaration, (self.__get__(None),)


def known_declaration(declaration: Declaration) -> LaterDeclaration:
    """A declaration that was read already."""
    return LaterDeclaration(lambda: declaration)


def declared_bases(bases: tuple[type, ...]) -> tuple[DeclaredClass, ...]:
    """The bases that are declared classes or roots, in their order."""
    return tuple(base for base in bases if isinstance(base, DeclaredClass))


@record(frozen=True, slots=True)
class FieldSummary(AnnotatedField):
    """A field of a declared class. A field of a Module has the kind `STATIC`."""

    owner: str = field(kw_only=True)
    """The qualified name of the class that declares it."""
    row: Row = ()
    """Its record in `model.fields`, for the fingerprints of classes that inherit it."""
    annotation: str = ""
    """The text of the annotation of a TensorClass field."""
    kw_only: bool = False
    argument: str | None = None
    """Its name in the constructor; None if it is no argument."""
    nested_class: type | None = None
    """The TensorClass in its annotation, where that is bound already."""

    @classmethod
    def of(cls, owner: str, row: Row, annotation: str = "", nested_class: type | None = None) -> FieldSummary:
        """The summary of a field with this row."""
        said = attributes(row)
        # The others are no arguments of a constructor.
        if row[0] not in ("FieldDecl", "ConfigDecl"):
            return cls(said["name"], owner=owner, row=row, annotation=annotation)
        found = {each.name: said[each.name] for each in fields(cls) if each.name in said}
        found["kind"] = FieldKind(said.get("kind", FieldKind.STATIC))
        found |= {"owner": owner, "row": row, "annotation": annotation, "nested_class": nested_class}
        return cls(**found, argument=said.get("alias", said["name"]))


class Summary(NamedTuple):
    """A declared class, inherited fields in place."""

    fields: tuple[FieldSummary, ...]
    own: tuple[str, ...]
    """The names of the fields that no parent stores."""
    custom_init: bool
    flags: frozenset[str] = frozenset()
    checks: str = "on"
    """The class keyword `checks` of a TensorClass."""
    conditions: tuple[tuple[str, Row], ...] = ()
    """The statements `check(...)` of a Module and its parents, each with the class that it stands in."""

    @property
    def frozen(self) -> bool:
        """True if instances are immutable."""
        return "frozen" in self.flags
