"""Steps that work on objects as a whole: locks, fields that are set, round trips through files, pickles, trees."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch
from hypothesis import strategies as st
from torch.utils import _pytree
from torch.utils.data import DataLoader
from torch.utils.data._utils import worker

from qten_gen import TensorClass

from .plain import IsRagged, Plain, refuse_unfit, valued
from .steps import OTHER, Builder, Step, dim, float_or_as_it_is


def same(plain: Plain, other: Plain) -> Plain:
    """What an object holds that comes back from somewhere."""
    return plain


def as_annotated(plain: Plain, other: Plain) -> Plain:
    """The same where what is read or constructed is checked."""
    refuse_unfit(plain)
    return plain


def constructed(plain: Plain, other: Plain) -> Plain:
    """The same where an object is constructed around those that it holds."""
    refuse_unfit(plain, nested=False)
    return plain


def constructed_anew(plain: Plain, other: Plain) -> Plain:
    """An object whose nested objects are constructed too, with its batch size."""
    out = replace(plain, tails=dict.fromkeys(plain.tails, ()), names={})
    if any(plain.tails.get(path[:-1]) for path in plain.items):
        raise ValueError("values are for another batch size")
    refuse_unfit(out)
    return out


# Copies and round trips


def _pickled(draw: st.DrawFn, plain: Plain) -> Step:
    protocol = draw(st.integers(2, 5))
    return Step(
        f"pickle {protocol}",
        same,
        run=lambda value, second: pickle.loads(pickle.dumps(value, protocol)),
        locked=plain.locked,
    )


def _memmap(draw: st.DrawFn, plain: Plain) -> Step:
    load = draw(st.booleans())

    def run(value: Any, second: Any) -> Any:
        with TemporaryDirectory() as folder:
            saved = TensorClass.memmap(value, folder)
            found = type(value).load_memmap(folder) if load else saved
            # The folder goes away, and on some systems what is mapped with it.
            return TensorClass.clone(found).lock_()

    return Step("memmap", as_annotated, run=run, locked=True)


def _safetensors(draw: st.DrawFn, plain: Plain) -> Step:
    def run(value: Any, second: Any) -> Any:
        with TemporaryDirectory() as folder:
            TensorClass.save_safetensors(value, f"{folder}/one.safetensors")
            return TensorClass.clone(type(value).load_safetensors(f"{folder}/one.safetensors"))

    return Step("safetensors", as_annotated, run=run)


def _sent(draw: st.DrawFn, plain: Plain) -> Step:
    """What a worker of a DataLoader sends, and the main process gets."""

    def run(value: Any, second: Any) -> Any:
        with patch.object(worker, "_worker_info", object()):
            text = ForkingPickler.dumps([value, value])
        found, again = pickle.loads(text)
        assert found is again
        return found

    return Step("sent", same, run=run, locked=plain.locked)


def _loaded(draw: st.DrawFn, plain: Plain) -> Step:
    """All items of a batch from a DataLoader: cut out of it, or stacked one by one."""
    whole = draw(st.booleans()) or 0 in plain.batch_size[:1]  # without items there is no batch

    def run(value: Any, second: Any) -> Any:
        dataset: Any = value if whole else list(value)
        return next(iter(DataLoader(dataset, max(len(value), 1))), value)

    def expected(before: Plain, other: Plain) -> Plain:
        if not before.n:
            raise TypeError("an object without batch dimensions has no items")
        return before if whole else replace(before, names={})

    return Step("loaded", expected, (), run=run)


def _state_dict(draw: st.DrawFn, plain: Plain) -> Step:
    flatten, assign = draw(st.booleans()), draw(st.booleans())

    def run(value: Any, second: Any) -> Any:
        state = TensorClass.state_dict(value, flatten=True) if flatten else TensorClass.state_dict(value)
        return TensorClass.load_state_dict(second, state, assign=assign)

    return Step(
        "state_dict", as_annotated if assign else same, (OTHER, flatten, assign), writes=True, run=run, locked=False
    )


def _tree(draw: st.DrawFn, plain: Plain) -> Step:
    def run(value: Any, second: Any) -> Any:
        leaves, spec = _pytree.tree_flatten(value)
        assert plain.ragged or len(leaves) == len(plain.tensors) + len(plain.unbatched)
        return _pytree.tree_unflatten([leaf * 1 for leaf in leaves], spec)

    return Step("tree", lambda before, other: valued(before, lambda tensor: tensor * 1), run=run)


def _vmap(draw: st.DrawFn, plain: Plain) -> Step:
    at = dim(draw, plain)

    def run(value: Any, second: Any) -> Any:
        return TensorClass.vmap(value, TensorClass.clone, at, at)

    def expected(before: Plain, other: Plain) -> Plain:
        if not before.n:
            raise ValueError("there is no dimension to map over")
        if before.ragged:
            raise IsRagged
        return replace(before, names=None)

    return Step("vmap", expected, (at,), run=run)


ROUND_TRIPS: dict[str, tuple[Callable[[Any], Any], Callable[[Plain, Plain], Plain]]] = {
    "copy": (copy.copy, same),
    "replace": (lambda value: TensorClass.replace(value), constructed),
    "deepcopy": (copy.deepcopy, same),
    "to double": (lambda value: TensorClass.to(value, torch.float64), lambda plain, other: _cast(plain, torch.float64)),
    "to float": (lambda value: TensorClass.to(value, torch.float32), lambda plain, other: _cast(plain, torch.float32)),
    "dict": (
        lambda value: type(value).from_dict(TensorClass.to_dict(value), batch_size=value.batch_size),
        constructed_anew,
    ),
}


def _cast(plain: Plain, dtype: torch.dtype) -> Plain:
    return valued(plain, float_or_as_it_is(dtype))


def _round_trip(name: str) -> Builder:
    run, expected = ROUND_TRIPS[name]
    return lambda draw, plain: Step(name, expected, run=lambda value, second: run(value))


# Locks and fields


def _lock(draw: st.DrawFn, plain: Plain) -> Step:
    return Step("lock_", same, locked=True)


def _set(draw: st.DrawFn, plain: Plain) -> Step:
    """A field is set to what the second object has there."""
    name = draw(st.sampled_from(sorted({path[0] for path in plain.tensors})))

    def expected(before: Plain, other: Plain) -> Plain:
        if before.locked:
            raise RuntimeError("it is locked")
        return taken(before, other, str(name))

    def run(value: Any, second: Any) -> Any:
        setattr(value, str(name), getattr(second, str(name)))
        return value

    return Step("set", expected, (OTHER, name), run=run)


def taken(before: Plain, other: Plain, name: str) -> Plain:
    """One field from another object, which has the same fields."""

    def some(mine: dict[Any, Any], theirs: dict[Any, Any]) -> dict[Any, Any]:
        return {path: theirs[path] if path[0] == name else value for path, value in mine.items()}

    return replace(
        before,
        tensors=some(before.tensors, other.tensors),
        unbatched=some(before.unbatched, other.unbatched),
        ragged=some(before.ragged, other.ragged),
    )


def _set_in_place(draw: st.DrawFn, plain: Plain) -> Step:
    """A field is written over with what the second object has there."""
    name = str(draw(st.sampled_from(sorted({path[0] for path in plain.tensors}))))

    def run(value: Any, second: Any) -> Any:
        return TensorClass.set_(value, name, getattr(second, name))

    return Step("set_", lambda before, other: taken(before, other, name), (OTHER, name), writes=True, run=run)


def _update_in_place(draw: st.DrawFn, plain: Plain) -> Step:
    def run(value: Any, second: Any) -> Any:
        return TensorClass.update_(value, second)

    return Step("update_", lambda before, other: other, (OTHER,), writes=True, run=run)


BY_NAME: dict[str, Builder] = {
    **{name: _round_trip(name) for name in ROUND_TRIPS},
    "pickle": _pickled,
    "memmap": _memmap,
    "state_dict": _state_dict,
    "tree": _tree,
    "vmap": _vmap,
    "lock_": _lock,
    "set": _set,
    "set_": _set_in_place,
    "update_": _update_in_place,
}

RAGGED_WAYS: dict[str, Builder] = {"safetensors": _safetensors, "sent": _sent, "loaded": _loaded, "memmap": _memmap}
"""Ways of objects with Ragged fields, tried by themselves."""
