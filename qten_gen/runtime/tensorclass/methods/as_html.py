"""How a notebook shows an object: a table of its fields. It says what is stored, and reads no tensor's values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Size, Tensor

from ...showing.fragment import Folded, Room, Row, fragment, heading, lines, table, unfolding
from ...showing.numbers import memory, of_noun, sizes
from ...showing.tensor_memory import bytes_of, dtype_name, total_bytes
from ...showing.values import in_short, shape_of
from ..core.contents import contents
from ..core.locks import is_locked
from ..core.stored import Stored
from ..fields.per_item import PerItem

_COLUMNS = ("field", "shape", "dtype", "device", "memory")


def as_html(self: Stored) -> str:
    """An object as HTML: its class, batch size, device and memory, then a line for each field."""

    def parts(room: Room) -> Iterator[str]:
        yield heading(type(self).__name__, _facts(self))
        yield from _fields(self, room)

    return fragment(parts)


def lazy_as_html(objects: Sequence[Stored], batch_size: Size) -> str:
    """A lazy stack as HTML: what its objects have in common, then the objects."""
    name = type(objects[0]).__name__
    size = memory(total_bytes(leaf for one in objects for leaf in one._leaves()))

    def parts(room: Room) -> Iterator[str]:
        yield heading(f"LazyStack of {name}", [f"batch_size {sizes(batch_size)}", size])
        fields = objects[0]._fields
        yield from table(_COLUMNS, (_stacked(name, objects) for name in fields), len(fields), room)
        rows = (_object_line(f"[{position}]", one) for position, one in enumerate(objects))
        yield from unfolding(
            Folded("objects", of_noun(len(objects), "object"), lambda room: lines(rows, len(objects), room)), room
        )

    return fragment(parts)


def _stacked(name: str, objects: Sequence[Stored]) -> Row:
    """A field of a lazy stack: where sizes differ, `?` stands for them."""
    values = [contents(one)[name] for one in objects]
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors or len(tensors) < len(values) or len({tensor.dim() for tensor in tensors}) > 1:
        kinds = dict.fromkeys("Tensor" if isinstance(value, Tensor) else type(value).__name__ for value in values)
        return Row(name, "", (" or ".join(kinds),))
    shapes = zip(*[tensor.shape for tensor in tensors], strict=True)
    shape = sizes([len(objects), *(found.pop() if len(found := {*some}) == 1 else "?" for some in shapes)])
    dtypes = " or ".join(dict.fromkeys(map(dtype_name, tensors)))
    devices = " or ".join(dict.fromkeys(str(tensor.device) for tensor in tensors))
    return Row(name, "", (shape, dtypes, devices, memory(total_bytes(tensors))))


def _facts(self: Stored) -> list[str]:
    """Facts about an object as a whole."""
    found = [f"batch_size {sizes(self._batch_size)}"]
    if self._names is not None:
        found.append(f"names {sizes(self._names)}")
    if self._device is not None:
        found.append(str(self._device))
    if "frozen" in self._flags:
        found.append("frozen")
    elif is_locked(self):
        found.append("locked")
    return [*found, memory(total_bytes(_tensors(self)))]


def _tensors(self: Stored) -> Iterator[Tensor]:
    """The leaves that are tensors: while a tree of objects is mapped, others stand in their places."""
    return (leaf for leaf in self._leaves() if isinstance(leaf, Tensor))


def _fields(self: Stored, room: Room) -> Iterator[str]:
    held = contents(self)
    rows = (_line(name, value, _note(self, name)) for name, value in held.items())
    yield from table(_COLUMNS, rows, len(held), room)


def _note(self: Stored, name: str) -> str:
    """Facts of the declaration that the tensor of a field does not show."""
    if name in self._shapes:
        dtype, dims = self._shapes[name]
        return f'{dtype} "{dims}"' if dtype else f'"{dims}"'
    return "unbatched" if name in self._unbatched else ""


def _line(name: str, value: Any, note: str = "") -> Row | Folded:
    """The line of a value of any kind that a field can hold."""
    if isinstance(value, Tensor):
        if value.requires_grad:
            note = f"{note}, requires grad" if note else "requires grad"
        return Row(name, note, (shape_of(value), dtype_name(value), str(value.device), memory(bytes_of(value))))
    if isinstance(value, Stored):
        return _object_line(name, value)
    if isinstance(value, PerItem):
        return Row(name, "for each item", (repr(value),))
    if isinstance(value, Mapping) and value and all(isinstance(one, Tensor) for one in value.values()):
        return _container(name, "dict", [(f"[{key!r}]", one) for key, one in value.items()])
    if isinstance(value, list) and value and all(isinstance(one, Tensor) for one in value):
        return _container(name, "list", [(f"[{at}]", one) for at, one in enumerate(value)])
    return Row(name, note, (in_short(value),))


def _object_line(name: str, value: Stored) -> Folded:
    return Folded(name, ", ".join((type(value).__name__, *_facts(value))), lambda room: _fields(value, room))


def _container(name: str, kind: str, tensors: list[tuple[str, Tensor]]) -> Folded:
    """A dict or list of tensors: a line, and one for each of them below it."""
    size = memory(total_bytes(tensor for _, tensor in tensors))
    note = f"{kind} of {of_noun(len(tensors), 'tensor')}, {size}"
    rows = (_line(key, tensor) for key, tensor in tensors)
    return Folded(name, note, lambda room: table(_COLUMNS, rows, len(tensors), room))
