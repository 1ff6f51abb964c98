"""The mode that makes tensors fake, and computes with them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
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

from .emulated_devices import is_emulated, meant, told
from .errors import needs_fake_cuda, needs_values, no_rule, shape_depends_on_values, writes_real_tensor
from .fake_tensor import Fake

if TYPE_CHECKING:
    from typing import Self

_DEVICE = torch.ops.prim.device.default


class _Thread(threading.local):
    """What a thread knows of a mode: torch keeps this on the mode, where two threads would disturb each other."""

    def __init__(self) -> None:
        self.in_kernel_invocation = False
        self.enter_stack: list[Any] = []
        self.fake_cuda = 0
        """How many open contexts of this thread asked for CUDA devices that do not exist."""


class FakeMode(FakeTensorMode):  # type: ignore[no-untyped-call] # torch leaves its __init_subclass__ untyped
    """torch's FakeTensorMode whose tensors are `Fake`, and may be on CUDA devices that do not exist.

    Real tensors can take part: they are read as fakes. Unlike torch's mode, it may be entered by several threads.
    """

    def __init__(self) -> None:
        self.thread = _Thread()
        super().__init__(allow_non_fake_inputs=True)
        self.fake_tensor_converter = _Converter()

    @property
    def in_kernel_invocation(self) -> bool:
        return self.thread.in_kernel_invocation

    @in_kernel_invocation.setter
    def in_kernel_invocation(self, value: bool) -> None:
        self.thread.in_kernel_invocation = value

    @property
    def enter_stack(self) -> list[Any]:
        return self.thread.enter_stack

    @enter_stack.setter
    def enter_stack(self, value: list[Any]) -> None:
        self.thread.enter_stack = value

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func is _DEVICE:
            device = super().__torch_dispatch__(func, types, args, kwargs or {})
            return told(device) if isinstance(device, torch.device) else device
        kwargs = self._with_meant_devices(func, args, kwargs or {})
        args = [meant(value) if isinstance(value, torch.device) else value for value in args]
        real = _written_real_tensor(func, args, kwargs)
        if real is not None:
            if any(isinstance(tensor, FakeTensor) for tensor in _tensors(args, kwargs)):
                raise writes_real_tensor(str(func), real)
            return func(*args, **kwargs)
        try:
            return _with_own_class(super().__torch_dispatch__(func, types, args, kwargs))
        except DataDependentOutputException as error:
            raise needs_values(_READING.get(str(error.func), str(error.func))) from None
        except DynamicOutputShapeException as error:
            raise shape_depends_on_values(str(error.func)) from None
        except UnsupportedOperatorException as error:
            raise no_rule(str(error.func)) from None

    def _with_meant_devices(
        self, func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Mapping[str, object]:
        """The keyword arguments with the device that the caller meant; one that does not exist needs fake CUDA."""
        device = kwargs.get("device")
        if not isinstance(device, torch.device):
            return kwargs
        device = meant(device)
        if is_emulated(device) and not self.thread.fake_cuda:
            on = {tensor.device for tensor in _tensors(args, kwargs) if isinstance(tensor, FakeTensor)}
            if not any(is_emulated(found) for found in on):
                raise needs_fake_cuda(device)
        return {**kwargs, "device": device}


_READING = {"aten._local_scalar_dense.default": "item(), bool(), int(), float(), tolist() or `if tensor:`"}
"""What the user wrote, for operations that have other names."""


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


def _with_own_class(found: object) -> object:
    """Give our class to fake tensors that torch's own rules made."""
    if type(found) is FakeTensor:
        found.__class__ = Fake
    elif isinstance(found, (tuple, list)):
        for part in found:
            _with_own_class(part)
    return found


def _tensors(args: Sequence[object], kwargs: Mapping[str, object]) -> Iterator[Tensor]:
    """The tensors among arguments, and in lists of them."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (part for part in value if isinstance(part, Tensor))


def _written_real_tensor(func: OpOverload, args: Sequence[object], kwargs: Mapping[str, object]) -> str | None:
    """The name of the argument that is a real tensor and would be written to."""
    for index, name in _written_arguments(func):
        value = args[index] if index < len(args) else kwargs.get(name)
        if any(not isinstance(tensor, FakeTensor) for tensor in _tensors([value], {})):
            return name
    return None


@cache
def _written_arguments(func: OpOverload) -> tuple[tuple[int, str], ...]:
    """Position and name of the arguments that an operation writes to."""
    arguments = func._schema.arguments if isinstance(func, OpOverload) else []
    return tuple(
        (index, argument.name)
        for index, argument in enumerate(arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
