"""How a field of a TensorClass is stored, from its annotation: what `model.field_kinds` decides, for the usual annotations.

It gives up where an annotation is anything else, and the generator's reader decides.
"""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, InitVar
from typing import Any, NamedTuple

from torch import Tensor

from ...common import language
from .class_scope import Scope


class NotCertain(Exception):
    """A class statement has something that only the generator's reader understands."""


class Named:
    """Ground of the classes that stand in an annotation for names that mean nothing yet."""

    qualified = ""


class Names(dict[str, object]):
    """The names in the annotations of a class statement that are strings, each with what it means; it keeps those looked up."""

    def __init__(self, scope: Scope, module: str, name: str, body: Mapping[str, object]) -> None:
        super().__init__()
        self._scope, self._module, self._name, self._body = scope, module, name, body

    def __missing__(self, name: str) -> object:
        # It may be the default of a field, which hides the type; `reflection` tells them apart.
        if name in self._body:
            raise NotCertain(name)
        if name == self._name:
            found: object = _named(f"{self._module}.{name}")
        else:
            try:
                found = self._scope.resolve(name)
            except NameError:
                found = _named(self._qualified(name))
        self[name] = found
        return found

    def _qualified(self, name: str) -> str:
        imported = self._scope.import_of(name)
        return f"{self._module}.{name}" if imported is None and self._scope.defines(name) else imported or name


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


class Kind(NamedTuple):
    """How a field is stored, with the attributes of `model.fields.FieldDecl`."""

    kind: str
    optional: bool = False
    nested: str | None = None
    cast: str | None = None
    dims: str | None = None
    dtype: str | None = None
    unbatched: bool = False
    container: str | None = None
    nested_class: type | None = None


_WIDTHS = (bool, int, float, complex)
# Packages whose types decide kinds: of a name that is imported for checkers only, there is no object to ask.
_KNOWN_LATER = (
    "torch",
    "tensordict",
    "typing",
    "typing_extensions",
    "jaxtyping",
    "qten_gen",
    "dataclasses",
    "builtins",
)


