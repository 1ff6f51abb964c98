"""Decides the kind of a TensorClass field from its annotation, which was read in a text or in a class statement.

Each kind of annotation has a function below, which returns the kind that the annotation declares, or None if the annotation is
of another kind. `_DECIDERS` lists the functions in order. The first kind returned is used, and if there is none, the field is
static.

To add a kind, add a member to `FieldKind` (or an attribute to `AnnotatedField`, for a variant of an existing kind), write the
function, and add it to the list. mypy then names the functions that have to know it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol, Self, TypeVar

from . import language
from .records import record, replace

_NUMBERS_BY_WIDTH = ("bool", "int", "float", "complex")
_NUMBERS = frozenset(f"builtins.{name}" for name in _NUMBERS_BY_WIDTH)
_CASTS = _NUMBERS | {"builtins.str"}
_JAXTYPING = "jaxtyping."
_LISTS = ("builtins.list", "typing.List")
_DICTS = ("builtins.dict", "typing.Dict")


class Type(Protocol):
    """An annotation with its names resolved, as `model.TypeExpr` describes it."""

    @property
    def name(self) -> str: ...
    @property
    def args(self) -> tuple[Self | str, ...]: ...


T = TypeVar("T", bound=Type)


class PlainType(NamedTuple):
    """A type with nothing but what decides kinds."""

    name: str
    args: tuple[PlainType | str, ...] = ()


class FieldKind(StrEnum):
    """How a TensorClass field is stored."""

    TENSOR = "tensor"
    """A tensor whose leading dimensions are the batch size: `Tensor`, `Int[Tensor, "*batch seq"]`, `dict[str, Tensor]`."""
    NUMBER = "number"
    """A number that is stored as a tensor: `AsTensor[int]`, and `int` in a class that is neither `autocast` nor `nocast`."""
    NESTED = "nested"
    """Another TensorClass, whose batch size starts with this one's: `Point`."""
    RAGGED = "ragged"
    """Items with different numbers of rows, which are tensors or objects of a TensorClass: `Ragged[Tensor]`."""
    STATIC = "static"
    """Any other Python value, the same for the whole batch: `str`."""
    PER_ITEM = "per item"
    """Python values, one for each item of the batch: `PerItem[str]`."""

    @property
    def is_static(self) -> bool:
        """True if the field stores Python values, in the table `_static`, with which no operation computes."""
        match self:
            case FieldKind.STATIC | FieldKind.PER_ITEM:
                return True
            case FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED | FieldKind.RAGGED:
                return False


@record(frozen=True, slots=True)
class AnnotatedField:
    """A field, and how its annotation says that it is stored: `tokens: Int[Tensor, "*batch seq"]`."""

    name: str
    kind: FieldKind = FieldKind.STATIC
    optional: bool = False
    """True if None is among the field's values: `mask: Tensor | None`."""
    nested: str | None = None
    """The class name of a nested field, or of the rows of a ragged one, without its module: `Point`."""
    cast: str | None = None
    """The builtin that values are converted with, for a number and in an `autocast` class: `"float"` for `rate: float`."""
    dims: str | None = None
    """The shape that a jaxtyping annotation states, of a ragged field for the rows of an item: `"*batch seq"`."""
    dtype: str | None = None
    """jaxtyping's name for the dtype, or for several: `"Int"` of `Int[Tensor, "*batch seq"]`."""
    unbatched: bool = False
    """True if the tensor has no batch dimensions: `Unbatched[Tensor]`."""
    container: str | None = None
    """`"dict"` for `dict[str, Tensor]` and `"list"` for `list[Tensor]`; None for a single tensor."""


class _Annotation(NamedTuple):
    """The annotation of a field in a class, the input of the functions below."""

    name: str
    """The name of the field."""
    present: tuple[Type, ...]
    """The members of the union, or the type alone, without None: `(Tensor,)` for `Tensor | None`."""
    single: Type
    """The only member of `present`; a type without a name if there are several or none."""
    optional: bool
    """True if None was among the members."""
    flags: frozenset[str]
    is_tensorclass: Callable[[str], bool]


def annotated_field(
    name: str, type: Type, flags: frozenset[str], is_tensorclass: Callable[[str], bool]
) -> AnnotatedField:
    """The field that `name: type` declares in a class with these flags.

    Args:
        name: The name of the field.
        type: The annotation, with aliases and type variables expanded.
        flags: The flags of the class, inherited ones included.
        is_tensorclass: Gives True for the qualified name of a TensorClass.
    """
    members = members_of(type)
    present = tuple(member for member in members if member.name != "None")
    optional = len(present) < len(members)
    single = present[0] if len(present) == 1 else _NAMELESS
    annotation = _Annotation(name, present, single, optional, flags, is_tensorclass)
    for decide in _DECIDERS:
        found = decide(annotation)
        if found is not None:
            return replace(found, optional=True) if optional else found
    return AnnotatedField(name)


def _unbatched(given: _Annotation) -> AnnotatedField | None:
    """`Unbatched[Tensor]`: a tensor without batch dimensions."""
    if given.single.name != language.UNBATCHED:
        return None
    inner = annotated_field(given.name, _argument(given.single), given.flags, given.is_tensorclass)
    return replace(inner, unbatched=True) if inner.kind is FieldKind.TENSOR else None


