"""`deferred_init`, `is_deferred`, `materialize_tensor` and `materialize_module`, the public functions of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import get_ident, local
from typing import NoReturn, ParamSpec, TypeVar, cast
from weakref import WeakValueDictionary

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from ..fake.arguments import Args, Function, Options, Types, is_called_by, is_emulated, tensors
from ..fake.context import is_fake
from ..fake.fake_tensor import Fake, attribute, own_attributes
from ..fake.mode import FakeMode
from .recording import PythonFunctions, Recorder, caller, refused
from .references import replace_tensors
from .refill import remember
from .tape import DeferredError

P = ParamSpec("P")
T = TypeVar("T")

_EMPTIES = nn.Module.to_empty.__code__
_CALL = "call materialize_tensor or materialize_module first"


class DeferredMode(FakeMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """The fake mode of one call of `deferred_init`, and which of its tensors have been made.

    Its tensors can be computed with only while the program that makes them is recorded: nothing would carry it out later.
    """

    draws_for_nobody = False
    """Initialisers have to do what they do: either that is recorded, or it is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.recorder = Recorder(self)
        self.is_recording = True
        self.pending: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
        """The deferred tensors that the program returned, by slot, until they are made."""
        self._of_storage: dict[int, list[int]] = {}
        """Their slots, by the memory that they are parts of."""
        self._graphs: dict[int, set[int]] = {}
        """For memory that autograd recorded operations on, all memory of the graph."""

    def __torch_dispatch__(self, func: OpOverload, types: Types, args: Args = (), kwargs: Options = None) -> object:
        device = (kwargs or {}).get("device")
        if func is torch.ops.aten.empty_like.default and not self.is_recording and is_called_by((_EMPTIES,)):
            # It asks for memory and for no values. Without weak references to it, a parameter can be swapped.
            fake = cast(Tensor, args[0])
            self.pending.pop(self.recorder.slot(fake).index, None)
            meta = torch.empty_strided(fake.size(), fake.stride(), dtype=fake.dtype, device="meta")
            return func(meta, **(kwargs or {}))
        if self.recorder.working_thread != get_ident():
            raise self.out_of_sight(func)
        if isinstance(device, torch.device) and is_emulated(device):
            torch.empty(0, device=device)  # raises what the constructor would raise
        given = [each for each in tensors((*args, *(kwargs or {}).values())) if isinstance(each, FakeTensor)]
        return self.computed(func, types, args, kwargs or {}, given)

    def out_of_sight(self, what: object) -> DeferredError:
        if self.is_recording:
            why = (
                "where deferred_init cannot record it: in another thread, with modes switched off, or by a tensor subclass; "
                "call it on plain tensors, in the thread that called deferred_init"
            )
            return DeferredError(f"{caller()[0]}: {what} was called on a deferred tensor {why}")
        return DeferredError(
            f"{caller()[0]}: {what} was called on a deferred tensor, after deferred_init returned, so it cannot be recorded; "
            f"{_CALL}, or, if a cache kept it, clear the cache"
        )

    def from_tensor(self, tensor: Tensor, *args: object, **kwargs: object) -> NoReturn:
        """Called for `tensor.data = real`, where that is not recorded."""
        raise self.out_of_sight("`tensor.data = value`")

    def without_memory(self, what: str) -> DeferredError:
        """The error about something that needs memory, which the tensor gets when it is materialized."""
        if not self.is_recording:
            return DeferredError(f"{caller()[0]}: {what} needs the memory of a tensor that deferred_init made; {_CALL}")
        why = "a deferred tensor has no memory yet"
        instead = "do it after the module is materialized; for numbers take item(), tolist() or torch.from_numpy(array)"
        return refused(what, why, instead)

    def shown(self, tensor: Tensor, kind: str = "deferred") -> str:
        """While the program runs, its own prints show the values, as they do where it is not deferred."""
        if _THREAD.mode is not self or self.recorder.working_thread is not None:
            return super().shown(tensor, kind)
        with _disable_current_modes():
            value = self.recorder.value(tensor).requires_grad_(tensor.requires_grad)
            return f"{repr(value)[:-1]}, {kind}=True)"

    def keep_track_of(self, fakes: Iterable[Tensor]) -> None:
        """Note the deferred tensors that the program returned, and which of them have to be made at once."""
        for fake in fakes:
            slot = self.recorder.slot(fake)
            fake.__class__ = Deferred
            self.pending[slot.index] = fake
            self._of_storage.setdefault(slot.storage, []).append(slot.index)
        for operation in self.recorder.tape.operations:
            if operation.differentiable:
                joined = operation.storages.union(*(self._graphs.get(each, ()) for each in operation.storages))
                self._graphs |= dict.fromkeys(joined, joined)

    def materialize(self, fakes: Iterable[Tensor]) -> None:
        """Make the values of deferred tensors; each fake has its real tensor as `real` afterwards."""
        if _THREAD.mode is self:
            return
        slot = self.recorder.slot
        with self.recorder.tape.lock, _disable_current_modes(), torch._C.DisableTorchFunction():
            wanted = {slot(fake).index: fake for fake in fakes if real_of(fake) is None}
            for fake in list(wanted.values()):
                wanted |= self._bound_to(fake)
            gradients = [gradient for fake in wanted.values() if (gradient := _gradient_of(fake)) is not None]
            wanted |= {slot(each).index: each for each in gradients if mode_of(each) is self and real_of(each) is None}
            values = self.recorder.tape.values([slot(fake) for fake in wanted.values()])
            for index, value in zip(list(wanted), values, strict=True):
                fake = wanted[index]
                vars(fake)["real"] = _with_attributes_of(fake, value)
                self.pending.pop(index, None)
            for fake in wanted.values():
                gradient = _gradient_of(fake)
                if gradient is not None:
                    vars(fake)["real"].grad = gradient if mode_of(gradient) is None else real_of(gradient)
            if wanted and not self.pending:
                self.recorder.streams.arrive()

    def _bound_to(self, fake: Tensor) -> dict[int, Tensor]:
        """The pending tensors that have to be made with another: parts of the same storages, and of one autograd graph."""
        storage = self.recorder.slot(fake).storage
        slots = [index for each in self._graphs.get(storage, {storage}) for index in self._of_storage.get(each, ())]
        return {index: other for index in slots if (other := self.pending.get(index)) is not None}


