"""The base class of every TensorClass: slots, tables of the class, and primitives, which each class has compiled for its fields.

Everything in `runtime/tensorclass` is written over it. `TensorClass` adds the public methods, and a generated class the
constructor and the properties, so that the bases of a declared class are `Batch -> _Batch_ (generated) -> TensorClass -> Stored`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from weakref import ref

import torch
from torch import Size, Tensor

if TYPE_CHECKING:
    from typing import Self

    from ...declaring.declared_class import Summary
    from ...declaring.fields import Default

A = TypeVar("A")


class Lock:
    """A lock, which keeps an object as it is.

    `roots` are the objects on which `lock_` was called, this one or those that hold it. `FROZEN` has none, and never ends.
    """

    __slots__ = ("roots",)

    def __init__(self, roots: tuple[ref[Stored], ...]) -> None:
        self.roots: Final = roots


FROZEN: Final = Lock(())
"""The lock of every object of a frozen class, and of the objects in its fields."""


class Stored:
    """Named tensors that share their leading dimensions: one slot for each field, and six others, of which primitives write
    `_batch_size`, `_device`, `_names` and `_lock`.

    The tables say what the fields are; the metaclass and generated code fill them in. The primitives, which `primitives.py`
    compiles for each class, are all that methods know of fields. They check nothing: whoever calls them has checked.
    Another object that a primitive takes is of the same class.
    """

    __slots__ = ("__weakref__", "_batch_size", "_device", "_entered", "_lock", "_names")

    # For checkers alone: `typing.get_type_hints` of a declared class evaluates the annotations of its bases too.
    if TYPE_CHECKING:
        _batch_size: Size
        """The leading dimensions that all batched tensors share."""
        _device: torch.device | None
        """Where all tensors are; None where nothing is said about it."""
        _names: tuple[str | None, ...] | None
        """A name or None for each batch dimension; None where no dimension has one."""
        _lock: Lock | None
        """The lock that forbids changes; None for an object that may change."""
        _entered: tuple[bool | None, tuple[bool, ...]]
        """If it was locked before the last call of `lock_` or `unlock_`, and before each open `with` block. Unset at first."""

        _declared_as: ClassVar[Summary]
        """The declaration in the class statement."""
        _defaults: ClassVar[dict[str, Default]]
        """The defaults of fields, inherited ones included."""
        __generated_init__: ClassVar[Callable[..., None]]
        """The generated constructor, which a class's own `__init__` may hide."""

        # Called where the class has one.
        def __post_init__(self) -> None: ...

    _flags: ClassVar[frozenset[str]] = frozenset()
    """The class flags that are on: `"frozen"`, `"autocast"`, ..."""
    _fields: ClassVar[tuple[str, ...]] = ()
    """The names of all fields, in the order of the constructor."""
    _nested: ClassVar[dict[str, str]] = {}
    """For each field that holds a TensorClass, the reference by which generated code finds that class."""
    _static: ClassVar[tuple[str, ...]] = ()
    """The fields that hold Python values: static and PerItem ones."""
    _unbatched: ClassVar[tuple[str, ...]] = ()
    """The fields whose tensors the batch does not carry."""
    __attribute_places__: ClassVar[tuple[str, ...]] = ()
    """Where objects keep attributes that are not fields: the other slots, and `__dict__`."""
    _per_item: ClassVar[tuple[str, ...]] = ()
    """The fields with one Python value for each item of the batch."""
    __ragged__: ClassVar[tuple[str, ...]] = ()
    """The fields with items of different lengths, which are among the nested ones."""
    __structure__: ClassVar[tuple[str, ...]] = ()
    """The fields whose tensors say where others belong: they move and are saved, and nothing computes with them."""
    _containers: ClassVar[tuple[str, ...]] = ()
    """The fields that hold a dict or a list of tensors."""
    _shapes: ClassVar[dict[str, tuple[str, str]]] = {}
    """For each field with an annotated shape, the dtype and the dimensions of the annotation."""

    def _fill(self, *args: Any, **kwargs: Any) -> Self:  # the fields are the parameters
        """Store the tensor and nested fields, the static fields, batch size, device and names, unchecked, and give the object.

        An object of a frozen class stores frozen copies of the objects in its nested fields.
        """
        raise NotImplementedError

    def _map(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Apply `fn` to every tensor; batch size and device stay."""
        raise NotImplementedError

    def _map_with(self, fn: Callable[[Tensor, A], Tensor], argument: A, device: torch.device | None) -> Self:
        """Apply `fn(tensor, argument)` to every tensor; batch size stays, `device` is where the results are."""
        raise NotImplementedError

    def _rearrange(self, fn: Callable[[Tensor, A], Tensor], argument: A, batch_size: Size) -> Self:
        """Apply `fn(tensor, argument)`, which turns the batch dimensions into `batch_size`, to every batched tensor."""
        raise NotImplementedError

    def _zip(self, fn: Callable[[Tensor, Tensor], Tensor], other: Any) -> Self:
        """Apply `fn` to the tensors of both, field by field. Static fields are this object's."""
        raise NotImplementedError

    def _index_put(self, index: Any, other: Any) -> None:  # whatever a tensor can be indexed with
        """Write `other` into the items that `index` selects."""
        raise NotImplementedError

    def _check_compatible(self, other: Any) -> None:
        """Refuse an object whose static values differ, or that has None in other fields."""
        raise NotImplementedError

    def _join(self, fn: Callable[[list[Tensor]], Tensor], items: Sequence[Any], batch_size: Size) -> Self:
        """Join every tensor of `items`, the first of which is this object, with `torch.stack` or `torch.cat`."""
        raise NotImplementedError

    def _split(
        self, fn: Callable[[Tensor, A], Sequence[Tensor]], argument: A, batch_sizes: Sequence[Size]
    ) -> Sequence[Self]:
        """Cut every tensor with `fn(tensor, argument)` into one piece for each of `batch_sizes`."""
        raise NotImplementedError

    def _leaves(self) -> list[Tensor]:
        """Every tensor to compute with, also of nested fields; None is left out, and so are the fields of `__structure__`."""
        raise NotImplementedError

    def _field_values(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:  # what a field holds, its annotation says
        """The values of the tensor and nested fields, and of the static fields, in field order."""
        raise NotImplementedError

    def _assign(
        self, values: Sequence[Any], static: Sequence[Any], batch_size: Size, device: torch.device | None
    ) -> Self:
        """Store what `_field_values` gave, unchecked. The dimensions have no names then."""
        return self._fill(*values, *static, batch_size, device)

    def _to_dict(self) -> dict[str, object]:
        """The fields as a dict, nested classes as dicts."""
        raise NotImplementedError
