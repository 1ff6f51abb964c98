"""One field or virtual tensor of a class statement → its declaration."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from dataclasses import replace

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
from ..model.field_kinds import classify

_OWN_KEYWORDS = ("when", "repeat", "keys", "init")
"""What `submodule` itself takes; the rest is for the class."""


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
                when=_string(call, "when"),
                tie=_string(call, "tie"),
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
                when=_string(call, "when"),
                type=type,
                doc=doc,
                owner=owner,
                place=place,
            )
        case Specifier(language.SUBMODULE):
            return _submodule(source, call, type, owner)
    default, kw_only = _default(source)
    return ConfigDecl(name, default, kw_only, type=type, doc=doc, owner=owner, place=place)


def _submodule(source: FieldSource, call: Specifier, type: TypeExpr, owner: str) -> SubmoduleDecl:
    cls, *arguments = call.arguments or (Argument(None, Value()),)
    repeat = call.get("repeat")
    return SubmoduleDecl(
        source.name,
        cls=cls.value if isinstance(cls.value, Value) else Value(),
        arguments=tuple(a for a in arguments if not isinstance(a.value, DimError) and a.keyword not in _OWN_KEYWORDS),
        when=_string(call, "when"),
        repeat=None if repeat is None or isinstance(repeat.value, DimError | Value) else repeat.value,
        keys=_keys(call),
        type=type,
        doc=source.doc,
        owner=owner,
        place=source.place,
    )


def virtual_field(method: MethodSource, owner: str) -> VirtualDecl:
    """A function decorated with `virtual`."""
    cached = method.specifier.get("cached") if method.specifier else None
    signature = method.signature
    names = tuple(name for name in signature.names if name in signature.result)
    return VirtualDecl(
        method.name,
        cached=cached is not None and isinstance(cached.value, Value) and cached.value.literal == "True",
        sources=_names(method.specifier.get("sources") if method.specifier else None),
        type=TypeExpr("torch.Tensor", text=signature.result or "torch.Tensor", place=method.place, names=names),
        doc=method.doc,
        owner=owner,
        place=method.place,
    )


def _names(argument: Argument | None) -> tuple[str, ...] | None:
    """A tuple of names given as a literal; None where there is none."""
    if argument is None or not isinstance(argument.value, Value) or argument.value.literal is None:
        return None
    names = literal_eval(argument.value.literal)
    return tuple(str(name) for name in names) if isinstance(names, tuple) else None


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


def _string(call: Specifier, keyword: str) -> str | None:
    """A keyword's value where it is a string; what it is otherwise, `specifier-argument` reports."""
    found = _constant(call, keyword)
    return found if isinstance(found, str) else None


def _keys(call: Specifier) -> str | tuple[str, ...] | None:
    """The names of a ModuleDict: a config field, or a tuple of strings."""
    found = _constant(call, "keys")
    return tuple(map(str, found)) if isinstance(found, tuple) else _string(call, "keys")


def _constant(call: Specifier, keyword: str) -> object:
    given = _given(call, keyword)
    found: object = None if given is None or given.literal is None else literal_eval(given.literal)
    return found


def _is_on(call: Specifier, keyword: str) -> bool:
    argument = call.get(keyword)
    return argument is None or not isinstance(argument.value, Value) or argument.value.literal != "False"
