"""Buffers that no checkpoint holds, made again whatever a trainer does to a module.

`to_empty` gives tensors memory without values, and a load by `assign=True` leaves on meta what the state dict lacks. Parameters
and persistent buffers then come from the checkpoint. The others are made again at once, by the `reset_parameters` of the class,
which computes and fills what the declaration says, and by its `__post_init__`. Both run on a stand-in of the module, whose saved
tensors and children are on meta. So nothing else is written, and nothing unwritten is read. The random generator is in a state of
its own meanwhile, so that random values are the same in every process, and what others draw stays the same too.

A buffer that nothing makes becomes `Unwritten`, which raises when it is read before somebody has written it. So does one that
another module has written on meta, where it cannot be told what.

A trainer may give memory to a buffer on meta past every method of the module. So a module that was made on meta looks at its
unsaved buffers once more when it is first called.
"""

from __future__ import annotations

import hashlib
import random
import sys
import warnings
from collections import OrderedDict, UserDict
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature, unwrap
from traceback import walk_stack
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_dynamo_compiling
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .marks import Unwritten, mark, unfilled, version_of
from .module_base import WATCHED, ModuleBase, RegisteredProperty, is_asked_by_torch
from .module_base import buffer as buffer_property


@contextmanager
def seeded(seed: int, name: str) -> Iterator[None]:
    """The generators of torch, Python and NumPy seeded by a seed and a name alone; afterwards they are as before."""
    numpy = sys.modules.get("numpy")
    before, of_numpy, of_torch = random.getstate(), numpy and numpy.random.get_state(), torch.get_rng_state()
    number = int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=4).digest(), "little")
    try:
        torch.default_generator.manual_seed(number)  # and none of an accelerator
        random.seed(number)
        if numpy:
            numpy.random.seed(number)
        yield
    finally:
        torch.set_rng_state(of_torch)
        random.setstate(before)
        if numpy:
            numpy.random.set_state(of_numpy)


_METHODS = ("reset_parameters", "_reset_parameters", "__post_init__")
_EMPTYING = next((each for each in nn.Module.to_empty.__code__.co_consts if isinstance(each, CodeType)), None)
"""The code of what `to_empty` applies to each tensor."""


def remake_emptied(module: ModuleBase, before: Mapping[str, Tensor | None], fn: Callable[[Tensor], Tensor]) -> None:
    """Give unsaved buffers of a module that have memory without values their values, now that `fn` was applied to its tensors.

    After `to_empty` they have those that they had, and what was on meta is made. `fn` may be what `keeping_dtypes` made of it.
    """
    is_emptied = _EMPTYING is not None and getattr(unwrap(fn), "__code__", None) is _EMPTYING
    foreign, lost, away = _foreign(module, before), list[str](), dict[str, Tensor]()
    for name, old in before.items():
        new = module._buffers.get(name)
        if old is None or new is None or "Fake" in type(new).__name__:
            continue
        if new.is_meta and not old.is_meta and type(old) is Tensor:
            away[name] = old
        elif not new.is_meta and (old.is_meta or type(old) is Unwritten or (is_emptied and WATCHED in vars(module))):
            lost.append(name)
        elif is_emptied and not new.is_meta:
            with torch.no_grad():
                new.copy_(old)
    fixed = _fixed_values(module, [*away]) if away else {}
    foreign |= {name for name, value in fixed.items() if not _is_close(away[name].cpu(), value.to(away[name].dtype))}
    note_made(module, foreign)
    _remake(module, lost, None, foreign)


def remake_missing(root: nn.Module, device: torch.device) -> bool:
    """Make the unsaved buffers that are on meta, of the declared modules in a module, on a device; False if there are none."""
    found = False
    for module in reversed([*root.modules()]):  # a value may read a child's
        if isinstance(module, ModuleBase):
            names = [
                name
                for name in module._non_persistent_buffers_set
                if getattr(module._buffers.get(name), "is_meta", False)
            ]
            found = _remake(module, names, device, _foreign(module, module._buffers)) or found
    return found


