"""The functions that dispatch a call: `forward` and `__call__` of a module class, `__call__` of another functional.

nn.Module's call checks for hooks, for a compiled call and for tracing before it runs `forward`. `module_call` does the same
checks in fewer steps, and leaves the call to nn.Module where one of them finds something.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from torch import _C, nn
from torch.compiler import is_dynamo_compiling
from torch.nn.modules import module as torch_module

from ..core.handlers import Handler, find_handler

Call = Callable[..., Any]
Resolved = dict[type, Handler | None]
"""The handler found for each object class so far, as `find_handler` keeps it."""

_Module = nn.Module
_torch_call: Call = nn.Module.__call__
_is_tracing = _C._is_tracing
_before_backward = torch_module._global_backward_pre_hooks
_after_backward = torch_module._global_backward_hooks
_before_forward = torch_module._global_forward_pre_hooks
_after_forward = torch_module._global_forward_hooks


class _NotGiven:
    """The type of what stands for an argument that was not given; no handler can be registered for it."""


_NOTHING: Any = _NotGiven()


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


def module_call(resolved: Resolved) -> Call:
    """nn.Module's `__call__` for a class whose `forward` is made by `module_forward`.

    The look-up of `forward` is repeated here, where a call with one argument saves the step through it.
    """

    def __call__(self: Any, first: Any = _NOTHING, /, *args: Any, **keywords: Any) -> Any:
        if is_dynamo_compiling():  # a question less is a guard less
            if _has_hooks(self):
                return _Module.__call__(self, *_given(first, args), **keywords)
            return self.forward(*_given(first, args), **keywords)
        state = self.__dict__
        if (
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
            or _is_tracing()
            or _Module.__call__ is not _torch_call
        ):
            return _Module.__call__(self, *_given(first, args), **keywords)
        try:
            handler = resolved[type(first)]
        except KeyError:
            handler = find_handler(type(self), type(first))
        if args or keywords or handler is None:
            return type(self).forward(self, *_given(first, args), **keywords)
        return handler(self, first)

    return __call__


def functional_call(resolved: Resolved, handlers: Iterable[Handler]) -> Call:
    """The `__call__` of a functional class that is not a module: `invoke`, which needs no step where a handler was found before.

    Where none of its handlers takes keywords, neither does the call.
    """
    return _keyword_call(resolved) if any(map(_may_take_keywords, handlers)) else _positional_call(resolved)


def _keyword_call(resolved: Resolved) -> Call:
    """`invoke(obj, **keywords)`, in fewer steps where there are no keywords."""

    def __call__(self: Any, obj: object, /, **keywords: Any) -> Any:
        if keywords:
            return self.invoke(obj, **keywords)
        try:
            handler = resolved[type(obj)]
        except KeyError:
            return self.invoke(obj)
        return self.invoke(obj) if handler is None else handler(self, obj)

    return __call__


def _positional_call(resolved: Resolved) -> Call:
    """`invoke(obj)`. Without `**keywords` in its signature a call makes no dict for them."""

    def __call__(self: Any, obj: object, /) -> Any:
        try:
            handler = resolved[type(obj)]
        except KeyError:
            return self.invoke(obj)
        return self.invoke(obj) if handler is None else handler(self, obj)

    return __call__


def _may_take_keywords(handler: Handler) -> bool:
    """Whether a handler might be called with more than the functional and the object."""
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        return True
    return len(parameters) != 2 or any(p.kind is p.VAR_KEYWORD or p.kind is p.KEYWORD_ONLY for p in parameters)


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


def _given(first: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args if first is _NOTHING else (first, *args)
