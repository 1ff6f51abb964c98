from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TypeVar, overload

from torch import Tensor

from qten_gen.runtime.tensorclass.core.lookup import Key
from qten_gen.runtime.tensorclass.core.sizes import Index
from qten_gen.runtime.tensorclass.core.stored import Stored

T = TypeVar("T", bound="Writing")

class Writing(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    def set_(self: T, key: Key, value: object, *, non_blocking: bool = False) -> T:
        """Write a tensor of the field's shape, or a number, into the tensor that the field holds.

        >>> Batch(torch.zeros(2), batch_size=2).set_("tokens", torch.tensor([1, 2])).tokens
        tensor([1., 2.])

        The shapes are equal and not broadcast. The tensor keeps its dtype and device, as with `Tensor.copy_`. Of a nested object
        the tensors are written, as in `update_`, of a dict or list of tensors each one.

        Raises:
            KeyError: there is no such field.
            TypeError: the field is static, or the value is not a tensor.
            ValueError: the field is None, or the shapes differ.
            FrozenInstanceError: the object is frozen.
        """
    @overload
    def update_(
        self: T, values: Mapping[str, object] | T | None = None, *, non_blocking: bool = False, **fields: object
    ) -> T: ...
    @overload
    def update_(self: T, values: Mapping[Key, object], *, non_blocking: bool = False, **fields: object) -> T:
        """Write into the tensors of several fields, as `set_` does into one; or into all, from another object of the class.

        Nothing is written where one of the values does not fit. Where torch itself refuses a write, as into a leaf that requires a
        gradient, the fields before it are written already.

        >>> batch = Batch(torch.zeros(2), torch.zeros(2), batch_size=2)
        >>> batch.update_({"mask": 1.0}, tokens=torch.tensor([1.0, 2.0])).tokens
        tensor([1., 2.])

        Args:
            values: Values by key, or an object of the class.
            non_blocking: Do not wait for copies to another device.
            fields: More values by name.

        Raises:
            KeyError: there is no such field.
            TypeError: a field is static, or a value is not a tensor.
            ValueError: a field is None, or shapes differ.
            FrozenInstanceError: the object is frozen.
        """
    def copy_(self: T, source: T, non_blocking: bool = False) -> T:
        """Write the tensors of another object of the class into the tensors here; shapes and static values have to be the same.

        A `PerItem` field gets the values of the other object. Nothing is written where something does not fit, as in `update_`.

        >>> batch = Batch(torch.zeros(2), batch_size=2)
        >>> batch.copy_(Batch(torch.ones(2), batch_size=2)).tokens
        tensor([1., 1.])

        Raises:
            TypeError: it is of another class.
            ValueError: shapes or static values differ, or a field is None in one of them.
            FrozenInstanceError: the object is frozen.
        """
    def __getitem__(self: T, index: Index) -> T:
        """The items that `index` selects along the batch dimensions.

        The result is what indexing every tensor gives: with tensors of shape `[*batch, *event]`, `[*indexed, *event]`. Integers and
        slices give views, masks and positions copies.

            batch[0], batch[1:3], batch[mask], batch[[2, 0]], batch[..., None]

        Args:
            index: Integers, slices, None, an ellipsis, lists or tensors, one for each batch dimension from the first on. A tensor
                of dtype long or int holds positions; one of dtype bool is a mask, with the shape of the batch
                dimensions it covers. So True, a mask of no dimensions, adds one of size 1, and False one of size 0.

        Raises:
            IndexError: the index is out of range or reaches beyond the batch dimensions.
            TypeError: it is none of the types above.
        """
    def __len__(self) -> int:
        """The size of the first batch dimension.

        Raises:
            TypeError: there is none.
        """
    def __setitem__(self: T, index: Index, value: T | Tensor | float) -> None:
        """Write into the items that `index` selects, in place.

        Where torch refuses one field, the fields before it are written already.

        Args:
            index: As in `getitem`.
            value: An object of the same class with the batch size and the static fields of those items, or a TensorDict that has
                its entries; a number; or a tensor whose shape broadcasts over their batch size. Numbers and tensors are converted to
                the dtype of each field.

        Raises:
            ValueError: the batch sizes do not fit, or a static field differs.
            RuntimeError: the object is a memory map, and the value of a PerItem field would change, which is not in a file.
            FrozenInstanceError: the class is frozen.
        """
    def __iter__(self: T) -> Iterator[T]:
        """The items along the first batch dimension.

        Raises:
            TypeError: there is none.
        """
    def lock_(self: T) -> T:
        """Lock the object and its nested objects: their fields, batch sizes and names cannot be set any more.

        What is in the tensors may still change, by index and by the methods that work in place. In a `with` statement the lock
        ends with the block.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> with batch.lock_():
        ...     batch.tokens[0] = 5
        ...     batch.is_locked
        True
        >>> batch.tokens, batch.is_locked
        (tensor([5, 1]), False)
        """
    def unlock_(self: T) -> T:
        """Unlock the object and its nested objects. In a `with` statement an object that was locked is locked again afterwards.

        >>> batch = Batch(torch.arange(2), batch_size=2, lock=True)
        >>> with batch.unlock_():
        ...     batch.mask = torch.ones(2)
        >>> batch.is_locked
        True

        Raises:
            RuntimeError: another locked object holds it, or one of its nested objects; unlock that one.
            FrozenInstanceError: it is frozen.
        """
    def __enter__(self: T) -> T:
        """Begin a `with` statement, which follows on `lock_()` or `unlock_()`.

        Raises:
            TypeError: it follows on nothing of the kind.
        """
    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End a `with` statement: the object is locked, or not, as it was before."""
