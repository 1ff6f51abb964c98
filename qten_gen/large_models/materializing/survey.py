"""Which tensors a module holds, and where: parameters, buffers and plain attributes, each tensor once, with all its names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from weakref import WeakKeyDictionary

from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.utils import parametrize
from torch.utils._pytree import keystr, tree_flatten_with_path

from ...runtime.declaring.children import ModuleDict, ModuleList
from ...runtime.module.module_base import TIES, VIRTUAL_CACHE, WATCHED, ModuleBase

_INTERNAL = frozenset({*vars(nn.Module()), VIRTUAL_CACHE, TIES, WATCHED})
BIRTHS: WeakKeyDictionary[nn.Module, tuple[object, str, dict[str, int]]] = WeakKeyDictionary()
"""Where `on_meta` made a module: an object for each call, the path, and the ids of the tensors that no other module held."""
METHODS = ("reset_parameters", "_reset_parameters")
_WRAPPERS = re.compile(r"\b(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module)\.")


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
    def is_in_container(self) -> bool:
        """Return whether it is inside of a list or dictionary that is a plain attribute."""
        return not self.qualified.endswith(self.name)

    @property
    def is_declared_tie(self) -> bool:
        """Return whether the declaration of the module's class ties this name to another."""
        return isinstance(self.module, ModuleBase) and self.name in self.module._tied

    def is_birthplace_of(self, tensor: Tensor) -> bool:
        """Return whether `on_meta` made the tensor here, and nowhere else."""
        return self.module in BIRTHS and BIRTHS[self.module][2].get(self.name) == id(tensor)

    @property
    def holder(self) -> dict[str, object]:
        """The dictionary that has the tensor, or the container that it is in, under the name."""
        state: dict[str, object] = vars(self.module)
        return state if self.registry is Registry.ATTRIBUTE else state[self.registry.value]  # type: ignore[return-value] # a registry


@dataclass(slots=True, eq=False)
class HeldTensor:
    """A tensor, and the places that hold it."""

    tensor: Tensor
    homes: list[Home]
    """In the order of `named_modules`. There are several for a tie, and for a module that is registered twice only one."""
    origin: Home
    """The name under which it was made: the first whose module initialises anything, declared ties aside."""

    @property
    def is_registered(self) -> bool:
        """Return whether it is a parameter or a buffer."""
        return any(home.registry is not Registry.ATTRIBUTE for home in self.homes)


@dataclass(slots=True)
class Tree:
    """A module, all tensors in it, and where they are."""

    root: nn.Module
    held: list[HeldTensor] = field(default_factory=list)
    of_module: dict[int, list[tuple[Home, HeldTensor]]] = field(default_factory=dict)
    """The tensors that a module itself holds, by the id of the module."""
    paths: dict[int, str] = field(default_factory=dict)
    """The path of each module, by its id."""

    def of(self, module: nn.Module) -> list[tuple[Home, HeldTensor]]:
        """The tensors that a module itself holds, with the places there."""
        return self.of_module.get(id(module), [])


def survey(root: nn.Module) -> Tree:
    """All tensors of a module and its children; those in plain attributes only where they are on meta or fake."""
    tree = Tree(root)
    by_id: dict[int, HeldTensor] = {}
    for path, module in root.named_modules():
        tree.paths[id(module)] = path
        prefix = f"{path}." if path else ""
        for tensor, home in (*_registered(module, prefix), *_in_attributes(module, prefix)):
            held = by_id.get(id(tensor))
            if held is None:
                held = by_id[id(tensor)] = HeldTensor(tensor, [], home)
                tree.held.append(held)
            held.homes.append(home)
            tree.of_module.setdefault(id(module), []).append((home, held))
    for held in tree.held:
        own = [home for home in held.homes if not home.is_declared_tie] or held.homes
        held.origin = next((home for home in own if method_of(home.module)), own[0])
        if len(own) > 1:
            held.origin = next((home for home in own if home.is_birthplace_of(held.tensor)), held.origin)
    return tree


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


def without_wrappers(name: str) -> str:
    """A name without the steps that `torch.compile` and activation checkpointing add."""
    return _WRAPPERS.sub("", f"{name}.").removesuffix(".")


def method_of(module: nn.Module) -> str | None:
    """The name of the method that initialises a module's own tensors."""
    cls = parametrize.type_before_parametrizations(module)
    return next((name for name in METHODS if callable(getattr(cls, name, None))), None)


def declared_class(module: nn.Module) -> type[nn.Module]:
    """The class that somebody wrote; parametrizations and `fully_shard` derive another one from it."""
    cls: type[nn.Module] = parametrize.type_before_parametrizations(module)
    is_sharded = any(base.__module__.startswith("torch.distributed.fsdp") for base in cls.__bases__)
    return cls.__bases__[-1] if is_sharded else cls


def class_name(module: nn.Module) -> str:
    """The name of the class that somebody wrote."""
    return declared_class(module).__name__


def is_declared(module: nn.Module) -> bool:
    """Return whether a module is declared with qten-gen, or is one of its containers."""
    return isinstance(module, ModuleBase | ModuleList | ModuleDict)
