"""`Ragged`: the type of fields whose items have different numbers of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from operator import sub
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Never, TypeVar, cast, overload

import torch
from torch import Size, Tensor
from torch.compiler import is_compiling

from ...common.field_kinds import FieldKind
from ..declaring.declared_class import DeclaredClass, FieldSummary, Summary
from .core.construction import DeviceLike
from .core.dimension_names import NamesLike
from .core.error_text import describe, suggestion
from .core.sizes import refuse_unknown_mask
from .fields.per_item import items_become
from .fields.ragged_rows import count, cut, described, dims, from_items
from .fields.ragged_storage import RaggedStorage
from .metaclass import TensorClassMeta
from .methods.keys import keys_of_tensors
from .storage import pickling
from .tensorclass import TensorClass

R = TypeVar("R", bound="Tensor | TensorClass")
S = TypeVar("S", bound="Tensor | TensorClass")

if TYPE_CHECKING:
    from qten_gen_typing import RaggedField
else:
    RaggedField = Generic


def unpickled() -> Ragged[Any]:
    """The start of unpickling: an object of no variant yet. Pickles name this function, so that its name and place stay."""
    return object.__new__(Ragged)


def _refuse_field_of_rows(name: str, ragged: Ragged[Any], *_: object) -> Never:
    """Say where a field of the rows is, which somebody reads or sets without them."""
    raise AttributeError(f"{type(ragged).__name__} has no {name!r}; its rows have it: .rows.{name}")


class _RaggedMeta(TensorClassMeta):
    """Metaclass of `Ragged` and of its variants for the rows of each TensorClass. Nothing is generated for them."""

    if not TYPE_CHECKING:

        def __new__(mcls, name, bases, namespace, /, rows=None):
            if rows is None and any(isinstance(base, _RaggedMeta) for base in bases):
                raise TypeError("Ragged cannot be derived from; declare a TensorClass with a Ragged field")
            cls = DeclaredClass.__new__(mcls, name, bases, namespace)
            for field in () if rows is None else rows._fields:
                if not hasattr(cls, field):
                    setattr(cls, field, property(*[partial(_refuse_field_of_rows, field)] * 2))
            home, kind = f"{cls.__module__}.{name}", FieldKind.TENSOR if rows is None else FieldKind.NESTED
            fields = (
                FieldSummary("rows", kind, owner=home, unbatched=True, argument="rows"),
                FieldSummary("lengths", FieldKind.TENSOR, owner=home, argument="lengths"),
            )
            cls._declared_as, cls._defaults = Summary(fields, ("rows", "lengths"), False), {}
            cls.rows_class, cls._nested = (Tensor, {}) if rows is None else (rows, {"rows": ""})
            cls._complete_class()
            cls.__attribute_places__ = ()  # where rows begin is found again
            return cls


class Ragged(RaggedStorage, TensorClass, RaggedField[R], metaclass=_RaggedMeta):
    """Items with different numbers of rows: the rows of all items behind one another, and the length of each item.

        class Sample(TensorClass):
            image: Tensor
            boxes: Ragged[Float[Tensor, "n 4"]]

        batch = Sample(images, [torch.rand(3, 4), torch.rand(0, 4)], batch_size=2)
        batch.boxes.rows.shape, batch.boxes.lengths, batch[0].boxes.rows

    >>> ragged = Ragged.of([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> ragged.rows, ragged.lengths, ragged[0].rows
    (tensor([1, 2, 3, 4]), tensor([3, 1]), tensor([1, 2, 3]))

    The rows are a Tensor, whose first dimension they are, or an object of a TensorClass, whose first batch dimension they are. A
    Ragged is an object itself: its batch size is the shape of the lengths, and what rearranges, moves or saves objects does it
    to the items. What computes, computes with the rows. The lengths cannot be set; nothing computes with them.

    Args:
        rows: The rows of all items.
        lengths: How many rows each item has, in the shape of the batch; without it there is one item, and no batch dimension.

    Raises:
        TypeError: the rows are something else, or the lengths are no integers.
        ValueError: the lengths do not add up to the number of rows.
    """

    __slots__ = ()

    rows_class: ClassVar[type]
    """The class of the rows."""

    if TYPE_CHECKING:

        def __init__(
            self,
            rows: R,
            lengths: Tensor | Sequence[int] | int | None = None,
            *,
            device: DeviceLike = None,
            names: NamesLike = None,
            lock: bool = False,
        ) -> None: ...

        @property
        def rows(self) -> R:
            """The rows of all items, item by item."""
            ...

        @property
        def lengths(self) -> Tensor:
            """How many rows each item has: integers in the shape of the batch."""
            ...

    else:

        def __new__(cls, rows=None, *args, **kwargs):
            return object.__new__(cls if rows is None else class_for(type(rows)))

    @overload
    @classmethod
    def of(cls, items: Tensor) -> Ragged[Tensor]: ...
    @overload
    @classmethod
    def of(cls, items: Sequence[S]) -> Ragged[S]: ...
    @classmethod
    def of(cls, items: Sequence[Any] | Tensor) -> Ragged[Any]:
        """The Ragged of a list with the rows of each item, or of a jagged nested tensor.

        >>> Ragged.of([torch.ones(2, 4), torch.ones(0, 4)]).lengths
        tensor([2, 0])

        Raises:
            TypeError: an item is neither a Tensor nor an object of a TensorClass, or of another class than the first.
            ValueError: the shapes of items differ in more than the number of rows, or there are no items.
        """
        first = items if isinstance(items, Tensor) else items[0] if items else None
        made: Ragged[Any] = from_items(
            "Ragged.of", type(first) if isinstance(first, TensorClass) else Tensor, items, None
        )
        return made

    @classmethod
    def from_padded(cls, padded: S, where: Tensor) -> Ragged[S]:
        """The Ragged of padded rows.

        >>> Ragged.from_padded(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1])).rows
        tensor([1, 2, 3])

        Args:
            padded: Rows of shape `[*batch, length, *event]`; an object of a TensorClass has the batch size `[*batch, length]`.
            where: The length of each item, or a mask of shape `[*batch, length]` that is true for rows.

        Raises:
            TypeError: the lengths are no integers.
            ValueError: a length is negative, or larger than that of the padded rows, or there are more or fewer lengths.
        """
        mask, least = where, where.dim() + (where.dtype is not torch.bool)
        if not 0 < least <= len(padded.shape) or padded.shape[: where.dim()] != where.shape:
            expected = f"lengths [*batch], or a mask [*batch, length], of padded rows of shape {list(padded.shape)}"
            raise ValueError(f"Ragged.from_padded: expected {expected}, got {describe(where)}")
        if where.dtype is not torch.bool:
            mask = torch.arange(padded.shape[where.dim()], device=where.device) < where.unsqueeze(-1)
        refuse_unknown_mask("Ragged.from_padded", mask)
        return Ragged(cast(S, cast(Any, padded)[mask]), mask.sum(-1) if mask is where else where)

    @property
    def offsets(self) -> Tensor:
        """Where each item begins among the rows, and the end of the last one: `[items + 1]`, as `cu_seqlens`."""
        return torch.nn.functional.pad(self._lengths.reshape(-1).cumsum(0), (1, 0))

    @property
    def item_index(self) -> Tensor:
        """The number of the item that each row belongs to, as the `batch` of graphs.

        >>> Ragged(torch.ones(3), torch.tensor([2, 1])).item_index
        tensor([0, 0, 1])
        """
        return self._repeated(torch.arange(self._lengths.numel(), device=self._lengths.device))

    def _repeated(self, values: Tensor) -> Tensor:
        """The value of its item, for each row."""
        try:
            return torch.repeat_interleave(values, self._lengths.reshape(-1), output_size=count(self._rows))
        except RuntimeError:  # somebody has written to the lengths, of which torch's message says nothing
            self._starts = None
            self.starts()
            raise

    @property
    def max_length(self) -> int:
        """The largest length; 0 without items. A graph reads it from a tensor."""
        starts = self.starts()
        if starts is None:
            self.refuse_unknown(f"{type(self).__name__}.max_length")
            return int(self._lengths.max().item())
        return max(map(sub, starts[1:], starts), default=0)

    def mask(self, length: int | None = None) -> Tensor:
        """The mask of `padded`: true for rows, of shape `[*batch, length]`.

        >>> Ragged(torch.ones(3), torch.tensor([2, 1])).mask()
        tensor([[ True,  True],
                [ True, False]])
        """
        width = self.max_length if length is None else length
        return torch.arange(width, device=self._lengths.device) < self._lengths.unsqueeze(-1)

    def padded(self, fill: float | Mapping[str, float] = 0, length: int | None = None) -> R:
        """The rows in the shape `[*batch, length, *event]`, filled up behind the rows of each item.

        >>> Ragged(torch.tensor([1, 2, 3]), torch.tensor([2, 1])).padded(fill=-1)
        tensor([[ 1,  2],
                [ 3, -1]])

        Args:
            fill: What stands behind the rows; for rows of a TensorClass also a mapping of fields to numbers, 0 for others.
            length: The number of rows for each item; by default, as many as the longest item has.

        Raises:
            ValueError: an item has more rows than `length`.
            KeyError: there is no such field.
        """
        width, starts, rows = self.max_length if length is None else length, self.starts(), self._rows
        if length is not None and starts is not None and self.max_length > length:
            raise ValueError(f"Ragged.padded: an item has {self.max_length} rows, which do not fit length={length}")
        if starts is None and length is not None:
            fits = (self._lengths <= length).all()
            torch.ops.aten._assert_async.msg(fits, "Ragged.padded: an item has more rows than fit the length")
        gaps = width - self._lengths.reshape(-1)
        places = self._repeated(gaps.cumsum(0) - gaps).add_(torch.arange(count(rows), device=gaps.device))
        size = (*self._batch_size, width)
        if isinstance(rows, Tensor):
            if isinstance(fill, Mapping):
                raise TypeError("Ragged.padded: expected a number, got a mapping; the rows are a Tensor")
            return cast(R, _pad(rows, (places, size, iter([fill]))))
        keys = [".".join(key) if isinstance(key, tuple) else key for key in keys_of_tensors(rows)]
        by_field = fill if isinstance(fill, Mapping) else dict.fromkeys(keys, fill)
        for name in by_field:
            if name not in keys:
                raise KeyError(f"{type(rows).__name__} has no tensor {name!r}{suggestion(name, keys)}")
        fills = iter([by_field.get(key, 0) for key in keys])
        return cast(R, rows._rearrange(_pad, (places, size, fills), Size((*size, *rows._batch_size[1:]))))

    def as_list(self) -> list[R]:
        """The rows of each item, in a list: views.

        >>> Ragged(torch.tensor([1, 2, 3]), torch.tensor([2, 1])).as_list()
        [tensor([1, 2]), tensor([3])]
        """
        self.refuse_unknown(f"{type(self).__name__}.as_list")
        starts = self.starts()  # known on a GPU too, which need not be waited for
        return [
            *cut(self._rows, self._lengths.reshape(-1).tolist() if starts is None else [*map(sub, starts[1:], starts)])
        ]

    def as_nested(self: Ragged[Tensor]) -> Tensor:
        """The rows as a jagged nested tensor, for functions of torch that take one. Items have one batch dimension.

        Raises:
            TypeError: the rows are no Tensor, or there are more batch dimensions, or none.
        """
        if not isinstance(self._rows, Tensor) or len(self._batch_size) != 1:
            raise TypeError(
                f"{type(self).__name__}.as_nested: expected rows in a Tensor and one batch dimension, "
                f"got {type(self._rows).__name__} and batch size {list(self._batch_size)}"
            )
        nested: Tensor = torch.nested.nested_tensor_from_jagged(self._rows, self.offsets)
        return nested

    def map_rows(self, fn: Callable[[R], S]) -> Ragged[S]:
        """The Ragged of the same items with other rows: `targets.map_rows(lambda rows: rows.boxes)`.

        >>> Ragged(torch.tensor([1, 2, 3]), torch.tensor([2, 1])).map_rows(torch.square).rows
        tensor([1, 4, 9])

        Raises:
            ValueError: the function gives more rows or fewer.
        """
        rows = fn(self._rows)
        if not isinstance(rows, (Tensor, TensorClass)) or dims(rows)[:1] != dims(self._rows)[:1]:
            raise ValueError(f"Ragged.map_rows: expected {count(self._rows)} rows, got {described(rows)}")
        out: Ragged[S] = object.__new__(class_for(type(rows)))
        starts = None if is_compiling() else self._starts
        return out._fill(rows, self._sizes, starts, self._batch_size, self._device, self._names)

    def keep_rows(self, mask: Tensor) -> Ragged[R]:
        """The Ragged of the rows for which a mask is true, in their items.

        >>> Ragged(torch.tensor([1, 2, 3]), torch.tensor([2, 1])).keep_rows(torch.tensor([False, True, True])).lengths
        tensor([1, 1])

        Raises:
            ValueError: the mask is not one bool for each row.
        """
        if mask.dtype is not torch.bool or mask.shape != (count(self._rows),):
            raise ValueError(
                f"Ragged.keep_rows: expected a bool for each of {count(self._rows)} rows, got {describe(mask)}"
            )
        refuse_unknown_mask("Ragged.keep_rows", mask)
        lengths = self.map_rows(lambda rows: mask).reduce("sum")
        return object.__new__(type(self))._fill(self._rows[mask], lengths, None, self._batch_size, self._device)

    def reduce(self: Ragged[Tensor], how: Literal["sum", "mean", "max"]) -> Tensor:
        """The rows of each item reduced to one: a Tensor of shape `[*batch, *event]`.

        An item without rows has the sum 0, the mean NaN, and as its maximum the smallest number of the dtype.

        >>> Ragged(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2, 1])).reduce("mean")
        tensor([1.5000, 3.0000])

        Raises:
            TypeError: the rows are no Tensor, or integers of which the mean is asked.
            ValueError: `how` is something else.
        """
        rows = self._rows
        if not isinstance(rows, Tensor):
            raise TypeError(
                f"{type(self).__name__}.reduce: expected rows in a Tensor; reduce a field: "
                f".map_rows(lambda rows: rows.{rows._fields[0]}).reduce({how!r})"
            )
        exact = rows.is_floating_point() or rows.is_complex()
        undefined = {"sum": False, "mean": not exact, "max": rows.is_complex() or rows.dtype is torch.bool}
        if how not in undefined:
            raise ValueError(f'Ragged.reduce: expected "sum", "mean" or "max", got {how!r}')
        if undefined[how]:
            raise TypeError(f"Ragged.reduce: the {how} of {rows.dtype} is not defined; convert the rows before")
        items, event = self._lengths.numel(), rows.shape[1:]
        if how == "max":
            smallest = -torch.inf if exact else torch.iinfo(rows.dtype).min
            index = self.item_index.view(-1, *(1,) * len(event)).expand_as(rows)
            least = rows.new_full((items, *event), smallest)
            return least.scatter_reduce(0, index, rows, "amax").view(*self._batch_size, *event)
        # As `torch.sum` and `torch.mean`: half precision is summed in float32, and integers are in int64.
        half = rows.dtype in (torch.float16, torch.bfloat16)
        wide = rows.to(torch.float32 if half else rows.dtype if exact else torch.int64)
        found = wide.new_zeros((items, *event)).index_add(0, self.item_index, wide)
        if how == "mean":
            found = found / self._lengths.reshape(-1, *(1,) * len(event))
        return found.to(rows.dtype if half else found.dtype).view(*self._batch_size, *event)

    if not TYPE_CHECKING:

        def __setstate__(self, state):
            rows = state["fields"].get("rows")
            if isinstance(rows, TensorClass):
                self.__class__ = class_for(type(rows))
            pickling.restore(self, state)


@items_become("padded")
def _pad(tensor: Tensor, argument: tuple[Tensor, tuple[int, ...], Iterator[float]]) -> Tensor:
    """Rows at their places in a tensor that is filled with a number."""
    places, size, fills = argument
    rest = tensor.shape[1:]
    filled = tensor.new_full((prod(size), *rest), next(fills))  # not `Size.numel`, which takes no symbols
    return filled.index_copy_(0, places, tensor).view(*size, *rest)


_VARIANTS: dict[type, type[Ragged[Any]]] = {}


def class_for(rows: type) -> type[Ragged[Any]]:
    """The class of objects with rows of a class: `Ragged` itself, or for a TensorClass a variant of it."""
    if not issubclass(rows, TensorClass):
        return Ragged
    found = _VARIANTS.get(rows)
    if found is None:
        names = {"__module__": __name__, "__slots__": (), "__doc__": Ragged.__doc__}
        make: Any = _RaggedMeta
        found = _VARIANTS[rows] = make(f"Ragged[{rows.__name__}]", (Ragged,), names, rows=rows)
    return found


torch.serialization.add_safe_globals([Ragged, unpickled])