def _remake(module: ModuleBase, names: list[str], device: torch.device | None, foreign: Container[str]) -> bool:
    """Make buffers of a module where they are, or on a device; False if there are none with elements.

    What nothing makes, or something `foreign` has written, becomes `Unwritten`.
    """
    # A fake tensor has no values at all, in torch's fake mode and in ours.
    names = [n for n in names if module._buffers[n].numel() and "Fake" not in type(module._buffers[n]).__name__]
    if not names:
        return False
    left = []
    with torch.no_grad():
        for name, value in _values(module, names).items():
            held = module._buffers[name]
            if value is None or name in foreign:
                left.append(name)
            elif held.is_meta or held.shape != value.shape:
                module._buffers[name] = value.to(device or held.device, held.dtype)
            else:
                write_whole(held, value)
        for name in left:
            if type(module._buffers[name]) in (Tensor, Unwritten):
                Unwritten.become(module._buffers[name], _never_written(module, name, is_foreign=name in foreign))
        if not any(getattr(module._buffers.get(name), "is_meta", False) for name in module._non_persistent_buffers_set):
            unwatch(module)
    return True


def write_whole(tensor: Tensor, value: Tensor) -> None:
    """Write a whole value into a tensor, or the part that this process holds into a DTensor."""
    if hasattr(tensor, "device_mesh"):
        from torch.distributed.tensor import distribute_tensor

        # Without this option, as in torch 2.6, one process sends the parts of its value, which is the same in all.
        local = {"src_data_rank": None} if "src_data_rank" in signature(distribute_tensor).parameters else {}
        placed: Any = tensor
        value = distribute_tensor(value.to(tensor.device, tensor.dtype), placed.device_mesh, placed.placements, **local)
    tensor.copy_(value)


@torch.inference_mode(False)
def _values(module: ModuleBase, names: list[str], seed: int = 0) -> dict[str, Tensor | None]:
    """The values of unsaved buffers, on the CPU; None for one that nothing makes without reading saved tensors."""
    values = dict[str, Tensor | None].fromkeys(names)
    # A class that a parametrization or `fully_shard` derives has another name.
    cls = next(each for each in type(module).__mro__ if "_declared_as" in vars(each))
    try:
        with seeded(seed, cls.__qualname__), _OnCpu("cpu"), _NothingElseIsWritten():
            twin = _stand_in(module, {})
            marks = {name: mark(_empty(module._buffers[name])) for name in names}
            twin._buffers.update({name: each.tensor for name, each in marks.items()})
            for method in _METHODS:
                if hasattr(cls, method):
                    getattr(twin, method)()
    except Exception:  # it reads a saved tensor, or writes to another's: what it has made may be half
        return values
    for name, each in marks.items():
        made = twin._buffers.get(name)
        # A tensor of another class, such as a fake one, has no values to look at.
        is_same = made is each.tensor and type(made) is Tensor
        values[name] = None if made is None or made.is_meta or (is_same and unfilled(made, each.version) > 0) else made
    return values


def _fixed_values(module: ModuleBase, names: list[str]) -> dict[str, Tensor]:
    """The values of unsaved buffers that can be made and are not random: the same with another seed."""
    values, others = _values(module, names), _values(module, names, seed=1)
    pairs = [(name, each, others[name]) for name, each in values.items()]
    return {name: one for name, one, other in pairs if one is not None and other is not None and _is_close(one, other)}


def _empty(tensor: Tensor) -> Tensor:
    """Memory for a buffer on the CPU, in the dtype that a constructor fills: a later cast of the module rounds."""
    dtype = tensor.dtype
    if tensor.is_floating_point() and dtype.itemsize > 1:  # float8 is promoted to nothing
        dtype = torch.promote_types(dtype, torch.get_default_dtype())
    return torch.empty(tensor.shape, dtype=dtype, device="cpu")


