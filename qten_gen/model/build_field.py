"""Builds the declaration of a field from a statement of a class body. Both readers, of text and of class statements, use it.

In a TensorClass, the annotation decides the kind of a field (see `common.field_kinds`). In a Module, the specifier does:
`_BUILDERS` has a function for each specifier. To add a specifier, add its record to `fields`, write the function, and add it to
`_BUILDERS`.

Builders do not report mistakes. They ignore an argument that they cannot use. For text, a rule reports it; `reflection` raises an
error before it builds the field.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..common import language
from ..common.field_kinds import annotated_field
from ..common.records import as_dict, replace
from .declarations import BaseDecl, ModuleDecl
from .dimensions import Dim, DimError, dim_names
from .field_parts import Default, NodePath, TypeExpr, Value
from .fields import (
    BufferDecl,
    CheckDecl,
    ConfigDecl,
    DerivedDecl,
    FieldDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
    VirtualDecl,
)
from .source import Argument, FieldSource, MethodSource, SpecifierCall


def as_submodule(arguments: Iterable[Argument], place: NodePath) -> SpecifierCall:
    """`sequential(submodule(nn.Linear, 2, 2), nn.ReLU)` as a submodule of the class `Sequential`.

    A class among the members stands for a child that is constructed without arguments.
    """
    cls = Value(text="Sequential", name=language.CHAIN, place=place)
    return SpecifierCall(language.SUBMODULE, (Argument(None, cls, place), *map(_as_member, arguments)), place)


def nested_keywords(specifier: str, position: int, keyword: str | None) -> tuple[str, ...]:
    """The keywords of `submodule` that a submodule can have as an argument of another specifier, at that position."""
    if specifier == language.SEQUENTIAL:
        return ("when",) if keyword is not None else ("when", language.REPEAT)
    is_each_of_several = specifier == language.SUBMODULE and position == 0 and keyword is None
    return (language.REPEAT, "keys") if is_each_of_several else ()


def is_sequence(call: SpecifierCall) -> bool:
    """True if a call of `submodule` was written `sequential(...)`."""
    made = call.arguments[0].value if call.arguments else None
    return isinstance(made, Value) and made.name == language.CHAIN


def is_several(call: SpecifierCall) -> bool:
    """True if a call of `submodule` makes a list or a dict of children."""
    return call.get(language.REPEAT) is not None or call.get("keys") is not None


def _as_member(argument: Argument) -> Argument:
    value = argument.value
    is_own = argument.keyword in language.SPECIFIER_KEYWORDS[language.SEQUENTIAL]
    # `*layers` stays what it is, so that a rule can refuse it.
    if is_own or not isinstance(value, Value) or value.text.startswith("*"):
        return argument
    made = Argument(None, value, argument.place)
    return Argument(argument.keyword, SpecifierCall(language.SUBMODULE, (made,), argument.place), argument.place)


def build_tensorclass_field(
    source: FieldSource, type: TypeExpr, flags: frozenset[str], owner: str, is_tensorclass: Callable[[str], bool]
) -> FieldDecl:
    """Build a field of a TensorClass.

    Args:
        source: What the class body says.
        type: Its annotation, with aliases and type variables expanded.
        flags: The flags of the class, inherited ones included.
        owner: Qualified name of the class.
        is_tensorclass: Gives True for the qualified name of a TensorClass.
    """
    default, kw_only = _default(source)
    said = as_dict(annotated_field(source.name, type, flags, is_tensorclass))
    return FieldDecl(
        **said, default=default, kw_only=kw_only, type=type, doc=source.doc, owner=owner, place=source.place
    )


def build_module_field(source: FieldSource, type: TypeExpr, owner: str) -> ModuleField:
    """Build a field of a Module: what its specifier declares, or a constructor argument without a specifier.

    Args:
        source: What the class body says.
        type: Its annotation, with aliases and type variables expanded.
        owner: Qualified name of the class.
    """
    call = source.specifier
    build = None if call is None else _BUILDERS.get(call.name)
    if call is not None and build is not None:
        decl = build(call, source.name)
    else:
        default, kw_only = _default(source)
        decl = ConfigDecl(source.name, default, kw_only, None if call is None else _string(call, language.ALIAS))
    return replace(decl, type=type, doc=source.doc, owner=owner, place=source.place)


def build_virtual_field(method: MethodSource, owner: str) -> VirtualDecl:
    """Build the virtual tensor that a function decorated with `virtual` declares in the class `owner`."""
    signature, call = method.signature, method.specifier
    names = tuple(name for name in signature.names if name in signature.result)
    return VirtualDecl(
        method.name,
        cached=call is not None and _is(call, "cached", True),
        reads=method.reads,
        type=TypeExpr("torch.Tensor", text=signature.result or "torch.Tensor", place=method.place, names=names),
        cast=call is not None and _is(call, "cast", True),
        doc=method.doc,
        owner=owner,
        place=method.place,
    )


def _parameter(call: SpecifierCall, name: str) -> ParameterDecl:
    """`param("3*dim", "dim", initializer=nn.init.xavier_uniform_)`."""
    return ParameterDecl(
        name,
        dims=_dims(call),
        initializer=_function(call, "initializer"),
        value=_function(call, "value"),
        dtype=_given(call, "dtype"),
        requires_grad=not _is(call, "requires_grad", False),
        when=_dim(call, language.WHEN),
        tie=_string(call, "tie"),
        repeat=_dim(call, "repeat"),
        keys=_keys(call),
        group=_string(call, "group"),
        keep_dtype=_is(call, language.KEEP_DTYPE, True),
    )


def _buffer(call: SpecifierCall, name: str) -> BufferDecl:
    """`buffer("heads", persistent=False, initializer=nn.init.ones_)`."""
    return BufferDecl(
        name,
        dims=_dims(call),
        persistent=not _is(call, "persistent", False),
        initializer=_function(call, "initializer"),
        value=_function(call, "value"),
        dtype=_given(call, "dtype"),
        when=_dim(call, language.WHEN),
        keep_dtype=_is(call, language.KEEP_DTYPE, True),
    )


def _submodule(call: SpecifierCall, name: str) -> SubmoduleDecl:
    """`submodule(nn.LayerNorm, "dim", eps=1e-6)`: the first argument is the class, which is called with the others."""
    cls = call.arguments[0].value if call.arguments else None
    inner = _submodule(cls, name) if isinstance(cls, SpecifierCall) and is_several(cls) else None
    arguments = tuple(
        argument
        for argument in call.arguments[1:]
        if not isinstance(argument.value, DimError)
        and argument.keyword not in language.SPECIFIER_KEYWORDS[language.SUBMODULE]
    )
    return SubmoduleDecl(
        name,
        cls=inner.cls if inner is not None else cls if isinstance(cls, Value) else Value(),
        arguments=arguments if inner is None else inner.arguments,
        when=_dim(call, language.WHEN),
        repeat=_dim(call, "repeat"),
        keys=_keys(call),
        inner=inner,
        group=_string(call, "group"),
        keep_dtype=_is(call, language.KEEP_DTYPE, True),
    )


def _derived(call: SpecifierCall, name: str) -> DerivedDecl:
    """`derived("dim // heads")`."""
    return DerivedDecl(name, next(iter(_dims(call)), Dim("None")))


def build_check(call: SpecifierCall, owner: str) -> CheckDecl:
    """Build what `check("dim % heads == 0")` demands in the class `owner`."""
    return CheckDecl(next(iter(_dims(call)), Dim("None")), owner, call.place)


def _keys(call: SpecifierCall) -> str | tuple[str, ...] | None:
    """The names of several children or parameters, or the config field that contains them."""
    keys = _constant(call, "keys")
    return tuple(map(str, keys)) if isinstance(keys, tuple) else _string(call, "keys")


_BUILDERS: dict[str, Callable[[SpecifierCall, str], ModuleField]] = {
    language.PARAM: _parameter,
    language.BUFFER: _buffer,
    language.SUBMODULE: _submodule,
    language.DERIVED: _derived,
}


def _default(source: FieldSource) -> tuple[Default | None, bool]:
    """The default of a constructor argument, and whether it is keyword only."""
    call = source.specifier
    if call is None:
        return (None if source.value is None else Default(source.value)), False
    kw_only = _is(call, "kw_only", True)
    for keyword, factory in (("default_factory", True), ("default", False)):
        argument = call.get(keyword)
        if argument is None or not isinstance(argument.value, Value):
            continue
        # `default_factory=None` is none; `default=None` is one.
        if not factory or argument.value.literal != "None":
            return Default(argument.value, factory), kw_only
    return None, kw_only


def _dims(call: SpecifierCall) -> tuple[Dim, ...]:
    return tuple(a.value for a in call.positional if not isinstance(a.value, DimError | Value | SpecifierCall))


def _dim(call: SpecifierCall, keyword: str) -> Dim | None:
    argument = call.get(keyword)
    return None if argument is None or isinstance(argument.value, DimError | Value | SpecifierCall) else argument.value


def _given(call: SpecifierCall, keyword: str) -> Value | None:
    """The value of a keyword; None if it is not given, or given as None."""
    argument = call.get(keyword)
    if argument is None or not isinstance(argument.value, Value) or argument.value.literal == "None":
        return None
    return argument.value


def _function(call: SpecifierCall, keyword: str) -> Value | None:
    """An initialiser, or what computes a value. A string is the name of a method."""
    given, name = _given(call, keyword), _string(call, keyword)
    return given if given is None or name is None else replace(given, method=name)


def _constant(call: SpecifierCall, keyword: str) -> object:
    """The Python value of a keyword given as a literal; None for any other value."""
    given = _given(call, keyword)
    found: object = None if given is None or given.literal is None else literal_eval(given.literal)
    return found


def _string(call: SpecifierCall, keyword: str) -> str | None:
    """The value of a keyword if it is a string, otherwise None."""
    found = _constant(call, keyword)
    return found if isinstance(found, str) else None


def _is(call: SpecifierCall, keyword: str, expected: bool) -> bool:
    """True if a keyword is given as the literal True (or False, if that is `expected`)."""
    argument = call.get(keyword)
    return argument is not None and isinstance(argument.value, Value) and argument.value.literal == str(expected)


def computed(declaration: ModuleDecl) -> Iterator[DerivedDecl | CheckDecl]:
    """The derived values, each after the values that it is computed from, and each check as soon as its names are known.

    So a check of arguments comes before what is computed from them: `heads > 0` before `dim // heads`.
    """
    derived = {field.name: field for field in declaration.fields if isinstance(field, DerivedDecl)}
    known: set[str] = set()
    waiting = list(declaration.checks)
    for field in in_order(derived):
        for check in [check for check in waiting if _is_known(check.condition, derived, known)]:
            waiting.remove(check)
            yield check
        known.add(field.name)
        yield field
    yield from waiting


def in_order(derived: Mapping[str, DerivedDecl]) -> list[DerivedDecl]:
    """Derived values, each after the values that it is computed from; otherwise in the order in which they are declared."""
    found: dict[str, DerivedDecl] = {}

    def visit(field: DerivedDecl, above: frozenset[str]) -> None:
        for name in sorted(dim_names(field.value) & derived.keys()):
            # `above` ends a circle, which raises at the first construction.
            if name not in found and name not in above:
                visit(derived[name], above | {field.name})
        found.setdefault(field.name, field)

    for field in derived.values():
        visit(field, frozenset())
    return list(found.values())


def _is_known(dim: Dim, derived: Mapping[str, DerivedDecl], known: set[str]) -> bool:
    return dim_names(dim) & derived.keys() <= known


_OTHERS = frozenset({"abc", "builtins", "qten_gen", "typing", "typing_extensions"})
"""Packages whose classes have no `__init__` that could be kept."""
_PLAIN = frozenset({"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module"})


def is_attribute_only(source: FieldSource) -> bool:
    """True if an annotation in a class with a hand-written `__init__` declares no field."""
    return source.specifier is None and (source.value is not None or source.name.startswith("_"))


def keeps_foreign_init(fields: Iterable[ModuleField], lineage: Iterable[tuple[tuple[BaseDecl, ...], bool]]) -> bool:
    """True if a class without a hand-written `__init__` inherits one from a class that is not declared.

    That is so with `init=False`, which directly below Module keeps the constructor of nn.Module, and below a layer of torch where
    nothing is declared that a constructor would have to register.

    Args:
        fields: All fields of the class.
        lineage: Of the class and each declared ancestor, the bases, and whether its statement has `init=False`.
    """
    declares = any(not isinstance(field, VirtualDecl) for field in fields)
    return any(
        (keeps and any(_is_foreign(base) or is_root(base) for base in bases))
        or (not declares and any(map(_is_layer, bases)))
        for bases, keeps in lineage
    )


def is_root(base: BaseDecl) -> bool:
    """True if a base of a Module is Module itself: in a text by its public name, in a class statement by its full one."""
    first, _, last = base.name.partition(".")
    return first == "qten_gen" and last.rpartition(".")[2] in ("Module", "OpenModule")


def _is_foreign(base: BaseDecl) -> bool:
    return not base.declared and base.name not in _PLAIN and base.name.partition(".")[0] not in _OTHERS


def _is_layer(base: BaseDecl) -> bool:
    return base.name.startswith("torch.nn.") and base.name not in _PLAIN
