"""Random declared modules do what the plain module does that an expert would write for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from random import Random
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module

from .random_declarations import pair

SEEDS = range(24)


def class_of(text: str, name: str) -> Callable[..., nn.Module]:
    """The class that a text defines, in a module of that name."""
    namespace: dict[str, object] = {"__name__": name}
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return cast("Callable[..., nn.Module]", namespace["Net"])


@cache
def declared(seed: int) -> Callable[..., nn.Module]:
    return class_of(pair(seed).declaration(), f"declared{seed}")


@cache
def plain(seed: int) -> Callable[..., nn.Module]:
    return class_of(pair(seed).plain(), f"plain{seed}")


def arguments(seed: int) -> dict[str, object]:
    """Constructor arguments of a pair."""
    random = Random(-seed)
    return {
        "dim": random.randint(1, 3),
        "depth": random.randint(0, 3),
        "rate": random.choice((0.25, 0.5)),
        "mode": random.choice(("zeros", "circular")),
        "kernel": random.choice(((1, 2), (2, 2))),
        "wide": random.random() < 0.5,
        "tasks": random.choice(((), ("topic",), ("topic", "tone"))),
    }


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def constructed(cls: Callable[..., nn.Module], given: dict[str, object]) -> tuple[nn.Module, list[int]]:
    """A module made with a seed, and the numbers that the generator gives afterwards."""
    torch.manual_seed(3)
    module = cls(**given)
    with torch.device("cpu"):
        return module, torch.randint(1 << 30, (4,)).tolist()


def described(module: nn.Module) -> dict[str, tuple[Any, ...]]:
    """Each parameter and buffer by name, in the order of registration: what torch says about it, and its values."""
    named = chain(module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {
        name: (type(tensor), tensor.dtype, tensor.device, tensor.shape, tensor.requires_grad, values(tensor))
        for name, tensor in named
    }


def values(tensor: Tensor) -> object:
    return None if tensor.is_meta else tensor.tolist()


def same(ours: Callable[..., nn.Module], plain: Callable[..., nn.Module], given: dict[str, object]) -> bool:
    """Whether two classes make equal modules and use the generator equally."""
    (one, after_one), (two, after_two) = constructed(ours, given), constructed(plain, given)
    assert list(one.state_dict()) == list(two.state_dict())
    assert list(described(one)) == list(described(two))
    assert described(one) == described(two)
    return after_one == after_two


@pytest.mark.parametrize("seed", SEEDS)
def test_a_declared_module_is_what_an_expert_writes(seed: int) -> None:
    ours, expected, given = declared(seed), plain(seed), arguments(seed)

    assert same(ours, expected, given)
    assert same(ours, expected, {**given, "dtype": torch.float64})
    assert same(ours, expected, {**given, "device": "meta"})
    with default_dtype(torch.float64):
        assert same(ours, expected, given)
    with torch.device("meta"):
        assert same(ours, expected, given)


@pytest.mark.parametrize("seed", SEEDS)
def test_initialising_again_gives_what_construction_gave(seed: int) -> None:
    ours, expected = declared(seed)(**arguments(seed)), plain(seed)(**arguments(seed))
    ours.load_state_dict(expected.state_dict())
    for module in (ours, expected):
        torch.manual_seed(5)
        cast(Module, module).reset_parameters()

    own = chain(expected.named_parameters(recurse=False), expected.named_buffers(recurse=False))
    again, wanted = described(ours), described(expected)
    assert all(again[name] == wanted[name] for name, _ in own)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_dict_of_other_arguments_has_the_same_missing_and_unexpected_keys(seed: int) -> None:
    given = arguments(seed)
    other = {**given, "wide": not given["wide"], "tasks": ("tone",)}
    ours, expected = declared(seed), plain(seed)
    for one, two in ((given, other), (other, given)):
        found = ours(**one).load_state_dict(expected(**two).state_dict(), strict=False)
        wanted = expected(**one).load_state_dict(expected(**two).state_dict(), strict=False)

        assert (sorted(found.missing_keys), sorted(found.unexpected_keys)) == (
            sorted(wanted.missing_keys),
            sorted(wanted.unexpected_keys),
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_two_instances_share_nothing(seed: int) -> None:
    one, two = declared(seed)(**arguments(seed)), declared(seed)(**arguments(seed))

    for module in (one, two):
        assert len(memory(module)) == sum(1 for _ in tensors(module))
    assert not memory(one) & memory(two)
    assert not {id(child) for child in one.modules()} & {id(child) for child in two.modules()}


def tensors(module: nn.Module) -> Iterator[Tensor]:
    found = chain(module.parameters(), module.buffers())
    return (tensor for tensor in found if tensor.numel())


def memory(module: nn.Module) -> set[int]:
    return {tensor.data_ptr() for tensor in tensors(module)}
