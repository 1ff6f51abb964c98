"""The mode that makes tensors fake, and computes with them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorConverter,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ...runtime.qten_style.devices import has_emulated_cuda
from .arguments import (
    fakes_in,
    is_emulated,
    is_view_of_real_tensor,
    meant,
    name_of,
    told,
    with_known_values,
    written_real_tensor,
)
from .fake_tensor import Fake, fake_of
from .refusals import FakeTensorError, check_as_eager_does, has_no_memory, rule_for, writes_real_tensor

if TYPE_CHECKING:
    from typing import Self

_DEVICE = torch.ops.prim.device.default

_CPU = torch.device("cpu")

_MOST_BYTES = 2**26
"""How large the arguments of an operation may be, if torch can only find out its result by computing it, on zeros."""

_READING = {torch.ops.aten._local_scalar_dense.default: "item(), bool(), int(), float(), tolist() or `if tensor:`"}
"""The user's words for operations that have other names."""


logging.getLogger("torch._subclasses.fake_tensor").addFilter(
    lambda record: not str(record.msg).startswith("failed while attempting to run meta")
)
"""torch logs the error of a wrong shape with its traceback, and raises it as well."""


class _Thread(threading.local):
    """The state of a mode in one thread: torch keeps this on the mode, where two threads would disturb each other."""

    def __init__(self) -> None:
        self.in_kernel_invocation = False
        self.enter_stack: list[Any] = []
        self.arguments: list[FakeTensor] = []
        """The fake tensors that the operation is given that is being computed."""


