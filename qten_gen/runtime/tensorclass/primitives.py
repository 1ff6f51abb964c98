"""The primitives of a class, each of which is compiled from the kinds of the fields when it is first looked up.

A primitive goes through the fields one by one: `fn(self._tokens)`. Written out for each class it takes less time than a loop, and
always looks the same, so that nobody has to read it in a generated file. A debugger steps through its lines all the same.

Until then a stand-in is in its place, as for late methods: `core.late` says why none is left when torch.compile is imported.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakSet

from ...common.field_kinds import FieldKind
from ...common.naming import storage
from .core import late
from .core import stored as stored
from .core.locks import frozen_view as frozen_view

if TYPE_CHECKING:
    from ..declaring.declared_class import FieldSummary, Summary
    from .core.stored import Stored

_FUNCTIONS: Final = {
    "containers": "columns part_tensors same_tensor same_tensors",
    "nested": "join_nested of_one_class part_nested",
    "per_item": "join_items part_items put_items rearrange_items",
    "same_values": "same",
    "tensor": "all_or_none in_both",
}
"""The functions in the texts, by late module."""
_HOMES: Final = {name: module for module, names in _FUNCTIONS.items() for name in names.split()}

_MADE: Final = "object.__new__(type(self))._fill"
_MAKING: Final = {
    "_map": ("fn", f"return {_MADE}({{}}self._batch_size, self._device, self._names)"),
    "_map_with": ("fn, argument, device", f"return {_MADE}({{}}self._batch_size, device, self._names)"),
    "_rearrange": ("fn, argument, batch_size", f"return {_MADE}({{}}batch_size, self._device)"),
    "_zip": ("fn, other", f"return {_MADE}({{}}self._batch_size, self._device, self._names)"),
    "_join": ("fn, items, batch_size", f"return {_MADE}({{}}batch_size, self._device)"),
    "_split": (
        "fn, argument, batch_sizes",
        "parts = zip({}batch_sizes)",
        f"return [{_MADE}(*part, self._device) for part in parts]",
    ),
    "_leaves": ("", "return [{}]"),
}
"""The primitives that put a value of each field into a call or a list: their parameters and lines."""
_WRITING: Final = {"_index_put": "index, other", "_check_compatible": "other"}
"""The primitives that have a statement for each field, and their parameters."""
_NAMES: Final = ("_fill", *_MAKING, *_WRITING, "_field_values", "_to_dict")


class _Code(NamedTuple):
    """What the primitives do with a field of one kind, each in the attribute of its name.

    In the texts `{0}` is the value of the field in this object, `{1}` its value in another, and `{2}` the list of its values in
    several objects. `{3}` are the first arguments of most functions of the runtime: the object, and the name of the field.
    """

    map: str
    """The value in the result of `_map`."""
    map_with: str
    rearrange: str
    zip: str
    join: str
    split: str
    """The values in the results of `_split`, one for each of `batch_sizes`."""
    to_dict: str
    """The value in the dict of `_to_dict`."""
    leaves: str
    """The tensors in the list of `_leaves`; empty for none, as in the next two."""
    index_put: str
    """The statement of `_index_put`."""
    check_compatible: str
    """The statement of `_check_compatible`."""


_TENSOR: Final = _Code(
    map="fn({0})",
    map_with="fn({0}, argument)",
    rearrange="fn({0}, argument)",
    zip="fn({0}, {1})",
    join="fn({2})",
    split="fn({0}, argument)",
    to_dict="{0}",
    leaves="{0}",
    index_put="{0}[index] = {1}",
    check_compatible="",
)
_LIST: Final = _Code(
    map="[fn(tensor) for tensor in {0}]",
    map_with="[fn(tensor, argument) for tensor in {0}]",
    rearrange="[fn(tensor, argument) for tensor in {0}]",
    zip="[fn(one, other) for one, other in columns({3}, {0}, {1})]",
    join="[fn([*column]) for column in columns({3}, *{2})]",
    split="part_tensors(fn, {0}, argument, batch_sizes)",
    to_dict="[*{0}]",
    leaves="*{0}",
    index_put="for target, items in columns({3}, {0}, {1}): target[index] = items",
    check_compatible="columns({3}, {0}, {1})",
)
_DICT: Final = _LIST._replace(
    map="{{key: fn(tensor) for key, tensor in {0}.items()}}",
    map_with="{{key: fn(tensor, argument) for key, tensor in {0}.items()}}",
    rearrange="{{key: fn(tensor, argument) for key, tensor in {0}.items()}}",
    zip="dict(zip({0}, [fn(one, other) for one, other in columns({3}, {0}, {1})]))",
    join="dict(zip({0}, [fn([*column]) for column in columns({3}, *{2})]))",
    to_dict="{{**{0}}}",
    leaves="*{0}.values()",
)
_NESTED: Final = _Code(
    map="{0}._map(fn)",
    # An owner without a device leaves each object its own.
    map_with="{0}._map_with(fn, argument, device or {0}._device)",
    rearrange="{0}._rearrange(fn, argument, batch_size + {0}._batch_size[len(self._batch_size):])",
    zip="{0}._zip(fn, of_one_class({3}, {0}, {1}))",
    join="join_nested({3}, fn, {2}, batch_size)",
    split="part_nested(self, fn, {0}, argument, batch_sizes)",
    to_dict="{0}._to_dict()",
    leaves="*{0}._leaves()",
    index_put="{0}._index_put(index, of_one_class({3}, {0}, {1}))",
    check_compatible="{0}._check_compatible(of_one_class({3}, {0}, {1}))",
)
_RAGGED: Final = _NESTED._replace(
    rearrange=_NESTED.rearrange[:-1] + ", ({3}))",
    zip=_NESTED.zip[:-1] + ", ({3}))",
    join=_NESTED.join[:-1] + ", ({3}))",
    split=_NESTED.split[:-1] + ", ({3}))",
    index_put=_NESTED.index_put[:-1] + ", ({3}))",
)
_STATIC: Final = _Code(
    map="{0}",
    map_with="{0}",
    rearrange="{0}",
    zip="{0}",
    join="same({3}, {2})",
    split="[{0}] * len(batch_sizes)",
    to_dict="{0}",
    leaves="",
    index_put="",
    check_compatible="same({3}, [{0}, {1}])",
)
_PER_ITEM: Final = _STATIC._replace(
    rearrange="rearrange_items({3}, fn, {0}, argument)",
    join="join_items({3}, fn, {2})",
    split="part_items({3}, fn, {0}, argument, batch_sizes)",
    index_put="{0} = put_items({3}, {0}, index, {1})",
    check_compatible="",
)
_KINDS: Final = {
    "tensor": _TENSOR,
    "number": _TENSOR,
    "nested": _NESTED,
    "ragged": _RAGGED,
    "static": _STATIC,
    "per item": _PER_ITEM,
}


def __getattr__(name: str) -> Any:
    """A function of the texts, which becomes a global of this module: dynamo would guard each module on a longer way to it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(getattr(late, _HOMES[name]), name)
    return found


