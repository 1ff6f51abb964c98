"""Multiple dispatch: how a class with handlers is called.

`handlers.py` finds the handler for an object. `connect` puts `forward` and `__call__` into the class. `forward` looks for a
handler and then runs the author's forward, so nn.Module's own call, with all hooks, dispatches too. `__call__` reaches the same
in fewer steps: nn.Module's call checks for hooks, for a compiled call and for tracing before it runs `forward`; `module_call`
does the same checks, and leaves the call to nn.Module where one of them finds something. A module class without handlers keeps
the `forward` and `__call__` that it has.

A `forward` that is assigned to a class later takes the place of the one that dispatches: it sees every call, as it does when it
is assigned to an instance. It can still call the `forward` that it replaced, which dispatches.

The calls read `_resolved` themselves, and call `find_handler` for an object whose type is not there. Calling that each time
makes a dispatching call 20 % slower, and a function for the look-up alone 5 %.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType
from typing import Any

from torch import nn
from torch.compiler import is_dynamo_compiling
from torch.jit import _trace as torch_trace
from torch.nn.modules import module as torch_module

from .handlers import NotGiven, add, collect, find_handler, registration, unhandled
from .handlers import registrable as registrable
from .module_base import REGISTRATION, Handler, HandlerTables
from .registration import KNOWN

Call = Callable[..., Any]

_Module = nn.Module
_torch_call: Call = nn.Module.__call__
_torch_call_impl: Call = nn.Module._call_impl
_torch_slow_forward: Call = nn.Module._slow_forward
_before_backward = torch_module._global_backward_pre_hooks
_after_backward = torch_module._global_backward_hooks
_before_forward = torch_module._global_forward_pre_hooks
_after_forward = torch_module._global_forward_hooks

_NOTHING: Any = NotGiven()


def module_forward(forward: Call) -> Call:
    """`forward` with the handlers before it. `inspect.signature` still shows `forward`'s."""

    @functools.wraps(forward)
    def dispatch(self: Any, /, *args: Any, **keywords: Any) -> Any:
        if args:
            handler = find_handler(type(self), args[0])
            if handler is not None:
                return handler(self, *args, **keywords)
        return forward(self, *args, **keywords)

    return dispatch


def module_call(self: Any, first: Any = _NOTHING, /, *args: Any, **keywords: Any) -> Any:
    """nn.Module's `__call__` for a class whose `forward` dispatches.

    The handler is looked up before `forward` would do it, which saves that step. nn.Module's `_slow_forward` differs from
    `forward` only while `torch.jit._trace._trace_module_map` is set, so that is checked.
    """
    cls = type(self)
    if is_dynamo_compiling():  # each test below would be a guard in the graph
        if _has_hooks(self) or _is_patched(cls):
            return _Module.__call__(self, *_given(first, args), **keywords)
        return self.forward(*_given(first, args), **keywords)
    state = self.__dict__
    try:
        is_unusual = (
            state["_forward_hooks"]
            or state["_forward_pre_hooks"]
            or state["_backward_hooks"]
            or state["_backward_pre_hooks"]
            or _after_forward
            or _before_forward
            or _after_backward
            or _before_backward
            or "forward" in state
            or "_compiled_call_impl" in state
            or "_call_impl" in state
            or torch_trace._trace_module_map is not None
            or _Module.__call__ is not _torch_call
            or cls._call_impl is not _torch_call_impl
            or cls._slow_forward is not _torch_slow_forward
            or cls.forward is not cls._forward  # another one was assigned to the class
        )
    except KeyError:  # nn.Module.__init__ has not run, as nn.Module's call says
        is_unusual = True
    if is_unusual:
        return _Module.__call__(self, *_given(first, args), **keywords)
    try:
        handler = cls._resolved[type(first)]
    except KeyError:
        handler = find_handler(cls, first)
    if args or keywords or handler is None:
        return (handler or cls._fallback)(self, *_given(first, args), **keywords)
    return handler(self, first)


