"""Recording: what a program does with fake tensors, operation by operation.

`Recorder` is a mode above a mode of fake tensors. It hands operations on fake tensors to that mode, and notes them on its tape.
Operations on real tensors alone run as they are, at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import get_ident
from typing import TypeVar, cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch._utils import _rebuild_tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ..fake.tensor_arguments import tensors
from .errors import Program, caller, foreign, hidden, is_inside, refused, unseen, with_init
from .evaluation import Arrays, Evaluation
from .known_tensors import KnownTensors, storage_address
from .overloads import NeedsValues, Traits, compute_shape, fake_like, traits
from .streams import Streams, default_generator
from .tape import Argument, Draw, Operation, Outside, OutsideRef, Place, SlotRef, Tape

T = TypeVar("T")

_DEVICE = torch.ops.prim.device.default
_LIFT = torch.ops.aten.lift_fresh.default
_CLONE = torch.ops.aten.clone.default
_DETACH = torch.ops.aten.detach.default
_EMPTY = torch.ops.aten.empty.memory_format

_CHECKS = {
    torch.ops.aten._linalg_check_errors.default,
    torch.ops.aten._assert_async.default,
    torch.ops.aten._assert_async.msg,
}
"""Operators that only raise, depending on values."""

_STORAGES = (torch.UntypedStorage, torch.TypedStorage)

_SET = {
    torch.ops.aten.set_.source_Storage: torch.ops.aten.set_.source_Tensor,
    torch.ops.aten.set_.source_Storage_storage_offset: torch.ops.aten.set_.source_Tensor_storage_offset,
}
"""Operators that let a tensor look at a storage, and those that take a tensor instead."""

_LOADING = (_rebuild_tensor.__code__,)
"""The functions with which `torch.load` makes its tensors: nothing else has their storages."""

_UNINITIALIZED = (nn.UninitializedParameter.__new__.__code__, nn.UninitializedBuffer.__new__.__code__)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """Records what runs in its context on the fake tensors of a mode.

    >>> mode = FakeTensorMode()
    >>> recorder = Recorder(mode)
    >>> with recorder:
    ...     noise = torch.zeros(3).normal_()
    >>> [str(operation.overload) for operation in recorder.tape.operations]
    ['aten.zeros.default', 'aten.normal_.default']
    >>> recorder.slot(noise)
    0
    """

    def __init__(self, mode: FakeTensorMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # of torch
        self.tape = Tape()
        self.mode = mode
        self.program = Program()
        """The recorded program, for errors."""
        self.names: dict[int, str] = {}
        """The names of the program's tensors in errors, by their ids; other tensors are called by their sizes."""
        self.working_thread: int | None = None
        """The thread that records an operation at this moment."""
        self._known = KnownTensors(self.tape)
        self._outside: dict[int, int] = {}
        self._read: dict[int, Tensor] = {}
        """The tensors that the program read from files: deferred tensors of whole storages, by the storages' addresses."""
        self.streams = Streams(self.tape)
        self.evaluation = Evaluation(self.tape)
        self.arrays = Arrays(self.evaluation)

    def add_input(self, tensor: Tensor) -> int:
        """Take a fake tensor that exists already as an input of the program; its slot."""
        found = self._known.find(tensor)
        if found is None:
            found = self._known.enter(tensor) if self._known.has_storage_of(tensor) else self._known.enter_fresh(tensor)
            self.tape.inputs.append(found)
        return found

    def slot(self, tensor: Tensor) -> int:
        """The slot of a fake tensor, as it is now.

        Raises:
            DeferredError: No recorded operation made the tensor (or what `program` says).
        """
        found = self._known.find(tensor)
        return self._slot_of_changed(tensor) if found is None else found

    def made_as(self, parameter: nn.Parameter) -> type[nn.Parameter]:
        """The class that the program made a parameter of."""
        return cast("type[nn.Parameter]", self.tape.slots[self.slot(parameter)].made_as or nn.Parameter)

    def made_at(self, tensor: Tensor) -> Place | None:
        """The line that made a fake tensor: where the cache is that kept it, if one did."""
        slot = self._known.find(tensor)
        return next((operation.place for operation in self.tape.operations if slot in operation.results), None)

    def hidden(self, what: object, given: Iterable[object]) -> RuntimeError | None:
        """The error about an operation that is not recorded; None where it has no tensor of this recording."""
        mine = [tensor for tensor in tensors(given) if isinstance(tensor, FakeTensor) and tensor.fake_mode is self.mode]
        if not mine:
            return None
        shown = self.names.get(id(mine[0])) or f"a tensor of size {tuple(mine[0].shape)}"
        return hidden(self.program, what, shown, caller()[0])

    def is_mine(self, tensor: object) -> bool:
        """Whether a tensor is a fake of this recording; one of another recording is refused."""
        if not isinstance(tensor, FakeTensor):
            return False
        if tensor.fake_mode is not self.mode:
            owner = getattr(tensor.fake_mode, "recorder", None)
            made_at = owner.made_at(tensor) if isinstance(owner, Recorder) else None
            raise foreign(self.program, caller()[0], made_at)
        return True

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        working, self.working_thread = self.working_thread, get_ident()
        try:
            if func is _DEVICE:
                return self.mode.__torch_dispatch__(func, types, args, kwargs or {})
            # What follows asks tensors for their shapes and storages again and again.
            with torch._C.DisableTorchFunction():
                return self._run(func, args, kwargs or {})
        finally:
            self.working_thread = working

    def _run(self, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Run an operation on real tensors, write into a real tensor, or record it, depending on its arguments."""
        what = traits(func)
        given = list(tensors((*args, *kwargs.values())))
        mine = [tensor for tensor in given if self.is_mine(tensor)]
        if given and not mine:
            return self._run_real(func, what, args, kwargs)
        if any(not isinstance(tensor, FakeTensor) for tensor in what.changed(args, kwargs)):
            return self._write_real(func, what, args, kwargs)
        if func is _EMPTY and args[0] == [0] and is_inside(_UNINITIALIZED):
            return func(*args, **kwargs)
        return self._record(func, what, mine, args, kwargs)

    def _run_real(self, func: OpOverload, what: Traits, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Run an operation on real tensors alone: now, as without a recording."""
        if func is _LIFT:
            return self._lift(cast(Tensor, args[0]))
        if what.draws:
            raise refused(self.program, func, caller()[0], "it draws random numbers for a tensor from outside")
        self._keep_values_of(what.changed(args, kwargs))
        return func(*args, **kwargs)

    def _lift(self, made: Tensor) -> Tensor:
        """Take what `torch.tensor(data)` made as a constant of the tape: each replay gets a copy.

        Memory that torch did not allocate belongs to something else, as after torch.from_numpy: such a tensor stays real.
        """
        if not made.untyped_storage().resizable():
            return made
        return self._constant(made, None)

    def take(self, real: Tensor) -> Tensor:
        """A fake tensor that gets the values of a real one from outside, in memory of its own."""
        working, self.working_thread = self.working_thread, get_ident()
        try:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                return self._constant(real, None if real.is_inference() else real._version)
        finally:
            self.working_thread = working

    def _constant(self, made: Tensor, version: int | None) -> Tensor:
        place, _ = caller()
        fake = fake_like(self.mode, made)
        slot = self._known.enter_fresh(fake)
        self.tape.outside.append(Outside(made, version, place))
        constant = OutsideRef(len(self.tape.outside) - 1)
        self._append(_CLONE, (constant,), {}, (slot,), place)
        return fake

    def _write_real(
        self, func: OpOverload, what: Traits, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        """Run an operation that writes values of fake tensors into a real one: now, with their values."""
        place, _ = caller()
        if any(isinstance(tensor, FakeTensor) for tensor in what.changed(args, kwargs)):
            raise refused(
                self.program, func, place, "it writes into a tensor from outside and into one that has no values yet"
            )
        if what.draws:
            raise refused(self.program, func, place, "it draws random numbers into a tensor from outside")
        self._keep_values_of(what.changed(args, kwargs))
        args, kwargs = self._with_values((tuple(args), kwargs))
        return func(*args, **kwargs)

    def _record(
        self,
        func: OpOverload,
        what: Traits,
        mine: Sequence[Tensor],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """Note an operation that gets or makes fake tensors; `mine` are those that it gets. What it returns is fake."""
        place, made_as = caller()
        if made_as is not None and made_as.__init__ is not nn.Parameter.__init__:
            raise with_init(self.program, made_as.__name__, place)
        if any(isinstance(value, _STORAGES) for value in (*args, *kwargs.values())):
            func, args = self._with_tensor_for_storage(func, args, place)
            return self._record(
                func, traits(func), [tensor for tensor in tensors(args) if self.is_mine(tensor)], args, {}
            )
        slots = [self.slot(tensor) for tensor in mine]
        before = [(tensor._cdata, storage_address(tensor), slot) for tensor, slot in zip(mine, slots, strict=True)]
        changed = [self._known.storage(tensor) for tensor in what.changed(args, kwargs)]
        noted_args = cast("tuple[Argument, ...]", self._noted(tuple(args), place))
        noted_kwargs = {name: self._noted(value, place) for name, value in kwargs.items()}
        if func in _CHECKS:
            args, kwargs = self._with_values((tuple(args), kwargs))
            return func(*args, **kwargs)
        try:
            found = compute_shape(self.mode, func, what, args, kwargs)
        except NeedsValues as error:
            if what.draws:
                raise refused(self.program, func, place, "the shape of its result depends on random numbers") from error
            args, kwargs = self._with_values((tuple(args), kwargs))
            found = self._as_fake(func(*args, **kwargs))
        results = list(tensors([found]))
        if any(tensor.layout != torch.strided or tensor.is_nested for tensor in results):
            raise refused(self.program, func, place, "its result is not a strided tensor")
        if not results and not changed and not what.draws:
            return found
        if not mine and results:
            # The defaults of now, whatever they are when it is replayed.
            if what.dtype:
                noted_kwargs["dtype"] = results[0].dtype
            if what.device:
                noted_kwargs["device"] = cast(FakeTensor, results[0]).fake_device
        entered = tuple(self._enter(tensor, before, made_as if func is _DETACH else None) for tensor in results)
        draw = None
        if what.draws:
            on = cast(FakeTensor, (results or list(mine))[0]).fake_device
            draw = self.streams.draw(len(self.tape.operations), self._generator(kwargs, on))
        by_autograd = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        self._append(
            func,
            noted_args,
            noted_kwargs,
            entered,
            place,
            reads=slots,
            writes=changed,
            draw=draw,
            differentiable=[
                slot for slot, tensor in zip(slots, mine, strict=True) if by_autograd and tensor.requires_grad
            ],
        )
        return found

    def _with_tensor_for_storage(
        self, func: OpOverload, args: Sequence[object], place: Place
    ) -> tuple[OpOverload, Sequence[object]]:
        """How a tensor of a file is set to its storage, as an operation on a constant tensor; tensors may share a storage."""
        if func not in _SET or not is_inside(_LOADING):
            raise refused(self.program, func, place, "it takes the memory of a tensor itself", "pass the tensor")
        tensor, storage, *geometry = args
        assert isinstance(tensor, Tensor) and isinstance(storage, torch.UntypedStorage)
        if storage._cdata not in self._read:
            with _disable_current_modes():
                whole = torch.empty(0, dtype=tensor.dtype, device=storage.device).set_(storage)
                self._read[storage._cdata] = self._constant(whole, None)
        return _SET[func], (tensor, self._read[storage._cdata], *geometry)

    def _append(
        self,
        func: OpOverload,
        args: tuple[Argument, ...],
        kwargs: Mapping[str, Argument],
        results: tuple[int, ...],
        place: Place,
        *,
        reads: Sequence[int] = (),
        writes: Sequence[int] = (),
        draw: Draw | None = None,
        differentiable: Sequence[int] = (),
    ) -> None:
        """Put an operation on the tape, with the state of the thread that it runs under."""
        self.tape.operations.append(
            Operation(
                index=len(self.tape.operations),
                overload=func,
                args=args,
                kwargs=kwargs,
                reads=tuple(reads),
                results=results,
                writes=tuple(writes),
                draw=draw,
                default_dtype=torch.get_default_dtype(),
                differentiable=tuple(differentiable),
                inference=torch.is_inference_mode_enabled(),
                deterministic=torch.are_deterministic_algorithms_enabled(),
                place=place,
            )
        )
        self.arrays.refresh(writes)

    def _enter(self, tensor: Tensor, before: Sequence[tuple[int, int, int]], made_as: type[Tensor] | None) -> int:
        """The slot of a tensor that an operation returned.

        `before` has the address, the address of the storage, and the slot of each tensor that the operation was given.
        """
        for address, _, slot in before:
            if tensor._cdata == address and self._known.is_as(tensor, self.tape.slots[slot]):
                return slot
        storage = storage_address(tensor)
        if any(storage == known for _, known, _ in before):
            return self._known.enter(tensor, made_as)
        return self._known.enter_fresh(tensor, made_as)

    def _slot_of_changed(self, tensor: Tensor) -> int:
        """The slot of a tensor whose content was changed without an operation, as by `tensor.data = other`."""
        place, _ = caller()
        base = self._known.same_part(tensor)
        if base is None:
            raise unseen(self.program, f"of size {tuple(tensor.shape)}", place)
        slot = self._known.enter(tensor, nn.Parameter if isinstance(tensor, nn.Parameter) else None)
        self._append(_DETACH, (SlotRef(base),), {}, (slot,), place, reads=(base,))
        return slot

    def _noted(self, value: object, place: Place) -> Argument:
        """An argument with references in place of tensors."""
        if isinstance(value, FakeTensor):
            return SlotRef(self.slot(value))
        if isinstance(value, Tensor):
            return OutsideRef(self._note_outside(value, place))
        if isinstance(value, (list, tuple)):
            return type(value)(self._noted(part, place) for part in value)
        return value

    def _note_outside(self, tensor: Tensor, place: Place) -> int:
        """Take a real tensor that an operation reads into the tape; a copy if what else changes it would not be seen.

        A tensor that shares memory with an array of NumPy has a storage that cannot be resized.
        """
        if not tensor.untyped_storage().resizable() and tensor.device.type == "cpu":
            self.tape.outside.append(Outside(tensor.detach().clone(), None, place))
            return len(self.tape.outside) - 1
        found = self._outside.get(id(tensor))
        version = None if tensor.is_inference() else tensor._version
        if found is None or self.tape.outside[found].version != version:
            found = self._outside[id(tensor)] = len(self.tape.outside)
            self.tape.outside.append(Outside(tensor, version, place))
        return found

    def _keep_values_of(self, changed: Iterable[Tensor]) -> None:
        """Copy what the tape has of real tensors that are about to change."""
        storages = {storage_address(tensor) for tensor in changed}
        for index in list(self._outside.values()) if storages else ():
            known = self.tape.outside[index]
            if known.version is not None and storage_address(known.tensor) in storages:
                copied = torch.empty_strided(
                    known.tensor.size(), known.tensor.stride(), dtype=known.tensor.dtype, device=known.tensor.device
                )
                self.tape.outside[index] = Outside(copied.copy_(known.tensor.detach()), None, known.place)
                del self._outside[id(known.tensor)]

    def _with_values(self, value: T) -> T:
        """Arguments with the values of fake tensors in their place: real tensors, which later changes do not reach."""
        slots = [self.slot(tensor) for tensor in tensors([value]) if isinstance(tensor, FakeTensor)]
        return cast(T, self._replaced(value, self.evaluation.values(slots)))

    def _replaced(self, value: object, real: Mapping[int, Tensor]) -> object:
        if isinstance(value, FakeTensor):
            return real[self.slot(value)]
        if isinstance(value, (list, tuple)):
            return type(value)(self._replaced(part, real) for part in value)
        if isinstance(value, dict):
            return {name: self._replaced(part, real) for name, part in value.items()}
        return value

    def _as_fake(self, found: object) -> object:
        """The result of an operation on values, with fake tensors in place of real ones."""
        if isinstance(found, Tensor):
            return fake_like(self.mode, found)
        if isinstance(found, (list, tuple)):
            return type(found)(self._as_fake(part) for part in found)
        return found

    def value(self, tensor: Tensor) -> Tensor:
        """The values of a fake tensor as the program would have them now."""
        slot = self.slot(tensor)
        return self.evaluation.values([slot])[slot]

    def _generator(self, kwargs: Mapping[str, object], device: torch.device) -> torch.Generator:
        """The generator that an operation draws from."""
        given = kwargs.get("generator")
        return given if isinstance(given, torch.Generator) else default_generator(device)
