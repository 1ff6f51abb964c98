"""The view of a TensorClass for the template of its stub: what the declaration's own annotations cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model import Declaration, FieldDecl, FieldKind, MethodSource, ModuleDecl, TensorClassDecl, TypeExpr, home
from . import layout, spelling, stub_keys
from .members import mentioned_inside, written
from .renaming import Way
from .stub_keys import Key, nested_class
from .stub_names import Meanings, StubNames
from .type_parameters import arguments, bind, bracketed, meanings, type_parameters

_TYPED = ("Dict", "Fields", "Input", "Update", "Arrays")
_IN_TEMPLATE = ("_BatchSize", "_DeviceLike", "_NamesLike")
"""What the template itself calls by an alias."""
_DEPTH = 3
"""How many levels of nested keys are spelled out."""


class TensorClassStubView(NamedTuple):
    """What the template of a TensorClass stub sets out."""

    name: str
    typed: dict[str, str]
    """Names of the TypedDicts beside the class, by what they end with."""
    doc: str
    parameters: str
    """PEP 695 type parameters after the class name."""
    generic: str
    """The base that makes a TypedDict generic in the old style."""
    arguments: str
    """What a reference to a generic class ends with."""
    bases: str
    is_final: bool
    """Whether the declaration is `@final`: the class in the stub derives from it all the same."""
    remark: str
    """A comment behind the statement."""
    init: str
    slots: tuple[str, ...]
    members: tuple[str, ...]
    """The user's own methods that the stub repeats."""
    key_types: tuple[str, ...]
    """Aliases for the types of keys, beside the class."""
    readers: tuple[str, ...]
    setters: tuple[str, ...]
    selections: tuple[str, ...]
    writers: tuple[str, ...]
    replace: str
    listed: str
    """What `keys`, `values`, `items`, `to_dict` and `numpy` give."""
    as_dict: tuple[str, ...]
    as_arrays: tuple[str, ...]
    chosen: tuple[str, ...]
    given: tuple[str, ...]
    updated_with: str
    """The parameter `values` of `update`: the TypedDict, values by tuples of names where fields are nested, or an object."""
    chosen_keys: str
    """The type of any key."""
    changed: tuple[str, ...]
    frozen: bool
    builtin: dict[str, str]
    """How the text writes each builtin, because a field may have its name."""
    imports: frozenset[str]
    """The names of `imports.IMPORTS` that the class uses."""


class _Types(NamedTuple):
    """A field's type as it is read, as it is written, and as `to_dict`, `from_dict` and `update` have it."""

    read: str
    written: str
    dumped: str
    loaded: str
    changed: str


def view(
    declaration: TensorClassDecl,
    names: StubNames,
    related: Mapping[str, Declaration],
    own: Sequence[MethodSource] = (),
) -> TensorClassStubView:
    """The view of one declaration; `related` has the classes of its nested fields and its bases, `own` what it repeats."""
    variables = meanings(declaration, names, related)
    held = meanings(declaration, names, related, way=Way.GIVEN)
    types = {field.name: _types(field, names, related, variables, held) for field in declaration.fields}
    parameters = type_parameters(declaration, names)
    keys = _keys_of(declaration, types, names, related, variables)
    qualified = f"{declaration.module}.{declaration.name}"
    key_types = stub_keys.key_types(keys, qualified, names)
    typed = {kind: names.generated(qualified, kind) for kind in _TYPED}
    for alias in (*_IN_TEMPLATE, *(("_Key",) if declaration.frozen else ())):
        names.aliases.use(alias)
    return TensorClassStubView(
        name=declaration.name,
        typed=typed,
        doc=layout.docstring(declaration.doc or f"`{declaration.name}` with exact types.", 4),
        parameters=parameters.pep695,
        generic=parameters.generic,
        arguments=parameters.arguments,
        bases=bases(declaration, names),
        is_final=names.is_final(declaration),
        remark=remark(declaration, names),
        init=_init(declaration, types, names),
        slots=(*_slots(declaration, types, names), *_match_args(declaration, types)),
        members=members(declaration, own, names),
        key_types=key_types.lines,
        readers=tuple(stub_keys.readers(keys, names)),
        setters=() if declaration.frozen else tuple(stub_keys.setters(keys, names)),
        replace=_replace(types, f"{typed['Update']}{parameters.arguments}"),
        selections=tuple(stub_keys.selections(keys, key_types, f"{typed['Fields']}{parameters.arguments}", names)),
        writers=(
            *stub_keys.writers(declaration, keys, key_types, f"{typed['Update']}{parameters.arguments}", names),
            *stub_keys.takers(declaration, keys, names),
            *stub_keys.states(declaration, related, names),
            stub_keys.stacked(keys, names),
        ),
        chosen_keys=key_types.all,
        listed=_listed(types, typed, parameters.arguments, stub_keys.leaves(keys, names), names),
        as_dict=tuple(f"{name}: {found.dumped}" for name, found in types.items()),
        as_arrays=tuple(
            f"{field.name}: {_arrays(field, names, types[field.name], variables)}" for field in declaration.fields
        ),
        chosen=tuple(f"{name}: {found.read}" for name, found in types.items()),
        given=tuple(_given(field, types[field.name], names) for field in declaration.fields),
        updated_with=stub_keys.updated_with(keys, f"{typed['Update']}{parameters.arguments}", names),
        changed=tuple(_changed(types, names)),
        frozen=declaration.frozen,
        builtin={name: names.builtin(name) for name in ("bool", "classmethod", "int")},
        imports=names.aliases.used,
    )


