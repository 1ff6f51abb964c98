"""The report about loading a checkpoint into a module, in the words of `qten-gen lock --load`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor, nn

from ...common.state_differences import FileTensor, compared


def compare(model: nn.Module, state_dict: Mapping[str, object]) -> list[str]:
    """The differences between a state dict and a module; empty if it fits. Equal layers are one line.

    A strict load says nothing of a tensor that it casts, or of two values for one tensor.

    >>> print(*compare(nn.Linear(2, 3), {"weight": torch.ones(3, 2, dtype=torch.bfloat16), "scale": torch.ones(3)}), sep="\\n")
      missing: strict=True reports it; strict=False leaves it as it was initialised
        bias: float32 [3] param
      unexpected: strict=True reports it; strict=False drops it
        scale: float32 [3]
      recast: loads without a word, cast to the dtype of the model; with assign=True it keeps that of the file
        weight: bfloat16 -> float32

    Args:
        model: Any nn.Module, declared or not.
        state_dict: Tensors by name, of any shape, dtype and device, such as `torch.load(path, mmap=True)` gives.

    Returns:
        A line for each kind of difference, which says what loading does, and below it one for each name.
    """
    wanted: dict[str, _Held] = {}
    first: dict[int, str] = {}
    parameters = {id(parameter) for parameter in model.parameters()}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, Tensor):
            tie = first.setdefault(id(tensor), name)
            kind = "param" if id(tensor) in parameters else "buffer"
            wanted[name] = _Held(str(tensor.dtype)[6:], str(list(tensor.shape)), kind, "" if tie == name else tie)
    given = {
        name: FileTensor(str(value.dtype)[6:], str(list(value.shape)), _memory(value))
        for name, value in state_dict.items()
        if isinstance(value, Tensor)
    }
    return compared(given, wanted).lines()


class _Held(NamedTuple):
    """A tensor of the module."""

    dtype: str
    shape: str
    kind: str
    tie: str


def _memory(tensor: Tensor) -> object:
    """A value that is equal for two names of one tensor. Fake tensors have no address, and DTensors have 0."""
    try:
        return getattr(tensor, "_local_tensor", tensor).data_ptr(), tensor.device
    except RuntimeError:
        return tensor.untyped_storage()._cdata, tensor.storage_offset()
