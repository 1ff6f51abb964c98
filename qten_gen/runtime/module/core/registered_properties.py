"""The properties by which a generated class reads its parameters, buffers and submodules.

nn.Module finds them in its `__getattr__`, after the ordinary look-up has failed. A property of the class is found first.
The property of a parameter leaves the answer to `__getattr__` while a graph is traced: see `symbolic_tracing.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from torch import nn

V = TypeVar("V")


class RegisteredProperty(property):
    """The property of a parameter, buffer or submodule: the decorated function reads it from nn.Module's registry.

    nn.Module's `__setattr__` handles registered names itself. It reaches the setter only where a plain value takes the place of
    what was registered: a tensor that weight normalisation computes, a replica's copy.
    """

    def __reduce__(self) -> tuple[Callable[..., RegisteredProperty], tuple[object]]:
        """cloudpickle sends classes that cannot be imported whole."""
        return registered, (self.fget,)


def registered(getter: Callable[[Any], object]) -> RegisteredProperty:
    """Decorate the function that reads a registered name.

    @registered
    def weight(self) -> nn.Parameter:
        try:
            return self._parameters["weight"]
        except KeyError:
            return unregistered(self, "weight")

    That of a parameter begins with `if symbolic_trace._is_fx_tracing_flag: return unregistered(self, "weight")`.
    """
    name = getter.__name__

    def set_plain(module: nn.Module, value: object) -> None:
        module.__dict__[name] = value

    def delete_plain(module: nn.Module) -> None:
        if name not in module.__dict__:
            raise AttributeError(f"{type(module).__name__!r} object has no attribute {name!r}")
        del module.__dict__[name]

    # A subclass of property shows the docstring of the getter only where none is passed.
    return RegisteredProperty(getter, set_plain, delete_plain)


def unregistered(module: nn.Module, name: str) -> V:  # type: ignore[type-var] # the getter says what a plain value is
    """The plain value that took the place of what was registered as `name`.

    Raises:
        AttributeError: there is none.
    """
    if name in module.__dict__:
        found: V = module.__dict__[name]
        return found
    raise AttributeError(name)  # nn.Module words it: Python asks its __getattr__ next