def bases(declaration: Declaration, names: StubNames) -> str:
    """The bases of a generated class in its stub: its declaration, and the generated classes of declared parents.

    What stands in the brackets of a parent is generated too: `Sharpen(Stage[Logits])` is a `Stage[Logits]` of the declared
    classes, by the first base, and of the generated ones, by the second.
    """
    parents = [
        f"{names.generated(base.name)}{bracketed(arguments(base.text, names, declaration.module, way=Way.GIVEN))}"
        for base in declaration.bases
        if base.declared
    ]
    frozen = ["frozen=True"] if isinstance(declaration, TensorClassDecl) and declaration.frozen_by_keyword else []
    init = ["init=False"] if isinstance(declaration, ModuleDecl) and declaration.keeps_init else []
    own = f"_decl.{declaration.name}{type_parameters(declaration, names).arguments}"
    refusing = [names.aliases.use("_Frozen")] if _refuses(declaration) and not parents else []
    return ", ".join([*refusing, own, *parents, *frozen, *init])


def remark(declaration: Declaration, names: StubNames) -> str:
    """What the class statement says to pyright where the class derives from a final one, or from one base in two ways."""
    in_two_ways = any(
        arguments(base.text, names, declaration.module)
        != arguments(base.text, names, declaration.module, way=Way.GIVEN)
        for base in declaration.bases
        if base.declared
    )
    return "  # pyright: ignore[reportGeneralTypeIssues]" if in_two_ways or names.is_final(declaration) else ""


def _refuses(declaration: Declaration) -> bool:
    """Whether a class is frozen, and has none of the names of what it refuses for something else."""
    if not isinstance(declaration, TensorClassDecl) or not declaration.frozen or "shadow" in declaration.flags:
        return False
    written = [method.name for method in declaration.methods]
    return not any(name.endswith("_") and name not in ("__init__", "__post_init__") for name in written)


def members(declaration: Declaration, own: Sequence[MethodSource], names: StubNames) -> tuple[str, ...]:
    """The methods that the stub of a class repeats, as it has them."""
    inner = names.inside(declaration.module, declaration.name, mentioned_inside(own))
    return tuple(written(method, names, declaration.module, inner, 4) for method in own)


