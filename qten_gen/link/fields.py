"""One field or virtual tensor of a class statement → its declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..classify import classify
from ..model import (
    Argument,
    BufferDecl,
    ConfigDecl,
    Default,
    Dim,
    DimError,
    FieldDecl,
    FieldSource,
    MethodSource,
    ModuleField,
    ParameterDecl,
    Specifier,
    SubmoduleDecl,
    TypeExpr,
    Value,
    VirtualDecl,
    language,
)


def tensorclass_field(
    source: FieldSource, type: TypeExpr, flags: frozenset[str], owner: str, is_declared: Callable[[str], bool]
) -> FieldDecl:
    """A field of a TensorClass; `type` is its annotation, expanded."""
    default, kw_only = _default(source)
    decl = classify(source.name, type, flags, is_declared)
    return replace(decl, default=default, kw_only=kw_only, doc=source.doc, owner=owner, place=source.place)


def module_field(source: FieldSource, type: TypeExpr, owner: str) -> ModuleField:
    """A field of a Module: what its specifier says, and a constructor argument where it has none.

    A dimension that cannot be read is left out; the rule `malformed-dimension` reports it.
    """
    name, doc, place, call = source.name, source.doc, source.place, source.specifier
    match call:
        case Specifier(language.PARAM):
            return ParameterDecl(
                name,
                dims=_dims(call),
                initializer=_given(call, "initializer"),
                dtype=_given(call, "dtype"),
                requires_grad=_is_on(call, "requires_grad"),
                type=type,
                doc=doc,
                owner=owner,
                place=place,
            )
        case Specifier(language.BUFFER):
            return BufferDecl(
                name,
                dims=_dims(call),
                persistent=_is_on(call, "persistent"),
                initializer=_given(call, "initializer"),
                dtype=_given(call, "dtype"),
                type=type,
                doc=doc,
                owner=owner,
                place=place,
            )
        case Specifier(language.SUBMODULE):
            cls, *arguments = call.arguments or (Argument(None, Value()),)
            constructed = cls.value if isinstance(cls.value, Value) else Value()
            readable = tuple(a for a in arguments if not isinstance(a.value, DimError) and a.keyword != "init")
            return SubmoduleDecl(name, constructed, readable, type=type, doc=doc, owner=owner, place=place)
    default, kw_only = _default(source)
    return ConfigDecl(name, default, kw_only, type=type, doc=doc, owner=owner, place=place)


def virtual_field(method: MethodSource, owner: str) -> VirtualDecl:
    """A function decorated with `virtual`."""
    cached = method.specifier.get("cached") if method.specifier else None
    signature = method.signature
    names = tuple(name for name in signature.names if name in signature.result)
    return VirtualDecl(
        method.name,
        cached=cached is not None and isinstance(cached.value, Value) and cached.value.literal == "True",
        type=TypeExpr("torch.Tensor", text=signature.result or "torch.Tensor", place=method.place, names=names),
        doc=method.doc,
        owner=owner,
        place=method.place,
    )


def _default(source: FieldSource) -> tuple[Default | None, bool]:
    """The default of a constructor argument, and whether it is keyword only."""
    call = source.specifier
    if call is None:
        return (None if source.value is None else Default(source.value)), False
    kw_only = call.get("kw_only")
    is_kw_only = kw_only is not None and isinstance(kw_only.value, Value) and kw_only.value.literal == "True"
    for keyword, factory in (("default_factory", True), ("default", False)):
        argument = call.get(keyword)
        if argument is not None and isinstance(argument.value, Value):
            return Default(argument.value, factory), is_kw_only
    return None, is_kw_only


def _dims(call: Specifier) -> tuple[Dim, ...]:
    return tuple(a.value for a in call.positional if not isinstance(a.value, DimError | Value))


def _given(call: Specifier, keyword: str) -> Value | None:
    """A keyword's value; None where it is left out or given as None."""
    argument = call.get(keyword)
    if argument is None or not isinstance(argument.value, Value) or argument.value.literal == "None":
        return None
    return argument.value


def _is_on(call: Specifier, keyword: str) -> bool:
    argument = call.get(keyword)
    return argument is None or not isinstance(argument.value, Value) or argument.value.literal != "False"
