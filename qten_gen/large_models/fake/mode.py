"""The mode that makes tensors fake, and computes with them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorConverter,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.nn.parameter import is_lazy
from torch.utils._mode_utils import no_dispatch

from ...runtime.qten_style.devices import has_emulated_cuda
from .arguments import Args, Keywords, Options, Types, is_called_by, is_emulated, meant, name_of, tensors, told, written
from .fake_tensor import Fake, FakeTensorError, writes_real_tensor

if TYPE_CHECKING:
    from typing import Self

_CPU = torch.device("cpu")
_aten = torch.ops.aten
_DEVICE = torch.ops.prim.device.default

_MOST_BYTES = 2**26
"""How large the arguments of an operation may be, if torch can only find out its result by computing it, on zeros."""

_READING = {_aten._local_scalar_dense.default: "item(), bool(), int(), float(), tolist() or `if tensor:`"}
"""The user's words for operations that have other names."""

_UNINITIALIZED = (nn.UninitializedParameter.__new__.__code__, nn.UninitializedBuffer.__new__.__code__)


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

    draws_for_nobody = True
    """Initialisers may leave out what they do: fake tensors have no values."""

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

    def without_memory(self, what: str) -> RuntimeError:
        """The error about something that needs the memory of a tensor of this mode."""
        return FakeTensorError(
            f"{what} needs the memory of a fake tensor, and a fake tensor has none; "
            "use shape, dtype, stride() and `is`, or a real tensor"
        )

    def shown(self, tensor: Tensor, kind: str = "fake") -> str:
        """`tensor(..., size=(10,), fake=True)`, with what is not the default."""
        parts = ["...", f"size={tuple(tensor.shape)}"]
        if tensor.dtype != torch.get_default_dtype():
            parts.append(f"dtype={tensor.dtype}")
        if tensor.device.type != "cpu":
            parts.append(f"device='{tensor.device}'")
        if tensor.layout != torch.strided:
            parts.append(f"layout={tensor.layout}")
        if tensor.grad_fn is not None:
            parts.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
        elif tensor.requires_grad:
            parts.append("requires_grad=True")
        return f"tensor({', '.join([*parts, f'{kind}=True'])})"

    def __torch_dispatch__(self, func: OpOverload, types: Types, args: Args = (), kwargs: Options = None) -> object:
        if func is _DEVICE and isinstance(tensor := args[0], FakeTensor):
            # More than half of all calls: autograd asks for it. The answer is the one of torch's mode.
            return torch.device("meta") if tensor.fake_mode.in_kernel_invocation else told(tensor.fake_device)
        given = list(tensors((*args, *(kwargs or {}).values())))
        fakes = [tensor for tensor in given if isinstance(tensor, FakeTensor)]
        kwargs = self._with_meant_devices(fakes, kwargs or {})
        args = [meant(value) if isinstance(value, torch.device) else value for value in args]
        real = [name for name, tensor in written(func, args, kwargs) if not isinstance(tensor, FakeTensor)]
        if real:
            # torch keeps the value of a number that was written out, as in `tensor[0] = 1`.
            args = [_known(value) for value in args]
            if any(isinstance(tensor, FakeTensor) for tensor in tensors((*args, *kwargs.values()))):
                raise writes_real_tensor(name_of(func), real[0])
            return func(*args, **kwargs)
        is_lazy_one = makes_lazy(func, args) or (not fakes and any(map(is_lazy, given)))
        if is_lazy_one and is_emulated(cast(torch.device, kwargs.get("device") or _CPU)):
            raise FakeTensorError(
                "a lazy module without sizes cannot be on a CUDA device that does not exist; "
                "make it on the CPU, call it once, and move it then, or state the sizes"
            )
        # A view of a real tensor is real, so that writing to it arrives.
        is_view = isinstance(func, OpOverload) and func.is_view and func not in self.lift_fns
        if is_lazy_one or (is_view and given and not fakes):
            return func(*args, **kwargs)
        if func is _aten.convolution.default:
            FakeTensor._find_common_device(func, fakes)  # which torch's rule does not look at
        return self.computed(func, types, args, kwargs, fakes)

    def _with_meant_devices(self, fakes: Sequence[FakeTensor], kwargs: Mapping[str, object]) -> Mapping[str, object]:
        """The keyword arguments with the device that the caller meant; one that does not exist needs fake CUDA."""
        device = kwargs.get("device")
        if not isinstance(device, torch.device):
            return kwargs
        device = meant(device)
        given = (*fakes, *self.thread.arguments)
        if is_emulated(device) and not has_emulated_cuda() and not any(is_emulated(fake.fake_device) for fake in given):
            raise FakeTensorError(
                f"expected a device of this machine, got {device}: CUDA is not available here; "
                "enter fake_mode(fake_cuda=True) to have fake tensors on CUDA devices that do not exist"
            )
        told(device)  # refuses an index beyond the devices that are emulated
        return {**kwargs, "device": device}

    def computed(self, func: OpOverload, types: Types, args: Args, kwargs: Keywords, fakes: list[FakeTensor]) -> object:
        """The results by torch's rules, with our class and our errors. `fakes` are the fake tensors among the arguments."""
        before, self.thread.arguments = self.thread.arguments, fakes
        try:
            found = super().__torch_dispatch__(func, types, args, kwargs)
            for tensor in tensors([found]):
                if type(tensor) is FakeTensor:  # made by one of torch's own rules
                    tensor.__class__ = Fake
            return found
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
            raise FakeTensorError(
                f"{name_of(error.func)} has no rule that computes the shape of its result without data; use tensors on the CPU of"
                f" at most {_MOST_BYTES >> 20} MiB, on which torch can try its own operations, or, if it is an operation of your"
                " own, register a rule with torch.library.register_fake"
            ) from None
        except AssertionError as error:
            # What eager checks and refuses with a RuntimeError, some of torch's rules assert.
            raise RuntimeError(f"{name_of(func)}: {error}") from error
        finally:
            self.thread.arguments = before

    def can_run_unsafe_fallback(self, func: OpOverload) -> bool:
        """True if an operation without a rule may be computed on zeros to see what comes out."""
        given = self.thread.arguments
        size = sum(tensor.numel() * tensor.element_size() for tensor in given)
        is_small = size <= _MOST_BYTES and not any(is_emulated(tensor.fake_device) for tensor in given)
        return is_small and super().can_run_unsafe_fallback(func)


def _known(value: object) -> object:
    """The value of a fake tensor that has one; other arguments stay."""
    return value.constant if isinstance(value, FakeTensor) and value.constant is not None else value


def makes_lazy(func: object, args: Sequence[object]) -> bool:
    """True if an operation makes the real tensor of a parameter without a shape; an empty nn.Parameter() has one."""
    return func is _aten.empty.memory_format and args[0] == [0] and is_called_by(_UNINITIALIZED)


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
        return Fake(fake_mode, t, device, pytype=pytype, dispatch_keys=dispatch_keys)

    def from_real_tensor(self, fake_mode: FakeTensorMode, t: Tensor, *args: Any, **kwargs: Any) -> FakeTensor:
        """A fake tensor like a real one, without its gradient and history: autograd has seen the real one already."""
        if t.requires_grad:
            with no_dispatch():
                t = t.detach()
        found = super().from_real_tensor(fake_mode, t, *args, **kwargs)
        found.__class__ = Fake
        return found
