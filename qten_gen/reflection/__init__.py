"""Class statement → declaration: the reader for classes that exist, beside the reader for text.

A metaclass hands over what the statement bound (annotations, defaults, specifiers) before the class is made.
Classification is that of the text reader, so that both give equal declarations.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import MISSING, replace
from inspect import cleandoc

from ..model import (
    INIT,
    STRING_OPTIONS,
    BaseDecl,
    BufferDecl,
    ConfigDecl,
    MethodSource,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    Signature,
    SubmoduleDecl,
    TensorClassDecl,
    TypeExpr,
    VirtualDecl,
)
from ..model.field_kinds import classify
from .annotations import AnnotationWalk
from .statement import ClassStatement as ClassStatement
from .values import (
    optional_value,
    read_arguments,
    read_default,
    read_dims,
    read_keys,
    read_repeat,
    read_text,
    specifier,
    value_of,
    vars_of,
)
from .values import written_as as written_as

_NO_FIELDS = ("typing.ClassVar",)


def read_tensorclass(statement: ClassStatement) -> TensorClassDecl:
    """The declaration that a TensorClass statement makes."""
    parents = [(owner, parent) for owner, parent in statement.parents if isinstance(parent, TensorClassDecl)]
    flags = statement.flags.union(*(parent.flags for _, parent in parents), statement.words.keys() & {INIT})
    fields = {f.name: f for owner, parent in reversed(parents) for f in parent.fields if f.owner == owner}
    inherited = frozenset(fields)
    for name, annotation in statement.annotations.items():
        walk = AnnotationWalk(statement)
        expr = walk.expr(annotation)
        if expr.name in _NO_FIELDS:
            continue
        default, kw_only = read_default(statement.namespace.get(name, MISSING))
        decl = classify(name, expr, flags, walk.is_declared)
        fields[name] = replace(decl, default=default, kw_only=kw_only, owner=statement.qualified)
    return TensorClassDecl(
        name=statement.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        flags=flags,
        checks=_word("checks", statement, [parent.checks for _, parent in parents]),
        post_init=_defines(statement, "__post_init__"),
        custom_init="__init__" in statement.namespace,
        module=statement.module,
        qualname=statement.qualname,
        bases=_bases(statement),
        doc=_doc(statement),
        methods=tuple(_methods(statement)),
    )


def _word(keyword: str, statement: ClassStatement, inherited: list[str]) -> str:
    """What a class keyword says that takes a word: in the statement, or else in the first parent."""
    return str(statement.words.get(keyword, next(iter(inherited), STRING_OPTIONS[keyword][0])))


def read_module(statement: ClassStatement) -> ModuleDecl:
    """The declaration that a Module statement makes."""
    parents = [(owner, parent) for owner, parent in statement.parents if isinstance(parent, ModuleDecl)]
    fields = {f.name: f for owner, parent in reversed(parents) for f in parent.fields if f.owner == owner}
    inherited = frozenset(fields)
    for name, annotation in statement.annotations.items():
        expr = AnnotationWalk(statement).expr(annotation)
        if expr.name not in _NO_FIELDS:
            fields[name] = _module_field(name, expr, statement)
    for name, value in statement.namespace.items():
        if specifier(value) == "Virtual":
            fields[name] = _virtual(name, value, statement)
    return ModuleDecl(
        name=statement.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        custom_init="__init__" in statement.namespace or any(parent.custom_init for _, parent in parents),
        custom_reset=_defines(statement, "reset_parameters"),
        inherited_reset=_inherits(statement, "reset_parameters"),
        keeps_init=statement.words.get(INIT) is False,
        module=statement.module,
        qualname=statement.qualname,
        bases=_bases(statement),
        doc=_doc(statement),
        methods=tuple(_methods(statement)),
    )


def _module_field(name: str, expr: TypeExpr, statement: ClassStatement) -> ModuleField:
    value = statement.namespace.get(name, MISSING)
    owner, where = statement.qualified, f"{statement.name}.{name}"
    match specifier(value):
        case "Parameter":
            return ParameterDecl(
                name,
                dims=read_dims(value, where),
                initializer=optional_value(vars_of(value, "initializer")),
                dtype=optional_value(vars_of(value, "dtype")),
                requires_grad=bool(vars_of(value, "requires_grad")),
                when=read_text(value, "when", where),
                tie=read_text(value, "tie", where),
                type=expr,
                owner=owner,
            )
        case "Buffer":
            return BufferDecl(
                name,
                dims=read_dims(value, where),
                persistent=bool(vars_of(value, "persistent")),
                initializer=optional_value(vars_of(value, "initializer")),
                dtype=optional_value(vars_of(value, "dtype")),
                when=read_text(value, "when", where),
                type=expr,
                owner=owner,
            )
        case "Submodule":
            return SubmoduleDecl(
                name,
                cls=value_of(vars_of(value, "cls")),
                arguments=read_arguments(value, where),
                when=read_text(value, "when", where),
                repeat=read_repeat(value, where),
                keys=read_keys(value, where),
                type=expr,
                owner=owner,
            )
        case _:
            default, kw_only = read_default(value)
            return ConfigDecl(name, default=default, kw_only=kw_only, type=expr, owner=owner)


def _virtual(name: str, record: object, statement: ClassStatement) -> VirtualDecl:
    function = vars_of(record, "function")
    doc = cleandoc(getattr(function, "__doc__", None) or "")
    tensor = TypeExpr("torch.Tensor", text="Tensor")
    cached, sources = bool(vars_of(record, "cached")), vars_of(record, "sources")
    names = tuple(map(str, sources)) if isinstance(sources, tuple) else None
    return VirtualDecl(name, cached, names, type=tensor, doc=doc, owner=statement.qualified)


def _defines(statement: ClassStatement, name: str) -> bool:
    """Whether the class or an ancestor defines `name` by hand."""
    return name in statement.namespace or _inherits(statement, name)


def _inherits(statement: ClassStatement, name: str) -> bool:
    """Whether an ancestor outside torch and this package defines `name`; what was generated does not count."""
    return any(
        name in vars(ancestor)
        for base in statement.bases
        for ancestor in base.__mro__
        if ancestor.__module__.partition(".")[0] not in ("qten_gen", "torch", "builtins")
        and "_fingerprint" not in vars(ancestor)
    )


def _bases(statement: ClassStatement) -> tuple[BaseDecl, ...]:
    return tuple(
        BaseDecl(f"{base.__module__}.{base.__qualname__}", base.__name__, statement.is_declaration(base))
        for base in statement.bases
    )


def _doc(statement: ClassStatement) -> str:
    doc = statement.namespace.get("__doc__")
    return cleandoc(doc) if isinstance(doc, str) else ""


def _methods(statement: ClassStatement) -> Iterator[MethodSource]:
    for name, value in statement.namespace.items():
        if isinstance(value, types.FunctionType | property | classmethod | staticmethod):
            yield MethodSource(name, Signature("", ""))
