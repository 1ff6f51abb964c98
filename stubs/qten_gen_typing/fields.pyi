from collections.abc import Mapping
from typing import Any, Literal, TypeVar, overload

from qten_gen.runtime.tensorclass.core.lookup import Key
from qten_gen.runtime.tensorclass.core.stored import Stored

T = TypeVar("T", bound="Fields")

class Fields(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    def get(self, key: Key, default: object = ...) -> Any:
        """The value of a field; a tuple names a field of a nested object, or a tensor in a dict or list.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> batch.get("tokens"), batch.get("weight", None)
        (tensor([0, 1]), None)

        Args:
            default: Returned where there is no such field, or where a nested object on the way is None.

        Raises:
            KeyError: there is no such field and no default.
            TypeError: `key` is neither a name nor a tuple of names.
        """
    def set(self: T, key: Key, value: object, inplace: bool = False, non_blocking: bool = False) -> T:
        """Set a field as assignment to the attribute does, checks included; a tuple names a field of a nested object.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> batch.set("mask", torch.ones(2)).mask
        tensor([1., 1.])

        Args:
            inplace: Write into the tensors that are there, as `set_` does, where the field holds some; a locked object allows that.
            non_blocking: Do not wait for the copy to another device.

        Raises:
            KeyError: there is no such field.
            TypeError: the value is of another type than the field.
            ValueError: its shape does not fit.
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
    def setdefault(self, key: Key, default: object) -> Any:
        """The value of a field; one that is None is set to `default` first.

        >>> Batch(torch.arange(2), batch_size=2).setdefault("mask", torch.ones(2))
        tensor([1., 1.])

        Raises:
            KeyError: there is no such field.
            TypeError: `default` is of another type than the field.
            ValueError: its shape does not fit.
            RuntimeError: the field is None and the object is locked.
        """
    def pop(self, key: Key, default: object = ...) -> Any:
        """Take the value out of an optional tensor or nested field, which is None afterwards.

        >>> batch = Batch(torch.arange(2), torch.ones(2), batch_size=2)
        >>> batch.pop("mask"), batch.mask
        (tensor([1., 1.]), None)

        Args:
            default: Returned where there is no such field, or where it is None already.

        Raises:
            KeyError: there is no such field and no default.
            TypeError: the field is static, or not optional.
            RuntimeError: the object is locked.
        """
    def select(self, *keys: Key) -> dict[str, Any]:
        """Some fields as a dict, in the order asked for. A tuple key gives a dict of that part of the nested object.

        >>> Batch(torch.arange(2), batch_size=2).select("tokens")
        {'tokens': tensor([0, 1])}

        The result is not an object, because that has every field. `update` takes it. A key that leads into an object that another
        key names adds nothing: `select("point", ("point", "x"))` has the whole `point`.

        Raises:
            KeyError: there is no such field.
        """
    def exclude(self, *keys: Key) -> dict[str, Any]:
        """The fields that are not named, as a dict; a nested object that a tuple leads into is a dict of its other fields.

        >>> Batch(torch.arange(2), batch_size=2).exclude("mask")
        {'tokens': tensor([0, 1])}

        Raises:
            KeyError: there is no such field.
        """
    @overload
    def keys(self) -> tuple[str, ...]: ...
    @overload
    def keys(
        self, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
    ) -> tuple[str, ...]: ...
    @overload
    def keys(self, include_nested: bool, leaves_only: bool = False, *, sort: bool = False) -> tuple[Key, ...]:
        """The names of the fields, in the order of the constructor. Every field is there, also one that is None.

        >>> batch = Batch(torch.arange(4), batch_size=4)
        >>> batch.keys(), batch.keys(include_nested=True, leaves_only=True)
        (('tokens', 'mask'), ('tokens',))

        Args:
            include_nested: Also the fields of nested objects, as tuples of names.
            leaves_only: Only fields that hold a tensor, or a dict or list of tensors, and no None, static value or object. With
                `include_nested`, each tensor of a dict or list in place of the field, with its key or position as the last name.
            sort: In alphabetical order.
        """
    @overload
    def items(
        self, include_nested: Literal[False] = False, leaves_only: bool = False, *, sort: bool = False
    ) -> tuple[tuple[str, Any], ...]: ...
    @overload
    def items(
        self, include_nested: bool, leaves_only: bool = False, *, sort: bool = False
    ) -> tuple[tuple[Key, Any], ...]:
        """Names and values of the fields; the arguments are as in `keys`.

        >>> dict(Batch(torch.arange(4), batch_size=4).items())
        {'tokens': tensor([0, 1, 2, 3]), 'mask': None}
        """
    def is_empty(self) -> bool:
        """True if the object holds no tensor at all.

        >>> Batch(torch.arange(4), batch_size=4).is_empty()
        False
        """
    def __contains__(self, item: object) -> bool:
        """Refuse `in`, which would compare the items.

        Raises:
            TypeError: always.
        """
    @overload
    def update(
        self: T,
        values: Mapping[str, object] | T | None = None,
        clone: bool = False,
        inplace: bool = False,
        *,
        non_blocking: bool = False,
        **fields: object,
    ) -> T: ...
    @overload
    def update(
        self: T,
        values: Mapping[Key, object],
        clone: bool = False,
        inplace: bool = False,
        *,
        non_blocking: bool = False,
        **fields: object,
    ) -> T:
        """Set several fields, or all that another object of the class has; a mapping in place of a nested object updates that object.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> batch.update({"mask": torch.ones(2)}, tokens=torch.zeros(2)).tokens
        tensor([0., 0.])

        Args:
            values: Values by key, or an object of the class.
            clone: Copy the tensors first, so that they are not shared with `values`.
            inplace: Write into the tensors that are there, as in `set`.
            non_blocking: Do not wait for copies to another device.
            fields: More values by name, which go before `values`.

        Raises:
            KeyError: there is no such field; nothing is written then.
            TypeError: a value is of another type than its field. Without `inplace`, no field is set then.
            ValueError: a shape does not fit; no field is set then, as for a type.
            RuntimeError: the object is locked.
            FrozenInstanceError: it is frozen.
        """
    def replace(self: T, values: Mapping[str, object] | T | None = None, /, **changes: object) -> T:
        """A new object with other values in some fields; `batch_size`, `device`, `names` and `lock` can be changed too.

        It is constructed, as by `dataclasses.replace`: values are checked and `__post_init__` runs. Tensors are not copied; nested
        objects that stay are new ones around the same tensors, which no lock of the old object holds.

        >>> batch = Batch(torch.arange(2), torch.ones(2), batch_size=2)
        >>> batch.replace(mask=None).mask is None, batch.mask
        (True, tensor([1., 1.]))

        Args:
            values: Values by the names of fields, or an object of the class, whose values are all taken.
            changes: More values, which go before `values`.

        Raises:
            TypeError: there is no such field.
        """
    def __replace__(self: T, values: Mapping[str, object] | T | None = None, /, **changes: object) -> T:
        """A new object with other values in some fields; `batch_size`, `device`, `names` and `lock` can be changed too.

        It is constructed, as by `dataclasses.replace`: values are checked and `__post_init__` runs. Tensors are not copied; nested
        objects that stay are new ones around the same tensors, which no lock of the old object holds.

        >>> batch = Batch(torch.arange(2), torch.ones(2), batch_size=2)
        >>> batch.replace(mask=None).mask is None, batch.mask
        (True, tensor([1., 1.]))

        Args:
            values: Values by the names of fields, or an object of the class, whose values are all taken.
            changes: More values, which go before `values`.

        Raises:
            TypeError: there is no such field.
        """
