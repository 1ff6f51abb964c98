"""Finds the functions of bases that a declaration calls, in text. `reflection.base_functions` does it at run time."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..model import BaseFunction, ClassSource, Declaration, MethodSource
from ..model.foreign_classes import LAYERS_WITH_ARGUMENTS

_HOOK = "__init_subclass__"
_WITHOUT_HOOK = ("abc", "builtins", "object", "qten_gen", "torch", "typing", "typing_extensions")
"""Packages and classes whose `__init_subclass__` takes no keywords."""


def subclass_hooks(declaration: Declaration, classes: Mapping[str, ClassSource]) -> tuple[BaseFunction, ...]:
    """The `__init_subclass__` of each ancestor. One outside the run may take any keyword."""
    names = [base.name for base in declaration.bases]
    seen: dict[str, BaseFunction | None] = {}
    while names:
        name = names.pop(0)
        if name in seen or name.partition(".")[0] in _WITHOUT_HOOK:
            continue
        source = classes.get(name)
        if source is None:
            seen[name] = BaseFunction(name, takes_any=True)
            continue
        names += [base.name for base in source.bases]
        hook = _method(source, _HOOK)
        if hook is not None:
            seen[name] = _as_called(source, hook)
        else:
            seen[name] = BaseFunction(source.name, takes_any=True) if _HOOK in source.attributes else None
    return tuple(hook for hook in seen.values() if hook is not None)


def module_constructor(declaration: Declaration, classes: Mapping[str, ClassSource]) -> BaseFunction | None:
    """The `__init__` of the first nn.Module among the bases that is not declared; None without one or outside the run."""
    found = (_constructor(base.name, classes, ()) for base in declaration.bases if not base.declared)
    return next((constructor for constructor in found if constructor is not None), None)


def _constructor(name: str, classes: Mapping[str, ClassSource], below: tuple[str, ...]) -> BaseFunction | None:
    """The `__init__` that a module class has or inherits. `below` holds the classes that led to it."""
    layer = layer_of_torch(name)
    if layer is not None:
        return layer
    source = classes.get(name)
    if source is None or name in below:
        return None
    inherited = (_constructor(base.name, classes, (*below, name)) for base in source.bases)
    constructor = next((found for found in inherited if found is not None), None)
    own = _method(source, "__init__")
    is_module = constructor is not None or any(_is_plain(base.name) for base in source.bases)
    return _as_called(source, own) if own is not None and is_module else constructor


def layer_of_torch(name: str) -> BaseFunction | None:
    """The `__init__` of a class of torch.nn, by its qualified name; None for nn.Module and other classes."""
    if not name.startswith("torch.nn.") or _is_plain(name):
        return None
    cls = name.rpartition(".")[2]
    return BaseFunction(cls, requires=cls in LAYERS_WITH_ARGUMENTS)


def _is_plain(name: str) -> bool:
    return name in ("torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module")


def _method(source: ClassSource, name: str) -> MethodSource | None:
    return next((method for method in source.methods if method.name == name), None)


def _as_called(source: ClassSource, method: MethodSource) -> BaseFunction:
    """What a method takes, read from its text."""
    (function,) = ast.parse(f"def _({method.signature.parameters}): ...").body
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    required = len(positional) > len(given.defaults) or None in given.kw_defaults
    keywords = frozenset(argument.arg for argument in (*given.args, *given.kwonlyargs))
    return BaseFunction(source.name, keywords, given.kwarg is not None, required)
