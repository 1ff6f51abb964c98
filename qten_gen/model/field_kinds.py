"""Decides the kind of a TensorClass field from its annotation. Both readers, of text and of class statements, use it.

Each kind of annotation has a function below, which returns the field that the annotation declares, or None if the annotation is
of another kind. `_DECIDERS` lists the functions in order. The first field returned is used, and if there is none, the field is
static.

To add a kind, add a member to `FieldKind` (or an attribute to `FieldDecl`, for a variant of an existing kind), write the
function, and add it to the list. mypy then names the functions that have to know it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..common import language
from ..common.records import replace
from .field_parts import TypeExpr
from .fields import FieldDecl, FieldKind

_NUMBERS_BY_WIDTH = ("bool", "int", "float", "complex")
_NUMBERS = frozenset(f"builtins.{name}" for name in _NUMBERS_BY_WIDTH)
_CASTS = _NUMBERS | {"builtins.str"}
_JAXTYPING = "jaxtyping."
_LISTS = ("builtins.list", "typing.List")
_DICTS = ("builtins.dict", "typing.Dict")


class _Annotation(NamedTuple):
    """An annotation and its class, the input of the functions below."""

    name: str
    """Name of the field."""
    type: TypeExpr
    present: tuple[TypeExpr, ...]
    """The members of the union, or the type alone, without None: `(Tensor,)` for `Tensor | None`."""
    optional: bool
    """True if None was among the members."""
    single: TypeExpr | None
    """The only member of `present`; None if there are several or none."""
    flags: frozenset[str]
    is_tensorclass: Callable[[str], bool]


def classify(name: str, type: TypeExpr, flags: frozenset[str], is_tensorclass: Callable[[str], bool]) -> FieldDecl:
    """Build the field that `name: type` declares in a class with these flags, without its default, owner and place.

    Args:
        name: Name of the field.
        type: Its annotation, with aliases and type variables expanded.
        flags: The flags of the class, inherited ones included.
        is_tensorclass: Gives True for the qualified name of a TensorClass.

    >>> from qten_gen.model import union
    >>> classify("mask", union((TypeExpr("torch.Tensor"), TypeExpr("None"))), frozenset(), lambda _: False).optional
    True
    """
    members = members_of(type)
    present = tuple(member for member in members if member.name != "None")
    single = present[0] if len(present) == 1 else None
    optional = len(present) < len(members)
    annotation = _Annotation(name, type, present, optional, single, flags, is_tensorclass)
    for decide in _DECIDERS:
        found = decide(annotation)
        if found is not None:
            return found
    return FieldDecl(name, FieldKind.STATIC, type=type)


def _unbatched(given: _Annotation) -> FieldDecl | None:
    """`Unbatched[Tensor]`: a tensor without batch dimensions."""
    if given.single is None or given.single.name != language.UNBATCHED:
        return None
    inner = classify(given.name, argument_of(given.single), given.flags, given.is_tensorclass)
    if inner.kind is not FieldKind.TENSOR:
        return None
    return replace(inner, unbatched=True, optional=given.optional or inner.optional, type=given.type)


def _tensor(given: _Annotation) -> FieldDecl | None:
    """`Tensor`, `Int[Tensor, "*batch seq"]`, and unions of tensors."""
    if not given.present or not all(is_tensor(member) for member in given.present):
        return None
    dtype, dims = _shape(given.present)
    return FieldDecl(given.name, FieldKind.TENSOR, given.optional, dtype=dtype, dims=dims, type=given.type)


def _per_item(given: _Annotation) -> FieldDecl | None:
    """`PerItem[str]`: a Python value for each item."""
    if given.single is None or given.single.name != language.PER_ITEM:
        return None
    return FieldDecl(given.name, FieldKind.PER_ITEM, given.optional, type=given.type)


def _ragged(given: _Annotation) -> FieldDecl | None:
    """`Ragged[Tensor]`, `Ragged[Float[Tensor, "n 4"]]`, and `Ragged[Point]` of another TensorClass."""
    if given.single is None or given.single.name != language.RAGGED:
        return None
    rows = argument_of(given.single)
    dtype, dims = _shape((rows,))
    if given.is_tensorclass(rows.name):
        nested = rows.name.rpartition(".")[2]
    elif is_tensor(rows):
        nested = None
    else:
        return None
    return FieldDecl(given.name, FieldKind.RAGGED, given.optional, nested, dtype=dtype, dims=dims, type=given.type)


def _several_tensors(given: _Annotation) -> FieldDecl | None:
    """`dict[str, Tensor]` and `list[Tensor]`."""
    container = None if given.single is None else _container(given.single)
    if container is None:
        return None
    return FieldDecl(given.name, FieldKind.TENSOR, given.optional, container=container, type=given.type)


def _nested(given: _Annotation) -> FieldDecl | None:
    """`Point`, another TensorClass."""
    if given.single is None or not given.is_tensorclass(given.single.name):
        return None
    nested = given.single.name.rpartition(".")[2]
    return FieldDecl(given.name, FieldKind.NESTED, given.optional, nested=nested, type=given.type)


def _converted(given: _Annotation) -> FieldDecl | None:
    """`int`, `float`, `bool`, `complex` or `str` in an `autocast` class, which converts values."""
    if "autocast" not in given.flags or given.single is None or given.single.name not in _CASTS:
        return None
    cast = given.single.name.rpartition(".")[2]
    return FieldDecl(given.name, FieldKind.STATIC, given.optional, cast=cast, type=given.type)


def _as_tensor(given: _Annotation) -> FieldDecl | None:
    """`AsTensor[int]` and `AsTensor[int | None]`: a number that is stored as a tensor in every class."""
    if given.single is None or given.optional or given.single.name != language.AS_TENSOR:
        return None
    members = members_of(argument_of(given.single))
    present = tuple(member for member in members if member.name != "None")
    return _number(given._replace(present=present, optional=len(present) < len(members), flags=frozenset()))


def _number(given: _Annotation) -> FieldDecl | None:
    """`int`, `float`, `bool` or `complex` in a class that stores numbers as tensors."""
    keeps_numbers = given.flags & {"autocast", "nocast"}
    if keeps_numbers or not given.present or not all(member.name in _NUMBERS for member in given.present):
        return None
    widest = max((member.name.rpartition(".")[2] for member in given.present), key=_NUMBERS_BY_WIDTH.index)
    return FieldDecl(given.name, FieldKind.NUMBER, given.optional, cast=widest, type=given.type)


_DECIDERS = (_unbatched, _tensor, _per_item, _ragged, _several_tensors, _nested, _converted, _as_tensor, _number)
"""The kinds in the order in which they are tried."""


def members_of(type: TypeExpr) -> tuple[TypeExpr, ...]:
    """The members of a union, or the type alone. `Final[T]` is T."""
    if type.name == "typing.Final" and type.args and isinstance(type.args[0], TypeExpr):
        return members_of(type.args[0])
    if type.name != "|":
        return (type,)
    return tuple(member for member in type.args if isinstance(member, TypeExpr))


def is_kw_only(type: TypeExpr) -> bool:
    """True if an annotation is `dataclasses.KW_ONLY`."""
    return type.name == "dataclasses.KW_ONLY"


def argument_of(type: TypeExpr, position: int = 0) -> TypeExpr:
    """An argument of a type: `Tensor` for `Unbatched[Tensor]`; if there is none, a type without a name."""
    found = type.args[position] if type.args else ""
    return found if isinstance(found, TypeExpr) else TypeExpr("")


def child_class(type: TypeExpr) -> TypeExpr:
    """The class of the children in the annotation of a submodule: `Block` for `Block | None` and for `ModuleList[Block]`."""
    present = next((member for member in members_of(type) if member.name != "None"), type)
    inner = present.args[0] if present.name.startswith("qten_gen.") and present.args else present
    return inner if isinstance(inner, TypeExpr) else present


def is_tensor(type: TypeExpr) -> bool:
    """True if the type is a tensor: `torch.Tensor`, a subclass that torch or tensordict names, or a jaxtyping array of one."""
    if type.name.startswith(_JAXTYPING):
        array = type.args[0] if type.args else None
        return isinstance(array, TypeExpr) and is_tensor(array)
    head, _, last = type.name.partition(".")
    last = last.rpartition(".")[2]
    if head == "tensordict":
        return last.endswith("Tensor")
    return head == "torch" and (last.endswith("Tensor") or last in ("Parameter", "Buffer"))


def _container(type: TypeExpr) -> str | None:
    """`"dict"` or `"list"` for `dict[str, Tensor]` or `list[Tensor]`. Shapes inside are not checked, so they are not accepted."""
    if not type.args or not is_tensor(last := argument_of(type, -1)) or last.name.startswith(_JAXTYPING):
        return None
    if type.name in _LISTS and len(type.args) == 1:
        return "list"
    return "dict" if type.name in _DICTS and argument_of(type).name == "builtins.str" else None


def _shape(tensors: tuple[TypeExpr, ...]) -> tuple[str | None, str | None]:
    """The dtype and dimensions of a jaxtyping annotation; None without one, or with several."""
    if len(tensors) != 1 or not tensors[0].name.startswith(_JAXTYPING):
        return None, None
    dims = tensors[0].args[1] if len(tensors[0].args) > 1 else None
    return tensors[0].name.removeprefix(_JAXTYPING), dims if isinstance(dims, str) else None
