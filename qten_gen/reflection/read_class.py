"""Builds the declaration of a class statement from its namespace and the declarations of its bases."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import cleandoc
from types import FunctionType

from ..common.class_body import defines
from ..common.fingerprint_rows import recorded_call
from ..common.object_reads import WHOLE, attributes_read
from ..model import (
    INIT,
    STRING_OPTIONS,
    BaseDecl,
    ClassSource,
    FieldSource,
    MethodSource,
    Mixin,
    ModuleDecl,
    Signature,
    SpecifierCall,
    TensorClassDecl,
    Value,
    language,
)
from ..model.build_field import (
    build_check,
    build_module_field,
    build_tensorclass_field,
    build_virtual_field,
    is_attribute_only,
    keeps_foreign_init,
)
from .annotations import AnnotationWalk
from .specifiers import ClassStatement, field_source, place_of, specifier_call, virtual_source
from .values import value_of

_NO_FIELDS = ("typing.ClassVar",)
_FUNCTIONS: tuple[type, ...] = (types.FunctionType, property, classmethod, staticmethod)


def read_tensorclass(statement: ClassStatement) -> TensorClassDecl:
    """Build the declaration of a TensorClass."""
    parents = [(owner, parent) for owner, parent in statement.parents if isinstance(parent, TensorClassDecl)]
    flags = statement.flags.union(*(parent.flags for _, parent in parents))
    fields = {f.name: f for owner, parent in reversed(parents) for f in parent.fields if f.owner == owner}
    inherited = frozenset(fields)
    for name, annotation in statement.annotations.items():
        walk = AnnotationWalk(statement)
        expr = walk.expr(annotation)
        if expr.name in _NO_FIELDS:
            continue
        source = field_source(name, expr, statement)
        fields[name] = build_tensorclass_field(source, expr, flags, statement.qualified, walk.is_tensorclass)
    return TensorClassDecl(
        name=statement.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        flags=flags,
        checks=_string_option("checks", statement, [parent.checks for _, parent in parents]),
        post_init=defines(statement.namespace, statement.bases, "__post_init__"),
        custom_init="__init__" in statement.namespace,
        module=statement.module,
        qualname=statement.qualname,
        bases=_bases(statement),
        doc=_doc(statement),
        methods=tuple(_methods(statement)),
    )


def _string_option(keyword: str, statement: ClassStatement, inherited: list[str]) -> str:
    """The value of a class keyword that takes a string, from the statement or else from the first parent."""
    return str(statement.options.get(keyword, next(iter(inherited), STRING_OPTIONS[keyword][0])))


def read_module(statement: ClassStatement) -> ModuleDecl:
    """Build the declaration of a Module."""
    parents = [(owner, parent) for owner, parent in statement.parents if isinstance(parent, ModuleDecl)]
    fields = {f.name: f for owner, parent in reversed(parents) for f in parent.fields if f.owner == owner}
    inherited = frozenset(fields)
    keeps_init = statement.options.get(INIT) is False
    writers = [parent for _, parent in parents if parent.keeps_init or parent.writes_init]
    written = "__init__" in statement.namespace or bool(writers)
    for name, annotation in statement.annotations.items():
        expr = AnnotationWalk(statement).expr(annotation)
        source = field_source(name, expr, statement)
        if expr.name not in _NO_FIELDS and not ((written or keeps_init) and is_attribute_only(source)):
            fields[name] = build_module_field(source, expr, statement.qualified)
    for name, value in statement.namespace.items():
        # Behind all annotated fields, as in `link`.
        method = virtual_source(name, value)
        if method is not None:
            fields[name] = build_virtual_field(method, statement.qualified)
    kept = [(_bases(statement), keeps_init), *((parent.bases, parent.keeps_init) for _, parent in parents)]
    return ModuleDecl(
        name=statement.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        custom_init=written or keeps_foreign_init(fields.values(), kept),
        post_init=defines(statement.namespace, statement.bases, "__post_init__"),
        custom_reset=defines(statement.namespace, statement.bases, "reset_parameters"),
        inherited_reset=defines({}, statement.bases, "reset_parameters"),
        checks=(
            *(check for owner, parent in reversed(parents) for check in parent.checks if check.owner == owner),
            *(build_check(call, statement.qualified) for call in _checks(statement)),
        ),
        keeps_init=keeps_init,
        module=statement.module,
        qualname=statement.qualname,
        bases=_bases(statement),
        doc=_doc(statement),
        methods=tuple(each for each in _methods(statement) if language.VIRTUAL not in each.decorators),
        bound=frozenset(attributes(statement)),
    )


def class_source(statement: ClassStatement) -> ClassSource:
    """The statement as the reader of text would return it, as far as rules look there."""
    given = {**statement.options, **statement.passed}.items()
    return ClassSource(
        statement.name,
        (),
        tuple((name, Value(repr(value), literal=repr(value))) for name, value in given),
        tuple(_field_sources(statement)),
        tuple(_methods(statement)),
        attributes(statement),
        values=_assigned_values(statement),
        checks=_checks(statement),
    )


def _checks(statement: ClassStatement) -> tuple[SpecifierCall, ...]:
    """The statements `check(...)` of the body."""
    return tuple(specifier_call(call, place_of("check")) for call in statement.checks)


def _field_sources(statement: ClassStatement) -> Iterator[FieldSource]:
    """The fields, and names without an annotation that a specifier is assigned to; in a TensorClass, virtual tensors too."""
    for name, annotation in statement.annotations.items():
        if is_field(name, statement):
            yield field_source(name, AnnotationWalk(statement).expr(annotation), statement)
    for name, value in statement.namespace.items():
        call = recorded_call(value)
        if call is not None and call.name != language.CONST and not is_field(name, statement):
            # The argument of `virtual` is the decorated function.
            options = call._replace(args=()) if call.name == language.VIRTUAL else call
            place = place_of(name)
            yield FieldSource(name, None, specifier=specifier_call(options, place), place=place)


def attributes(statement: ClassStatement) -> tuple[str, ...]:
    """The names that the class body binds beside fields and functions."""
    fields = {name for name in statement.annotations if is_field(name, statement)}
    return tuple(
        name
        for name, value in statement.namespace.items()
        if name not in fields and not isinstance(value, _FUNCTIONS) and recorded_call(value) is None
    )


def is_field(name: str, statement: ClassStatement) -> bool:
    """True if a name has an annotation other than `ClassVar`."""
    if name not in statement.annotations:
        return False
    return AnnotationWalk(statement).expr(statement.annotations[name]).name not in _NO_FIELDS


def _bases(statement: ClassStatement) -> tuple[BaseDecl, ...]:
    return tuple(
        BaseDecl(f"{base.__module__}.{base.__qualname__}", base.__name__, statement.is_tensorclass(base))
        for base in statement.bases
    )


def _doc(statement: ClassStatement) -> str:
    doc = statement.namespace.get("__doc__")
    return cleandoc(doc) if isinstance(doc, str) else ""


_WRAPPERS: tuple[tuple[type, str, str], ...] = (
    (staticmethod, "builtins.staticmethod", "__func__"),
    (classmethod, "builtins.classmethod", "__func__"),
    (property, "builtins.property", "fget"),
    (cached_property, "functools.cached_property", "func"),
)
"""The descriptors that a decorator makes: the name of the decorator, and the attribute with what is decorated."""


def _assigned_values(statement: ClassStatement) -> tuple[tuple[str, Value], ...]:
    """The attributes of the class that are not fields, where they are None, types, or hold tensors or modules."""
    # A ClassVar says that all instances share it.
    own = {name: given for name, given in statement.namespace.items() if name not in statement.annotations}
    read = [
        (name, value_of(given))
        for name, given in own.items()
        if not (name.startswith("__") or isinstance(given, FunctionType)) and recorded_call(given) is None
    ]
    return tuple((name, value) for name, value in read if value.contains or value.name or value.literal == "None")


def _methods(statement: ClassStatement) -> Iterator[MethodSource]:
    """Each function of the body inside the descriptors and records that its decorators made."""
    for name, value in statement.namespace.items():
        decorators: list[str] = []
        call = recorded_call(value)
        if call is not None and call.name == language.VIRTUAL:
            decorators.append(language.VIRTUAL)
            value = call.args[0]
        function = _unwrapped(value, decorators)
        if not isinstance(function, FunctionType):
            if decorators:
                yield MethodSource(name, Signature("*args, **kwargs", ""), tuple(decorators), reads=(WHOLE,))
            continue
        if name in statement.annotations and function.__qualname__ != f"{statement.qualname}.{name}":
            continue  # the default of a field
        parameters = _parameters(function, skip_first="builtins.staticmethod" not in decorators)
        yield MethodSource(name, Signature(parameters, ""), tuple(decorators), reads=attributes_read(function))


def _unwrapped(value: object, decorators: list[str]) -> object:
    """The function inside the descriptors that decorators make, whose names are appended from the outside in."""
    for wrapper, decorator, attribute in _WRAPPERS:
        if isinstance(value, wrapper):
            decorators.append(decorator)
            return _unwrapped(getattr(value, attribute), decorators)
    return value


def _parameters(function: Callable[..., object], *, skip_first: bool = True) -> str:
    """The parameters as text, with `...` for defaults; any at all where Python does not say."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "*args, **kwargs"
    # `*args` takes the object too, and stays.
    if skip_first and found and found[0].kind in (found[0].POSITIONAL_ONLY, found[0].POSITIONAL_OR_KEYWORD):
        del found[0]
    plain = [
        one.replace(annotation=one.empty, default=one.default if one.default is one.empty else _DOTS) for one in found
    ]
    return str(inspect.Signature(plain))[1:-1]


class _Dots:
    """Stands for a default in the text of a signature."""

    def __repr__(self) -> str:
        return "..."


_DOTS = _Dots()


def mixins(statement: ClassStatement) -> tuple[Mixin, ...]:
    """The mixins of a class that is not created yet."""
    return tuple(_mixin(cls, is_first) for cls, is_first in statement.mixins)


def _mixin(cls: type, is_first: bool) -> Mixin:
    is_protocol = vars(cls).get("_is_protocol", False)
    abstract = {
        name for name, value in vars(cls).items() if is_protocol or getattr(value, "__isabstractmethod__", False)
    }
    return Mixin(cls.__name__, frozenset(vars(cls)), frozenset(abstract), is_first)