class Deferred(Fake):
    """A tensor that deferred_init has returned. What is no operation, and would be lost on it, is an error."""

    @classmethod
    def __torch_function__(cls, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        tensor = args[0] if args else None
        if func in _LOST and isinstance(tensor, cls) and real_of(tensor) is not None:
            raise DeferredError(
                f"{caller()[0]}: {_LOST[func]} was used on a deferred tensor that is materialized by now; the module has another"
                " tensor in its place; make optimizers and lists of parameters after materialize_module, or ask"
                " materialize_tensor for the tensor"
            )
        if func in _CONVERSIONS and isinstance(tensor, cls):
            raise cast(DeferredMode, tensor.fake_mode).out_of_sight(f"{getattr(func, '__name__', func)}()")
        return super().__torch_function__(func, types, args, kwargs)


_CONVERSIONS = {Tensor.to, Tensor.float, Tensor.half, Tensor.double, Tensor.bfloat16, Tensor.cpu}
"""These are no operations where they have nothing to do."""
_LOST: dict[object, str] = {
    attribute("data", "__set__"): "`tensor.data = value`",
    attribute("grad"): "tensor.grad",
    attribute("grad", "__set__"): "`tensor.grad = value`",
    attribute("requires_grad", "__set__"): "`tensor.requires_grad = value`",
    Tensor.requires_grad_: "requires_grad_()",
    Tensor.register_hook: "register_hook()",
    Tensor.register_post_accumulate_grad_hook: "register_post_accumulate_grad_hook()",
}


class _Thread(local):
    def __init__(self) -> None:
        self.mode: DeferredMode | None = None


_THREAD = _Thread()
"""The recording of this thread."""


def mode_of(tensor: Tensor) -> DeferredMode | None:
    """The recording that a tensor comes from; None for a tensor that is not deferred."""
    mode = getattr(tensor, "fake_mode", None)
    return mode if isinstance(mode, DeferredMode) else None


def real_of(fake: Tensor) -> Tensor | None:
    """The tensor that a deferred tensor has become."""
    return cast("Tensor | None", vars(fake).get("real"))


def _gradient_of(tensor: Tensor) -> Tensor | None:
    """The gradient that was accumulated in a tensor, or that was assigned."""
    with torch._C.DisableTorchFunction():
        return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def _with_attributes_of(fake: Tensor, real: Tensor) -> Tensor:
    """A real tensor with what the program set on its fake: that it is a parameter, `requires_grad`, attributes and hooks."""
    if isinstance(fake, nn.Parameter) and not isinstance(real, nn.Parameter):
        real = Tensor._make_subclass(nn.Parameter, real)
    if fake.is_leaf and not real.is_leaf:
        real = real.detach()  # autograd hands `detach_()` on to nobody
    if fake.is_leaf and real.is_leaf and real.requires_grad != fake.requires_grad:
        with torch.inference_mode(real.is_inference()):
            real.requires_grad_(fake.requires_grad)
    vars(real).update(own_attributes(fake))
    for hook in (fake._backward_hooks or {}).values():
        real.register_hook(hook)  # type: ignore[no-untyped-call] # of torch
    for hook in (getattr(fake, "_post_accumulate_grad_hooks", None) or {}).values():
        real.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call] # of torch
    return real


