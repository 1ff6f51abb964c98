"""Loading state dicts: tensors are copied where the dict is just what the object would give; all else is left to `load_plan`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from torch import Tensor

from ..core.contents import tensor_and_nested
from ..core.locks import refuse_if_frozen
from ..core.stored import Stored
from .state_dict import copy_all

T = TypeVar("T", bound=Stored)


def load_state_dict(
    self: T, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False, from_flatten: bool = False
) -> T:
    """Write the tensors of a state dict into those of this object, and take over its batch size and static values.

    Where the batch size changes, the object gets new tensors instead, of its own dtypes and on its own devices.

    >>> state = Batch(torch.arange(2), batch_size=2).state_dict()
    >>> Batch(torch.zeros(2, dtype=torch.int64), batch_size=2).load_state_dict(state).tokens
    tensor([0, 1])

    Args:
        state_dict: As `state_dict` returns it, nested or flat; a tensordict's too.
        strict: Whether the names have to be the same, those of static values too where the dict has metadata; otherwise those
            that are on one side only are passed over.
        assign: Whether the object gets the tensors themselves.
        from_flatten: Changes nothing: which form the dict has is seen from its values.

    Returns:
        The object.

    Raises:
        RuntimeError: names or shapes do not fit, all of which are listed, or the object is locked and would need other tensors
            or static values. Nothing is changed then.
        TypeError, ValueError: the object would get tensors that are not what its annotations say.
        FrozenInstanceError: the object is frozen.
    """
    refuse_if_frozen(self, "load a state dict into")
    copies: list[tuple[Tensor, Tensor]] = []
    if not assign and _fits(self, state_dict, copies):
        copy_all(copies)
        return self
    from .load_plan import load_planned

    load_planned(self, state_dict, strict=strict, assign=assign)
    return self


def _fits(self: Stored, state: Mapping[str, Any], copies: list[tuple[Tensor, Tensor]]) -> bool:
    """Whether a state dict is just what the object would give, numbers aside. `copies` gets what is to be copied then.

    That is the usual case, and most of the time that planning takes goes into what it cannot be.
    """
    values, static = self._field_values()
    metadata = getattr(state, "_metadata", None) or {}
    level = metadata.get("", {})
    if static or len(values) != len(state) or len(metadata) > 1 or level.get("_non_tensor") or level.get("_encoded"):
        return False
    if level.get("batch_size") != self._batch_size or level.get("_names") != self._names:
        return False
    for name, value in zip(tensor_and_nested(self), values, strict=True):
        loaded = state.get(name)
        if isinstance(value, Tensor) and isinstance(loaded, Tensor):
            if loaded.shape != value.shape:
                return False
            copies.append((value, loaded))
        elif not isinstance(value, Stored) or not isinstance(loaded, Mapping) or not _fits(value, loaded, copies):
            return False
    return True
