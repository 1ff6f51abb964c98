"""Recognises objects of tensordict, and imports it only when an object of its own has to be made."""

from __future__ import annotations

import dataclasses
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast, get_args, get_type_hints

from torch import Tensor

if TYPE_CHECKING:
    from tensordict import TensorDictBase

    from .stored import Stored

H = TypeVar("H")


def is_tensordict(value: object) -> TypeGuard[TensorDictBase]:
    """Whether a value is a TensorDict, or of a class that tensordict made. Does not import tensordict: without it nothing is."""
    library = sys.modules.get("tensordict")
    if library is None:
        return False
    return isinstance(value, getattr(library, "TensorDictBase", ())) or library.is_tensorclass(type(value))


def is_made_class(value: object) -> bool:
    """Whether a value, a TensorDict of any kind, is of a class that tensordict made."""
    return bool(sys.modules["tensordict"].is_tensorclass(type(value)))


def bare(value: H) -> H:
    """A tensor in a tensordict file as a plain tensor of the same memory; any other value as it is."""
    library = sys.modules.get("tensordict")
    if library is None or type(value) is Tensor or not isinstance(value, getattr(library, "MemoryMappedTensor", ())):
        return value
    return cast(H, cast(Tensor, value).as_subclass(Tensor))


def is_unbatched(value: object) -> bool:
    """Whether a value is an `UnbatchedTensor`, which TensorDicts leave whole when they are indexed."""
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


def made_of(kind: Any, entries: Any) -> Any:  # a class that tensordict made, a TensorDict, and an object of the class
    """An object of a tensordict class with the entries of a TensorDict; so for the fields of it that want such classes.

    Raises:
        TypeError: a field whose default is not None has no entry. tensordict itself would make it None.
        ValueError: an entry is not a field.
    """
    missing = [
        each.name for each in dataclasses.fields(kind) if each.default is not None and each.name not in entries.keys()
    ]
    if missing:
        raise TypeError(f"missing {', '.join(map(repr, missing))}")
    inner = made_classes_in(kind)
    changed = {name: made_of(inner[name], entries.get(name)) for name in inner if _is_plain(entries, name)}
    if changed:
        entries = entries.copy()
    for name, value in changed.items():
        # Before tensordict 0.15, `update` copies into a TensorDict that is there, and drops the class.
        entries.set(name, value)
    return kind.from_tensordict(entries)


def _is_plain(entries: Any, name: str) -> bool:
    """Whether an entry of a TensorDict is a TensorDict, and not an object of a class."""
    found = entries.get(name, None)
    return is_tensordict(found) and not is_made_class(found)


def made_classes_in(kind: type) -> dict[str, type]:
    """The fields of a tensordict class that hold objects of others, optional ones too, with their classes."""
    try:
        hints = get_type_hints(kind)
    except Exception:  # whatever looking up a name of the user's may raise; tensordict does without such types too
        return {}
    of_kind = sys.modules["tensordict"].is_tensorclass
    found = {name: [each for each in (hint, *get_args(hint)) if isinstance(each, type)] for name, hint in hints.items()}
    made = {name: [each for each in types if of_kind(each)] for name, types in found.items()}
    return {name: types[0] for name, types in made.items() if len(types) == 1}


def collection_class(cls: type[Stored], name: str) -> Any:  # a class that tensordict made
    """The class that a field wants, which tensordict made; None where it wants a TensorDict.

    Raises:
        TypeError: its module does not have the class.
    """
    wanted = cls._collections[name]
    if not wanted:
        return None
    module, _, rest = wanted.rpartition(".")
    found: object = getattr(sys.modules.get(module), rest, None)
    if found is None:
        raise TypeError(f"{cls.__name__}.{name}: cannot find the class {wanted} in its module, to make an object of it")
    return found
