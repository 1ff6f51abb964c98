"""Tied parameters of a declared module, which moves, casts and loads keep.

A tie is an invariant of the class: both names are one Parameter. nn.Module keeps that as long as nobody makes a new Parameter for
one of them, as `to_empty`, loading with `assign=True`, a child that is replaced or loaded alone, `parallelize_module` and patched
registration do. So whatever reads the tied name, enumerates, moves, saves or loads the module compares the two names first, and
lets both have the one that is new. Of two new ones, the one in the submodule wins.

A parameter that has moved stays tied: an adapter in the place of a submodule, a parametrization and pruning hold it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, MutableMapping
from contextlib import suppress
from functools import partial, wraps
from inspect import unwrap
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.compiler import is_dynamo_compiling

from .module_base import TIES, ModuleBase, RegisteredProperty, parameter

R = TypeVar("R")
M = TypeVar("M", bound=nn.Module)


def tied_parameter(module: nn.Module, path: str, shape: tuple[int, ...] | None = None) -> nn.Parameter:
    """`module.get_parameter(path)`, for a name that is tied to it; with `shape`, a check that it has that shape.

    Raises:
        AttributeError: there is no parameter at `path`.
        ValueError: it has another shape than the declared one.
    """
    parameter = module.get_parameter(path)
    if shape not in (None, tuple(getattr(parameter, "ds_shape", parameter.shape))):  # DeepSpeed has emptied it
        raise ValueError(f"{type(module).__name__}: {path} has shape {tuple(parameter.shape)}, and is tied to {shape}")
    vars(module).setdefault(TIES, {})[path] = id(parameter)
    return parameter


def retie(model: M) -> M:
    """Let both names of every declared tie in a module be one Parameter, and return the module.

    Declared modules do this themselves whenever they are called, moved, saved, loaded or enumerated. Only code that reads
    `_parameters` before any of these needs it.

    >>> class Tied(Module):
    ...     embed: nn.Embedding = submodule(nn.Embedding, 3, 2)
    ...     head: nn.Parameter = param(tie="embed.weight")
    >>> tied = Tied()
    >>> tied.embed = nn.Embedding(3, 2)
    >>> retie(tied)._parameters["head"] is tied.embed.weight
    True

    Args:
        model: Any nn.Module, with declared modules in it.

    Raises:
        RuntimeError: `fully_shard` has one of the two names alone.
    """
    for module in model.modules():
        if isinstance(module, ModuleBase) and module._tied:
            restore_ties(module)
    return model


def restore_ties(module: ModuleBase) -> None:
    """Let both names of each tie of a module itself be one Parameter, where somebody has replaced one of them.

    Raises:
        RuntimeError: `fully_shard` has one of the two alone.
    """
    known = vars(module).setdefault(TIES, {})
    for name, path in module._tied.items():
        at, place = _place(module, name), _place(module, path)
        own = at and at.parameter
        if at is None or place is None or not isinstance(own, nn.Parameter):
            continue  # switched off, or lent
        # The other name may be tied itself: then its own tie comes first, and passes on afterwards what this one gives.
        inner = place.holder
        if isinstance(inner, ModuleBase) and place.leaf in inner._tied:
            restore_ties(inner)
        other = place.parameter
        if isinstance(other, nn.Parameter) and own is not other:
            from .unsaved_buffers import is_lent

            if is_lent():
                continue
            if any(cls.__name__ == "FSDPModule" for each in (module, place.holder) for cls in type(each).__mro__):
                raise RuntimeError(
                    f"{type(module).__name__}.{name} is tied to {path}, and fully_shard has one of the two alone;"
                    f" shard both in one call: fully_shard(module), without a call for what holds {path}"
                )
            own = _newer(own, other, known.get(name, known.get(path)))
            at.holder._parameters[at.leaf] = place.holder._parameters[place.leaf] = own
            if isinstance(inner, ModuleBase) and place.leaf in inner._tied:
                restore_ties(inner)
        known[name] = id(own)


def _newer(own: nn.Parameter, other: nn.Parameter, known: int | None) -> nn.Parameter:
    """The Parameter that both names of a tie get."""
    # On meta, or fake as deferred_init makes them, they wait for their values.
    waits, other_waits = (each.is_meta or hasattr(each, "fake_mode") for each in (own, other))
    if waits != other_waits:
        return other if waits else own
    if (type(own) is nn.Parameter) != (type(other) is nn.Parameter):  # one is distributed, or quantized
        return other if type(own) is nn.Parameter else own
    # By its id: a reference would keep memory alive, and a weak one forbids `swap_tensors`.
    return own if id(other) == known != id(own) else other


def tied(path: str, name: str, doc: str) -> RegisteredProperty:
    """The property of a parameter that is tied to the one at `path`: restores the tie before it is read."""
    *steps, leaf = path.split(".")
    usual: Any = parameter(name, doc).fget

    def read(module: Any) -> Any:
        if not is_dynamo_compiling():
            holder = module
            for step in steps:
                holder = None if holder is None else holder._modules.get(step)
            if leaf in getattr(type(holder), "_tied", ()):  # to a tied name, which is restored before it is read
                getattr(holder, leaf, None)
            other = None if holder is None else holder._parameters.get(leaf)
            if other is not module._parameters.get(name):
                restore_ties(module)
        return usual(module)

    return RegisteredProperty.of(partial(tied, path), read, name, doc)


class TiedModule(ModuleBase):
    """Base of classes with ties, before nn.Module: restores them before anything enumerates, moves or saves the module."""

    def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
        """`nn.Module.register_parameter`, which assignment calls too: a tied name gives both names the new parameter."""
        super().register_parameter(name, param)
        if name in self._tied:
            restore_ties(self)

    def named_modules(
        self, memo: set[nn.Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Generator[tuple[str, nn.Module], None, None]:
        """`nn.Module.named_modules`, by which parameters are enumerated too, of any module around this one.

        Raises:
            RuntimeError: the parameter that a declared tie names is gone.
        """
        if not is_dynamo_compiling():
            restore_ties(self)
            for name, path in self._tied.items():
                at, place = _place(self, name), _place(self, path)
                if at is None or at.parameter is None or place is None or place.leaf in place.holder._parameters:
                    continue
                if _moved(self, at.parameter) is None:
                    raise RuntimeError(
                        f"{type(self).__name__}.{name} is tied to {path}, which is not there any more, and nothing in the module"
                        f" has its parameter; assign the one that is to be tied to module.{name}"
                    )
        yield from super().named_modules(memo, prefix, remove_duplicate)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        restore_ties(self)
        super()._save_to_state_dict(destination, prefix, keep_vars)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call] # torch gives it no types
        # From here on one sees which name gets a new parameter. What is unpickled around the module may have no tensors yet.
        with suppress(AttributeError):
            restore_ties(self)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """`nn.Module._apply`, by which everything moves: a tied parameter is changed once, and both names get the new one."""
        restore_ties(self)
        held = _held(self)
        try:
            return super()._apply(_once(fn, held), recurse)  # type: ignore[no-untyped-call] # torch gives it no types
        finally:
            # Where torch cannot change a parameter in place, as from meta, each name got a Parameter of its own.
            for at, place in held:
                at.holder._parameters[at.leaf] = place.parameter
            restore_ties(self)


def _once(fn: Callable[[Tensor], Tensor], held: list[tuple[_Place, _Place]]) -> Callable[[Tensor], Tensor]:
    """`fn` for a module with these ties: nn.Module passes a parameter under each of its names, and `fn` changes it once.

    No name is taken away meanwhile, because another thread may read it.
    """
    # Each place with its parameter, because the id of one that is freed may be given to another.
    tied = {
        id(at.parameter): [(at.parameter, each.holder._parameters, each.leaf) for each in (place, at)]
        for at, place in held
    }
    changed: list[tuple[nn.Parameter | None, dict[str, Any], str]] = []

    @wraps(unwrap(fn))  # as in `keeping_dtypes`
    def change(tensor: Tensor) -> Tensor:
        for before, registry, leaf in changed:
            if tensor is before or tensor is registry.get(leaf):
                # What another name has by now, and not what `fn` gave: a class around it may have kept its dtype.
                now = (parameters.get(name) for _, parameters, name in tied[id(before)])
                return next((each for each in now if each is not None and each is not before), tensor)
        result = fn(tensor)
        changed.extend(tied.get(id(tensor), ()))
        return result

    return change


def disagreements(module: ModuleBase, state_dict: Mapping[str, object], prefix: str) -> Iterator[str]:
    """The ties whose names have different values in a state dict, as where its model had no tie: one of them would be lost."""
    restore_ties(module)
    for at, place in _held(module):
        one, other = state_dict.get(prefix + at.path), state_dict.get(prefix + place.path)
        if not _has_values(one) or not _has_values(other) or (one.shape, one.dtype) != (other.shape, other.dtype):
            continue
        # Of a tied module, the state dict has the same memory for both, which spares the comparison.
        if one.data_ptr() != other.data_ptr() and not torch.equal(_bytes(one), _bytes(other).to(one.device)):
            yield (
                f"{prefix}{at.path} is tied to {prefix}{place.path}, and the state dict has different values for them;"
                " set both to those that count, or declare the one without tie="
            )


def _has_values(value: object) -> TypeGuard[Tensor]:
    # Fake tensors and DTensors are classes of their own.
    if type(value) not in (Tensor, nn.Parameter):
        return False
    tensor = cast(Tensor, value)
    return tensor.layout is torch.strided and not (tensor.is_meta or tensor.is_quantized)


def _bytes(tensor: Tensor) -> Tensor:
    """The compared value: NaN equals NaN, and every dtype has bytes."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous().flatten().view(torch.uint8)


