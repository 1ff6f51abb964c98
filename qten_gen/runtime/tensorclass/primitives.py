"""The primitives of a class, which are compiled from the kinds of its fields when its statement runs.

A primitive goes through the fields one by one: `fn(self._tokens)`. Written out for each class it takes less time than a loop, and
always looks the same, so that nobody has to read it in a generated file. A debugger steps through its lines all the same.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...common.naming import storage
from .core import late
from .core import stored as stored
from .core.locks import frozen_view as frozen_view

if TYPE_CHECKING:
    from ..declaring.declared_class import FieldSummary, Summary

_FUNCTIONS: Final = {
    "containers": "join_tensors match_tensors part_tensors put_tensors same_tensor same_tensors zip_tensors",
    "nested": "join_nested match_nested part_nested put_nested zip_nested",
    "per_item": "join_items part_items put_items rearrange_items",
    "static": "same",
    "tensor": "join_optional match_optional part_optional put_optional zip_optional",
}
"""The functions in the texts, by late module."""
_HOMES: Final = {name: module for module, names in _FUNCTIONS.items() for name in names.split()}

_SAME: Final = "self._batch_size, self._device, self._names"
_MADE: Final = {
    "map(self, fn)": _SAME,
    "map_with(self, fn, argument, device)": "self._batch_size, device, self._names",
    "rearrange(self, fn, argument, batch_size)": "batch_size, self._device",
    "zip(self, fn, other)": _SAME,
    "join(self, fn, items, batch_size)": "batch_size, self._device",
}
"""The primitives that make one object, and the batch size, device and names that they give it."""


class _Code(NamedTuple):
    """What the primitives do with a field of one kind.

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
    item: str
    """The value in the dict of `_to_dict`."""
    leaf: str
    """The tensors in the list of `_leaves`; empty for none, as in the next two."""
    put: str
    """The statement of `_index_put`."""
    match: str
    """The statement of `_check_compatible`."""