class Uncompiled:
    """Stands in a class for a primitive until it is looked up."""

    __slots__ = ("made", "name")
    made: Any  # a function, which checkers would take for a method

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[Stored]) -> Any:
        holder = next((cls for cls in owner.__mro__ if vars(cls).get(self.name) is self), None)
        if holder is not None:  # no other thread has been faster
            _put_in_place(cast("type[Stored]", holder), (self.name,))
        return self.made.__get__(instance, owner)


_WITH_STAND_INS: WeakSet[type[Stored]] = WeakSet()


def stand_ins() -> dict[str, Uncompiled]:
    """The stand-ins of the primitives, for the namespace of a class."""
    return {name: Uncompiled(name) for name in _NAMES}


def prepare(cls: type[Stored]) -> None:
    """Compile the primitives of a complete class before torch.compile is imported, or now if it is."""
    _WITH_STAND_INS.add(cls)
    if late.is_compiler_imported():
        put_all_in_place()


def put_all_in_place() -> None:
    """Compile all primitives of all classes."""
    for cls in [*_WITH_STAND_INS]:
        _WITH_STAND_INS.discard(cls)
        _put_in_place(cls, [name for name, found in vars(cls).items() if isinstance(found, Uncompiled)])


def _put_in_place(cls: type[Stored], names: Sequence[str]) -> None:
    """Compile some primitives of a class. Together they take half the time that they take one by one."""
    functions: dict[str, FunctionType] = {}
    text = "".join(f"{line}\n" for name in names for line in _lines(cls._declared_as, name))
    what = names[0] if len(names) == 1 else "primitives"
    exec(_code(f"<qten-gen {what} of {cls.__module__}.{cls.__qualname__}>", text), globals(), functions)
    for name, function in functions.items():
        for called in _HOMES.keys() & function.__code__.co_names:
            __getattr__(called)
        if isinstance(stand_in := vars(cls)[name], Uncompiled):
            stand_in.made = function
        type.__setattr__(cls, name, function)


@lru_cache(maxsize=1024)
def _code(filename: str, text: str) -> CodeType:
    """Compile a text, which a debugger that steps into it shows. A class in a function is the same at each call."""
    lines = text.splitlines(keepends=True)
    while linecache.getlines(filename) not in ([], lines):
        filename = f"{filename[:-1]}'>"  # another class of the same name
    linecache.cache[filename] = (len(text), None, lines, filename)
    return compile(text, filename, "exec")


