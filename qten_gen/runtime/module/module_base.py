"""The base of generated module classes: its tables, and properties of what is registered.

nn.Module finds what is registered in its `__getattr__`, after the ordinary look-up has failed; a property of the class is found
first. While `torch.fx.symbolic_trace` runs, a module gives proxies for its parameters: the tracer puts its own function in the
place of `nn.Module.__getattr__`, which the properties would hide. So they compare the two, `Module.__getattr__ is not
of_torch`, where a call would take half the time of the read again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn
from torch.nn import Module

if TYPE_CHECKING:
    from ..declaring.children import Submodule
    from ..declaring.derived import Derived, Virtual
    from ..declaring.fields import Buffer, Default, Parameter


VIRTUAL_CACHE = "_virtual_values"
"""The key in a module's instance dict under which it keeps the values of its cached virtual tensors."""
WATCHED = "_watched"
"""The key in the instance dict of a module with unsaved buffers on meta: each of them with its version, as it was left there."""
REMAKING = ("reset_parameters", "_reset_parameters", "__post_init__")
"""The methods of a class that run when its unsaved buffers are made again, in the order of a constructor."""
INITIALIZING = ("reset_parameters", "init_weights", "apply")
"""The methods by which trainers initialise modules."""
TIES = "_tied_ids"
"""The key in a module's instance dict of the ids that its tied parameters had by path, when their names were last compared."""


REGISTRATION = threading.RLock()
"""Held by whoever changes the tables of classes."""


class HandlerTables:
    """The tables of a functional class. A registration replaces them by new ones, so that readers need no lock."""

    _handlers: ClassVar[dict[type, Any]] = {}
    """A `Registration` for each type with a handler on this very class."""
    _table: ClassVar[dict[type, Handler]] = {}
    """The handler for each type that is registered on this class or a base; the nearest base counts."""
    _find: ClassVar[Callable[[type], Handler | None]] = staticmethod(lambda obj_type: None)
    """Finds the handler for an object class."""
    _is_open: ClassVar[bool] = False
    """True where abstract classes are registered, which can get subclasses at any time."""
    _resolved: ClassVar[Resolved] = {}
    """The handler for an object class, or None, as far as one was looked for: for the registered types from the start, and for no
    others where `_is_open`."""
    _forward: ClassVar[Callable[..., Any] | None] = None
    """The `forward` that dispatches, where handlers gave this class or a base one."""
    _fallback: ClassVar[Callable[..., Any]]
    """The function that it runs where there is no handler."""


Handler = Callable[..., Any]
"""A registered function `(functional, obj, **keywords)`: each has its own types, so its result can be anything."""

Resolved = dict[type, Handler | None]
"""The handler for each object class, or None for no handler."""


class ModuleBase(nn.Module):
    """An nn.Module with the tables that generated code and the metaclass fill in for each class.

    Functions below `DeclaredModule` take a ModuleBase. They read the tables from the class and the tensors from the registries
    of nn.Module (`_parameters`, `_buffers`, `_modules`).
    """

    _config: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that are constructor arguments, in the order of declaration. Written when a class is made, or by
    generated code for a class with its own `__init__`."""
    _aliases: ClassVar[dict[str, str]] = {}
    """Config fields whose arguments have other names, each with the name of its argument. Written when a class is made."""
    _tied: ClassVar[dict[str, str]] = {}
    """Parameters that are tied, each with the path of the parameter that it shares. Written when a class is made."""
    _groups: ClassVar[dict[str, str]] = {}
    """Parameters and children with a group of the optimizer. Written when a class is made."""
    _kept: ClassVar[tuple[str, ...]] = ()
    """Tensors and children whose dtypes no cast changes. Written when a class is made."""
    _dtype_device_source: ClassVar[str | None] = None
    """Name of the parameter or buffer whose dtype and device virtual tensors follow; None: the first floating tensor.
    Written by generated code."""
    _follows: ClassVar[bool] = False
    """True of this very class once a class was made whose virtual tensors follow the tensors of other modules."""
    _foreign_init: ClassVar[Callable[[nn.Module], None] | None] = None
    """The `__init__` of a base from another library, such as LightningModule, which a generated `__init__` calls in place of
    nn.Module's. Written when a class is made."""
    _declared_reset: ClassVar[Callable[..., None] | None] = None
    """The `reset_parameters` of the class statement. Where the class has another one later, somebody skips initialisation.
    Written when a class is made."""
    _own_init_mixins: ClassVar[tuple[type, ...]] = ()
    """Bases that the metaclass adds to a class with an `__init__` of its own, which registers by assignment."""

    _writes_init: ClassVar[bool] = False
    """True if the class or a base of it has an `__init__` that was written by hand. Written when a class is made."""

    # `typing.get_type_hints` evaluates what stands outside of this block, and finds no name that is imported for checkers.
    if TYPE_CHECKING:
        _specifiers: ClassVar[dict[str, Parameter | Buffer | Submodule | Virtual[object] | Derived]]
        """The record of each `param`, `buffer`, `submodule`, `derived` and `virtual`, inherited ones included. Written by the
        metaclass."""
        _defaults: ClassVar[dict[str, Default]]
        _version: int
        # Any in the types, because torch's containers say dict[str, Module] and nn.Module dict[str, Module | None].
        _parameters: dict[str, Any]
        _buffers: dict[str, Any]
        _modules: dict[str, Any]

        # Generated code says the type of an inherited field.

        def __getattr__(self, name: str) -> Any: ...
    else:
        _specifiers = {}

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        foreign = [base for base in cls.__mro__ if issubclass(base, nn.Module) and not issubclass(base, ModuleBase)]
        # The last of them is nn.Module itself.
        cls._foreign_init = next((vars(base)["__init__"] for base in foreign[:-1] if "__init__" in vars(base)), None)
        version = vars(cls).get("version")
        # A class may use the name for something else, such as a buffer.
        if isinstance(version, int):
            cls._version = version


of_torch = Module.__getattr__
"""`nn.Module.__getattr__` while nothing is traced."""


def any_on_meta(registered: Iterable[Any]) -> bool:
    """Return whether one of the tensors of a registry is on meta."""
    return any(each is not None and each.is_meta for each in registered)


def with_plain_parts(module: nn.Module) -> list[nn.Module]:
    """A module, and the ones in it that are not declared and which no declared one among them looks after."""
    parts = [module]
    for part in parts:
        for child in part._modules.values():
            if child is not None and not isinstance(child, ModuleBase):
                parts.append(child)
    return parts


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
        read.__annotations__ = {}  # completion in notebooks then looks at the value; Any would end it
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


def is_asked_by_torch() -> bool:
    """Return whether `register_buffer` asks for the buffer that is read, because it is about to take its name."""
    # 1 is the function of the property; 2 is whoever reads the buffer.
    frame = sys._getframe(2)
    while frame.f_code.co_name in ("__getattribute__", "__getattr__") and frame.f_back is not None:
        frame = frame.f_back
    # By name, because tools wrap and rewrite it.
    return (frame.f_globals.get("__name__"), frame.f_code.co_name) == ("torch.nn.modules.module", "register_buffer")