def _tensor(given: _Annotation) -> AnnotatedField | None:
    """`Tensor`, `Int[Tensor, "*batch seq"]`, and unions of tensors."""
    if not given.present or not all(is_tensor(member) for member in given.present):
        return None
    dtype, dims = _shape(given.single)
    return AnnotatedField(given.name, FieldKind.TENSOR, dtype=dtype, dims=dims)


def _per_item(given: _Annotation) -> AnnotatedField | None:
    """`PerItem[str]`: a Python value for each item."""
    return AnnotatedField(given.name, FieldKind.PER_ITEM) if given.single.name == language.PER_ITEM else None


def _ragged(given: _Annotation) -> AnnotatedField | None:
    """`Ragged[Tensor]`, `Ragged[Float[Tensor, "n 4"]]`, and `Ragged[Point]` of another TensorClass."""
    if given.single.name != language.RAGGED:
        return None
    rows = _argument(given.single)
    if given.is_tensorclass(rows.name):
        return AnnotatedField(given.name, FieldKind.RAGGED, nested=_last(rows.name))
    dtype, dims = _shape(rows)
    return AnnotatedField(given.name, FieldKind.RAGGED, dtype=dtype, dims=dims) if is_tensor(rows) else None


def _several_tensors(given: _Annotation) -> AnnotatedField | None:
    """`dict[str, Tensor]` and `list[Tensor]`."""
    container = _container(given.single)
    return None if container is None else AnnotatedField(given.name, FieldKind.TENSOR, container=container)


def _nested(given: _Annotation) -> AnnotatedField | None:
    """`Point`, another TensorClass."""
    name = given.single.name
    return AnnotatedField(given.name, FieldKind.NESTED, nested=_last(name)) if given.is_tensorclass(name) else None


def _converted(given: _Annotation) -> AnnotatedField | None:
    """`int`, `float`, `bool`, `complex` or `str` in an `autocast` class, which converts values."""
    if "autocast" not in given.flags or given.single.name not in _CASTS:
        return None
    return AnnotatedField(given.name, FieldKind.STATIC, cast=_last(given.single.name))


def _as_tensor(given: _Annotation) -> AnnotatedField | None:
    """`AsTensor[int]` and `AsTensor[int | None]`: a number that is stored as a tensor in every class."""
    if given.single.name != language.AS_TENSOR or given.optional:
        return None
    inner = annotated_field(given.name, _argument(given.single), frozenset(), given.is_tensorclass)
    return inner if inner.kind is FieldKind.NUMBER else None


def _number(given: _Annotation) -> AnnotatedField | None:
    """`int`, `float`, `bool` or `complex` in a class that stores numbers as tensors."""
    keeps_numbers = given.flags & {"autocast", "nocast"}
    if keeps_numbers or not given.present or not all(member.name in _NUMBERS for member in given.present):
        return None
    widest = max((_last(member.name) for member in given.present), key=_NUMBERS_BY_WIDTH.index)
    return AnnotatedField(given.name, FieldKind.NUMBER, cast=widest)


_DECIDERS = (_unbatched, _tensor, _per_item, _ragged, _several_tensors, _nested, _converted, _as_tensor, _number)
"""The kinds in the order in which they are tried."""


def members_of(type: T) -> tuple[T, ...]:
    """The members of a union, or the type alone. `Final[T]` is T."""
    if type.name == "typing.Final" and type.args and not isinstance(inner := type.args[0], str):
        return members_of(inner)
    if type.name != "|":
        return (type,)
    return tuple(member for member in type.args if not isinstance(member, str))


_NAMELESS = PlainType("")


def _argument(type: Type, position: int = 0) -> Type:
    """An argument of a type: `Tensor` for `Unbatched[Tensor]`; if there is none, a type without a name."""
    found = type.args[position] if type.args else ""
    return _NAMELESS if isinstance(found, str) else found


def is_tensor(type: Type) -> bool:
    """True if the type is a tensor: `torch.Tensor`, a subclass that torch or tensordict names, or a jaxtyping array of one."""
    if type.name.startswith(_JAXTYPING):
        return is_tensor(_argument(type))
    home, last = type.name.partition(".")[0], _last(type.name)
    if home == "tensordict":
        return last.endswith("Tensor")
    return home == "torch" and (last.endswith("Tensor") or last in ("Parameter", "Buffer"))


def _container(type: Type) -> str | None:
    """`"dict"` or `"list"` for `dict[str, Tensor]` or `list[Tensor]`. Shapes inside are not checked, so they are not accepted."""
    last = _argument(type, -1)
    if not is_tensor(last) or last.name.startswith(_JAXTYPING):
        return None
    if type.name in _LISTS and len(type.args) == 1:
        return "list"
    return "dict" if type.name in _DICTS and _argument(type).name == "builtins.str" else None


def _shape(type: Type) -> tuple[str | None, str | None]:
    """The dtype and dimensions of a jaxtyping annotation; None for another."""
    if not type.name.startswith(_JAXTYPING):
        return None, None
    dims = type.args[1] if len(type.args) > 1 else None
    return type.name.removeprefix(_JAXTYPING), dims if isinstance(dims, str) else None


def _last(name: str) -> str:
    """A qualified name without its module."""
    return name.rpartition(".")[2]