def _lines(summary: Summary, name: str) -> Iterator[str]:
    """The lines of a primitive."""
    static = [field for field in summary.fields if field.kind.is_static]
    carried = [field for field in summary.fields if not field.kind.is_static]
    in_order = [*carried, *static]  # in which `Stored._assign` passes their values on
    if name == "_fill":
        yield from _fill(in_order, summary.frozen)
    elif name == "_field_values":
        parts = ([f"self.{storage(field.name)}" for field in part] for part in (carried, static))
        yield f"def _field_values(self): return {', '.join(f'({_listed(part)})' for part in parts)}"
    elif name == "_to_dict":
        texts = zip(summary.fields, _texts(summary.fields, name), strict=True)
        yield f"def _to_dict(self): return {{{', '.join(f'{field.name!r}: {text}' for field, text in texts)}}}"
    elif name in _WRITING:
        yield f"def {name}(self, {_WRITING[name]}):"
        yield from (f"    {text}" for text in _texts(summary.fields, name) if text)
        yield "    return None"
    else:
        parameters, *lines = _MAKING[name]
        yield f"def {name}(self, {parameters}):"
        # A line for each field, so that a traceback shows the one that failed.
        values = "".join(f"\n        {text}," for text in _texts(in_order, name) if text) + "\n        "
        yield from (f"    {line.format(values)}" for line in lines)


def _fill(fields: Sequence[FieldSummary], is_frozen: bool) -> Iterator[str]:
    """The lines of `_fill`."""
    slots = [storage(field.name) for field in fields]
    yield f"def _fill(self, {_listed(slots)}batch_size, device, names=None):"
    for field, slot in zip(fields, slots, strict=True):
        is_view = is_frozen and field.kind in (FieldKind.NESTED, FieldKind.RAGGED)
        yield f"    self.{slot} = {f'frozen_view({slot})' if is_view else slot}"
    yield "    self._batch_size = batch_size"
    yield "    self._device = device"
    yield "    self._names = names"
    yield f"    self._lock = {'stored.FROZEN' if is_frozen else 'None'}"
    yield "    return self"


def _listed(items: Sequence[str]) -> str:
    """Items before others, each with a comma."""
    return "".join(f"{item}, " for item in items)


def _texts(fields: Sequence[FieldSummary], name: str) -> list[str]:
    """The texts for fields in a primitive; empty for a field that has no part in it."""
    at = _Code._fields.index(name.removeprefix("_"))
    found: list[str] = []
    for field in fields:
        slot = storage(field.name)
        code = _code_of(field.kind, field.optional, field.container, field.unbatched)
        values = f"self.{slot}", f"other.{slot}", f"[item.{slot} for item in items]", f'self, "{field.name}"'
        found.append(code[at].format(*values))
    return found


@lru_cache
def _code_of(kind: FieldKind, is_optional: bool, container: str | None, is_unbatched: bool) -> _Code:
    """The texts for the fields of a kind."""
    code = _KINDS[kind]
    if container is not None:
        code = _DICT if container == "dict" else _LIST
    if is_unbatched:
        same = "same_tensor" if container is None else "same_tensors"
        code = code._replace(
            rearrange="{0}",
            join=f"{same}({{3}}, {{2}})",
            split=_STATIC.split,
            index_put="",
            check_compatible=f"{same}({{3}}, [{{0}}, {{1}}])",
        )
    return _or_none(code) if is_optional and code is not _STATIC else code


def _or_none(code: _Code) -> _Code:
    """The texts for a field that may be None, which it is in all objects that are combined, or in none of them."""
    made = {name: getattr(code, name) for name in ("map", "map_with", "rearrange", "to_dict")}
    made = {name: text if text == "{0}" else f"None if {{0}} is None else {text}" for name, text in made.items()}
    found = code.join.replace("{2}", "found")
    leaves = code.leaves[1:] if code.leaves.startswith("*") else code.leaves and f"({code.leaves},)"
    in_both = "in_both({3}, {0}, {1})"
    return code._replace(
        **made,
        zip=code.zip if code.zip == "{0}" else f"{code.zip} if {in_both} else None",
        join=f"None if (found := all_or_none({{3}}, {{2}})) is None else {found}",
        split=f"[None] * len(batch_sizes) if {{0}} is None else {code.split}",
        leaves=leaves and f"*(() if {{0}} is None else {leaves})",
        index_put=code.index_put and f"if {in_both}:\n        {code.index_put}",
        check_compatible=f"{in_both} and {code.check_compatible}" if code.check_compatible else in_both,
    )
