"""Objects of one class side by side, of shapes that need not be the same, without a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Literal, TypeVar, overload

import torch
from torch import Size, Tensor
from torch.utils import _pytree

from .core.construction import DeviceSpec
from .core.error_text import describe
from .core.lookup import Key, get, owner_of
from .core.sizes import common_leading
from .core.stored import Stored
from .methods import joining
from .methods.moving import pin_memory, to
from .operations.shapes import pad

B = TypeVar("B", bound=Stored)


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

    @overload
    def get(self, key: Key) -> Tensor: ...
    @overload
    def get(self, key: Key, *, as_padded_tensor: Literal[True], padding_value: float = 0.0) -> Tensor: ...
    @overload
    def get(self, key: Key, *, as_list: Literal[True]) -> list[Tensor | Any]: ...
    def get(
        self, key: Key, *, as_list: bool = False, as_padded_tensor: bool = False, padding_value: float = 0.0
    ) -> Tensor | list[Tensor | Any]:
        """A tensor field of all objects: of shape `[len(self), *batch, *event]`, or in another form where their shapes differ.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.get("tokens", as_list=True)
        [tensor([1., 1.]), tensor([1., 1., 1.])]
        >>> lazy.get("tokens", as_padded_tensor=True, padding_value=-1.0)[0]
        tensor([ 1.,  1., -1.])

        Other fields are read from the objects: `[batch.source for batch in lazy]`.

        Args:
            as_list: The tensors as they are; None for an object whose field is None.
            as_padded_tensor: One tensor with the largest size in each dimension. Smaller tensors are padded at the end, and an
                object without the tensor is padding throughout.
            padding_value: The number to pad with.

        Raises:
            KeyError: there is no such field.
            TypeError: it is not a tensor field, or it is None in some objects and the form has no place for None.
            ValueError: the tensors cannot be stacked; the message names the forms.
        """
        found = [self._tensor(one, key) for one in self.objects]
        if as_list:
            return found
        label = f"{type(self.objects[0]).__name__}.{_dotted(key)}"
        if as_padded_tensor:
            return _padded(label, found, padding_value)
        present = [tensor for tensor in found if tensor is not None]
        if len(present) < len(found):
            missing = f"{len(found) - len(present)} of {len(found)} objects"
            raise TypeError(f"{label} is None in {missing}; read it with as_list=True")
        shapes = list(dict.fromkeys(tuple(tensor.shape) for tensor in present))
        if len(shapes) > 1:
            raise ValueError(
                f"{label} has the shapes {', '.join(str(list(shape)) for shape in shapes)}, which are not one; "
                "read it with as_list=True or as_padded_tensor=True"
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
                f"{type(one).__name__}.{_dotted(key)} is not a tensor with the batch dimensions; "
                f"read it from the objects: [one.{_dotted(key)} for one in lazy]"
            )
        return value

    @overload
    def __getitem__(self, index: int) -> B: ...
    @overload
    def __getitem__(self, index: slice) -> LazyStack[B]: ...
    def __getitem__(self, index: int | slice) -> B | LazyStack[B]:
        if isinstance(index, slice):
            return LazyStack(self.objects[index])
        if not isinstance(index, int):
            raise TypeError(
                f"a LazyStack is indexed with an int or a slice, got {describe(index)}; make a stack of the objects: "
                "LazyStack([lazy[at] for at in positions])"
            )
        return self.objects[index]

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[B]:
        return iter(self.objects)

    def __repr__(self) -> str:
        lines = "".join(f"    {one!r},\n".replace("\n", "\n    ").removesuffix("    ") for one in self.objects)
        return f"LazyStack([\n{lines}])"

    def to(self, target: DeviceSpec | torch.dtype, non_blocking: bool = False) -> LazyStack[B]:
        """The stack with every object moved to a device, or cast.

        >>> lazy = Batch.lazy_stack([Batch(torch.ones(2)), Batch(torch.ones(3))])
        >>> lazy.to(torch.float64)[0].tokens.dtype
        torch.float64

        Raises:
            TypeError: a dtype is neither floating point nor complex.
        """
        return LazyStack([to(one, target, non_blocking=non_blocking) for one in self.objects])

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
        if not all(one._batch_size for one in self.objects):
            raise ValueError(
                f"{type(self.objects[0]).__name__}: objects without batch dimensions have no length to pad to; give them "
                f"batch_size=, or read one field with .get(..., as_padded_tensor=True)"
            )
        lengths = [one._batch_size[0] for one in self.objects]
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


def _padded(label: str, tensors: list[Tensor | None], value: float) -> Tensor:
    """The tensors stacked in one of the largest size in each dimension."""
    present = [tensor for tensor in tensors if tensor is not None]
    if not present:
        raise TypeError(f"{label} is None in all objects")
    dims = sorted({tensor.dim() for tensor in present})
    if len(dims) > 1:
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


def _unflatten(objects: Any, context: None) -> LazyStack[Any]:
    """Rebuild a stack from the children of a pytree, which may be anything."""
    out: LazyStack[Any] = object.__new__(LazyStack)
    object.__setattr__(out, "objects", tuple(objects))
    return out


_pytree.register_pytree_node(
    LazyStack,
    lambda lazy: (list(lazy.objects), None),
    _unflatten,
    flatten_with_keys_fn=lambda lazy: ([(_pytree.SequenceKey(at), one) for at, one in enumerate(lazy.objects)], None),
)
