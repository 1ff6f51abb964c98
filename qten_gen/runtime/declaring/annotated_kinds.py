"""Decides a TensorClass field from the object that its annotation is, for the usual annotations.

An annotation becomes the name and arguments from which `common.field_kinds` decides. Where it is anything else, `NotCertain` is
raised, and the generator's reader is asked.
"""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, InitVar
from typing import Any, NamedTuple

from torch import Tensor

from ...common import language
from ...common.field_kinds import AnnotatedField, FieldKind, PlainType, annotated_field, is_tensor, members_of
from .class_scope import Scope


class NotCertain(Exception):
    """A class statement has something that only the generator's reader understands."""


class Named:
    """Ground of the classes that stand in an annotation for names that mean nothing yet."""

    qualified = ""


class Names(dict[str, object]):
    """The names in the annotations of a class statement that are strings, each with what it means; it keeps those looked up."""

    def __init__(self, scope: Scope, name: str, body: Mapping[str, object]) -> None:
        super().__init__()
        self._scope, self._name, self._body = scope, name, body

    def __missing__(self, name: str) -> object:
        # It may be the default of a field, which hides the type; `reflection` tells them apart.
        if name in self._body:
            raise NotCertain(name)
        try:
            # The class itself has no meaning yet; a class of its name may stem from an earlier execution.
            found = _named(name) if name == self._name else self._scope.resolve(name)
        except NameError:
            found = _named(self._scope.import_of(name) or name)
        self[name] = found
        return found


def _named(qualified: str) -> type[Named]:
    # A class, so that unions and brackets with it can be evaluated.
    return type("Named", (Named,), {"qualified": qualified, "__class_getitem__": classmethod(types.GenericAlias)})


def evaluated(annotation: object, names: Names) -> object:
    """An annotation, and what it means if it is a string."""
    # A string may hold a string: `"'Batch'"`.
    while isinstance(annotation, str | typing.ForwardRef):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        annotation = _value(ast.parse(text.strip(), mode="eval").body, names)
    return annotation


def _value(node: ast.expr, names: Names) -> object:
    """The object that an annotation in a string gives, which is made of names, unions and types with arguments.

    Raises:
        NotCertain: there is anything else in it.
    """
    match node:
        case ast.Constant(None | str() | types.EllipsisType() as value):
            return value
        case ast.List(items):
            return [_value(item, names) for item in items]
        case ast.Name(name):
            return names[name]
        case ast.Attribute(value, name):
            found: object = getattr(_value(value, names), name)
            return found
        case ast.BinOp(left, ast.BitOr(), right):
            return typing.Union[_value(left, names), _value(right, names)]  # noqa: UP007 # of strings, too
        case ast.Subscript(head, ast.Tuple(items)):
            return _generic(_value(head, names))[tuple(_value(item, names) for item in items)]
        case ast.Subscript(head, item):
            return _generic(_value(head, names))[_value(item, names)]
    raise NotCertain


def _generic(head: object) -> Any:  # what takes arguments in brackets has no type of its own
    """The class or form before brackets, if brackets after it make a type."""
    home = type(head).__module__
    # `Color["RED"]` of an enum is a member, by the `__getitem__` of its metaclass.
    makes_types = isinstance(head, type) and (
        home == "jaxtyping._array_types" or not hasattr(type(head), "__getitem__")
    )
    if not makes_types and home not in ("typing", "types"):
        raise NotCertain
    return head


def is_class_variable(annotation: object) -> bool:
    """Return whether an evaluated annotation says an attribute of the class.

    Raises:
        NotCertain: it is not a type, or not one that is known yet.
    """
    if annotation is KW_ONLY or isinstance(annotation, InitVar):
        raise NotCertain
    if isinstance(annotation, type):
        head = getattr(annotation, "qualified", "") if issubclass(annotation, Named) else ""
    else:
        origin = typing.get_origin(annotation)
        if origin is None and annotation is not None and not isinstance(annotation, typing.TypeVar):
            if annotation is typing.ClassVar:
                return True
            raise NotCertain
        if origin is typing.ClassVar:
            return True
        head = getattr(origin, "qualified", "") if isinstance(origin, type) and issubclass(origin, Named) else ""
    # Imported for checkers only, it is a name that means nothing here.
    if head.endswith("ClassVar"):
        raise NotCertain
    return False