def _types(
    field: FieldDecl,
    names: StubNames,
    related: Mapping[str, Declaration],
    variables: Mapping[str, Meanings],
    held: Mapping[str, Meanings],
) -> _Types:
    """The types of one field in the stub. It can take more types than it is read as, and dicts have types of their own.

    `held` are the meanings of type variables in what the object holds.
    """
    own = variables.get(field.owner, {})
    if field.kind.is_static:
        read, taken = (names.field_type(field, own, way) for way in (Way.GIVEN, Way.TAKEN))
        given = _given_items(field, taken, names) if field.kind is FieldKind.PER_ITEM else taken
        return _Types(read, given, read, given, given)
    written = names.field_type(field, own)
    if field.kind is FieldKind.NUMBER:
        tensor = f"{names.aliases.use('_torch')}.Tensor"
        number = f"{tensor} | None" if field.optional else tensor
        given = f"{written} | {tensor}"
        return _Types(number, given, number, given, given)
    if field.kind is FieldKind.COLLECTION:
        anything = f"{names.builtin('dict')}[{names.builtin('str')}, {names.builtin('object')}]"
        dumped = f"{anything} | None" if field.optional else anything
        return _Types(written, written, dumped, f"{written} | {anything}", f"{written} | {anything}")
    if field.kind is not FieldKind.NESTED:
        return _Types(written, written, written, written, written)
    none = " | None" if field.optional else ""
    nested = nested_class(field)
    given = bracketed(arguments(nested.text, names, home(field), own))
    generated, dumped, loaded, changed = (
        f"{names.generated(nested.name, suffix)}{given}" for suffix in ("", "Dict", "Input", "Update")
    )
    read = (
        names.field_type(field, held.get(field.owner, {}), Way.GIVEN)
        if names.is_variable(field)
        else f"{generated}{none}"
    )
    return _Types(read, written, f"{dumped}{none}", f"{written} | {loaded}", f"{written} | {changed}")


def _given_items(field: FieldDecl, written: str, names: StubNames) -> str:
    """What a PerItem field takes: `_PerItemInput[str]`; only what is read where the annotation is an alias."""
    _, found, rest = written.partition("PerItem[")
    ends = [at for at in range(len(rest)) if rest[at] == "]" and rest.count("[", 0, at) == rest.count("]", 0, at)]
    if not found or not ends:
        return written
    return f"{names.aliases.use('_PerItemInput')}[{rest[: ends[0]]}]{' | None' if field.optional else ''}"


def _arrays(field: FieldDecl, names: StubNames, types: _Types, variables: Mapping[str, Meanings]) -> str:
    """The type of a field in what `numpy` returns."""
    none = " | None" if field.optional else ""
    if field.kind.is_static:
        return types.read
    if field.kind is FieldKind.NESTED:
        nested = nested_class(field)
        given = bracketed(arguments(nested.text, names, home(field), variables.get(field.owner, {})))
        return f"{names.generated(nested.name, 'Arrays')}{given}{none}"
    if field.kind is FieldKind.COLLECTION:
        return types.dumped
    array = names.aliases.use("_Array")
    match field.container:
        case "dict":
            return f"{names.builtin('dict')}[{names.builtin('str')}, {array}]{none}"
        case "list":
            return f"{names.builtin('list')}[{array}]{none}"
    return f"{array}{none}"


def _init(declaration: TensorClassDecl, types: Mapping[str, _Types], names: StubNames) -> str:
    """The signature of the constructor; nothing where the class writes its own, which checkers see in the source."""
    written = next((method.signature for method in declaration.methods if method.name == "__init__"), None)
    if written is not None:
        return ""
    positional = [_parameter(f, types) for f in declaration.fields if not f.kw_only]
    keyword = [_parameter(f, types) for f in declaration.fields if f.kw_only]
    use = names.aliases.use
    own = [
        f"batch_size: {use('_BatchSize')} = ()",
        f"device: {use('_DeviceLike')} = None",
        f"names: {use('_NamesLike')} = None",
        f"lock: {names.builtin('bool')} = False",
    ]
    return layout.bracketed("def __init__(", ["self", *positional, "*", *keyword, *own], ") -> None: ...", 4)


def _parameter(field: FieldDecl, types: Mapping[str, _Types]) -> str:
    return f"{field.name}: {types[field.name].written}{spelling.stub_default(field)}"


def _match_args(declaration: TensorClassDecl, types: Mapping[str, _Types]) -> Iterator[str]:
    """What positional patterns mean, where a checker would add a keyword-only field that `_slots` declares anew."""
    if any(f.kw_only and types[f.name].read != types[f.name].written for f in declaration.fields):
        yield layout.names([f.name for f in declaration.fields if not f.kw_only], 4, "__match_args__ = ")


def _slots(declaration: TensorClassDecl, types: Mapping[str, _Types], names: StubNames) -> Iterator[str]:
    """Fields that are read as another type than the declaration's annotation says, or that a flag in brackets freezes."""
    for field in declaration.fields:
        found = types[field.name]
        if found.read == found.written and (not declaration.frozen or declaration.frozen_by_keyword):
            continue
        if declaration.frozen:
            doc = f"\n        {layout.docstring(field.doc, 8)}" if field.doc else " ..."
            yield f"@{names.builtin('property')}\n    def {field.name}(self) -> {found.read}:{doc}"
        else:
            doc = f"\n    {layout.docstring(field.doc, 4)}" if field.doc else ""
            yield f"{field.name}: {names.aliases.use('_Slot')}[{found.read}, {found.written}] = ...{doc}"