class _OnCpu(DeviceContext):
    """Makes tensors on the CPU, and not on the device of a stand-in's saved tensors."""

    def __torch_function__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.new_tensor or str((kwargs or {}).get("device")) == "meta":
            kwargs = {**(kwargs or {}), "device": self.device}
        return super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call] # torch gives it no types


class _NothingElseIsWritten(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch gives it no types
    """Lets operations write only to memory that was allocated since the mode began, and to meta tensors."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # it would import the compiler

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._own: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        given = [*zip((each.name for each in func._schema.arguments), args, strict=False), *(kwargs or {}).items()]
        written = {each.name for each in func._schema.arguments if each.alias_info and each.alias_info.is_write}
        tensors = [(name, each) for name, value in given for each in tree_leaves(value) if isinstance(each, Tensor)]
        is_left = any(each.is_meta for _, each in tensors)  # torch then writes nothing, and says nothing
        for argument, each in tensors:
            if argument in written and not each.is_meta and (is_left or each.untyped_storage()._cdata not in self._own):
                raise RuntimeError(f"{func} writes what has no value, or to a tensor that is not the stand-in's own")
        name = func._schema.name
        if name.endswith("_like") or name.startswith("aten::new_") or (name == "aten::_to_copy" and not is_left):
            kwargs = {**(kwargs or {}), "device": torch.device("cpu")}  # these read no values of a meta tensor
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.lift_fresh.default or all(each.alias_info is None for each in func._schema.returns):
            self._own.update(each.untyped_storage()._cdata for each in tree_leaves(made) if isinstance(each, Tensor))
        return made


def _copied(value: Any, made: dict[int, Any]) -> Any:
    """An attribute for a stand-in: with new containers in place of those in it, and stand-ins of modules."""
    if isinstance(value, nn.Module):
        return _stand_in(value, made)
    if type(value) in (dict, OrderedDict):  # the hooks are in one of these
        return type(value)((key, _copied(held, made)) for key, held in value.items())
    return type(value)(_copied(held, made) for held in value) if type(value) in (list, set, tuple) else value


def _stand_in(module: Any, made: dict[int, Any]) -> Any:
    """A module of the same class and attributes, with its parameters, persistent buffers and children on meta.

    What a method changes in it changes nothing else. `made` has the stand-ins so far by the ids of their modules.
    """
    if id(module) in made or isinstance(module._modules, _Children):
        return made.get(id(module), module)
    twin: Any = object.__new__(type(module))
    made[id(module)] = twin
    twin._buffers = {}
    twin._parameters = {name: _on_meta(each) for name, each in module._parameters.items()}
    for name, each in module._buffers.items():
        # In a plain module, `to_empty` leaves no sign where it wrote nothing, but that nobody else has.
        is_made = name in module._non_persistent_buffers_set and (
            isinstance(module, ModuleBase) or version_of(each) > 0
        )
        twin._buffers[name] = each.clone() if is_made and each is not None else _on_meta(each)
    twin._modules = _Children(module._modules)
    twin._modules.made = made
    for key, value in vars(module).items():
        if key not in vars(twin) and key not in (WATCHED, _MADE):
            vars(twin)[key] = _copied(value, made)
    return twin


def _on_meta(tensor: Tensor | None) -> Tensor | None:
    if tensor is None:
        return None
    with torch._C.DisableTorchFunction():  # the mode would make it on the CPU
        made = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else made


class _Children(UserDict[str, Any]):
    """The children of a stand-in, which are made when they are read."""

    made: dict[int, Any]

    def __getitem__(self, name: str) -> Any:
        child = self.data[name]
        return _stand_in(child, self.made) if isinstance(child, nn.Module) else child


def unsaved(name: str, doc: str) -> RegisteredProperty:
    """The property of a buffer that is in no state dict: of a watched module, it looks at the buffer before it is read."""
    usual: Any = buffer_property(name, doc).fget

    def read(module: Any) -> Any:
        if WATCHED in module.__dict__ and not is_dynamo_compiling() and not is_asked_by_torch():
            _make_unwritten(module, ())
        return usual(module)

    return RegisteredProperty.of(unsaved, read, name, doc)


def state_to_copy(module: ModuleBase) -> dict[str, object]:
    """The instance dict that a copy of a module with unsaved buffers gets: a watched one makes them first."""
    if WATCHED in vars(module):
        _make_unwritten(module, ())
    return {**vars(module), _MADE: dict.fromkeys(_foreign(module, module._buffers), _FOREIGN)}


_ON_META = 0
"""In the place of the id of a buffer that was on meta."""


def watch(module: nn.Module) -> None:
    """Look at the unsaved buffers of a module when it is first called, or one is read."""
    names = module._non_persistent_buffers_set
    vars(module)[WATCHED] = {name: _ON_META for name in names if getattr(module._buffers.get(name), "is_meta", False)}
    if _check_buffers not in module._forward_pre_hooks.values():
        module.register_forward_pre_hook(_check_buffers)


def unwatch(module: nn.Module) -> None:
    """Look at the unsaved buffers of a module no more: they have their values."""
    vars(module).pop(WATCHED, None)
    for key in [key for key, hook in module._forward_pre_hooks.items() if hook is _check_buffers]:
        del module._forward_pre_hooks[key]


def _check_buffers(module: ModuleBase, args: tuple[object, ...]) -> None:
    """A hook that is called once, by modules that were made on meta."""
    if _make_unwritten(module, args):
        unwatch(module)
        for child in module.modules():  # which may never be called themselves
            vars(child).pop(WATCHED, None)


# What torch.compiler.disable does, without importing the compiler: a compiled call looks at buffers as any other does.
_check_buffers._torchdynamo_disable = True  # type: ignore[attr-defined] # functions take any attribute


def _never_written(module: nn.Module, name: str, *, is_foreign: bool = False) -> str:
    """The message about an unsaved buffer that nothing makes: why, and what to do about it."""
    cls = type(module).__name__
    why = f"nothing in {cls} makes the same values again from what is no saved tensor"
    if is_foreign:
        why = f"what was written there outside of {cls} is lost"
    return (
        f"{cls}.{name} was never written: it is in no state dict, and {why}; declare it by buffer(..., value=...) or"
        f" initializer=, or let {cls}.reset_parameters fill it"
    )


_MADE = "_made_on_meta"
"""The key in a module's instance dict of how the module itself left its unsaved buffers on meta: id and version, by name."""
_FOREIGN = (0, -1)
"""In the place of these, for a buffer that something else has written."""


def note_made(module: nn.Module, foreign: Container[str] = ()) -> None:
    """Note how a module leaves its unsaved buffers on meta, so that what others write there later is not lost in silence."""
    held = ((name, module._buffers.get(name)) for name in module._non_persistent_buffers_set)
    made = {name: (id(each), version_of(each)) for name, each in held if each is not None and each.is_meta}
    vars(module).pop(_MADE, None)
    if made:
        vars(module)[_MADE] = {name: _FOREIGN if name in foreign else noted for name, noted in made.items()}


def _foreign(module: nn.Module, held: Mapping[str, Tensor | None]) -> set[str]:
    """The unsaved buffers on meta that were written in place, or assigned, by something else than the module itself."""
    made = vars(module).get(_MADE, {})
    plain = {name: each for name in made if type(each := held.get(name)) is Tensor}
    return {name for name, each in plain.items() if made[name] != (id(each), version_of(each))}


def _make_unwritten(module: ModuleBase, given: tuple[object, ...]) -> bool:
    """`_make_here`, which is not to be compiled where a compiled call comes to it."""
    # Dynamo goes through all of `sys.modules` where it traces this, and fails where another import adds to it meanwhile.
    dynamo: Any = torch._dynamo if torch.compiler.is_compiling() else sys.modules.get("torch._dynamo")
    return bool((dynamo.disable(_make_here) if dynamo else _make_here)(module, given))


def _make_here(module: ModuleBase, given: tuple[object, ...]) -> bool:
    """Make unsaved buffers that are on meta, or got memory past every method of the module; False for a run on meta alone."""
    tensors = (each for each in (*given, *module.parameters(), *module.buffers()) if isinstance(each, Tensor))
    device = next((each.device for each in tensors if not each.is_meta), None)
    if device is None or peek_interpreter_stack() is not None:
        return False
    names, seen = module._non_persistent_buffers_set, vars(module).get(WATCHED, {})
    if seen == {name: id(module._buffers.get(name)) for name in names}:
        return True
    vars(module).pop(WATCHED, None)
    for child in module.children():  # whose buffers a value may read
        for each in child.modules():
            if WATCHED in vars(each) and isinstance(each, ModuleBase):
                _make_unwritten(each, (torch.empty(0, device=device),))
    held = {name: each for name, each in module._buffers.items() if name in names}
    plain = {name: each for name, each in held.items() if type(each) is Tensor and not each.is_inference()}
    _remake(module, [name for name, each in plain.items() if each.is_meta], device, _foreign(module, module._buffers))
    lent = is_lent()
    # What was written in place has values of somebody's own, and what is lent for one call too.
    unwritten = [n for n, each in plain.items() if each.numel() and not (each.is_meta or each._version or lent)]
    values = _fixed_values(module, unwritten) if unwritten else {}
    for name in unwritten:
        buffer, value = module._buffers[name], values.get(name)
        if value is None and seen.get(name) == _ON_META:
            warnings.warn(
                f"{type(module).__name__}.{name} was on meta, and has memory now that nobody has written in place:"
                f" {_never_written(module, name)}. It is right only if that was assigned with its values",
                stacklevel=_depth_of_user(),
            )
        elif value is not None and value.shape == buffer.shape and not _is_close(buffer.cpu(), value.to(buffer.dtype)):
            module._buffers[name] = value.to(buffer.device, buffer.dtype)  # somebody else may hold the other
            warnings.warn(
                f"{type(module).__name__}.{name} had other values than its declaration gives when the module was first used, as"
                " where a trainer allocates a buffer of a model on meta and writes nothing; it has the declared ones now."
                " Write into it in place, or assign it after the first call, to give it values of your own",
                stacklevel=_depth_of_user(),
            )
    watch(module)  # a trainer that reads one buffer may still replace the next
    vars(module)[WATCHED] = {name: id(module._buffers.get(name)) for name in names}
    return True


def is_lent() -> bool:
    """Return whether `functional_call` runs, which lends tensors to modules for one call."""
    return any(frame.f_code.co_name == "_functional_call" for frame, _ in walk_stack(sys._getframe()))


def _depth_of_user() -> int:
    """The `stacklevel` of the statement that calls, reads or copies the module, for a warning of the calling function."""
    names = (frame.f_globals.get("__name__", "") for frame, _ in walk_stack(sys._getframe(1)))
    inside = ("torch", "qten_gen", "copy", "contextlib")
    return next((level for level, name in enumerate(names, 1) if name.partition(".")[0] not in inside), 1)


def _is_close(found: Tensor, value: Tensor) -> bool:
    """Return whether two tensors are equal but for the rounding of another device."""
    if found.shape != value.shape or not (value.is_floating_point() or value.is_complex()):
        return torch.equal(found, value)
    if value.dtype.itemsize == 1:  # torch compares no float8
        found, value = found.float(), value.float()
    return torch.allclose(found, value, rtol=0.02, atol=1e-6, equal_nan=True)
