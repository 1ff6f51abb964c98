"""Recognises values of NumPy and of tensordict without importing either, and imports tensordict to make an object of its own."""

from __future__ import annotations

import sys
from numbers import Number
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from torch import Tensor

if TYPE_CHECKING:
    from tensordict import TensorDictBase


H = TypeVar("H")


def is_tensordict(value: object) -> TypeGuard[TensorDictBase]:
    """True if a value is a TensorDict, or of a class that tensordict made. Does not import tensordict: without it nothing is."""
    library = sys.modules.get("tensordict")
    if library is None:
        return False
    return isinstance(value, getattr(library, "TensorDictBase", ())) or library.is_tensorclass(type(value))


def is_made_class(value: object) -> bool:
    """True if a value, a TensorDict of any kind, is of a class that tensordict made."""
    return bool(sys.modules["tensordict"].is_tensorclass(type(value)))


def bare(value: H) -> H:
    """A tensor in a tensordict file as a plain tensor of the same memory; any other value as it is."""
    library = sys.modules.get("tensordict")
    if library is None or type(value) is Tensor or not isinstance(value, getattr(library, "MemoryMappedTensor", ())):
        return value
    return cast(H, cast(Tensor, value).as_subclass(Tensor))


def is_unbatched(value: object) -> bool:
    """True if a value is an `UnbatchedTensor`, which TensorDicts leave whole when they are indexed."""
    library = sys.modules.get("tensordict")
    return (
        library is not None and type(value) is not Tensor and isinstance(value, getattr(library, "UnbatchedTensor", ()))
    )


def carried(value: H) -> H:
    """A tensor that the batch carries as one that a TensorDict carries too: an `UnbatchedTensor` as a plain tensor.

    With torch 2.14 and newer, an `UnbatchedTensor` is a wrapper around that tensor, and says so as traceable subclasses do.
    """
    if not is_unbatched(value):
        return value
    flatten = getattr(value, "__tensor_flatten__", None)
    if flatten is None:
        return cast(H, cast(Tensor, value).as_subclass(Tensor))
    [inner], _ = flatten()
    return cast(H, getattr(value, inner))


def library(action: str) -> ModuleType:
    """The package tensordict, imported for `action`, which an error names.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import tensordict
    except ImportError as error:
        raise ImportError(
            f"{action} needs the package tensordict, which is not installed: pip install tensordict", name="tensordict"
        ) from error
    return tensordict


def is_number(value: object) -> TypeGuard[complex]:
    """True if a value is a number for tensors; a bool is one, and so are NumPy's.

    >>> is_number(2.5), is_number(numpy.bool_(True)), is_number(numpy.ones(1))
    (True, True, False)
    """
    # The usual numbers go first, without the cost of an abstract class. NumPy registers its bool nowhere.
    if isinstance(value, (int, float, complex)):
        return True
    return isinstance(value, Number) or (_is_of_numpy(value) and type(value).__name__ in ("bool", "bool_"))


def written(value: Any) -> Any:
    """The number to write into the items of a tensor, which takes Python's only: theirs in place of NumPy's.

    >>> written(numpy.float32(2.5))
    2.5
    """
    return value.item() if _is_of_numpy(value) else value


def is_array(value: object) -> bool:
    """True if a value is an array of NumPy."""
    return _is_of_numpy(value) and type(value).__name__ == "ndarray"


def _is_of_numpy(value: object) -> bool:
    return type(value).__module__ == "numpy"
