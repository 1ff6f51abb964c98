"""The field that an annotation declares in a TensorClass, and questions about annotations."""

from __future__ import annotations

from collections.abc import Callable

from ..common.field_kinds import is_tensor as is_tensor
from ..common.field_kinds import kind_of
from ..common.field_kinds import members_of as members_of
from .field_parts import TypeExpr
from .fields import FieldDecl, FieldKind


def classify(name: str, type: TypeExpr, flags: frozenset[str], is_tensorclass: Callable[[str], bool]) -> FieldDecl:
    """Build the field that `name: type` declares in a class with these flags, without its default, owner and place.

    >>> from qten_gen.model import union
    >>> classify("mask", union((TypeExpr("torch.Tensor"), TypeExpr("None"))), frozenset(), lambda _: False).optional
    True
    """
    kind, optional, nested, cast, dims, dtype, unbatched, container = kind_of(type, flags, is_tensorclass)
    return FieldDecl(name, FieldKind(kind), optional, nested, cast, dims, dtype, unbatched, container, type=type)


def is_kw_only(type: TypeExpr) -> bool:
    """True if an annotation is `dataclasses.KW_ONLY`."""
    return type.name == "dataclasses.KW_ONLY"


def child_class(type: TypeExpr) -> TypeExpr:
    """The class of the children in the annotation of a submodule: `Block` for `Block | None` and for `ModuleList[Block]`."""
    present = next((member for member in members_of(type) if member.name != "None"), type)
    inner = present.args[0] if present.name.startswith("qten_gen.") and present.args else present
    return inner if isinstance(inner, TypeExpr) else present
