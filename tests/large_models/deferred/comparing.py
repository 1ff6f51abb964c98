"""Comparing what `deferred_init` gives with what the call itself gives, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy
import torch
from torch import Tensor, nn

from qten_gen import deferred_init, is_deferred, materialize_module

T = TypeVar("T")


def assert_same_as_eager(make: Callable[[], nn.Module], seed: int = 3) -> None:
    """A deferred module, made whole or part by part from the last to the first, is the eager one, and so are the generators."""
    eager = seeded(make, seed)
    state, others = torch.get_rng_state(), _other_generators()

    whole = deferred(make, seed)
    assert _other_generators() == others, "the generators of Python and NumPy"
    materialize_module(whole)
    assert torch.equal(torch.get_rng_state(), state), "the state of the generator"
    assert_equal(eager, whole)
    assert not is_deferred(whole)

    parts = deferred(make, seed)
    for part in reversed(list(parts.modules())):
        materialize_module(parts, check_fn=lambda module, part=part: module is part)  # type: ignore[misc] # bound per part
    assert torch.equal(torch.get_rng_state(), state), "the state of the generator after partial materialization"
    assert_equal(eager, parts)


def seeded(make: Callable[[], T], seed: int = 3) -> T:
    """What a function makes from a seed."""
    _seed(seed)
    return make()


def deferred(make: Callable[[], T], seed: int = 3) -> T:
    """What a function makes, deferred from a seed."""
    return seeded(lambda: deferred_init(make), seed)


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


def _other_generators() -> object:
    return random.getstate(), [str(part) for part in numpy.random.get_state()]


def assert_equal(eager: nn.Module, other: nn.Module) -> None:
    """Both modules hold equal tensors under equal names: bits, strides, classes, flags, and what is one object or one memory."""
    expected, found = dict(tensors_of(eager)), dict(tensors_of(other))
    assert expected.keys() == found.keys()
    assert plain_values_of(eager) == plain_values_of(other)
    differences = [name for name, tensor in expected.items() if description(tensor) != description(found[name])]
    assert differences == []
    assert _partition(expected, id) == _partition(found, id), "which names are one object"
    assert _partition(expected, _memory) == _partition(found, _memory), "which names share memory"


def tensors_of(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """All tensors that a module holds: parameters, buffers, other attributes, and in lists and dictionaries of them."""
    for prefix, part in module.named_modules(remove_duplicate=False):
        for name, value in vars(part).items():
            if name != "_modules":
                yield from _within(f"{prefix}.{name}", value)


def plain_values_of(module: nn.Module) -> dict[str, str]:
    """What a module holds beside tensors and objects: numbers, texts, dtypes, arrays, and lists of them."""
    return {
        f"{prefix}.{name}": repr(value)
        for prefix, part in module.named_modules(remove_duplicate=False)
        for name, value in vars(part).items()
        if _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    plain = (int, float, complex, str, type(None), torch.dtype, torch.device, numpy.ndarray, numpy.generic)
    return isinstance(value, plain)


def _within(name: str, value: object) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _within(f"{name}[{index}]", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _within(f"{name}[{key!r}]", part)


def description(tensor: Tensor) -> object:
    """Everything about a tensor that can be compared with another one's."""
    if isinstance(tensor, (nn.UninitializedParameter, nn.UninitializedBuffer)):
        return type(tensor), tensor.requires_grad
    return (
        type(tensor),
        tuple(tensor.shape),
        tensor.dtype,
        tensor.device,
        tensor.stride(),
        tensor.storage_offset(),
        tensor.requires_grad,
        tensor.is_leaf,
        type(tensor.grad_fn),
        tensor.is_inference(),
        bits(tensor) if tensor.device.type != "meta" else None,
        {name: value for name, value in vars(tensor).items() if not isinstance(value, Tensor)},
        bits(tensor.grad) if tensor.is_leaf and tensor.grad is not None else None,
    )


def bits(tensor: Tensor) -> bytes:
    """The values of a tensor, so that NaN equals NaN and 0.0 differs from -0.0."""
    plain = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).reshape(-1)
    return plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def _memory(tensor: Tensor) -> int:
    uninitialized = isinstance(tensor, (nn.UninitializedParameter, nn.UninitializedBuffer))
    return id(tensor) if uninitialized else tensor.untyped_storage()._cdata


def _partition(tensors: dict[str, Tensor], what: Callable[[Tensor], int]) -> set[frozenset[str]]:
    """The groups of names whose tensors have the same of something."""
    groups: dict[int, set[str]] = {}
    for name, tensor in tensors.items():
        groups.setdefault(what(tensor), set()).add(name)
    return {frozenset(group) for group in groups.values()}