def _has_hooks(module: nn.Module) -> bool:
    """Return whether nn.Module would run anything around `forward`, in the words that dynamo can trace."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or _after_forward
        or _before_forward
        or _after_backward
        or _before_backward
    )


def _is_patched(cls: type[nn.Module]) -> bool:
    """Return whether a tracer or a profiler took the place of nn.Module's call. Dynamo asks once, when it makes the graph."""
    return cls._call_impl is not _torch_call_impl or _Module.__call__ is not _torch_call


# What torch.compiler.assume_constant_result does; calling that would import dynamo.
_is_patched._dynamo_marked_constant = True  # type: ignore[attr-defined] # functions take any attribute


def _given(first: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args if first is _NOTHING else (first, *args)


def put_handler(
    cls: type[HandlerTables], types: tuple[type, ...], handler: Handler, statement: FrameType, *, replace: bool
) -> None:
    """Register a handler for these types, for the statement that a frame runs.

    Raises:
        ValueError: the class has a handler for one of them from another place, and `replace` is False.
    """
    with REGISTRATION:
        add(cls, types, registration(handler, statement), replace=replace)
        for heir in _with_subclasses(cls):
            refresh(heir)


def _with_subclasses(cls: type[HandlerTables]) -> Iterator[type[HandlerTables]]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _with_subclasses(subclass)


def refresh(cls: type[HandlerTables]) -> None:
    """Bring the tables of a class up to date, and its calls with them."""
    collect(cls)
    if cls._table and issubclass(cls, nn.Module):
        connect(cls)


def connect(cls: type[HandlerTables]) -> None:
    """Let a module class with handlers dispatch: by its `forward`, and in fewer steps by its `__call__`.

    A class that writes its own `__call__` keeps that. A torch whose modules have other attributes may have hooks that
    `module_call` does not know.
    """
    fallback = _fallback(cls)
    if fallback is not None:
        cls._fallback, cls._forward = fallback, module_forward(fallback)
        type.__setattr__(cls, "forward", cls._forward)
    else:  # so that one that is assigned to this class later is known as such
        cls._fallback, cls._forward = cls._fallback, cls._forward
    if KNOWN and cls.__call__ is nn.Module.__call__:
        type.__setattr__(cls, "__call__", module_call)


def _fallback(cls: type[HandlerTables]) -> Callable[..., Any] | None:
    """The function that a `forward` which dispatches runs without a handler.

    None where the class inherits a `forward` that dispatches, and where one was assigned to a class that dispatches.

    Raises:
        TypeError: the `forward` is no function, such as a static method.
    """
    owner = next(ancestor for ancestor in cls.__mro__ if "forward" in vars(ancestor))
    if "_forward" in vars(owner):
        return None
    found = vars(owner)["forward"]
    # nn.Module's says only that there is none.
    if getattr(found, "__name__", "") == "_forward_unimplemented":
        return _missing_forward
    if not isinstance(found, FunctionType):
        raise TypeError(
            f"{owner.__name__}.forward is a {type(found).__name__}, and a class with handlers calls it on the module;"
            " write it as a method"
        )
    return found if owner is cls else _inherited_forward(cls, found)


def _inherited_forward(cls: type[HandlerTables], found: Callable[..., Any]) -> Callable[..., Any]:
    """A forward for `cls` that runs the one of its bases."""

    @functools.wraps(found)
    def forward(self: HandlerTables, /, *args: Any, **keywords: Any) -> Any:
        return super(cls, self).forward(*args, **keywords)  # type: ignore[misc] # there is one: it was found

    return forward


def _missing_forward(self: HandlerTables, /, *args: Any, **keywords: Any) -> Any:
    if not args:
        raise NotImplementedError(f"{type(self).__name__} is called without an object, and has no forward")
    raise NotImplementedError(f"{unhandled(type(self), type(args[0]))}, and it has no forward")
