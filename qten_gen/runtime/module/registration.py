"""The functions with which a generated `__init__` sets a module up: `nn.Module.__init__` and `register_*`, in fewer steps.

Most of what nn.Module does to register a tensor is to check for unusual cases. Here the same checks take fewer steps. Any
unusual case (a registration hook, a patched nn.Module, a class with its own `register_parameter`, a name that means something
else in the class) is left to nn.Module. A `__getattr__` that the class defines is not asked for the name of a field: it may
read a child that is not registered yet.

The fast path runs only if the installed torch gives a new module the attributes that this file knows, nothing has replaced
methods of nn.Module, and there is no global hook.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import Parameter
from torch.nn.modules import module as torch_module

from .module_base import ModuleBase, RegisteredProperty

if TYPE_CHECKING:
    from torch.types import Device


KNOWN = True
"""True if the installed torch gives a new module these attributes. Where it does not, nn.Module does everything."""

_Module = nn.Module
_init = nn.Module.__init__
_setattr = nn.Module.__setattr__
_register_parameter = nn.Module.register_parameter
_register_buffer = nn.Module.register_buffer
_new_parameter = Parameter.__new__
_make_subclass = Tensor._make_subclass
_parameter_hooks = torch_module._global_parameter_registration_hooks
_buffer_hooks = torch_module._global_buffer_registration_hooks

_CONFIG_TYPES = frozenset({bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset})
"""Types of config values that are neither parameters nor modules nor buffers."""


def init_module(module: ModuleBase) -> None:
    """`nn.Module.__init__(module)`: the empty registries of parameters, buffers, submodules and hooks."""
    foreign = type(module)._foreign_init
    if foreign is not None:
        foreign(module)
        return
    if not KNOWN or _Module.__init__ is not _init or module.call_super_init:
        _Module.__init__(module)
        return
    state = module.__dict__
    state["training"] = True
    state["_parameters"] = {}
    state["_buffers"] = {}
    state["_non_persistent_buffers_set"] = set()
    state["_backward_pre_hooks"] = OrderedDict()
    state["_backward_hooks"] = OrderedDict()
    state["_is_full_backward_hook"] = None
    state["_forward_hooks"] = OrderedDict()
    state["_forward_hooks_with_kwargs"] = OrderedDict()
    state["_forward_hooks_always_called"] = OrderedDict()
    state["_forward_pre_hooks"] = OrderedDict()
    state["_forward_pre_hooks_with_kwargs"] = OrderedDict()
    state["_state_dict_hooks"] = OrderedDict()
    state["_state_dict_pre_hooks"] = OrderedDict()
    state["_load_state_dict_pre_hooks"] = OrderedDict()
    state["_load_state_dict_post_hooks"] = OrderedDict()
    state["_modules"] = {}


def is_known(module: nn.Module) -> bool:
    """Return whether a new module has exactly the attributes that `init_module` writes."""
    made = object.__new__(ModuleBase)
    init_module(made)
    state, written = vars(module), vars(made)
    return list(state) == list(written) and all(
        type(state[name]) is type(value) and state[name] == value for name, value in written.items()
    )


KNOWN = is_known(nn.Module())


def set_attributes(module: nn.Module, /, **values: Any) -> None:
    """`module.NAME = value` for each keyword: the constructor arguments."""
    cls = type(module)
    state = module.__dict__
    is_plain = cls.__setattr__ is _setattr
    for name, value in values.items():
        if is_plain and type(value) in _CONFIG_TYPES and not hasattr(cls, name):
            state[name] = value
        else:
            refuse_hidden(module, name, value)
            setattr(module, name, value)


def refuse_hidden(module: nn.Module, name: str, value: object) -> None:
    """Refuse to register what a method of the class would hide: nn.Module looks into its registries after the class.

    Raises:
        AttributeError: the class has a method of that name.
    """
    if isinstance(value, nn.Module | Parameter) and callable(getattr(type(module), name, None)):
        raise AttributeError(
            f"{type(module).__name__}.{name} is a method, which would hide what is registered under its name; rename one of them"
        )


def new_parameter(
    module: nn.Module,
    name: str,
    shape: tuple[int, ...] | None,
    device: Device,
    dtype: torch.dtype | None,
    requires_grad: bool = True,
) -> None:
    """`module.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))`.

    With `shape=None` the name is registered as None. `reset_parameters` fills the memory.

    Raises:
        TypeError, RuntimeError: a size is not an integer, or negative.
        KeyError: nn.Module refuses the name.
    """
    data = None if shape is None else _empty(module, name, shape, device, dtype)
    cls, state = type(module), module.__dict__
    if (
        KNOWN
        # A mode, such as for fake tensors, may make another kind.
        and type(data) is Tensor
        # The class declares the name, so that nothing else has it but what is registered.
        and type(getattr(cls, name, None)) is RegisteredProperty
        and name not in state
        and name not in state["_buffers"]
        and name not in state["_modules"]
        and not _parameter_hooks
        and cls.register_parameter is _register_parameter
        and Parameter.__new__ is _new_parameter
    ):
        # As `Parameter(data, requires_grad)` does for a plain tensor.
        state["_parameters"][name] = _make_subclass(Parameter, data, requires_grad)
    else:
        module.register_parameter(name, None if data is None else Parameter(data, requires_grad))


def new_buffer(
    module: nn.Module,
    name: str,
    shape: tuple[int, ...] | None,
    device: Device,
    dtype: torch.dtype | None,
    persistent: bool = True,
) -> None:
    """`module.register_buffer(name, torch.empty(shape, device=device, dtype=dtype), persistent)`, as `new_parameter` does it."""
    data = None if shape is None else _empty(module, name, shape, device, dtype)
    cls, state = type(module), module.__dict__
    if (
        KNOWN
        and type(data) is Tensor
        and type(getattr(cls, name, None)) is RegisteredProperty
        and name not in state
        and name not in state["_parameters"]
        and name not in state["_modules"]
        and not _buffer_hooks
        and cls.register_buffer is _register_buffer
    ):
        state["_buffers"][name] = data
        if not persistent:
            state["_non_persistent_buffers_set"].add(name)
        elif state["_non_persistent_buffers_set"]:
            state["_non_persistent_buffers_set"].discard(name)
    else:
        module.register_buffer(name, data, persistent)


def _empty(module: nn.Module, name: str, shape: tuple[int, ...], device: Device, dtype: torch.dtype | None) -> Tensor:
    """`torch.empty`, which is faster with sizes that are arguments of their own. Errors about sizes name the tensor."""
    try:
        if shape and device is None and dtype is None:
            return torch.empty(*shape)
        return torch.empty(shape, device=device, dtype=dtype)
    except (TypeError, RuntimeError) as error:
        if type(error) not in (TypeError, RuntimeError):  # of tracing, or of memory, which callers catch
            raise
        problem = str(error)
        if dtype is not None and not isinstance(dtype, torch.dtype):
            problem = f"expected a torch.dtype as its dtype, got {dtype!r}"
        elif not all(map(_is_size, shape)):
            problem = f"expected integers of at least 0 as its sizes, got {list(shape)}"
        raise type(error)(f"{type(module).__name__}.{name}: {problem}") from None


def _is_size(size: object) -> bool:
    """Return whether torch takes it as a size."""
    try:
        return not isinstance(size, bool) and 0 <= operator.index(size) < 2**63  # type: ignore[arg-type] # what it asks
    except TypeError:
        return False
