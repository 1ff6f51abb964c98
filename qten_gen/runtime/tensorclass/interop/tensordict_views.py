"""`as_tensordict`: an object as a TensorDict that reads and writes its fields.

It is a plain `TensorDict`, so that everything made for one takes it. Only the dict in it is not plain: it is one of the mappings
below, which look values up in the object and store into it what is set.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, MutableMapping, ValuesView
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from torch import Tensor

from ..core.contents import contents, tensors_of
from ..core.errors import label
from ..core.stored import Stored
from ..core.tensordict_library import carried, library
from ..fields.per_item import PerItem
from ..fields.tensordict_entries import collection, stacked
from .tensordicts import field_value

if TYPE_CHECKING:
    from tensordict import TensorDict


def as_tensordict(self: Stored) -> TensorDict:
    """The object as a `tensordict.TensorDict` that shares its tensors, and writes into its fields what is set.

    So replay buffers, losses and modules of torchrl take the object, and their results are in it afterwards. What is written:

    - in place, into tensors: into those of the object;
    - under the key of a field, at any depth: into the field, checked and converted as an assignment;
    - under another key: into the TensorDict alone.

    Fields that are None are not among its keys; deleting the key of an optional field makes it None. A field that is set later in
    the object is seen in the TensorDict. Batch size, device and names are those of the object when it is called, and that of a
    locked or frozen object is locked.

    >>> batch = Batch(torch.arange(2), batch_size=2)
    >>> view = batch.as_tensordict()
    >>> view["mask"] = torch.ones(2)
    >>> batch.mask
    tensor([1., 1.])

    Raises:
        ImportError: tensordict is not installed.
    """
    made = library(f"{type(self).__name__}.as_tensordict")
    return cast("TensorDict", _view(made, self, _Fields(made, self)))


def _view(
    made: ModuleType, owner: Stored, entries: MutableMapping[str, object], holder: Stored | None = None
) -> Any:  # a TensorDict
    """A TensorDict over a mapping. `holder` has `owner` in a field, whose dimensions get the names that it gives."""
    names = None if owner._names is None else [*owner._names]
    if names is None and holder is not None and holder._names is not None:
        names = [*holder._names, *[None] * (len(owner._batch_size) - len(holder._names))]
    found = made.TensorDict._new_unsafe({}, batch_size=owner._batch_size, device=owner._device, names=names)
    found._tensordict = entries
    return found.lock_() if owner._lock is not None else found


class _Mapping(MutableMapping[str, object]):
    """Base of both mappings: a copy of them is a plain dict."""

    def copy(self) -> dict[str, object]:
        return {**self}

    __copy__ = copy

    def __reduce__(self) -> tuple[type, tuple[dict[str, object]]]:
        return dict, ({**self},)

    def __repr__(self) -> str:
        return repr({**self})


class _Fields(_Mapping):
    """The fields of an object, and keys that are not fields."""

    def __init__(self, made: ModuleType, owner: Stored) -> None:
        self._made = made
        self._owner = owner
        self._beside: dict[str, object] = {}
        self._entries: dict[str, tuple[object, object]] = {}

    def __getitem__(self, key: str) -> object:
        if key not in self._owner._fields:
            return self._beside[key]
        value = contents(self._owner)[key]
        if value is None:
            raise KeyError(key)
        return self._entry(key, value)

    def __setitem__(self, key: str, value: object) -> None:
        owner = self._owner
        if not isinstance(key, str):
            raise TypeError(f"expected a str as the key, got {type(key).__name__}")
        if key not in owner._fields:
            self._beside[key] = value
        elif key not in self or self[key] is not value:
            setattr(owner, key, field_value(type(owner), key, value, owner._batch_size))

    def __delitem__(self, key: str) -> None:
        owner = self._owner
        if key not in owner._fields:
            del self._beside[key]
            return
        if key not in self:
            raise KeyError(key)
        if not any(field.optional for field in type(owner)._declared_as.fields if field.name == key):
            raise TypeError(f"{label(owner, key)} cannot be deleted: it is not optional")
        setattr(owner, key, None)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str) or key not in self._owner._fields:
            return key in self._beside
        return contents(self._owner)[key] is not None

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._pairs()])

    def __len__(self) -> int:
        return len(self._pairs())

    def items(self) -> ItemsView[str, object]:
        return dict(self._pairs()).items()

    def values(self) -> ValuesView[object]:
        return dict(self._pairs()).values()

    def _pairs(self) -> list[tuple[str, object]]:
        found = [(name, self._entry(name, value)) for name, value in contents(self._owner).items() if value is not None]
        return [*found, *self._beside.items()]

    def _entry(self, key: str, value: object) -> object:
        """The entry of a field in the TensorDict: the same object as long as the field has the same value."""
        if key not in self._owner._static and isinstance(value, Tensor) and key not in self._owner._unbatched:
            return carried(value)
        value = collection(value)
        known = self._entries.get(key)
        if known is None or known[0] is not value:
            known = self._entries[key] = value, self._wrapped(key, value)
        return known[1]

    def _wrapped(self, key: str, value: object) -> object:
        """The form in which a TensorDict holds a value that is not one of its own."""
        owner, made = self._owner, self._made
        if isinstance(value, PerItem):
            return stacked(made, value)
        if key in owner._static:
            return made.NonTensorData(value, batch_size=owner._batch_size, device=owner._device)
        if key in owner._collections:
            return value
        if isinstance(value, Stored):
            return _view(made, value, _Fields(made, value), owner)
        if isinstance(value, (dict, list)):
            return _view(made, owner, _Tensors(made, owner, key, value))
        return made.UnbatchedTensor(value)


class _Tensors(_Mapping):
    """The tensors of a field that holds a dict or a list; for a list, the keys are the positions."""

    def __init__(self, made: ModuleType, owner: Stored, field: str, held: dict[str, Tensor] | list[Tensor]) -> None:
        self._owner = owner
        self._field = field
        self._held = held
        self._hold = made.UnbatchedTensor if field in owner._unbatched else carried

    def __getitem__(self, key: str) -> object:
        held = self._pairs()
        return held[key]

    def __setitem__(self, key: str, value: object) -> None:
        held = {**self._pairs()}
        if isinstance(self._held, list) and key not in held and key != str(len(held)):
            raise KeyError(f"{label(self._owner, self._field)}: expected a position up to {len(held)}, got {key!r}")
        if held.get(key) is not value:
            held[key] = value
            self._store(held)

    def __delitem__(self, key: str) -> None:
        held = {**self._pairs()}
        del held[key]
        self._store(held)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs())

    def __len__(self) -> int:
        return len(self._held)

    def _pairs(self) -> dict[str, object]:
        keys = self._held if isinstance(self._held, dict) else map(str, range(len(self._held)))
        return {key: self._hold(value) for key, value in zip(keys, tensors_of(self._held), strict=True)}

    def _store(self, held: dict[str, object]) -> None:
        """Assign the field, which checks the tensors, and go on with what is stored then."""
        plain = {key: cast(Tensor, value).as_subclass(Tensor) for key, value in held.items()}
        setattr(self._owner, self._field, plain if isinstance(self._held, dict) else [*plain.values()])
        self._held = cast("dict[str, Tensor] | list[Tensor]", contents(self._owner)[self._field])