def share_assigned(module: ModuleBase, state_dict: MutableMapping[str, Tensor], prefix: str) -> None:
    """Before the tensors of a state dict take the place of parameters, let both names of a tie find the same Parameter there.

    The name in the submodule wins, as it does where values are copied.
    """
    if torch.__future__.get_swap_module_params_on_conversion():
        return  # swapping keeps every Parameter the object that it is
    for at, place in _held(module):
        present = cast(nn.Parameter, at.parameter)
        names = (prefix + place.path, prefix + at.path)
        given = next((state_dict[key] for key in names if key in state_dict), None)
        # nn.Module says what is wrong with it.
        if not isinstance(given, Tensor) or given.shape != present.shape:
            continue
        if place.leaf in getattr(type(place.holder), "_kept", ()) and not isinstance(given, nn.Parameter):
            given = given.detach().to(present.dtype)
        shared = given if isinstance(given, nn.Parameter) else nn.Parameter(given, requires_grad=present.requires_grad)
        place.holder._parameters[place.leaf] = at.holder._parameters[at.leaf] = shared
        state_dict.update({key: shared for key in names if key in state_dict})


class _Place(NamedTuple):
    """A place of a parameter in a module."""

    path: str
    holder: nn.Module
    leaf: str

    @property
    def parameter(self) -> nn.Parameter | None:
        return self.holder._parameters.get(self.leaf)