class FakeMode(FakeTensorMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """torch's FakeTensorMode whose tensors are `Fake`, and may be on CUDA devices that do not exist.

    Real tensors can take part: they are read as fakes. Unlike torch's mode, it may be entered by several threads.
    """

    def __init__(self) -> None:
        self.thread = _Thread()
        super().__init__(allow_non_fake_inputs=True)
        self.fake_tensor_converter = _Converter()
        self._allow_unsafe_data_ptr_access = False

    @property
    def in_kernel_invocation(self) -> bool:
        return self.thread.in_kernel_invocation

    @in_kernel_invocation.setter
    def in_kernel_invocation(self, value: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.thread.in_kernel_invocation = value

    @property
    def enter_stack(self) -> list[Any]:
        return self.thread.enter_stack

    @enter_stack.setter
    def enter_stack(self, value: list[Any]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.thread.enter_stack = value

    def __deepcopy__(self, memo: object) -> Self:
        return self

    @property
    def draws_for_nobody(self) -> bool:
        """Whether initialisers may leave out what they do: fake tensors have no values, unless a mode above ours watches."""
        return isinstance(_get_current_dispatch_mode(), FakeTensorMode | None)

    def check_use(self, tensor: Tensor, what: str, is_kept: bool) -> None:
        """Called before Python uses or changes a tensor in a way that is not an operation, as by `tensor.grad = other`.

        `is_kept` says that whoever gives the tensor values later finds the change on the fake tensor.
        """

    def without_memory(self, what: str, instead: str) -> RuntimeError:
        """The error about something that needs the memory of a tensor of this mode."""
        return has_no_memory(what, instead)

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func is _DEVICE and isinstance(tensor := args[0], FakeTensor):
            # More than half of all calls: autograd asks for it. The answer is that of torch's mode.
            return torch.device("meta") if tensor.fake_mode.in_kernel_invocation else told(tensor.fake_device)
        kwargs = self._with_meant_devices(args, kwargs or {})
        args = [meant(value) if isinstance(value, torch.device) else value for value in args]
        real = written_real_tensor(func, args, kwargs)
        if real is not None:
            args, kwargs = (
                with_known_values(args),
                dict(zip(kwargs, with_known_values([*kwargs.values()]), strict=True)),
            )
            if fakes_in(args, kwargs):
                raise writes_real_tensor(name_of(func), real)
        if real is not None or is_view_of_real_tensor(func, args, kwargs):
            return func(*args, **kwargs)
        check_as_eager_does(func, args, kwargs)
        rule = rule_for(func, args)
        if rule is not None:
            with self:
                return rule(*args, **kwargs)
        return self._computed(func, types, args, kwargs)

    def _with_meant_devices(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Mapping[str, object]:
        """The keyword arguments with the device that the caller meant; one that does not exist needs fake CUDA."""
        device = kwargs.get("device")
        if not isinstance(device, torch.device):
            return kwargs
        device = meant(device)
        given = [*fakes_in(args, kwargs), *self.thread.arguments]
        if is_emulated(device) and not has_emulated_cuda() and not any(is_emulated(fake.fake_device) for fake in given):
            raise FakeTensorError(
                f"expected a device of this machine, got {device}: CUDA is not available here; "
                "enter fake_mode(fake_cuda=True) to have fake tensors on CUDA devices that do not exist"
            )
        told(device)  # refuses an index beyond the devices that are emulated
        return {**kwargs, "device": device}

    def _computed(
        self, func: OpOverload, types: Sequence[type], args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        """The results by torch's rules, with our class and our errors."""
        before, self.thread.arguments = self.thread.arguments, fakes_in(args, kwargs)
        try:
            return _with_own_class(super().__torch_dispatch__(func, types, args, kwargs))
        except DataDependentOutputException as error:
            raise FakeTensorError(
                f"{_READING.get(error.func, name_of(error.func))} needs the values of a fake tensor, and a fake tensor has none; "
                "do not branch on values or read them in fake mode, or run this part on real tensors, outside of the context"
            ) from None
        except DynamicOutputShapeException as error:
            raise FakeTensorError(
                f"the shape of the result of {name_of(error.func)} depends on the values of a fake tensor, and a fake tensor has"
                " none; use an operation whose shape does not depend on them, such as torch.where(mask, x, y), or real tensors"
            ) from None
        except UnsupportedOperatorException as error:
            moved = self._emulated_arguments()
            if error.func is not func or not moved:
                raise FakeTensorError(
                    f"{name_of(error.func)} has no rule that computes the shape of its result without data; "
                    "if it is an operation of your own, register one with torch.library.register_fake"
                ) from None
            return self._computed_as_on_cpu(moved, func, types, args, kwargs)
        except AssertionError as error:
            # What eager checks and refuses with a RuntimeError, some of torch's rules assert.
            raise RuntimeError(f"{name_of(func)}: {error}") from error
        finally:
            self.thread.arguments = before

    def can_run_unsafe_fallback(self, func: OpOverload) -> bool:
        """Whether an operation without a rule may be computed on zeros to see what comes out."""
        if not super().can_run_unsafe_fallback(func) or self._emulated_arguments():
            return False
        size = sum(tensor.numel() * tensor.element_size() for tensor in self.thread.arguments)
        if size > _MOST_BYTES:
            raise FakeTensorError(
                f"{name_of(func)} has no rule that computes the shape of its result without data, and"
                f" {size / 2**20:,.0f} MiB of arguments are too many to try it on zeros; use smaller tensors, or register a rule"
                " with torch.library.register_fake"
            )
        return True

    def _emulated_arguments(self) -> list[FakeTensor]:
        """The arguments of the operation that are on a CUDA device that does not exist."""
        return [tensor for tensor in self.thread.arguments if is_emulated(tensor.fake_device)]

    def _computed_as_on_cpu(
        self,
        moved: list[FakeTensor],
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """The results if these arguments are on the CPU for the time of this operation; results are where they were."""
        device, cpu = moved[0].fake_device, torch.device("cpu")
        if "device" in kwargs:
            kwargs = {**kwargs, "device": cpu}
        devices = [tensor.fake_device for tensor in moved]
        for tensor in moved:
            tensor.fake_device = cpu
        try:
            found = self._computed(func, types, args, kwargs)
        finally:
            for tensor, before in zip(moved, devices, strict=True):
                tensor.fake_device = before
        for tensor in fakes_in([found], {}):
            tensor.fake_device = device
        return found


class _Converter(FakeTensorConverter):
    """Makes tensors of our class, and keeps no weak reference to them, which torch.utils.swap_tensors refuses."""

    def from_meta_and_device(
        self,
        fake_mode: FakeTensorMode,
        t: Tensor,
        device: torch.device,
        pytype: type[Tensor] | None = None,
        dispatch_keys: torch.DispatchKeySet | None = None,
    ) -> FakeTensor:
        if pytype is None and dispatch_keys is None and device == _CPU:
            return fake_of(fake_mode, t, device)
        return Fake(fake_mode, t, device, pytype=pytype, dispatch_keys=dispatch_keys)

    def from_real_tensor(self, fake_mode: FakeTensorMode, t: Tensor, *args: Any, **kwargs: Any) -> FakeTensor:
        """A fake tensor like a real one, without its gradient and history: autograd has seen the real one already."""
        if t.requires_grad:
            with no_dispatch():
                t = t.detach()
        found = super().from_real_tensor(fake_mode, t, *args, **kwargs)
        found.__class__ = Fake
        return found


def _with_own_class(found: object) -> object:
    """Give our class to fake tensors that torch's own rules made."""
    for tensor in fakes_in([found], {}):
        if type(tensor) is FakeTensor:
            tensor.__class__ = Fake
    return found
