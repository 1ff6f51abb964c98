"""What an annotation decides about a field: the one place where both readers, of text and of class objects, learn it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import FieldDecl, FieldKind, TypeExpr, language

_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.complex"})
_CASTS = _NUMBERS | {"builtins.str"}
_JAXTYPING = "jaxtyping."
_LISTS = ("builtins.list", "typing.List")
_DICTS = ("builtins.dict", "typing.Dict")


def classify(name: str, type: TypeExpr, flags: frozenset[str], is_declared: Callable[[str], bool]) -> FieldDecl:
    """The field that `name: type` declares in a class with these flags, without its default, owner and place.

    Args:
        name: Name of the field.
        type: Its annotation, aliases and type variables replaced by what they stand for.
        flags: The flags of the class, inherited ones included.
        is_declared: Whether a qualified name is a TensorClass.

    >>> from qten_gen.model import union
    >>> classify("mask", union((TypeExpr("torch.Tensor"), TypeExpr("None"))), frozenset(), lambda _: False).optional
    True
    """
    members = members_of(type)
    present = tuple(member for member in members if member.name != "None")
    optional = len(present) < len(members)
    if len(present) == 1 and present[0].name == language.UNBATCHED:
        inner = classify(name, argument_of(present[0]), flags, is_declared)
        if inner.kind is FieldKind.TENSOR:
            return replace(inner, unbatched=True, optional=optional or inner.optional, type=type)
    if present and all(is_tensor(member) for member in present):
        dtype, dims = _shape(present)
        return FieldDecl(name, FieldKind.TENSOR, optional, dtype=dtype, dims=dims, type=type)
    if len(present) == 1 and present[0].name == language.PER_ITEM:
        return FieldDecl(name, FieldKind.PER_ITEM, optional, type=type)
    if len(present) == 1 and _container(present[0]) is not None:
        return FieldDecl(name, FieldKind.TENSOR, optional, container=_container(present[0]), type=type)
    if len(present) == 1 and is_declared(present[0].name):
        nested = present[0].name.rpartition(".")[2]
        return FieldDecl(name, FieldKind.NESTED, optional, nested=nested, type=type)
    if "autocast" in flags and len(present) == 1 and present[0].name in _CASTS:
        cast = present[0].name.rpartition(".")[2]
        return FieldDecl(name, FieldKind.STATIC, optional, cast=cast, type=type)
    if present and not flags & {"autocast", "nocast"} and all(member.name in _NUMBERS for member in present):
        return FieldDecl(name, FieldKind.NUMBER, optional, type=type)
    return FieldDecl(name, FieldKind.STATIC, type=type)


def members_of(type: TypeExpr) -> tuple[TypeExpr, ...]:
    """The members of a union, or the type alone. `Final[T]` is T."""
    if type.name == "typing.Final" and type.args and isinstance(type.args[0], TypeExpr):
        return members_of(type.args[0])
    if type.name != "|":
        return (type,)
    return tuple(member for member in type.args if isinstance(member, TypeExpr))


def argument_of(type: TypeExpr, position: int = 0) -> TypeExpr:
    """An argument of a type: `Tensor` for `Unbatched[Tensor]`; where there is none, a type that cannot be named."""
    found = type.args[position] if type.args else ""
    return found if isinstance(found, TypeExpr) else TypeExpr("")


def child_class(type: TypeExpr) -> TypeExpr:
    """The class of the children in the annotation of a submodule: `Block` for `Block | None` and for `ModuleList[Block]`."""
    present = next((member for member in members_of(type) if member.name != "None"), type)
    inner = present.args[0] if present.name.startswith("qten_gen.") and present.args else present
    return inner if isinstance(inner, TypeExpr) else present


def is_tensor(type: TypeExpr) -> bool:
    """Whether the type is a tensor: `torch.Tensor`, a subclass that torch names, or a jaxtyping array of one."""
    if type.name.startswith(_JAXTYPING):
        array = type.args[0] if type.args else None
        return isinstance(array, TypeExpr) and is_tensor(array)
    head, _, last = type.name.partition(".")
    last = last.rpartition(".")[2]
    return head == "torch" and (last.endswith("Tensor") or last in ("Parameter", "Buffer"))


def _container(type: TypeExpr) -> str | None:
    """What holds the tensors of `dict[str, Tensor]` or `list[Tensor]`. Shapes inside are not checked, so none may be said."""
    if not type.args or not is_tensor(last := argument_of(type, -1)) or last.name.startswith(_JAXTYPING):
        return None
    if type.name in _LISTS and len(type.args) == 1:
        return "list"
    return "dict" if type.name in _DICTS and argument_of(type).name == "builtins.str" else None


def _shape(tensors: tuple[TypeExpr, ...]) -> tuple[str | None, str | None]:
    """Kind of number and dimensions, where one jaxtyping annotation says them."""
    if len(tensors) != 1 or not tensors[0].name.startswith(_JAXTYPING):
        return None, None
    dims = tensors[0].args[1] if len(tensors[0].args) > 1 else None
    return tensors[0].name.removeprefix(_JAXTYPING), dims if isinstance(dims, str) else None
