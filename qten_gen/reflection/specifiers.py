"""Converts the values that a class body assigns to fields into the source layer of the model.

The record of a specifier returns its call (see `common.fingerprint_rows`). Its arguments are objects here. One of a wrong type
becomes a `Value`, as it is in the text, and the rules refuse both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from inspect import cleandoc, unwrap
from numbers import Integral
from types import FunctionType
from typing import TypeGuard

from ..common.fingerprint_rows import RecordedCall, recorded_call
from ..common.object_reads import WHOLE, attributes_read
from ..common.records import field, record, replace
from ..model import (
    Argument,
    Declaration,
    Dim,
    DimError,
    FieldSource,
    Meaning,
    MethodSource,
    NodePath,
    Signature,
    SpecifierCall,
    TypeExpr,
    Value,
    as_submodule,
    language,
)
from ..model.field_parts import FIELD_STEP
from ..read.dimensions import parse
from .values import value_of


@record(frozen=True, slots=True)
class ClassStatement:
    """The known parts of a class before it is created: `class Batch(Base, frozen=True): ...`."""

    name: str
    module: str
    """The `__module__` of the class: `shop.model`."""
    qualname: str
    """Its name with the classes and functions around it: `make.<locals>.Batch`."""
    namespace: Mapping[str, object]
    """The names that the body bound: defaults, records of specifiers, functions."""
    annotations: Mapping[str, object]
    """The annotations of the body: objects, strings, or forward references."""
    bases: tuple[type, ...]
    parents: tuple[tuple[str, Declaration], ...]
    """The declared classes among its ancestors in MRO order, each with its qualified name."""
    mixins: tuple[tuple[type, bool], ...]
    """The classes among its ancestors that declare nothing, each with whether it stands before the first declared base."""
    flags: frozenset[str]
    """The class flags that are on, and unknown ones in brackets, which a rule reports."""
    options: Mapping[str, object]
    """The class keywords that are not flags, as given: `{"checks": "off"}`, `{"init": False}`."""
    passed: Mapping[str, object]
    """All other class keywords, which are for the `__init_subclass__` of a base: `{"tag": "x"}`."""
    resolve: Callable[[str], object]
    """Looks up a name in the scope of the statement. Raises NameError if it does not exist yet."""
    is_tensorclass: Callable[[object], bool]
    """True if an object is a TensorClass."""
    import_of: Callable[[str], str | None]
    """The qualified name of an imported name, including imports under TYPE_CHECKING; None if it is not imported."""
    defines: Callable[[str], bool]
    """True if the file binds a name at its top level, even below the statement."""
    elsewhere: Callable[[str], Meaning | None]
    """The meaning as a type of a qualified name that cannot be looked up yet; None if nobody knows."""
    classes: dict[str, type]
    """The TensorClasses in the annotations, by qualified name. It is filled while the annotations are read."""
    children: Callable[[], Mapping[str, Declaration]] = dict
    """Finds the declarations of the classes among the arguments of specifiers, and of their children's, by qualified name."""
    checks: tuple[RecordedCall, ...] = ()
    """The statements `check(...)` of the body."""
    declared: set[str] = field(default_factory=set)
    """The qualified names of all TensorClasses in the annotations, classes that do not exist yet included. Filled likewise."""

    @property
    def is_visible_to_itself(self) -> bool:
        """True if the class's name means the class in its own annotations, as at the top level and in functions."""
        return self.qualname == self.name or self.qualname.endswith(f"<locals>.{self.name}")

    @property
    def qualified(self) -> str:
        """Module and qualified name of the class."""
        return f"{self.module}.{self.qualname}"


def field_source(name: str, annotation: TypeExpr, statement: ClassStatement) -> FieldSource:
    """The source record of an annotated name."""
    place = place_of(name)
    given = statement.namespace.get(name, MISSING)
    if given is MISSING:
        return FieldSource(name, annotation, place=place)
    call = recorded_call(given)
    if call is None or call.name == language.CONST:
        return FieldSource(name, annotation, replace(value_of(given), place=place), place=place)
    read = specifier_call(call, place)
    method = _method(call.kwargs.get("initializer"), statement)
    return FieldSource(name, annotation, specifier=read if method is None else _by_method(read, method), place=place)


def place_of(field: str) -> NodePath:
    """The place of all that a class statement says about a field: there is no tree, so it is the field's name."""
    return NodePath((FIELD_STEP, field))