_FORMS = (language.PER_ITEM, language.RAGGED, language.AS_TENSOR)
"""What this package offers for annotations, beside `Unbatched`."""


class Decided(NamedTuple):
    """What the annotation of a field decides."""

    field: AnnotatedField
    nested_class: type | None
    """The TensorClass in it."""
    takes_none: bool
    """True if None is among the values, of a static field too."""


class Kinds:
    """Decides the kinds of the fields of one class statement."""

    def __init__(self, names: Names, flags: frozenset[str], is_declared: Callable[[object], bool]) -> None:
        self._names, self._flags, self._is_declared = names, flags, is_declared
        self._classes: dict[str, type] = {}
        """The TensorClasses in the annotation by qualified name."""

    def decide(self, name: str, annotation: object) -> Decided:
        """The field with this name and annotation, which was evaluated before.

        Raises:
            NotCertain: it is not one of the usual ones.
        """
        self._classes.clear()
        type = self._type(annotation)
        field = annotated_field(name, type, self._flags, self._classes.__contains__)
        names = [member.name for member in members_of(type)]
        # A rule says why a form of this package is not used as it must be.
        if field.kind is FieldKind.STATIC and any(name.startswith("qten_gen.") for name in names):
            raise NotCertain
        return Decided(field, next(iter(self._classes.values())) if field.nested else None, "None" in names)

    def _type(self, annotation: object) -> PlainType:
        """The name and arguments of an annotation.

        Raises:
            NotCertain: the generator's reader may see more in it.
        """
        annotation = evaluated(annotation, self._names)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        dims = getattr(annotation, "dim_str", None)
        if annotation is None or annotation is types.NoneType:
            return PlainType("None")
        if origin is typing.Union or origin is types.UnionType:
            return _union([self._type(member) for member in arguments])
        if origin is typing.Annotated:
            inner = self._type(arguments[0])
            return PlainType(language.UNBATCHED, (inner,)) if language.UNBATCHED in arguments[1:] else inner
        if isinstance(annotation, typing.TypeVar) and annotation.__bound__ is not None:
            return self._type(annotation.__bound__)
        if isinstance(dims, str):
            dtype = str(getattr(annotation, "__name__", "")).partition("[")[0]
            return PlainType(f"jaxtyping.{dtype}", (self._type(getattr(annotation, "array_type", None)), dims))
        if origin is typing.Literal:
            return PlainType("typing.Literal")
        head = annotation if origin is None else origin
        name = f"{getattr(head, '__module__', '')}.{getattr(head, '__qualname__', '')}"
        form = "qten_gen." + name.rpartition(".")[2]
        if name.startswith("qten_gen.") and form in _FORMS:
            # The values of each item may be of any type.
            return PlainType(form, () if form == language.PER_ITEM else tuple(map(self._type, arguments)))
        return self._class(head, name, arguments)

    def _class(self, cls: object, name: str, arguments: tuple[object, ...]) -> PlainType:
        """The name and arguments of a class, or of one that takes arguments.

        Raises:
            NotCertain: the generator's reader may see more in it.
        """
        # Of a name that means nothing yet there is no object to ask.
        if not isinstance(cls, type) or issubclass(cls, Named):
            raise NotCertain
        if self._is_declared(cls):
            self._classes[name] = cls
            return PlainType(name)
        if issubclass(cls, Tensor):
            return PlainType("torch.Tensor")
        if cls in (list, dict):
            return PlainType(name, tuple(map(self._type, arguments)))
        is_special = name.startswith(("tensordict.", "qten_gen.")) or hasattr(cls, "_is_tensorclass")
        if is_special or is_tensor(PlainType(name)):
            raise NotCertain
        return PlainType(name)


def _union(members: list[PlainType]) -> PlainType:
    """The union of types, some of which may be unions."""
    found = tuple(dict.fromkeys(part for member in members for part in members_of(member)))
    return found[0] if len(found) == 1 else PlainType("|", found)