def _keys(
    declaration: TensorClassDecl,
    types: Mapping[str, _Types],
    names: StubNames,
    related: Mapping[str, Declaration],
    variables: Mapping[str, Meanings],
    path: tuple[str, ...] = (),
    through_none: bool = False,
) -> Iterator[Key]:
    """The literal keys: names of fields, and tuples of names that lead through nested fields."""
    for field in declaration.fields:
        steps, found = (*path, field.name), types[field.name]
        yield Key(steps, found.read, found.written, field, through_none)
        nested = nested_class(field) if field.kind is FieldKind.NESTED else TypeExpr("")
        inner = related.get(nested.name)
        if isinstance(inner, TensorClassDecl) and inner is not declaration and len(steps) < _DEPTH:
            given = arguments(nested.text, names, home(field), variables.get(field.owner, {}))
            bound = meanings(inner, names, related, bind(inner, given, names))
            read = {found.name: _types(found, names, related, bound, bound) for found in inner.fields}
            yield from _keys(inner, read, names, related, bound, steps, through_none or field.optional)


def _keys_of(
    declaration: TensorClassDecl,
    types: Mapping[str, _Types],
    names: StubNames,
    related: Mapping[str, Declaration],
    variables: Mapping[str, Meanings],
) -> tuple[Key, ...]:
    """All keys; tuples of any names too where some nested field has keys that are not spelled out."""
    found = tuple(_keys(declaration, types, names, related, variables))
    spelled = {key.path[:-1] for key in found}
    nested = [key.path for key in found if key.field is not None and key.field.kind is FieldKind.NESTED]
    if all(path in spelled for path in nested):
        return found
    anything = names.builtin("object")
    return (*found, Key((), anything, anything))


def _replace(types: Mapping[str, _Types], values: str) -> str:
    changes = [f"{name}: {found.written} = ..." for name, found in types.items()]
    first = ["self", f"values: {values} | _t.Self | None = ...", "/"]
    return layout.bracketed("def replace(", [*first, *(["*", *changes] if changes else [])], ") -> _t.Self: ...", 4)


def _listed(
    types: Mapping[str, _Types], typed: Mapping[str, str], arguments: str, leaves: str, names: StubNames
) -> str:
    """What `keys`, `values`, `items`, `to_dict` and `numpy` give where they have no arguments that change it, and the leaves.

    TensorClass has their signatures, and takes the results from the parameters: pyright forgets literals that a result has.
    """
    several = f"{names.builtin('tuple')}["
    keys = [f"_t.Literal[{layout.quoted_string(name)}]" for name in types]
    values = [found.read for found in types.values()]
    pairs = [f"{several}{key}, {value}]" for key, value in zip(keys, values, strict=True)]
    tuples = (("keys", keys), ("values", values), ("items", pairs))
    parameters = [
        "self",
        *(layout.bracketed(f"{name}: {several}", members or ["()"], "]", 8) for name, members in tuples),
        f"to_dict: {typed['Dict']}{arguments}",
        f"numpy: {typed['Arrays']}{arguments}",
        f"leaves: {leaves}",
        "/",
    ]
    return layout.stacked("def __listed__(", parameters, ") -> None: ...", 4)


def _changed(types: Mapping[str, _Types], names: StubNames) -> Iterator[str]:
    """What `update` takes by name. It only reads the values, so it takes what `select` and `to_dict` give too.

    Their types are exacter, and `to_dict` gives all keys: a dict that could be written to would need the very same.
    """
    for name, found in types.items():
        yield f"{name}: {names.aliases.use('_ReadOnly')}[{found.changed}]"


def _given(field: FieldDecl, types: _Types, names: StubNames) -> str:
    """What `from_dict` takes for a field. It only reads the value, so it takes what `to_dict` gives."""
    loaded = f"{names.aliases.use('_ReadOnly')}[{types.loaded}]"
    return f"{field.name}: {loaded if field.default is None else f'_t.NotRequired[{loaded}]'}"