def _method(initializer: object, statement: ClassStatement) -> str | None:
    """The name of an initialiser that is a function of the class body and takes `self`, or a class method; otherwise None."""
    code = getattr(unwrap(initializer), "__code__", None) if isinstance(initializer, FunctionType) else None
    takes_self = code is not None and code.co_argcount > 0 and code.co_varnames[0] == "self"
    if not takes_self and not isinstance(initializer, classmethod):
        return None
    return next((name for name, bound in statement.namespace.items() if bound is initializer), None)


def _by_method(call: SpecifierCall, method: str) -> SpecifierCall:
    arguments = tuple(
        replace(argument, value=replace(argument.value, method=method))
        if argument.keyword == "initializer" and isinstance(argument.value, Value)
        else argument
        for argument in call.arguments
    )
    return replace(call, arguments=arguments)


def virtual_source(name: str, given: object) -> MethodSource | None:
    """The source record of a function decorated with `virtual`; None for any other object."""
    call = recorded_call(given)
    if call is None or call.name != language.VIRTUAL:
        return None
    options = call._replace(args=())  # the first argument is the decorated function
    return MethodSource(
        name,
        Signature("", "Tensor"),
        decorators=(language.VIRTUAL,),
        specifier=specifier_call(options, place_of(name)),
        doc=cleandoc(getattr(call.args[0], "__doc__", None) or ""),
        place=place_of(name),
        reads=attributes_read(call.args[0]) if isinstance(call.args[0], FunctionType) else (WHOLE,),
    )


def specifier_call(call: RecordedCall, place: NodePath) -> SpecifierCall:
    """The call as the reader of text would return it; `place` is the place of its field."""
    if call.name == language.SEQUENTIAL:
        return as_submodule(_arguments(call, place), place)
    return SpecifierCall(call.name, tuple(_arguments(call, place)), place)


def _arguments(call: RecordedCall, place: NodePath) -> Iterator[Argument]:
    all_given = [*((None, value) for value in call.args), *call.kwargs.items()]
    for position, (keyword, given) in enumerate(all_given):
        value = _value(call.name, position, keyword, given, place)
        if isinstance(value, Value):
            choice = None if value.choice is None else replace(value.choice, place=place)
            value = replace(value, place=place, choice=choice)
        yield Argument(keyword, value, place)


def _value(
    specifier: str, position: int, keyword: str | None, given: object, place: NodePath
) -> Dim | DimError | Value | SpecifierCall:
    """The value of one argument: a dimension, a string, a switch or another value, depending on what the specifier takes."""
    is_dimension = language.takes_dimension(specifier, position, keyword)
    if specifier in _OF_CHILDREN and keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE]:
        call = recorded_call(given)
        if call is not None and call.name in _OF_CHILDREN:
            return specifier_call(call, place)
        # The very type: a member of a StrEnum is a value, as it is in a text.
        return _dim(given) if is_dimension and type(given) is str else value_of(given)
    if is_dimension:
        return value_of(given) if keyword == language.WHEN and not isinstance(given, str) else _dim(given)
    if keyword in ("tie", "keys", "group", language.ALIAS):
        return _names(keyword, given)
    return value_of(given)


_OF_CHILDREN = (language.SUBMODULE, language.SEQUENTIAL)


def _names(keyword: str, given: object) -> Value:
    """A string, or for `keys` also a tuple of strings. Members of a StrEnum and the like become plain strings."""
    if keyword == "keys" and _are_strings(given):
        return _literal(tuple(map(str.__str__, given)))
    return _literal(str.__str__(given)) if isinstance(given, str) else value_of(given)


def _are_strings(given: object) -> TypeGuard[tuple[str, ...]]:
    if not isinstance(given, tuple) or recorded_call(given) is not None:  # the records of specifiers are tuples, too
        return False
    return all(isinstance(name, str) for name in given)


def _literal(constant: str | tuple[str, ...]) -> Value:
    """The value of a constant whose `repr` is its literal."""
    text = repr(constant)
    return Value(text, literal=text)


def _dim(given: object) -> Dim | DimError | Value:
    """The dimension that an integer or a string says; any other object, which a rule refuses, stays what it is."""
    if isinstance(given, bool) or not isinstance(given, str | Integral):
        return value_of(given)
    return parse(str(given))
