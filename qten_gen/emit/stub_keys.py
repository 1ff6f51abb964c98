"""The literal keys of a TensorClass in its stub, which are names and tuples of names, and the methods that take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model import Declaration, FieldDecl, FieldKind, TensorClassDecl, TypeExpr
from ..model.field_kinds import members_of
from . import layout
from .stub_names import StubNames

_KEYWORDS = frozenset({"values", "non_blocking", "keys_to_update"})
"""What `update_` takes beside fields."""


class Key(NamedTuple):
    """A literal key of `get` and `set`, and the types that are read and written under it."""

    path: tuple[str, ...]
    """The names that it consists of; none for a key of which only the form is known."""
    read: str
    written: str
    field: FieldDecl | None = None
    """The field that it leads to."""
    through_none: bool = False
    """Whether a nested field on the way may be None, where `get` gives its default."""

    @property
    def is_written(self) -> bool:
        """Whether the methods that write into tensors take it."""
        return self.field is None or self.field.kind is not FieldKind.STATIC

    @property
    def is_stacked(self) -> bool:
        """Whether a lazy stack reads one tensor under it."""
        field = self.field
        if field is None:
            return True
        is_one = field.kind is FieldKind.NUMBER or (field.kind is FieldKind.TENSOR and field.container is None)
        return is_one and not field.unbatched

    @property
    def may_be_none(self) -> bool:
        """Whether there may be no value under it."""
        return self.field is None or self.field.optional or self.through_none

    @property
    def is_popped(self) -> bool:
        """Whether `pop` takes its value out."""
        field = self.field
        return field is None or (field.optional and not field.kind.is_static)


def nested_class(field: FieldDecl) -> TypeExpr:
    """The class of a nested field, without None."""
    return next(member for member in members_of(field.type) if member.name != "None")


def union(paths: Iterable[tuple[str, ...]], names: StubNames, indent: int, before: int = 0) -> str:
    """The type of several keys; those that differ in their last name only share a member.

    An empty path stands for any tuple of names. Where the type does not fit a line that has `before` characters already, it
    stands between brackets, one member a line; `indent` is that of the line.
    """
    grouped: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        grouped.setdefault(path[:-1] if path else ("",), []).extend(path[-1:])
    members = [_member(prefix, last, names) for prefix, last in grouped.items()]
    line = " | ".join(f"{head}{', '.join(items)}{tail}" for head, items, tail in members) or "_t.Never"
    if indent + before + len(line) <= layout.WIDTH:
        return line
    inner = indent + 4
    lines = [
        layout.bracketed(f"{'| ' * (at > 0)}{head}", items, tail, inner)
        for at, (head, items, tail) in enumerate(members)
    ]
    return "\n".join(["(", *(f"{' ' * inner}{one}" for one in lines), f"{' ' * indent})"])


def _member(prefix: tuple[str, ...], last: Sequence[str], names: StubNames) -> tuple[str, list[str], str]:
    """The type of the keys that begin with `prefix`: what stands before, in and after the brackets of the last names."""
    if not last:
        return f"{names.builtin('tuple')}[", [names.builtin("str"), "..."], "]"
    ends = [layout.quoted_string(name) for name in last]
    if not prefix:
        return "_t.Literal[", ends, "]"
    steps = "".join(f"_t.Literal[{layout.quoted_string(name)}], " for name in prefix)
    return f"{names.builtin('tuple')}[{steps}_t.Literal[", ends, "]]"


def _key(paths: Iterable[tuple[str, ...]], names: StubNames) -> str:
    """The parameter of a method that takes one of several keys."""
    return f"key: {union(paths, names, 8, len('key: ,'))}"


def _by_key(
    name: str, keys: Iterable[Key], rest: Callable[[Key], tuple[Sequence[str], str]], names: StubNames
) -> Iterator[str]:
    """A method that takes a key: one overload for all keys with the same types, because checkers compare each with each.

    `rest` gives the other parameters for a key, and the result. Any tuple of names comes last, as it does among the keys.
    """
    alike: dict[tuple[bool, tuple[str, ...], str], list[tuple[str, ...]]] = {}
    for key in keys:
        parameters, result = rest(key)
        alike.setdefault((bool(key.path), tuple(parameters), result), []).append(key.path)
    overload = "@_t.overload\n    " if len(alike) > 1 else ""
    for (_, given, result), paths in alike.items():
        signature = layout.bracketed(f"def {name}(", ["self", _key(paths, names), *given], f") -> {result}: ...", 4)
        yield f"{overload}{signature}"


class KeyTypes(NamedTuple):
    """The types of keys that several methods of one class take, and the statements that name them."""

    all: str
    written: str
    lines: tuple[str, ...]


def key_types(keys: Sequence[Key], qualified: str, names: StubNames) -> KeyTypes:
    """Aliases for the keys of a class: `BatchKeys`, and `BatchTensorKeys` where some fields have no tensors."""
    all_keys = names.generated(qualified, "Keys")
    writable = [key for key in keys if key.is_written]
    lines = [_alias(all_keys, keys, names)]
    if len(writable) == len(keys):
        return KeyTypes(all_keys, all_keys, tuple(lines))
    written = names.generated(qualified, "TensorKeys")
    return KeyTypes(all_keys, written, (*lines, _alias(written, writable, names)))


def _alias(name: str, keys: Sequence[Key], names: StubNames) -> str:
    """The statement that names the type of several keys."""
    head = f"{name}: _t.TypeAlias = "
    return f"{head}{union((key.path for key in keys), names, 0, len(head))}"


def readers(keys: Sequence[Key], names: StubNames) -> Iterator[str]:
    """`get` and `get_at`: a default counts only where there may be nothing on the way to the field."""
    index = f"index: {names.aliases.use('_Index')}"
    for method, before in (("get", ()), ("get_at", (index,))):

        def rest(key: Key, before: tuple[str, ...] = before) -> tuple[Sequence[str], str]:
            if not key.through_none:
                return (*before, f"default: {names.builtin('object')} = ..."), key.read
            default = names.aliases.use("_Default")
            return (*before, f"default: {default} = ..."), f"{key.read} | {default}"

        yield from _by_key(method, keys, rest, names)


def setters(keys: Sequence[Key], names: StubNames) -> Iterator[str]:
    """`set` of a class that is not frozen."""
    flag = f"{names.builtin('bool')} = ..."
    flags = (f"inplace: {flag}", f"non_blocking: {flag}")
    yield from _by_key("set", keys, lambda key: ((f"value: {key.written}", *flags), "_t.Self"), names)


def selections(keys: Sequence[Key], types: KeyTypes, result: str, names: StubNames) -> Iterator[str]:
    """`select` and `exclude`: names of fields give a TypedDict, tuples that lead into nested objects a plain dict."""
    names_of_fields = [key.path for key in keys if len(key.path) == 1]
    ways = [(union(names_of_fields, names, 8, len("*keys: ,")), result)]
    if len(names_of_fields) < len(keys):
        ways.append((types.all, f"{names.builtin('dict')}[{names.builtin('str')}, {names.builtin('object')}]"))
    overload = "@_t.overload\n    " if len(ways) > 1 else ""
    for method in ("select", "exclude"):
        for taken, given in ways:
            yield f"{overload}{layout.bracketed(f'def {method}(', ['self', f'*keys: {taken}'], f') -> {given}: ...', 4)}"


def updated_with(keys: Sequence[Key], values: str, names: StubNames) -> str:
    """The first parameter of `update`: a TypedDict, values by tuples of names where a field is nested, or an object."""
    paths = [key.path for key in keys if len(key.path) != 1]
    by_path = [f"_t.Mapping[{union(paths, names, 8, layout.WIDTH // 2)}, {names.builtin('object')}]"] if paths else []
    return layout.parameter("values", [values, *by_path, "_t.Self", "None"], "...", 8)


def writers(
    declaration: TensorClassDecl, keys: Sequence[Key], types: KeyTypes, values: str, names: StubNames
) -> Iterator[str]:
    """Methods that write into the tensors of fields: they know the names of those that have some."""
    anything, flag = names.builtin("object"), f"{names.builtin('bool')} = ..."
    non_blocking, index = f"non_blocking: {flag}", f"index: {names.aliases.use('_Index')}"
    one = [f"key: {'_t.Never' if declaration.frozen else types.written}", f"value: {anything}"]
    for method, rest in (("set_", ["*", non_blocking]), ("set_at_", [index, non_blocking])):
        yield layout.bracketed(f"def {method}(", ["self", *one, *rest], ") -> _t.Self: ...", 4)
    if declaration.frozen:
        yield f"def update_(self, values: None = ..., *, non_blocking: {flag}) -> _t.Self: ..."
        return
    several = f"{values} | _t.Mapping[{types.written}, {anything}] | _t.Self"
    chosen = f"keys_to_update: _t.Sequence[{types.written}] | None = ..."
    direct = [key.path[0] for key in keys if key.is_written and len(key.path) == 1]
    fields = [f"{name}: {anything} = ..." for name in direct if name not in _KEYWORDS]
    for method, rest in (
        ("update_", [f"values: {several} | None = ...", "*", non_blocking, chosen, *fields]),
        ("update_at_", [f"values: {several}", index, "*", non_blocking, chosen]),
    ):
        yield layout.bracketed(f"def {method}(", ["self", *rest], ") -> _t.Self: ...", 4)


def takers(declaration: TensorClassDecl, keys: Sequence[Key], names: StubNames) -> Iterator[str]:
    """`pop`, which takes the values of optional fields only, and `setdefault`."""
    anything, never = names.builtin("object"), "_t.Never"
    popped = [] if declaration.frozen else [key for key in keys if key.is_popped]
    if not popped:
        yield f"def pop(self, key: {never}, default: {anything} = ...) -> {anything}: ..."
    else:
        default = names.aliases.use("_Default")
        yield from _by_key(
            "pop", popped, lambda key: ((f"default: {default} = ...",), f"{key.read} | {default}"), names
        )
    if declaration.frozen:
        yield f"def setdefault(self, key: {never}, default: {anything}) -> {anything}: ..."
        return
    yield from _by_key("setdefault", keys, lambda key: ((f"default: {key.written}",), key.read), names)


def stacked(keys: Sequence[Key], names: StubNames) -> str:
    """What `LazyStack.get` takes for objects of the class: keys that lead to tensors, and keys that may lead to None."""
    present = [key.path for key in keys if key.is_stacked and not key.may_be_none]
    others = [key.path for key in keys if key.is_stacked and key.may_be_none]
    taken = [
        f"{name}: {union(paths, names, 8, len(name) + 3)}" for name, paths in (("key", present), ("or_none", others))
    ]
    return layout.bracketed("def __stacked__(", ["self", *taken, "/"], ") -> None: ...", 4)


def leaves(keys: Sequence[Key], names: StubNames) -> str:
    """What `values` and `items` give of an object and those in it where they give leaves only."""
    found: dict[str, None] = {}
    for key in keys:
        if key.field is None or key.field.kind is FieldKind.COLLECTION:
            found["_t.Any"] = None
        elif key.field.kind is FieldKind.NUMBER or (key.field.kind is FieldKind.TENSOR and key.field.container is None):
            found[f"{names.aliases.use('_torch')}.Tensor"] = None
        elif key.field.kind is FieldKind.TENSOR:
            found[key.read] = None
    return " | ".join(found) or "_t.Never"


def states(declaration: TensorClassDecl, related: Mapping[str, Declaration], names: StubNames) -> Iterator[str]:
    """`state_dict`, nested and flat, with literal keys. Nothing where the keys of a field are known at run time only."""
    flat = state_names(declaration, related)
    if not flat:
        return
    use, text, flag = names.aliases.use, names.builtin("str"), f"{names.builtin('bool')} = ..."
    tensor = f"{use('_torch')}.Tensor"
    direct = union(((field.name,) for field in declaration.fields if field.kind is not FieldKind.STATIC), names, 4, 48)
    dotted = union(((name,) for name in flat), names, 4, 48)
    is_nested = any(field.kind is FieldKind.NESTED for field in declaration.fields)
    inner = f"{tensor} | {use('_NestedState')}" if is_nested else tensor
    common = ["self", "*", f"keep_vars: {flag}"]
    plain = (("flatten: _t.Literal[False] = ...", f"{use('_KeyedState')}[{direct}, {inner}]"),)
    flattened = (("flatten: _t.Literal[True]", f"{use('_KeyedState')}[{dotted}, {tensor}]"),)
    either = ((f"flatten: {flag}", f"{use('_KeyedState')}[{direct}, {tensor}]"),)
    for flatten, result in (*plain, *flattened) if is_nested else either:
        yield "@_t.overload"
        yield layout.bracketed("def state_dict(", [*common, flatten], f") -> {result}: ...", 4)
    prefixed = ["self", "destination: None = ...", f"prefix: {text} = ...", f"keep_vars: {flag}"]
    for rest, result in (
        (["flatten: _t.Literal[False] = ..."], use("_NestedState")),
        (["*", "flatten: _t.Literal[True]"], f"{use('_OrderedDict')}[{text}, {tensor}]"),
    ):
        yield "@_t.overload"
        yield layout.bracketed("def state_dict(", [*prefixed, *rest], f") -> {result}: ...", 4)
    given = [f"destination: {use('_Destination')}", f"prefix: {text} = ...", f"keep_vars: {flag}", f"flatten: {flag}"]
    yield "@_t.overload"
    yield layout.bracketed("def state_dict(", ["self", *given], f") -> {use('_Destination')}: ...", 4)


def state_names(
    declaration: TensorClassDecl, related: Mapping[str, Declaration], above: tuple[TensorClassDecl, ...] = ()
) -> tuple[str, ...]:
    """The dotted names of all tensors; none where some are known at run time only, or there are none."""
    if declaration in above:
        return ()
    found: list[str] = []
    for field in declaration.fields:
        match field.kind:
            case FieldKind.STATIC:
                continue
            case FieldKind.TENSOR | FieldKind.NUMBER if field.container is None:
                found.append(field.name)
            case FieldKind.NESTED:
                nested = related.get(nested_class(field).name)
                if not isinstance(nested, TensorClassDecl):
                    return ()
                inner = state_names(nested, related, (*above, declaration))
                if not inner:
                    return ()
                found += [f"{field.name}.{name}" for name in inner]
            case _:
                return ()
    return tuple(found)
