"""The functions that dispatch a call: `forward` and `__call__` of a module class, `__call__` of another functional.

nn.Module's call checks for hooks, for a compiled call and for tracing before it runs `forward`. `module_call` does the same
checks in fewer steps, and leaves the call to nn.Module where one of them finds something.

The functions read `_resolved` themselves, and call `find_handler` for a type that is not there. Calling that each time makes a
dispatching call 20 % slower, and a function for the look-up alone 5 %.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch import nn
from torch.compiler import is_dynamo_compiling
from torch.jit import _trace as torch_trace
from torch.nn.modules import module as torch_module

from ..core.handlers import NotGiven, find_handler

Call = Callable[..., Any]

_Module = nn.Module
_torch_call: Call = nn.Module.__call__
_torch_call_impl: Call = nn.Module._call_impl
_before_backward = torch_module._global_backward_pre_hooks
_after_backward = torch_module._global_backward_hooks
_before_forward = torch_module._global_forward_pre_hooks
_after_forward = torch_module._global_forward_hooks


_NOTHING: Any = NotGiven()


def callable_forward(forward: Any) -> Call:
    """The `forward` in the body of a class, as a function of the module and the arguments.

    Args:
        forward: A function, or anything else that an instance gives as its `forward`, such as a static method or a partial.
    """
    if isinstance(forward, FunctionType):
        return forward
    bind = getattr(type(forward), "__get__", None)

    def run(self: Any, /, *args: Any, **keywords: Any) -> Any:
        bound = forward if bind is None else bind(forward, self, type(self))
        return bound(*args, **keywords)

    # `updated=()`, because an object that is called may have a `__dict__` which is not for a function.
    functools.update_wrapper(run, getattr(forward, "__func__", forward), updated=())
    del run.__wrapped__  # type: ignore[attr-defined] # its signature lacks the module
    return run


def module_forward(forward: Call) -> Call:
    """`forward` with the handlers before it. `inspect.signature` still shows `forward`'s."""

    @functools.wraps(forward)
    def dispatch(self: Any, /, *args: Any, **keywords: Any) -> Any:
        if args:
            handler = find_handler(type(self), type(args[0]))
            if handler is not None:
                return handler(self, *args, **keywords)
        return forward(self, *args, **keywords)

    return dispatch


def by_nn_module(self: Any, /, *args: Any, **keywords: Any) -> Any:
    """nn.Module's `__call__` as it is at the time of the call."""
    return _Module.__call__(self, *args, **keywords)


def module_call(dispatching: Call, forward: Call) -> Call:
    """nn.Module's `__call__` for a class whose `forward` is `dispatching`: what `module_forward` makes of `forward`.

    The handler is looked up before `dispatching` would do it, which saves that step. nn.Module's `_slow_forward` differs from
    `forward` only while `torch.jit._trace._trace_module_map` is set, so that is checked.
    """

    def __call__(self: Any, first: Any = _NOTHING, /, *args: Any, **keywords: Any) -> Any:
        if is_dynamo_compiling():  # each test below would be a guard in the graph
            given = args if first is _NOTHING else (first, *args)
            if _has_hooks(self) or _is_patched(type(self)):
                return _Module.__call__(self, *given, **keywords)
            return self.forward(*given, **keywords)
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
                or type(self)._call_impl is not _torch_call_impl
                # Another one was assigned to the class, or the `__call__` of an heir leads here by `super()`.
                or type(self).forward is not dispatching
            )
        except KeyError:  # nn.Module.__init__ has not run, as nn.Module's call says
            is_unusual = True
        if is_unusual:
            return _Module.__call__(self, *_given(first, args), **keywords)
        try:
            handler = type(self)._resolved[type(first)]
        except KeyError:
            handler = find_handler(type(self), type(first))
        if args or keywords or handler is None:
            return (handler or forward)(self, *_given(first, args), **keywords)
        return handler(self, first)

    return __call__


def functional_call() -> Call:
    """A `__call__` of a functional class that is not a module: `invoke`, in fewer steps where a handler was found before."""

    def __call__(self: Any, obj: object, /, **keywords: Any) -> Any:
        if keywords:
            return self.invoke(obj, **keywords)
        try:
            handler = type(self)._resolved[type(obj)]
        except KeyError:
            return self.invoke(obj)
        return self.invoke(obj) if handler is None else handler(self, obj)

    return __call__


def _has_hooks(module: nn.Module) -> bool:
    """Whether nn.Module would run anything around `forward`, in the words that dynamo can trace."""
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
    """Whether a tracer or a profiler took the place of nn.Module's call. Dynamo asks once, when it makes the graph."""
    return cls._call_impl is not _torch_call_impl or _Module.__call__ is not _torch_call


# What torch.compiler.assume_constant_result does; calling that would import dynamo.
_is_patched._dynamo_marked_constant = True  # type: ignore[attr-defined] # functions take any attribute


def _given(first: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args if first is _NOTHING else (first, *args)
