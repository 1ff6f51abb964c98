"""The methods that the setting `literal-keys` adds to class statements in stubs: they know the names that strings may have.

Such a class derives from the declaration, where a key is any string. So a name that is known only when the program runs can be
given to an object that is annotated with the declared class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..model import (
    BufferDecl,
    ConfigDecl,
    Declaration,
    FieldDecl,
    FieldKind,
    ModuleDecl,
    ParameterDecl,
    SubmoduleDecl,
    TensorClassDecl,
    declares,
    home,
    language,
)
from ..model.field_kinds import child_class, members_of
from ..model.torch_layers import tensors_in
from . import layout
from .stub_names import StubNames
from .type_parameters import type_parameters

_MOST = 60
"""How many names below a module are written out. With more of them, a name is any string."""

_UPDATE = ("values", "clone", "inplace", "non_blocking", "keys_to_update")
_REPLACE = ("batch_size", "device", "names", "lock")
_NO_MODULE = frozenset({"None", "|", "builtins.int", "builtins.float", "builtins.bool", "builtins.str", "torch.dtype"})
"""The parts of types whose values register nothing."""

_WIDER = (FieldKind.NUMBER, FieldKind.PER_ITEM)
"""Fields that take more than the attribute is read as."""


class _Signature(NamedTuple):
    """The parameters of a method beside `self`, and its result."""

    taken: list[str]
    given: str


_Method = tuple[str, list[_Signature]]


def keyed_methods(declaration: Declaration, names: StubNames, related: Mapping[str, Declaration]) -> Iterator[str]:
    """The methods of a class that take keys, but for those whose names mean something else in it."""
    keyed = _Keyed(declaration, names, related)
    own = {each.name for each in (*declaration.methods, *declaration.fields)}
    methods = (
        keyed.of_fields(declaration) if isinstance(declaration, TensorClassDecl) else keyed.of_children(declaration)
    )
    for name, signatures in methods:
        if name not in own:  # a field, or a method of the author's, would hide it
            overload = f"@{keyed.t}.overload\n    " if len(signatures) > 1 else ""
            for taken, given in signatures:
                yield f"{overload}{layout.bracketed(f'def {name}(', ['self', *taken], f') -> {given}: ...', 4)}"


class _Keyed:
    """Writes the methods of one class."""

    def __init__(self, declaration: Declaration, names: StubNames, related: Mapping[str, Declaration]) -> None:
        self._declaration = declaration
        self._names = names
        self._related = related
        self.t = names.aliases.use("_t")

    def of_fields(self, declaration: TensorClassDecl) -> Iterator[_Method]:
        """The methods of a TensorClass. A tuple of names, which leads into nested objects, is any tuple."""
        fields = [field.name for field in declaration.fields]
        if not fields:
            return
        t, flag, anything = self.t, f"{self._names.builtin('bool')} = ...", self._names.builtin("object")
        path = f"{self._names.builtin('tuple')}[{self._names.builtin('str')}, ...]"
        key, default = f"{self._literal(fields)} | {path}", f"default: {anything} = ..."
        by_name = [([f"key: {keys}", default], type) for keys, type in self._by_type(declaration.fields)]
        yield "get", [_Signature(*each) for each in (*by_name, ([f"key: {path}", default], f"{t}.Any"))]
        for name in ("select", "exclude"):
            yield name, [_Signature([f"*keys: {key}"], f"{self._names.builtin('dict')}[{t}.Any, {t}.Any]")]
        itself = f" | _decl.{declaration.name}{type_parameters(declaration, self._names).arguments} | None = ..."
        changes = [f"{name}: {anything} = ..." for name in dict.fromkeys([*fields, *_REPLACE])]
        values = f"_values: {t}.Mapping[{self._literal(fields)}, {anything}]{itself}"
        yield "replace", [_Signature([values, "/", "*", *changes], f"{t}.Self")]
        if not declaration.frozen:
            flags = [f"inplace: {flag}", f"non_blocking: {flag}"]
            taken = [*self._by_type(declaration.fields, written=True), (path, anything)]
            yield (
                "set",
                [_Signature([f"key: {keys}", f"value: {type}", *flags], f"{t}.Self") for keys, type in taken],
            )
            options = [f"clone: {flag}", flags[0], "*", flags[1], f"keys_to_update: {t}.Sequence[{key}] | None = ..."]
            values = layout.bracketed(f"values: {t}.Mapping[", [key, anything], f"]{itself}", 8)
            # These names are options of `update` itself.
            given = [f"{name}: {anything} = ..." for name in fields if name not in _UPDATE]
            yield "update", [_Signature([values, *options, *given], f"{t}.Self")]

    def of_children(self, declaration: ModuleDecl) -> Iterator[_Method]:
        """The methods of a Module, which take any string beside the names of children where not all names are known."""
        held = held_names(declaration, self._related)
        torch = self._names.aliases.use("_torch")
        own = {field.name: field for field in declaration.fields if isinstance(field, SubmoduleDecl)}
        children = own if held is None else held.children
        lookups = [_Signature([f"target: {keys}"], type) for keys, type in self._by_type(children.values(), children)]
        if lookups:
            any_other = [_Signature([f"target: {self._names.builtin('str')}"], f"{torch}.nn.Module")]
            yield "get_submodule", lookups if held is not None else lookups + any_other
        if held is not None and held.parameters:
            yield "get_parameter", [_Signature([f"target: {self._literal(held.parameters)}"], f"{torch}.nn.Parameter")]
        if held is not None and held.buffers:
            yield "get_buffer", [_Signature([f"target: {self._literal(held.buffers)}"], f"{torch}.Tensor")]

    def _by_type(
        self, fields: Iterable[FieldDecl | SubmoduleDecl], keys: Iterable[str] = (), written: bool = False
    ) -> Iterator[tuple[str, str]]:
        """The types of fields, each with its keys: one overload for all of these, because checkers compare each with each."""
        fields = list(fields)
        found: dict[str, list[str]] = {}
        for key, field in zip(list(keys) or [field.name for field in fields], fields, strict=True):
            found.setdefault(self._type(field, written), []).append(key)
        for type, group in found.items():
            yield self._literal(group), type

    def _type(self, field: FieldDecl | SubmoduleDecl, written: bool) -> str:
        """The type of an attribute; of several children, that of any module."""
        torch = self._names.aliases.use("_torch")
        owner = self._related.get(field.owner)
        is_generic = owner is None or bool(type_parameters(owner, self._names).arguments)
        if is_generic and not declares(self._declaration, field):
            return f"{self.t}.Any"  # its type variables mean nothing here
        if isinstance(field, SubmoduleDecl):
            present = [member for member in members_of(field.type) if member.name != "None"]
            is_one = len(present) == 1 and bool(present[0].text) and not field.is_repeated
            return self._names.type(present[0], home(field), given=True) if is_one else f"{torch}.nn.Module"
        if written and field.kind in _WIDER:
            return self._names.builtin("object")
        if field.kind is FieldKind.NUMBER:
            return f"{torch}.Tensor | None" if field.optional else f"{torch}.Tensor"
        return self._names.type(field.type, home(field), given=not written)

    def _literal(self, keys: Iterable[str]) -> str:
        return layout.bracketed(f"{self.t}.Literal[", [layout.quoted_string(key) for key in keys], "]", 8)


class HeldNames(NamedTuple):
    """The dotted names of all that is below a module."""

    parameters: list[str]
    buffers: list[str]
    children: dict[str, SubmoduleDecl]


def held_names(
    declaration: ModuleDecl, related: Mapping[str, Declaration], above: tuple[ModuleDecl, ...] = ()
) -> HeldNames | None:
    """The names below a module; None where some are known only when the program runs, or there are too many to write out."""
    is_declared = all(base.declared or base.name == language.MODULE for base in declaration.bases)
    # `above`: the names below a module that holds its own class have no end.
    if declaration in above or declaration.custom_init or declaration.post_init or not is_declared:
        return None
    held = HeldNames([], [], {})
    for field in declaration.fields:
        match field:
            case ParameterDecl(is_several=False):
                held.parameters.append(field.name)
            case BufferDecl():
                held.buffers.append(field.name)
            case SubmoduleDecl(is_repeated=False) if below := _held_by(field, related, (*above, declaration)):
                held.parameters.extend(f"{field.name}.{name}" for name in below.parameters)
                held.buffers.extend(f"{field.name}.{name}" for name in below.buffers)
                held.children[field.name] = field
                held.children.update({f"{field.name}.{name}": each for name, each in below.children.items()})
            case ParameterDecl() | SubmoduleDecl():
                return None
            case ConfigDecl() if not _NO_MODULE.issuperset(field.type.mentioned):
                return None
    return held if sum(map(len, held)) <= _MOST else None


def _held_by(
    field: SubmoduleDecl, related: Mapping[str, Declaration], above: tuple[ModuleDecl, ...]
) -> HeldNames | None:
    """The names below a child, where the very class of its annotation is constructed."""
    name = child_class(field.type).name
    declared = related.get(name)
    if field.made != name:
        return None
    if isinstance(declared, ModuleDecl):
        return held_names(declared, related, above)
    tensors = tensors_in(name)
    return None if tensors is None else HeldNames([*tensors[0]], [*tensors[1]], {})