def deferred_init(module_fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function, such as the class of a module, without making the values of its tensors.

    The tensors are fake: they have a shape, a dtype and a device, and no data. What the function does with them is recorded, and
    carried out by materialize_module or materialize_tensor. Then the values are the ones that the call would have given here, bit
    for bit: the random numbers come from the state that torch's generators have now.

    >>> _ = torch.manual_seed(0)
    >>> module = deferred_init(nn.Linear, 2, 3, bias=False)
    >>> module.weight.shape, is_deferred(module)
    (torch.Size([3, 2]), True)
    >>> materialize_module(module)
    >>> torch.manual_seed(0) and torch.equal(module.weight, nn.Linear(2, 3, bias=False).weight)
    True

    Args:
        module_fn: A class or function.
        args, kwargs: Its arguments.

    Returns:
        What the function returns.

    Raises:
        DeferredError: The function does something that cannot be recorded. The message says what, and on which line.
    """
    return recorded(lambda: module_fn(*args, **kwargs), moves_on=True)


def recorded(construct: Callable[[], T], *, moves_on: bool) -> T:
    """The result of a function, without the values of its tensors. torch's generators move on, or are put back."""
    if _THREAD.mode is not None:
        return construct()
    mode = DeferredMode()
    streams, succeeded, passed = mode.recorder.streams, False, dict[int, object]()
    # Modes of the caller, such as fake_mode, are for what is computed now.
    with _disable_current_modes():
        _THREAD.mode = mode
        try:
            with mode.recorder, PythonFunctions(mode.recorder):
                result = construct()
                found = _found_in([[result]], passed)
            succeeded = True
        finally:
            _THREAD.mode, mode.is_recording = None, False
            if succeeded and moves_on:
                streams.move_on()
            else:
                streams.put_back()
    tensors = (own for fake in found for own in (fake, _gradient_of(fake)) if own is not None)
    mode.keep_track_of(tensor for tensor in tensors if mode_of(tensor) is mode)
    if moves_on:
        remember([held for held in passed.values() if isinstance(held, nn.Module)], mode.recorder)
    if not mode.pending:
        streams.arrive()
    return result


def is_deferred(obj: object) -> bool:
    """Return True if a tensor, or a tensor that a module or a submodule of it holds, is still to be materialized.

    Such a tensor has a shape, a dtype and a device, but no values. What is neither a tensor nor a module is not deferred.

    >>> is_deferred(deferred_init(torch.ones, 3)), is_deferred(torch.ones(3))
    (True, False)
    """
    if isinstance(obj, Tensor):
        return mode_of(obj) is not None
    return isinstance(obj, nn.Module) and any(mode_of(tensor) is not None for tensor in _found_in([obj], {}))


def materialize_tensor(tensor: Tensor) -> Tensor:
    """The tensor that a deferred tensor stands for, with its values; always the same object for the same deferred tensor.

    It has the shape, dtype, device and `requires_grad` of the deferred tensor, and the values that eager code would give it.
    A tensor that is not deferred is returned as it is.

    >>> deferred = deferred_init(torch.ones, 3)
    >>> materialize_tensor(deferred)
    tensor([1., 1., 1.])
    >>> materialize_tensor(deferred) is materialize_tensor(deferred)
    True

    Raises:
        ValueError: The tensor is fake and was not made by deferred_init, so nothing knows its values.
        TypeError: It is not a tensor.
    """
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"materialize_tensor expected a tensor, got {kind}; use materialize_module for a module")
    if not is_fake(tensor):
        return tensor
    _mode(tensor).materialize([tensor])
    real = real_of(tensor)
    return tensor if real is None else real