_TENSOR: Final = _Code(
    map="fn({0})",
    map_with="fn({0}, argument)",
    rearrange="fn({0}, argument)",
    zip="fn({0}, {1})",
    join="fn({2})",
    split="fn({0}, argument)",
    item="{0}",
    leaf="{0}",
    put="{0}[index] = {1}",
    match="",
)
_OPTIONAL_TENSOR: Final = _TENSOR._replace(
    zip="zip_optional({3}, fn, {0}, {1})",
    join="join_optional({3}, fn, {2})",
    split="part_optional(fn, {0}, argument, batch_sizes)",
    put="put_optional({3}, {0}, index, {1})",
    match="match_optional({3}, {0}, {1})",
)
_LIST: Final = _Code(
    map="[fn(tensor) for tensor in {0}]",
    map_with="[fn(tensor, argument) for tensor in {0}]",
    rearrange="[fn(tensor, argument) for tensor in {0}]",
    zip="zip_tensors({3}, fn, {0}, {1})",
    join="join_tensors({3}, fn, {2})",
    split="part_tensors(fn, {0}, argument, batch_sizes)",
    item="[*{0}]",
    leaf="*{0}",
    put="put_tensors({3}, {0}, index, {1})",
    match="match_tensors({3}, {0}, {1})",
)
_DICT: Final = _LIST._replace(
    map="{{key: fn(tensor) for key, tensor in {0}.items()}}",
    map_with="{{key: fn(tensor, argument) for key, tensor in {0}.items()}}",
    rearrange="{{key: fn(tensor, argument) for key, tensor in {0}.items()}}",
    item="{{**{0}}}",
    leaf="*{0}.values()",
)
_NESTED: Final = _Code(
    map="{0}._map(fn)",
    # An owner without a device leaves each object its own.
    map_with="{0}._map_with(fn, argument, device or {0}._device)",
    rearrange="{0}._rearrange(fn, argument, batch_size + {0}._batch_size[len(self._batch_size):])",
    zip="zip_nested({3}, fn, {0}, {1})",
    join="join_nested({3}, fn, {2}, batch_size)",
    split="part_nested(self, fn, {0}, argument, batch_sizes)",
    item="{0}._to_dict()",
    leaf="*{0}._leaves()",
    put="put_nested({3}, {0}, index, {1})",
    match="match_nested({3}, {0}, {1})",
)
_RAGGED: Final = _NESTED._replace(
    rearrange=_NESTED.rearrange[:-1] + ", ({3}))",
    zip=_NESTED.zip[:-1] + ", ({3}))",
    join=_NESTED.join[:-1] + ", ({3}))",
    split=_NESTED.split[:-1] + ", ({3}))",
    put=_NESTED.put[:-1] + ", ({3}))",
)
_STATIC: Final = _Code(
    map="{0}",
    map_with="{0}",
    rearrange="{0}",
    zip="{0}",
    join="same({3}, {2})",
    split="[{0}] * len(batch_sizes)",
    item="{0}",
    leaf="",
    put="",
    match="same({3}, [{0}, {1}])",
)
_PER_ITEM: Final = _STATIC._replace(
    rearrange="rearrange_items({3}, fn, {0}, argument)",
    join="join_items({3}, fn, {2})",
    split="part_items({3}, fn, {0}, argument, batch_sizes)",
    put="{0} = put_items({3}, {0}, index, {1})",
    match="",
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


def compiled(summary: Summary, name: str) -> dict[str, FunctionType]:
    """The primitives of the class with this qualified name."""
    functions: dict[str, FunctionType] = {}
    exec(
        _code(f"<qten-gen primitives of {name}>", "".join(f"{line}\n" for line in _lines(summary))),
        globals(),
        functions,
    )
    for called in {name for function in functions.values() for name in function.__code__.co_names if name in _HOMES}:
        __getattr__(called)
    return functions


@lru_cache
def _code(filename: str, text: str) -> CodeType:
    """Compile a text, which a debugger that steps into it shows. A class in a function is the same at each call."""
    lines = text.splitlines(keepends=True)
    while linecache.getlines(filename) not in ([], lines):
        filename = f"{filename[:-1]}'>"  # another class of the same name
    linecache.cache[filename] = (len(text), None, lines, filename)
    return compile(text, filename, "exec")


def _lines(summary: Summary) -> Iterator[str]:
    """The lines of all primitives."""
    codes = {field.name: _texts(field) for field in summary.fields}
    static = [field for field in summary.fields if field.kind in ("static", "per item")]
    carried = [field for field in summary.fields if field not in static]
    stored_fields = [*carried, *static]  # in the order in which `Stored._assign` passes their values on
    yield from _fill(stored_fields, summary.frozen)
    for signature, others in _MADE.items():
        values = [getattr(codes[field.name], signature.partition("(")[0]) for field in stored_fields]
        yield f"def _{signature}:"
        yield f"    return object.__new__(type(self))._fill({_listed(values)}{others})"
    yield "def _split(self, fn, argument, batch_sizes):"
    yield f"    parts = zip({_listed([codes[field.name].split for field in stored_fields])}batch_sizes)"
    yield "    return [object.__new__(type(self))._fill(*part, self._device) for part in parts]"
    yield "def _index_put(self, index, other):"
    yield from (f"    {code.put}" for code in codes.values() if code.put)
    yield "    return None"
    yield "def _check_compatible(self, other):"
    yield from (f"    {code.match}" for code in codes.values() if code.match)
    yield "    return None"
    yield "def _leaves(self):"
    yield f"    return [{_listed([code.leaf for code in codes.values() if code.leaf])}]"
    yield "def _field_values(self):"
    parts = ([f"self.{storage(field.name)}" for field in fields] for fields in (carried, static))
    yield f"    return {', '.join(f'({_listed(part)})' for part in parts)}"
    yield "def _to_dict(self):"
    items = [f'"{name}": {code.item}' for name, code in codes.items()]
    yield f"    return {{{_listed(items)}}}"


def _fill(fields: Sequence[FieldSummary], is_frozen: bool) -> Iterator[str]:
    """The lines of `_fill`."""
    slots = [storage(field.name) for field in fields]
    yield f"def _fill(self, {_listed(slots)}batch_size, device, names=None):"
    for field, slot in zip(fields, slots, strict=True):
        is_view = is_frozen and field.kind in ("nested", "ragged")
        yield f"    self.{slot} = {f'frozen_view({slot})' if is_view else slot}"
    yield "    self._batch_size = batch_size"
    yield "    self._device = device"
    yield "    self._names = names"
    yield f"    self._lock = {'stored.FROZEN' if is_frozen else 'None'}"
    yield "    return self"


def _listed(items: Sequence[str]) -> str:
    """Items before others, each with a comma."""
    return "".join(f"{item}, " for item in items)


def _texts(field: FieldSummary) -> _Code:
    """The texts for one field."""
    code = _KINDS[field.kind]
    if field.container is not None:
        code = _DICT if field.container == "dict" else _LIST
    elif field.optional and code is _TENSOR:
        code = _OPTIONAL_TENSOR
    elif field.optional and code is _PER_ITEM:
        code = code._replace(match=_OPTIONAL_TENSOR.match)
    if field.unbatched:
        same = "same_tensor" if field.container is None else "same_tensors"
        code = code._replace(
            rearrange="{0}",
            join=f"{same}({{3}}, {{2}})",
            split=_STATIC.split,
            put="",
            match=f"{same}({{3}}, [{{0}}, {{1}}])",
        )
    slot = storage(field.name)
    values = f"self.{slot}", f"other.{slot}", f"[item.{slot} for item in items]", f'self, "{field.name}"'
    code = _Code(*(text.format(*values) for text in code))
    return _or_none(code, values[0]) if field.optional else code


def _or_none(code: _Code, value: str) -> _Code:
    """The texts for a field that may be None, which stays None and has no tensors."""
    made = {name: getattr(code, name) for name in ("map", "map_with", "rearrange", "item")}
    made = {name: text if text == value else f"None if {value} is None else {text}" for name, text in made.items()}
    leaves = code.leaf[1:] if code.leaf.startswith("*") else code.leaf and f"({code.leaf},)"
    return code._replace(leaf=leaves and f"*(() if {value} is None else {leaves})", **made)
