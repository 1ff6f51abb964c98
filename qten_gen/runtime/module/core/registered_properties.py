"""The properties by which a generated class reads its parameters, buffers and submodules.

nn.Module finds them in its `__getattr__`, after the ordinary look-up has failed. A property of the class is found first.

While `torch.fx.symbolic_trace` runs, a module gives proxies for its parameters: the tracer puts its own function in the place of
`nn.Module.__getattr__`, which the properties would hide. So they compare the two, `Module.__getattr__ is not of_torch`, where a
call would take half the time of the read again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn import Module

of_torch = Module.__getattr__
"""`nn.Module.__getattr__` while nothing is traced."""


class RegisteredProperty(property):
    """The property of a parameter, buffer or submodule.

    nn.Module's `__setattr__` handles registered names itself. It reaches the setter only where a plain value takes the place of
    what was registered: a tensor that weight normalisation computes, a replica's copy.
    """

    __reduced: tuple[Callable[[str, str], RegisteredProperty], tuple[str, str]]

    @classmethod
    def of(
        cls, kind: Callable[[str, str], RegisteredProperty], read: Callable[[Any], Any], name: str, doc: str
    ) -> RegisteredProperty:
        """The property that `kind(name, doc)` makes: `read` gets what is registered."""

        def set_plain(module: nn.Module, value: object) -> None:
            module.__dict__[name] = value

        def delete_plain(module: nn.Module) -> None:
            if name not in module.__dict__:
                raise AttributeError(f"{type(module).__name__!r} object has no attribute {name!r}")
            del module.__dict__[name]

        read.__doc__ = doc  # a subclass of property shows no other
        made = cls(read, set_plain, delete_plain)
        made.__reduced = kind, (name, doc)
        return made

    def __reduce__(self) -> tuple[Callable[[str, str], RegisteredProperty], tuple[str, str]]:
        """cloudpickle sends classes that cannot be imported whole."""
        return self.__reduced


def parameter(name: str, doc: str) -> RegisteredProperty:
    """The property of a parameter, or of None in its place."""

    def read(module: nn.Module) -> Any:
        if Module.__getattr__ is not of_torch:
            return _plain(module, name)
        try:
            return module._parameters[name]
        except KeyError:
            return _plain(module, name)

    return RegisteredProperty.of(parameter, read, name, doc)


def buffer(name: str, doc: str) -> RegisteredProperty:
    """The property of a buffer, or of None in its place."""

    def read(module: nn.Module) -> Any:
        try:
            return module._buffers[name]
        except KeyError:
            return _plain(module, name)

    return RegisteredProperty.of(buffer, read, name, doc)


def submodule(name: str, doc: str) -> RegisteredProperty:
    """The property of a submodule, a list or dict of them, or of None in its place."""

    def read(module: nn.Module) -> Any:
        try:
            return module._modules[name]
        except KeyError:
            return _plain(module, name)

    return RegisteredProperty.of(submodule, read, name, doc)


def _plain(module: nn.Module, name: str) -> Any:
    """The plain value that took the place of what was registered as `name`.

    Raises:
        AttributeError: there is none.
    """
    if name in module.__dict__:
        return module.__dict__[name]
    raise AttributeError(name)  # nn.Module words it: Python asks its __getattr__ next
