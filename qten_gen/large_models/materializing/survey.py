"""Which tensors a module holds, and where: parameters, buffers and plain attributes, each tensor once, with all its names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import keystr, tree_flatten_with_path

from ...runtime.module.core.module_base import VIRTUAL_CACHE, ModuleBase

ORIGINS = "_tie_origins"
"""Where the instance dict of a module that `on_meta` made keeps under which name tied tensors were made, by their first name."""

_INTERNAL = frozenset({*vars(nn.Module()), VIRTUAL_CACHE, ORIGINS})


class Registry(Enum):
    """The holder of a tensor. The value is the key in the instance dict of the module."""

    PARAMETERS = "_parameters"
    BUFFERS = "_buffers"
    ATTRIBUTE = ""
    """The instance dict itself, perhaps inside a container there."""


@dataclass(frozen=True, slots=True, eq=False)
class Home:
    """A place that holds a tensor."""

    module: nn.Module
    registry: Registry
    name: str
    """In the module: `weight`, or `tables` where it is in a container there."""
    qualified: str
    """In the module that is surveyed: `layers.0.weight`, or `layers.0.tables['cos']` in a container."""

    @property
    def is_declared_tie(self) -> bool:
        """Whether the declaration of the module's class ties this name to another."""
        return isinstance(self.module, ModuleBase) and self.name in self.module._tied


@dataclass(frozen=True, slots=True, eq=False)
class HeldTensor:
    """A tensor, and the places that hold it."""

    tensor: Tensor
    homes: tuple[Home, ...]
    """In the order of `named_modules`. There are several for a tie, and for a module that is registered twice only one."""

    @property
    def is_registered(self) -> bool:
        """Whether it is a parameter or a buffer."""
        return any(home.registry is not Registry.ATTRIBUTE for home in self.homes)


def survey(root: nn.Module) -> list[HeldTensor]:
    """All tensors of a module and its children; those in plain attributes only where they are on meta or fake."""
    tensors: dict[int, Tensor] = {}
    homes: dict[int, list[Home]] = {}
    for path, module in root.named_modules():
        prefix = f"{path}." if path else ""
        for tensor, home in (*_registered(module, prefix), *_in_attributes(module, prefix)):
            tensors.setdefault(id(tensor), tensor)
            homes.setdefault(id(tensor), []).append(home)
    return [HeldTensor(tensor, tuple(homes[key])) for key, tensor in tensors.items()]


def origin(held: HeldTensor, known: Mapping[str, str], has_initialisation: frozenset[int]) -> Home:
    """The name under which a tensor was made, whose module initialises it.

    Of a tie it is what `on_meta` kept in `known`. Otherwise it is the first name whose module initialises anything, without the
    names that a declaration ties: `has_initialisation` has the ids of those modules.
    """
    kept = known.get(held.homes[0].qualified)
    for home in held.homes:
        if home.qualified == kept:
            return home
    own = [home for home in held.homes if not home.is_declared_tie] or list(held.homes)
    return next((home for home in own if id(home.module) in has_initialisation), own[0])


def _registered(module: nn.Module, prefix: str) -> Iterator[tuple[Tensor, Home]]:
    for registry in (Registry.PARAMETERS, Registry.BUFFERS):
        for name, tensor in vars(module)[registry.value].items():
            if tensor is not None:
                yield tensor, Home(module, registry, name, prefix + name)


def _in_attributes(module: nn.Module, prefix: str) -> Iterator[tuple[Tensor, Home]]:
    for name, value in attributes(module).items():
        for path, leaf in tree_flatten_with_path(value)[0]:
            if isinstance(leaf, Tensor) and (leaf.is_meta or isinstance(leaf, FakeTensor)):
                yield leaf, Home(module, Registry.ATTRIBUTE, name, prefix + name + keystr(path))


def attributes(module: nn.Module) -> dict[str, object]:
    """The instance attributes that the user's code has set, by name."""
    return {name: value for name, value in vars(module).items() if name not in _INTERNAL}