def _held(module: ModuleBase) -> list[tuple[_Place, _Place]]:
    """The two places of each tied parameter whose tie holds."""
    found: list[tuple[_Place, _Place]] = []
    for name, path in module._tied.items():
        at, place = _place(module, name), _place(module, path)
        if at is None or at.parameter is None:
            continue
        if place is None or place.parameter is not at.parameter:
            place = _moved(module, at.parameter)
        if place is not None:
            found.append((at, place))
    return found


def _place(module: nn.Module, path: str) -> _Place | None:
    """The place of the parameter that a declaration names, if its module is there: a parametrization and pruning move it."""
    *steps, leaf = path.split(".")
    holder: nn.Module | None = module
    for step in steps:
        holder = None if holder is None else holder._modules.get(step)
    if holder is None:
        return None
    parametrized = holder._modules.get("parametrizations")
    if parametrized is not None and leaf in parametrized._modules:
        return _Place(
            ".".join([*steps, "parametrizations", leaf, "original"]), parametrized.get_submodule(leaf), "original"
        )
    while (
        leaf not in holder._parameters and len(holder._modules) == 1
    ):  # what wraps one module, as torch.compile's does
        (step, inner), *_ = holder._modules.items()
        if inner is None:
            break
        holder, steps = inner, [*steps, step]
        path = ".".join([*steps, leaf])
    if f"{leaf}_orig" in holder._parameters:
        return _Place(f"{path}_orig", holder, f"{leaf}_orig")
    return _Place(path, holder, leaf)


def _moved(module: nn.Module, parameter: nn.Parameter) -> _Place | None:
    """Another place of the parameter within the module, whose name is not tied itself; None where the tie is cut."""
    for prefix, holder in nn.Module.named_modules(module):  # without restoring ties
        tied = type(holder)._tied if isinstance(holder, ModuleBase) else {}
        for leaf, found in holder._parameters.items():
            if found is parameter and leaf not in tied:
                return _Place(f"{prefix}.{leaf}" if prefix else leaf, holder, leaf)
    return None
