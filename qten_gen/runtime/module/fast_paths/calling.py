"""Calls of modules and functionals that go straight to what they would reach in the end.

nn.Module's call asks for hooks, for a compiled call and for tracing before it runs `forward`. Here the same is asked in fewer
steps, and whatever the answer is not "nothing" is left to nn.Module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import _C, nn
from torch.compiler import is_dynamo_compiling
from torch.nn.modules import module as torch_module

if TYPE_CHECKING:
    from ..dispatch import Functional, Handler

Call = Callable[..., Any]
Find = Callable[[type["Functional"], type], "Handler | None"]

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


def dispatching_call(resolved: dict[type, Handler | None], find: Find) -> Call:
    """nn.Module's call for a class with registered handlers; `resolved` has those that `find` found before."""

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
            handler = find(type(self), type(first))
        if args or keywords or handler is None:
            return type(self).forward(self, *_given(first, args), **keywords)
        return handler(self, first)

    return __call__


def functional_call(resolved: dict[type, Handler | None], takes_keywords: bool) -> Call:
    """The call of a functional class; `resolved` has the handlers that were found before."""
    return _keyword_call(resolved) if takes_keywords else _positional_call(resolved)


def _keyword_call(resolved: dict[type, Handler | None]) -> Call:
    def __call__(self: Functional, obj: object, /, **keywords: Any) -> Any:
        if keywords:
            return self.invoke(obj, **keywords)
        try:
            handler = resolved[type(obj)]
        except KeyError:
            return self.invoke(obj)
        return self.invoke(obj) if handler is None else handler(self, obj)

    return __call__


def _positional_call(resolved: dict[type, Handler | None]) -> Call:
    def __call__(self: Functional, obj: object, /) -> Any:
        try:
            handler = resolved[type(obj)]
        except KeyError:
            return self.invoke(obj)
        return self.invoke(obj) if handler is None else handler(self, obj)

    return __call__


def _has_hooks(module: nn.Module) -> bool:
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
