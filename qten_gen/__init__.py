"""Typed TensorClasses and modules for PyTorch: declare fields, generate plain classes.

The names below are the language of declarations. They are loaded on first use, so that the command line tool, which never
imports torch, can import this package too.
"""

# Checkers take the name for typing's; importing typing would cost the command 5 ms.
TYPE_CHECKING = False

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .diagnostics import DeclarationError as DeclarationError
    from .runtime.containers import ModuleDict as ModuleDict
    from .runtime.containers import ModuleList as ModuleList
    from .runtime.dispatch import Functional as Functional
    from .runtime.fields import buffer as buffer
    from .runtime.fields import const as const
    from .runtime.fields import field as field
    from .runtime.fields import param as param
    from .runtime.fields import submodule as submodule
    from .runtime.fields import virtual as virtual
    from .runtime.jit import NotGeneratedError as NotGeneratedError
    from .runtime.jit import StaleWarning as StaleWarning
    from .runtime.module import Module as Module
    from .runtime.tensorclass import TensorClass as TensorClass

_HOMES = {
    "DeclarationError": "diagnostics",
    "Functional": "runtime.dispatch",
    "Module": "runtime.module",
    "ModuleDict": "runtime.containers",
    "ModuleList": "runtime.containers",
    "NotGeneratedError": "runtime.jit",
    "StaleWarning": "runtime.jit",
    "TensorClass": "runtime.tensorclass",
    "buffer": "runtime.fields",
    "const": "runtime.fields",
    "field": "runtime.fields",
    "param": "runtime.fields",
    "submodule": "runtime.fields",
    "virtual": "runtime.fields",
}

__all__ = [
    "DeclarationError",
    "Functional",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NotGeneratedError",
    "StaleWarning",
    "TensorClass",
    "buffer",
    "const",
    "field",
    "param",
    "submodule",
    "virtual",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
