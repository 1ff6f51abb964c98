"""Recording: what a program does with fake tensors, operation by operation.

`Recorder` is a mode above the fake mode of its tensors. It hands operations on fake tensors to that mode, and notes them on its
tape. Operations on real tensors alone run as they are, at once. `PythonFunctions` does the same for what is not an operation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from types import FrameType
from typing import cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    UnsupportedOperatorException,
    in_kernel_invocation_manager,
)
from torch._utils import _rebuild_tensor
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from ..fake.arguments import LIBRARIES, Args, Function, Keywords, Options, Types, is_called_by, tensors, written
from ..fake.fake_tensor import Fake, attribute, become_fake
from ..fake.mode import FakeMode, makes_lazy
from .streams import Streams
from .tape import DeferredError, Operation, Outside, Slot, Tape, default_generator

_aten = torch.ops.aten
_CHECKS = {_aten._linalg_check_errors.default, _aten._assert_async.default, _aten._assert_async.msg}
"""Operators that only raise, depending on values."""

_SET = {
    _aten.set_.source_Storage: _aten.set_.source_Tensor,
    _aten.set_.source_Storage_storage_offset: _aten.set_.source_Tensor_storage_offset,
}
"""Operators that let a tensor look at a storage, and the ones that take a tensor instead."""

_FILLING = {_aten.fill_.Scalar, _aten.normal_.default, _aten.uniform_.default, _aten.zero_.default}
"""Operators that fill the tensor that they are given with numbers. Its looks stay."""

_MAKING = {_aten.empty.memory_format, _aten.full.default, _aten.ones.default, _aten.randn.default, _aten.zeros.default}
"""Operators that make a tensor of a size that they are given."""

_OF_ONE_TENSOR = {_aten.clone.default, _aten.detach.default, _aten.select.int, _aten.slice.Tensor, _aten.view.default}
"""Operators on one tensor whose rules for meta tensors are all that a fake tensor needs: the device stays."""

_CPU = torch.device("cpu")
_NO_RULE = "torch runs it on memory, and has no rule for fake tensors"
_NEEDS_VALUES = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)


def refused(what: object, why: str, instead: str = "do it after the module is materialized") -> DeferredError:
    """The error about something that cannot be recorded."""
    return DeferredError(f"{caller()[0]}: deferred_init cannot record {what}: {why}; {instead}")


_NEW_PARAMETER = nn.Parameter.__new__.__code__
"""The constructor that makes a tensor object of a class which only its frame tells. Hashes of code are slow."""


def caller() -> tuple[str, type[Tensor] | None]:
    """The innermost line that belongs neither to torch nor to this package, and the class of a parameter that is being made."""
    frame: FrameType | None = sys._getframe(1)
    made: type[Tensor] | None = None
    while frame is not None:
        code = frame.f_code
        if code is _NEW_PARAMETER and made is None:
            made = cast("type[Tensor]", frame.f_locals["cls"])
        if not code.co_filename.startswith(LIBRARIES):
            return f"{code.co_filename}:{frame.f_lineno}", made
        frame = frame.f_back
    return "<unknown>:0", made


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """Records what runs in its context on the fake tensors of a mode."""

    def __init__(self, mode: FakeMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # of torch
        self.mode = mode
        self.tape = Tape()
        self.streams = Streams(self.tape)
        self.working_thread: int | None = None
        """The thread that records an operation at this moment."""
        self._slots: dict[int, tuple[tuple[object, ...], Slot]] = {}
        """What a tensor looked like last, by the address of its C++ object, which moves with the content when two are swapped."""
        self._storages: dict[int, torch.UntypedStorage] = {}
        """The memory of all tensors, by address. It is kept, so that no address is used again."""
        self._files: dict[int, tuple[Tensor, torch.UntypedStorage]] = {}
        """Deferred tensors of whole storages that the program read from files, by the storages' addresses."""
        self._count = 0

    def is_mine(self, tensor: object) -> bool:
        """True for a fake tensor of this recording; one of another recording is refused."""
        if not isinstance(tensor, FakeTensor):
            return False
        if tensor.fake_mode is not self.mode:
            raise DeferredError(
                f"{caller()[0]}: the tensor is fake already, and made by another deferred_init or fake_mode; materialize it"
                " before it is used in deferred_init, or, if a cache kept it, clear the cache"
            )
        return True

    def slot(self, tensor: Tensor) -> Slot:
        """The slot of a fake tensor, as it is now."""
        looks, slot = self._slots.get(tensor._cdata, (None, None))
        if slot is None or looks != _looks(tensor):
            raise DeferredError(
                f"{caller()[0]}: deferred_init did not see what made the tensor of size {tuple(tensor.shape)}; "
                "make tensors by operations of torch, in the thread that called deferred_init"
            )
        return slot

    def now_is(self, tensor: Tensor, other: Tensor) -> None:
        """Note that a tensor has the content of another one."""
        self._slots[tensor._cdata] = self._slots[other._cdata]

    def value(self, tensor: Tensor) -> Tensor:
        """The values of a fake tensor as the program would have them now."""
        return self.tape.values([self.slot(tensor)])[0]

    def __torch_dispatch__(self, func: OpOverload, types: Types, args: Args = (), kwargs: Options = None) -> object:
        working, self.working_thread = self.working_thread, get_ident()
        try:
            if func is torch.ops.prim.device.default:
                return self.mode.__torch_dispatch__(func, types, args, kwargs or {})
            # What follows asks tensors for their shapes and storages again and again.
            with torch._C.DisableTorchFunction():
                return self._run(func, args, kwargs or {})
        finally:
            self.working_thread = working

    def _run(self, func: OpOverload, args: Args, kwargs: Keywords) -> object:
        """Run an operation on real tensors now, also where it reads fake ones; or record it."""
        given = list(tensors((*args, *kwargs.values())))
        mine = [tensor for tensor in given if self.is_mine(tensor)]
        changed = [tensor for _, tensor in written(func, args, kwargs)]
        real = [tensor for tensor in changed if not isinstance(tensor, FakeTensor)]
        if real or (given and not mine):
            if func is _aten.lift_fresh.default and given[0].untyped_storage().resizable():
                # What `torch.tensor(data)` made. Memory that torch did not allocate belongs to something else, as an array does.
                return self.constant(given[0], None)
            if torch.Tag.nondeterministic_seeded in func.tags:
                raise refused(func, "it draws random numbers for a tensor from outside")
            if len(real) < len(changed):
                raise refused(func, "it writes into a tensor from outside and into one that has no values yet")
            return self._now(func, args, kwargs)
        if makes_lazy(func, args):
            return func(*args, **kwargs)
        if any(isinstance(value, torch.UntypedStorage | torch.TypedStorage) for value in args):
            func, args, kwargs = *self._set_to_tensor(func, args), {}
            mine = cast("list[Tensor]", list(tensors(args)))
        return self._record(func, mine, changed, args, kwargs)

    def _record(
        self,
        func: OpOverload,
        mine: Sequence[Tensor],
        changed: Sequence[Tensor],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """Note an operation on fake tensors, or one that makes them; `mine` are the fake tensors among its arguments."""
        place, made_as = caller()
        if made_as is not None and made_as.__init__ is not nn.Parameter.__init__:
            why = "Python does not call the `__init__` of its class on a deferred tensor"
            raise refused(made_as.__name__, why, "set attributes in `__new__`, or on an nn.Parameter")
        reads = [self.slot(tensor) for tensor in mine]
        before = {tensor._cdata: self._slots[tensor._cdata] for tensor in mine}
        writes = {_address(tensor) for tensor in changed}
        noted = [self._noted(value) for value in args]
        noted_kwargs = {name: self._noted(value) for name, value in kwargs.items()}
        if func in _CHECKS:
            return self._now(func, args, kwargs)
        draws = torch.Tag.nondeterministic_seeded in func.tags
        if any(map(_is_expanded, changed)):
            # Raises what eager raises, which rules for fake tensors do not. All draws do, and must not be made here.
            self._now(*((_aten.neg_.default, changed, {}) if draws else (func, args, kwargs)))
        try:
            found = self._fake_result(func, args, kwargs)
        except RuntimeError as error:
            # A custom operator without a rule for fake tensors says so in words alone.
            needs = isinstance(error, _NEEDS_VALUES) or isinstance(error.__context__, _NEEDS_VALUES)
            if str(error).startswith("Could not run"):
                raise refused(func, _NO_RULE, "do it after the module is materialized") from error
            if not needs and "There was no fake impl registered" not in str(error):
                raise
            if draws:
                raise refused(func, "the shape of its result depends on random numbers") from error
            return self.carried_out(func, args, kwargs)
        results = list(tensors([found]))
        if any(tensor.layout != torch.strided or tensor.is_nested for tensor in results):
            raise refused(func, "its result is not a strided tensor")
        if not results and not changed and not draws:
            return found
        if not mine and results:
            # The defaults of now, whatever they are when it is replayed.
            named = {argument.name for argument in func._schema.arguments if argument.kwarg_only}
            noted_kwargs |= {"dtype": results[0].dtype} if "dtype" in named else {}
            noted_kwargs |= {"device": cast(FakeTensor, results[0]).fake_device} if "device" in named else {}
        entered = [self._enter(tensor, before.get(tensor._cdata)) for tensor in results]
        by_autograd = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        if func is not _aten.detach.default:
            made_as = None
        elif made_as is not None:
            vars(results[0])["made_as"] = made_as
        draw, drawn = None, cast(FakeTensor, (results or mine)[0]) if draws else None
        if drawn is not None and drawn.fake_device.type != "meta":
            generator = kwargs.get("generator") or default_generator(drawn.fake_device)
            draw = self.streams.draw(cast(torch.Generator, generator), sum(tensor.numel() for tensor in results))
        self.tape.append(
            Operation(
                index=len(self.tape.operations),
                func=func,
                args=noted,
                kwargs=noted_kwargs,
                reads=reads,
                results=entered,
                writes=writes,
                draw=draw,
                differentiable=[
                    slot for slot, tensor in zip(reads, mine, strict=True) if by_autograd and tensor.requires_grad
                ],
                made_as=made_as,
                place=place,
            )
        )
        return found

    def _fake_result(self, func: OpOverload, args: Args, kwargs: Keywords) -> object:
        """The results of an operation on fake tensors. The commonest ones are not worth a call of the mode."""
        if func in _FILLING and (tensor := cast(Tensor, args[0])).is_contiguous() and tensor.is_floating_point():
            return tensor
        if func in _OF_ONE_TENSOR:
            with in_kernel_invocation_manager(self.mode):
                meta = func(*args, **kwargs)
            return Fake(self.mode, meta, cast(FakeTensor, args[0]).fake_device)
        if func in _MAKING and kwargs.get("device") in (None, _CPU) and kwargs.get("layout") in (None, torch.strided):
            return Fake(self.mode, func(*args, **{**kwargs, "device": "meta", "pin_memory": False}), _CPU)
        return self.mode.__torch_dispatch__(func, (), args, kwargs)

    def _enter(self, tensor: Tensor, before: tuple[tuple[object, ...], Slot] | None) -> Slot:
        """The slot of a tensor that an operation returned or changed; `before` is what is known of one that it was given."""
        looks = _looks(tensor)
        if before is not None and before[0] == looks:
            return before[1]
        address = cast(int, looks[0])
        if address not in self._storages:
            self._storages[address] = tensor.untyped_storage()
        slot = Slot(self._count, address, tuple(tensor.shape))
        self._count += 1
        self._slots[tensor._cdata] = looks, slot
        return slot

    def _set_to_tensor(self, func: OpOverload, args: Sequence[object]) -> tuple[OpOverload, Sequence[object]]:
        """How a tensor of a file is set to its storage, as an operation on a constant tensor; tensors may share a storage."""
        # Nothing but `torch.load` has the storages of its tensors.
        if func not in _SET or not is_called_by((_rebuild_tensor.__code__,)):
            raise refused(func, "it takes the memory of a tensor itself", "pass the tensor")
        tensor, storage, *geometry = args
        assert isinstance(tensor, Tensor) and isinstance(storage, torch.UntypedStorage)
        if storage._cdata not in self._files:
            with _disable_current_modes():
                whole = torch.empty(0, dtype=tensor.dtype, device=storage.device).set_(storage)
            self._files[storage._cdata] = self.constant(whole, None), storage
        return _SET[func], (tensor, self._files[storage._cdata][0], *geometry)

    def constant(self, real: Tensor, version: int | None) -> Tensor:
        """A fake tensor that gets the values of a real one, in memory of its own."""
        with _disable_current_modes():
            meta = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
            fake = Fake(self.mode, meta, real.device)
        slot, index = self._enter(fake, None), len(self.tape.operations)
        noted, place = [Outside(real, version)], caller()[0]
        clone = _aten.clone.default
        self.tape.append(Operation(index, clone, noted, {}, [], [slot], (), None, [], None, place, inference=False))
        return fake

    def carried_out(self, func: object, args: Args, kwargs: Keywords) -> object:
        """Carry a function out now, and take what it gives for a constant."""
        with torch.no_grad():
            found = self._now(cast(OpOverload, func), args, kwargs)
        return _mapped(found, lambda tensor: self.constant(tensor, None))

    def _now(self, func: OpOverload, args: Args, kwargs: Keywords) -> object:
        """Carry a function out with the values of fake tensors: real tensors, which later changes do not reach."""
        fakes = {id(fake): fake for fake in tensors((*args, *kwargs.values())) if isinstance(fake, FakeTensor)}
        if fakes:
            values = self.tape.values([self.slot(fake) for fake in fakes.values()])
            real = dict(zip(fakes, values, strict=True))
            args = cast("Sequence[object]", _mapped(list(args), lambda tensor: real.get(id(tensor), tensor)))
            kwargs = {
                name: _mapped(value, lambda tensor: real.get(id(tensor), tensor)) for name, value in kwargs.items()
            }
        with _disable_current_modes():
            return func(*args, **kwargs)

    def _noted(self, value: object) -> object:
        """An argument with slots in place of fake tensors."""
        return _mapped(
            value, lambda tensor: self.slot(tensor) if isinstance(tensor, FakeTensor) else self._note(tensor)
        )

    def _note(self, tensor: Tensor) -> Outside:
        """A real tensor that an operation reads; a copy if what else changes it would not be seen.

        A tensor that shares memory with an array of NumPy has a storage that cannot be resized.
        """
        if not tensor.untyped_storage().resizable() and tensor.device.type == "cpu":
            return Outside(tensor.detach().clone(), None)
        return Outside(tensor, None if tensor.is_inference() else tensor._version)


def _is_expanded(tensor: Tensor) -> bool:
    """True if elements of a tensor share memory: eager refuses most operations that write to it."""
    return any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _looks(tensor: Tensor) -> tuple[object, ...]:
    """What tells whether a tensor is still the part of the memory that it was."""
    return _address(tensor), tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype


def _address(tensor: Tensor) -> int:
    with torch._C.DisableTorchFunction():
        return tensor.untyped_storage()._cdata  # type: ignore[no-any-return] # an address


def _mapped(value: object, change: Callable[[Tensor], object]) -> object:
    """A value with other objects in place of its tensors."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(part, change) for part in value)
    return value


_AS_ARRAY: Function = torch.asarray
_PYTHON = torch._C.DispatchKey.Python
_NO_DATA = ("but its data is not allocated yet", "Cannot access data pointer of Tensor")
"""C++'s messages about a fake tensor whose memory it was going to read."""


class PythonFunctions(TorchFunctionMode):
    """Gives functions of torch that are not operations a meaning for fake tensors, while they are recorded."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, func: Function, types: Types, args: Args = (), kwargs: Options = None) -> object:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", func)
        is_off = torch._C._dispatch_tls_is_dispatch_key_excluded(_PYTHON) and name != "__get__"
        if is_off and any(isinstance(each, FakeTensor) for each in tensors((*args, *kwargs.values()))):
            # Kernels would run on the memory that fake tensors do not have.
            why = "modes are switched off there, so nothing would fill it"
            raise refused(f"{name} on a deferred tensor", why, "leave them on")
        if func is _AS_ARRAY and args and isinstance(args[0], torch.UntypedStorage):
            with _disable_current_modes():
                return func(*args, **kwargs)
        answer = _ANSWERS.get(func) if self._recorder.working_thread != get_ident() else None
        if answer is not None and any(map(self._recorder.is_mine, tensors((*args[:2], kwargs.get("data"))))):
            return answer(self._recorder, func, *args, **kwargs)
        try:
            return func(*args, **kwargs)
        except RuntimeError as error:
            if not any(said in str(error) for said in _NO_DATA):
                raise
            raise refused(name, _NO_RULE, "call it outside, and pass in what it gives") from error


def _set_data(recorder: Recorder, func: Function, tensor: Tensor, data: Tensor) -> None:
    """`tensor.data = data`, of which no operation is seen."""
    if is_lazy(tensor):
        become_fake(tensor, data)
        return
    what = "`tensor.data = value`"
    if not recorder.is_mine(tensor):
        raise refused(what, "the tensor is from outside, and the value is not there yet")
    if not recorder.is_mine(data):
        data = recorder.constant(data, None if data.is_inference() else data._version)
    if data.is_conj() or data.is_neg():
        # Nothing says afterwards that the memory is read otherwise.
        instead = "take value.resolve_conj() or value.resolve_neg()"
        raise refused(what, "the value is a conjugate view", instead)
    alias = data.detach()
    func(tensor, data)
    tensor.fake_device = data.fake_device  # type: ignore[attr-defined] # both are fake tensors
    recorder.now_is(tensor, alias)


def _new_tensor(recorder: Recorder, func: Function, tensor: Tensor, data: object, **options: object) -> object:
    """`tensor.new_tensor(data)`: fake tensors answer it in their own mode, where nothing is recorded."""
    given = {name: value for name, value in options.items() if value is not None}
    made: Function = torch.tensor
    return made(_with_numbers(recorder, data), **{"dtype": tensor.dtype, "device": tensor.device, **given})


def _with_numbers(recorder: Recorder, data: object) -> object:
    """The data of a tensor, with numbers in place of tensors in lists, whose memory C++ would read."""
    if not isinstance(data, (list, tuple)):
        return data
    return [recorder.value(part) if isinstance(part, FakeTensor) else _with_numbers(recorder, part) for part in data]


def _from_data(recorder: Recorder, func: Function, data: object, *args: object, **kwargs: object) -> object:
    """`torch.tensor(data)` and its like."""
    return func(_with_numbers(recorder, data), *args, **kwargs)


def _carried_out(recorder: Recorder, func: Function, *args: object, **kwargs: object) -> object:
    """A function that takes other steps where it sees a mode, with other last bits: carried out now."""
    if torch.is_grad_enabled() and any(isinstance(value, Tensor) and value.requires_grad for value in args):
        return func(*args, **kwargs)  # autograd needs the steps, which are the same then
    return recorder.carried_out(func, args, kwargs)


_ANSWERS: dict[object, Function] = {
    attribute("data", "__set__"): _set_data,
    Tensor.tolist: lambda recorder, func, tensor: recorder.value(tensor).tolist(),
    Tensor.new_tensor: _new_tensor,
    **dict.fromkeys((torch.tensor, torch.as_tensor, torch.asarray), _from_data),
    **{
        getattr(torch.linalg, name): _carried_out
        for name in ("cond", "eigvals", "eigvalsh", "matrix_norm", "norm", "svdvals")
    },
}