def value_of(tensor: Tensor) -> Tensor:
    """The value of a deferred tensor, which stays deferred: nobody keeps the value. A real tensor is copied."""
    mode = mode_of(tensor)
    return tensor.detach().clone() if mode is None else mode.recorder.value(tensor)


def materialize_module(
    module: nn.Module, buffers_only: bool = False, check_fn: Callable[[nn.Module], bool] | None = None
) -> None:
    """Give a module that deferred_init made its values, in place.

    Parameters, buffers, and tensors that a module holds in other attributes, in lists, dictionaries, objects and closures are
    replaced. A module or tensor that has its values already stays as it is. Parts can be materialized one after the other, in
    any order, with the same values. When the last tensor is made, torch's generators stand where the call of the function would
    have left them, unless they were used or seeded in the meantime.

    >>> model = deferred_init(nn.Sequential, nn.Linear(2, 2), nn.Linear(2, 2))
    >>> materialize_module(model, check_fn=lambda part: part is not model[1])
    >>> materialize_module(model)

    Args:
        module: The module.
        buffers_only: Leave parameters as they are.
        check_fn: Is called with the module and each module below it. Where it returns False, the tensors that belong to that
            module itself stay deferred.

    Raises:
        TypeError: `module` is not a module.
        ValueError: A tensor of the module is fake and was not made by deferred_init.
        Exception: What an operation of the constructor raises when it is carried out; then nothing has changed.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"materialize_module expected a module, got {type(module).__name__}; use materialize_tensor for a tensor"
        )
    every = list(module.modules())
    holders = [vars(part) for part in reversed(every) if check_fn is None or check_fn(part)]
    others: dict[int, object] = {id(part): part for part in every}
    wanted = [
        fake for fake in _found_in(holders, dict(others)) if not (buffers_only and isinstance(fake, nn.Parameter))
    ]
    by_mode: dict[DeferredMode, list[Tensor]] = {}
    for fake in wanted:
        by_mode.setdefault(_mode(fake), []).append(fake)
    for mode, fakes in by_mode.items():
        mode.materialize(fakes)
    ids = set(map(id, wanted))

    def real(tensor: Tensor) -> Tensor:
        made = real_of(tensor) if id(tensor) in ids else None
        return tensor if made is None else made

    replace_tensors(holders, real, others)


def _found_in(roots: Sequence[object], passed: dict[int, object]) -> list[Tensor]:
    """The fake tensors that can be reached from roots, without the objects that are passed."""
    found: dict[int, Tensor] = {}

    def note(tensor: Tensor) -> Tensor:
        if is_fake(tensor):
            found[id(tensor)] = tensor
        return tensor

    replace_tensors(roots, note, passed)
    return list(found.values())


def _mode(fake: Tensor) -> DeferredMode:
    """The recording of a fake tensor, which has to have one."""
    found = mode_of(fake)
    if found is None:
        raise ValueError(
            "expected tensors made by deferred_init, got a fake tensor whose values nothing recorded; "
            "make it by deferred_init instead of in fake_mode"
        )
    return found
