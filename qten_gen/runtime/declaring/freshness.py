"""Whether the class that was generated for a declaration is still the one that it gives.

Fresh means that the declaration, as the statement says it now, has the fingerprint that the generated class carries, and that
the values which the generated text spells out are the values in the statement. Stale code never runs: `jit` takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from . import loading
from .fields import Const, Default
from .loading import BrokenModule, real_name

if TYPE_CHECKING:
    from ...model import Declaration


class GeneratedClass(NamedTuple):
    """The generated class of a declaration, and the modules in which the finished class is to be a global."""

    cls: type
    modules: tuple[ModuleType, ...]


class NoGeneratedClass(NamedTuple):
    """There is no generated class to use. `reason` says why where a file was generated, whose module is in `modules`."""

    reason: str = ""
    modules: tuple[ModuleType, ...] = ()


class Values(NamedTuple):
    """The objects that a class statement gives its fields: defaults by name, specifier records by name."""

    defaults: dict[str, Default]
    specifiers: dict[str, object]
    bare: tuple[str, ...] = ()
    """Fields given by `field()` without a default."""

    def get(self, key: str) -> object:
        """What `split`, `scale.initializer`, `norm.cls`, `norm.args.0` or `norm.kwargs.bias` names; None for nothing."""
        name, *path = key.split(".")
        if not path:
            default = self.defaults.get(name)
            return None if default is None else default.value
        found = self.specifiers.get(name)
        for step in path:
            found = _item(found, step)
        return found.value if isinstance(found, Const) else found


def _item(holder: object, name: str) -> object:
    if isinstance(holder, Mapping):
        return holder.get(name)
    if isinstance(holder, tuple) and name.isdecimal():
        return holder[int(name)]
    found: object = getattr(holder, name, None)
    return found


def find_part(name: str, qualname: str, module: str) -> GeneratedClass | NoGeneratedClass:
    """What was generated for a class statement, not compared yet. Only top-level classes are generated for."""
    if name != qualname:
        return NoGeneratedClass()
    try:
        official = loading.find(real_name(module))
    except BrokenModule as broken:
        cause = broken.__cause__
        return NoGeneratedClass(f"{broken.args[0]} cannot be imported ({type(cause).__name__}: {cause})")
    if official is None:
        return NoGeneratedClass()
    joined = loading.module_for(official, name, module)
    found = vars(joined).get(f"_{name}")
    if isinstance(found, type):
        return GeneratedClass(found, (joined,))
    return NoGeneratedClass(f"{name} was declared after {official.__name__} was generated", (joined,))


def compare(part: GeneratedClass, declaration: Declaration, values: Values) -> GeneratedClass | NoGeneratedClass:
    """The part, if it is the class that the declaration gives."""
    model, reflection = import_module("qten_gen.model"), import_module("qten_gen.reflection")
    assumed: dict[str, str] = vars(part.cls).get("_inlined_values", {})
    if vars(part.cls).get("_fingerprint") == model.fingerprint(declaration) and all(
        reflection.written_as(values.get(key), text) for key, text in assumed.items()
    ):
        return part
    return NoGeneratedClass(f"{declaration.name} changed after {part.modules[0].__name__} was generated", part.modules)


def known_nested(part: GeneratedClass | NoGeneratedClass, module: str) -> Callable[[str], bool]:
    """A test whether a name that cannot be looked up yet is a TensorClass, from what the generated class says."""
    nested: Mapping[str, str] = vars(part.cls).get("_nested", {}) if isinstance(part, GeneratedClass) else {}
    known = {loading.resolve_reference(reference, real_name(module)) for reference in nested.values()}
    return known.__contains__
