"""Objects of one class side by side, of shapes that need not be the same, without a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, cast, overload

import torch
from torch import Size, Tensor
from torch.utils import _pytree

from .core.construction import DeviceSpec
from .core.error_text import describe
from .core.lookup import Key, get, owner_of
from .core.sizes import Index, IndexItem, common_leading
from .core.stored import Stored
from .methods import joining
from .methods.applying import apply
from .methods.indexing import getitem
from .methods.moving import pin_memory, to
from .operations.shapes import pad

B = TypeVar("B", bound=Stored)
C = TypeVar("C", bound=Stored)

Several = slice | list[int] | list[bool] | range | Tensor
"""An index that selects several objects of a lazy stack."""


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class LazyStack(Generic[B]):
    """A stack of objects that is made only when a field is read: the objects keep their own tensors, and their shapes may differ.

    >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
    >>> lazy.get("tokens", as_padded_tensor=True)
    tensor([[1., 1., 0.],
            [1., 1., 1.]])
    >>> lazy[0].tokens, lazy.batch_size
    (tensor([1., 1.]), torch.Size([2]))

    The objects stand along a first batch dimension. Changing one of them changes what the stack reads.

    Args:
        objects: Objects of one class, one at least.

    Raises:
        TypeError: they are of different classes.
        ValueError: there are none.
    """

    objects: tuple[B, ...]

    def __init__(self, objects: Sequence[B]) -> None:
        found = tuple(objects)
        if not found:
            raise ValueError("LazyStack: expected at least one object, got none")
        for one in found:
            if not isinstance(one, Stored) or type(one) is not type(found[0]):
                raise TypeError(
                    f"LazyStack: expected objects of one TensorClass, got {describe(found[0])} and {describe(one)}"
                )
        object.__setattr__(self, "objects", found)

    @property
    def batch_size(self) -> Size:
        """How many objects there are, and the leading dimensions of their batch sizes that all share."""
        return Size((len(self.objects), *common_leading([one._batch_size for one in self.objects])))

    @property
    def device(self) -> torch.device | None:
        """The device of all objects, or None where they differ or have none."""
        found = {one._device for one in self.objects}
        return found.pop() if len(found) == 1 else None

    def keys(self) -> tuple[str, ...]:
        """The names of the fields.

        >>> Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))]).keys()
        ('tokens', 'mask')
        """
        return self.objects[0]._fields

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            # A stack that is being unpickled has no objects yet.
            known = name != "objects" and name in self.keys()
            advice = f"; {self._advice(name)}" if known else ""
            raise AttributeError(f"'LazyStack' object has no attribute {name!r}{advice}")

    def _advice(self, name: str) -> str:
        """How to read a field."""
        if isinstance(getattr(self.objects[0], name), Tensor | None) and name not in self.objects[0]._unbatched:
            return f"read the field with .get({name!r}), or from one of the objects"
        return f"read the field from the objects: [one.{name} for one in lazy]"

    @overload
    def get(
        self,
        key: Key,
        *,
        as_list: Literal[False] = False,
        as_padded_tensor: Literal[False] = False,
        as_nested_tensor: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def get(self, key: Key, *, as_list: Literal[True]) -> list[Tensor | Any]: ...
    @overload
    def get(self, key: Key, *, as_padded_tensor: Literal[True], padding_value: float = 0.0) -> Tensor: ...
    @overload
    def get(self, key: Key, *, as_nested_tensor: Literal[True], layout: torch.layout = ...) -> Tensor: ...
    def get(
        self,
        key: Key,
        *,
        as_list: bool = False,
        as_padded_tensor: bool = False,
        padding_value: float = 0.0,
        as_nested_tensor: bool = False,
        layout: torch.layout = torch.jagged,
    ) -> Tensor | list[Tensor | Any]:
        """A tensor field of all objects: of shape `[len(self), *batch, *event]`, or in another form where their shapes differ.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.get("tokens", as_list=True)
        [tensor([1., 1.]), tensor([1., 1., 1.])]
        >>> lazy.get("tokens", as_padded_tensor=True, padding_value=-1.0)[0]
        tensor([ 1.,  1., -1.])

        Other fields are read from the objects: `[batch.source for batch in lazy]`, `lazy.map(lambda batch: batch.point)`.

        Args:
            as_list: The tensors as they are; None for an object whose field is None.
            as_padded_tensor: One tensor with the largest size in each dimension. Smaller tensors are padded at the end, and an
                object without the tensor is padding throughout.
            padding_value: The number to pad with.
            as_nested_tensor: A nested tensor of torch.
            layout: Of the nested tensor; `torch.jagged` lets one dimension differ.

        Raises:
            KeyError: there is no such field.
            TypeError: it is not a tensor field, or it is None in some objects and the form has no place for None.
            ValueError: the tensors cannot be stacked; the message names the forms.
        """
        found = [self._tensor(one, key) for one in self.objects]
        if as_list:
            return found
        if as_padded_tensor:
            return _padded(self._label(key), found, padding_value)
        present = [tensor for tensor in found if tensor is not None]
        if len(present) < len(found):
            missing = f"{len(found) - len(present)} of {len(found)} objects"
            raise TypeError(f"{self._label(key)} is None in {missing}; read it with as_list=True")
        if as_nested_tensor:
            nested: Tensor = torch.nested.as_nested_tensor(present, layout=layout)
            return nested
        shapes = list(dict.fromkeys(tuple(tensor.shape) for tensor in present))
        if len(shapes) > 1:
            raise ValueError(
                f"{self._label(key)} has the shapes {', '.join(str(list(shape)) for shape in shapes)}, which are not one; "
                "read it with as_list=True, as_padded_tensor=True or as_nested_tensor=True"
            )
        return torch.stack(present)

    def _tensor(self, one: B, key: Key) -> Tensor | None:
        """The tensor in one object; None where the field or a nested object on the way is None."""
        if isinstance(key, tuple) and get(one, key[:-1], None) is None:
            return None
        owner, name = owner_of(one, key)
        value: object = getattr(owner, name)
        if value is not None and (not isinstance(value, Tensor) or name in owner._unbatched):
            raise TypeError(
                f"{self._label(key)} is not a tensor with the batch dimensions; "
                f"read it from the objects: [one.{_dotted(key)} for one in lazy]"
            )
        return value

    def _label(self, key: Key) -> str:
        return f"{type(self.objects[0]).__name__}.{_dotted(key)}"

    @overload
    def __getitem__(self, index: int | tuple[int, *tuple[IndexItem, ...]]) -> B: ...
    @overload
    def __getitem__(self, index: Several | tuple[Several, *tuple[IndexItem, ...]]) -> LazyStack[B]: ...
    def __getitem__(self, index: int | Several | tuple[int | Several, *tuple[IndexItem, ...]]) -> B | LazyStack[B]:
        """One object, or a stack of some; what follows in a tuple indexes each of them.

            lazy[0], lazy[1:], lazy[[2, 0]], lazy[mask], lazy[:, 0]

        Raises:
            IndexError: there is no such object.
            TypeError: it is none of these.
        """
        first, *rest = index if isinstance(index, tuple) else (index,)
        inner = cast(Index, tuple(rest))
        if isinstance(first, int) and not isinstance(first, bool):
            return getitem(self.objects[first], inner) if rest else self.objects[first]
        chosen = [self.objects[at] for at in _positions(first, len(self.objects))]
        return LazyStack([getitem(one, inner) for one in chosen] if rest else chosen)

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[B]:
        return iter(self.objects)

    def __repr__(self) -> str:
        lines = "".join(f"    {one!r},\n".replace("\n", "\n    ").removesuffix("    ") for one in self.objects)
        return f"LazyStack([\n{lines}])"

    def map(self, fn: Callable[[B], C]) -> LazyStack[C]:
        """The stack of what `fn` makes of each object, of whatever TensorClass: `lazy.map(lambda batch: batch.point)`.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.map(lambda batch: batch.replace(mask=batch.tokens > 0))[0].mask
        tensor([True, True])

        Raises:
            TypeError: `fn` returned no object, or objects of different classes.
        """
        return LazyStack([fn(one) for one in self.objects])

    def apply(self, fn: Callable[[Tensor], Tensor]) -> LazyStack[B]:
        """The stack with `fn` applied to every tensor of every object.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.apply(torch.neg)[0].tokens
        tensor([-1., -1.])

        Raises:
            TypeError: `fn` returned no tensor.
            ValueError: the shape of a result does not start with the batch size of its object.
        """
        return LazyStack([apply(one, fn) for one in self.objects])

    def to(
        self,
        target: DeviceSpec | torch.dtype | Tensor | Stored,
        dtype: torch.dtype | None = None,
        non_blocking: bool = False,
    ) -> LazyStack[B]:
        """The stack with every object moved or cast, as by the `to` of an object.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.to(torch.float64)[0].tokens.dtype
        torch.float64

        Raises:
            TypeError: a dtype is neither floating point nor complex.
        """
        if isinstance(target, (str, int, torch.device)):
            return LazyStack([to(one, target, dtype, non_blocking) for one in self.objects])
        if isinstance(target, torch.dtype):
            return LazyStack([to(one, target, non_blocking) for one in self.objects])
        return LazyStack([to(one, target, non_blocking) for one in self.objects])

    def pin_memory(self) -> LazyStack[B]:
        """The stack with every tensor in page-locked memory. A DataLoader calls it."""
        return LazyStack([pin_memory(one) for one in self.objects])

    def dense(self) -> B:
        """One object with a copy of all tensors, as by `torch.stack`: of shape `[len(self), *batch, *event]`.

        >>> Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(2))]).dense().tokens.shape
        torch.Size([2, 2])

        Raises:
            TypeError: a field is None in some objects only.
            RuntimeError: shapes differ; the message names the field.
        ValueError: static fields differ.
        """
        return joining.stack(self.objects)

    contiguous = dense

    def padded(self, padding_value: float = 0.0) -> tuple[B, Tensor]:
        """One object in which each is padded at its end to the length of the longest, and a mask that is True for its items.

        >>> batch, mask = Batch.lazy_stack([Batch(torch.ones(2), batch_size=2), Batch(torch.ones(3), batch_size=3)]).padded()
        >>> batch.batch_size, mask
        (torch.Size([2, 3]), tensor([[ True,  True, False],
                [ True,  True,  True]]))

        Args:
            padding_value: The number to pad with.

        Raises:
            TypeError: a field is None in some objects only.
            ValueError: the objects have no batch dimension, or static fields differ.
            RuntimeError: they differ in more than their length; the message names the field.
        """
        lengths = [one._batch_size[0] if one._batch_size else -1 for one in self.objects]
        if min(lengths) < 0:
            raise ValueError(
                f"{type(self.objects[0]).__name__}: objects without batch dimensions have no length to pad to; give them "
                f"batch_size=, or read one field with .get(..., as_padded_tensor=True)"
            )
        longest = max(lengths)
        pairs = zip(self.objects, lengths, strict=True)
        batch = joining.stack([pad(one, (0, longest - length), padding_value) for one, length in pairs])
        positions = torch.arange(longest, device=self.device)
        return batch, positions < torch.tensor(lengths, device=self.device).unsqueeze(1)


def lazy_stack(cls: type[B], items: Sequence[B]) -> LazyStack[B]:
    """Objects of this class along a new first batch dimension, without a copy; their shapes may differ.

    >>> Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))]).get("tokens", as_list=True)
    [tensor([1., 1.]), tensor([1., 1., 1.])]

    Raises:
        TypeError: they are of different classes.
        ValueError: there are none.
    """
    return LazyStack(items)


def maybe_dense_stack(cls: type[B], items: Sequence[B]) -> B | LazyStack[B]:
    """`torch.stack` where the objects allow it, else `lazy_stack`, with its errors.

    >>> Batch.maybe_dense_stack([Batch(torch.ones(2)), Batch(torch.ones(2))]).batch_size
    torch.Size([2])
    """
    lazy = LazyStack(items)
    try:
        return lazy.dense()
    except (TypeError, ValueError, RuntimeError):
        return lazy


def _dotted(key: Key) -> str:
    return key if isinstance(key, str) else ".".join(key)


def _positions(index: object, length: int) -> list[int]:
    """The positions that a slice, a list, a range or a tensor selects."""
    if isinstance(index, (list, range)):
        index = torch.tensor(index) if index else slice(0)
    if not (isinstance(index, slice) or (isinstance(index, Tensor) and index.dim() == 1)):
        raise TypeError(
            "a LazyStack is indexed with int, slice, a list, range or Tensor of one dimension, "
            f"or a tuple that begins with one, got {describe(index)}"
        )
    found = torch.arange(length)[index.cpu() if isinstance(index, Tensor) else index]
    chosen: list[int] = found.tolist()
    return chosen


def _padded(label: str, tensors: list[Tensor | None], value: float) -> Tensor:
    """The tensors stacked in one of the largest size in each dimension."""
    present = [tensor for tensor in tensors if tensor is not None]
    if not present:
        raise TypeError(f"{label} is None in all objects")
    if len({tensor.dim() for tensor in present}) > 1:
        dims = sorted({tensor.dim() for tensor in present})
        raise ValueError(
            f"{label} has {dims} dimensions, which cannot be padded to one shape; read it with as_list=True"
        )
    largest = [max(sizes) for sizes in zip(*(tensor.shape for tensor in present), strict=True)]
    dtype = reduce(torch.promote_types, (tensor.dtype for tensor in present))
    out = present[0].new_full((len(tensors), *largest), value, dtype=dtype)
    for at, tensor in enumerate(tensors):
        if tensor is not None:
            out[at][tuple(slice(size) for size in tensor.shape)] = tensor
    return out


def _flatten(lazy: LazyStack[Stored]) -> tuple[list[Any], None]:
    return list(lazy.objects), None


def _flatten_keyed(lazy: LazyStack[Stored]) -> tuple[list[tuple[Any, Any]], None]:
    return [(_pytree.SequenceKey(at), one) for at, one in enumerate(lazy.objects)], None


def _unflatten(objects: Iterable[Any], context: None) -> LazyStack[Stored]:
    """A stack of what stands in the places of objects, which may be anything."""
    out: LazyStack[Stored] = object.__new__(LazyStack)
    object.__setattr__(out, "objects", tuple(objects))
    return out


_pytree.register_pytree_node(LazyStack, _flatten, _unflatten, flatten_with_keys_fn=_flatten_keyed)