class Kinds:
    """Decides the kinds of the fields of one class statement."""

    def __init__(
        self, names: Names, flags: frozenset[str], is_declared: Callable[[object], bool], later: Callable[[str], bool]
    ) -> None:
        self._names, self._flags, self._is_declared, self._is_declared_later = names, flags, is_declared, later

    def kind(self, annotation: object) -> Kind:
        """The kind of a field with this annotation, evaluated before.

        Raises:
            NotCertain: it is not one of the usual ones.
        """
        # In the order of `model.field_kinds`.
        members = list(dict.fromkeys(self._members(annotation)))
        present = [member for member in members if member is not None]
        optional = len(present) < len(members)
        single = present[0] if len(present) == 1 else None
        if isinstance(single, _Unbatched):
            inner = self.kind(single.annotation)
            if inner.kind == "tensor":
                return inner._replace(unbatched=True, optional=optional or inner.optional)
            return Kind("static")
        if any(isinstance(member, _Unbatched) for member in present):
            raise NotCertain
        if present and all(_is_tensor(member) for member in present):
            return self._tensor(present, optional)
        if single is not None and (found := self._of_single(single, optional)) is not None:
            return found
        if not self._flags & {"autocast", "nocast"} and (found := _number(present, optional)) is not None:
            return found
        for member in present:
            self._refuse_unknown(member)
        return Kind("static")

    def _members(self, annotation: object) -> Iterator[object]:
        """The members of a union, or the type alone; None for None."""
        annotation = evaluated(annotation, self._names)
        origin = typing.get_origin(annotation)
        if annotation is None or annotation is types.NoneType:
            yield None
        elif origin is typing.Union or origin is types.UnionType:
            for member in typing.get_args(annotation):
                yield from self._members(member)
        elif origin is typing.Annotated:
            inner, *metadata = typing.get_args(annotation)
            if language.UNBATCHED in metadata:
                yield _Unbatched(inner)
            else:
                yield from self._members(inner)
        elif isinstance(annotation, typing.TypeVar):
            if annotation.__bound__ is None:
                raise NotCertain
            yield from self._members(annotation.__bound__)
        else:
            yield annotation

    def _tensor(self, present: list[object], optional: bool) -> Kind:
        dims = getattr(present[0], "dim_str", None)
        if len(present) > 1 or not isinstance(dims, str):
            return Kind("tensor", optional)
        return Kind("tensor", optional, dims=dims, dtype=str(getattr(present[0], "__name__", "")).partition("[")[0])

    def _of_single(self, single: object, optional: bool) -> Kind | None:
        """The kind of an annotation with one member beside None, if it is a container, an object or a value of each item."""
        origin = typing.get_origin(single) or single
        arguments = tuple(evaluated(given, self._names) for given in typing.get_args(single))
        named = f"{getattr(origin, '__module__', '')}.{getattr(origin, '__qualname__', '')}"
        if named.startswith("qten_gen."):
            if named.endswith(".PerItem"):
                return Kind("per item", optional)
            if named.endswith(".Ragged") and len(arguments) == 1:
                return self._ragged(self.kind(arguments[0]), optional)
            if named.endswith(".AsTensor") and len(arguments) == 1 and not optional:
                members = list(self._members(arguments[0]))
                return _number([member for member in members if member is not None], None in members)
            if not self._is_declared(origin):
                raise NotCertain
        if origin in (list, dict) and arguments and _is_tensor(arguments[-1]):
            # Shapes in a list or dict are not checked, so such a field is static, or a rule refuses it.
            if hasattr(arguments[-1], "dim_str"):
                raise NotCertain
            if origin is list and len(arguments) == 1:
                return Kind("tensor", optional, container="list")
            return Kind("tensor", optional, container="dict") if arguments[0] is str else None
        if isinstance(origin, type) and issubclass(origin, Named):
            if self._is_declared_later(origin.qualified):
                return Kind("nested", optional, nested=origin.qualified.rpartition(".")[2])
        elif self._is_declared(origin) and isinstance(origin, type):
            return Kind("nested", optional, nested=origin.__qualname__.rpartition(".")[2], nested_class=origin)
        if "autocast" in self._flags and (single in _WIDTHS or single is str) and isinstance(single, type):
            return Kind("static", optional, cast=single.__name__)
        return None

    def _ragged(self, rows: Kind, optional: bool) -> Kind:
        """The kind of `Ragged[...]` whose rows would be a field of another kind."""
        if rows.optional or rows.unbatched or rows.container or rows.kind not in ("tensor", "nested"):
            raise NotCertain
        return rows._replace(kind="ragged", optional=optional)

    def _refuse_unknown(self, member: object) -> None:
        """Refuse a type that may be more than a Python value to the generator's reader.

        Raises:
            NotCertain: it may be.
        """
        origin = typing.get_origin(member) or member
        if not isinstance(origin, type):
            if origin is typing.Literal:
                return
            raise NotCertain
        home = getattr(origin, "qualified", "") if issubclass(origin, Named) else origin.__module__
        first = home.partition(".")[0]
        if first == "tensordict" or hasattr(origin, "_is_tensorclass") or hasattr(origin, "dim_str"):
            raise NotCertain
        if issubclass(origin, Named) and first in _KNOWN_LATER:
            raise NotCertain
        # `model.field_kinds` knows tensors by these names.
        if first == "torch" and origin.__name__.endswith(("Tensor", "Parameter", "Buffer")):
            raise NotCertain


class _Unbatched(NamedTuple):
    """`Unbatched[...]` in an annotation."""

    annotation: object


def _number(present: list[object], optional: bool) -> Kind | None:
    """The kind of a number that is stored as a tensor, by the widest of its types; None if one of them is no number."""
    if not present or not all(member in _WIDTHS for member in present):
        return None
    widest = max((member for member in present if isinstance(member, type)), key=_WIDTHS.index)
    return Kind("number", optional, cast=widest.__name__)


def _is_tensor(member: object) -> bool:
    """Return whether a type is a tensor, or a jaxtyping array of one."""
    dims = getattr(member, "dim_str", None)
    array = getattr(member, "array_type", None) if isinstance(dims, str) else member
    return isinstance(array, type) and issubclass(array, Tensor)
