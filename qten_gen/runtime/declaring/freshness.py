"""Whether the class that was generated for a declaration is still the one that it gives.

Fresh means that the declaration, as the statement says it now, has the fingerprint that the generated class carries, and that
the values which the generated text spells out are the values in the statement. Stale code never runs: `in_memory` builds
the class anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from . import generator, loading
from .loading import BrokenModule, real_name
from .values import Values

if TYPE_CHECKING:
    from .generator import Declaration


class GeneratedClass(NamedTuple):
    """The generated class of a declaration, and the modules in which the finished class is to be a global."""

    cls: type
    modules: tuple[ModuleType, ...]


class NoGeneratedClass(NamedTuple):
    """There is no generated class to use. `reason` says why where a file was generated, whose module is in `modules`."""

    reason: str = ""
    modules: tuple[ModuleType, ...] = ()


def find_generated(name: str, qualname: str, module: str) -> GeneratedClass | NoGeneratedClass:
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


def compare(generated: GeneratedClass, declaration: Declaration, values: Values) -> GeneratedClass | NoGeneratedClass:
    """The generated class, if it is the one that the declaration gives, and why it cannot be used otherwise."""
    inlined: dict[str, str] = vars(generated.cls).get("_inlined_values", {})
    if vars(generated.cls).get("_fingerprint") == generator.fingerprint(declaration) and all(
        generator.is_written_as(values.get(key), text) for key, text in inlined.items()
    ):
        return generated
    reason = f"{declaration.name} changed after {generated.modules[0].__name__} was generated"
    return NoGeneratedClass(reason, generated.modules)


def known_nested(generated: GeneratedClass | NoGeneratedClass, module: str) -> Callable[[str], bool]:
    """A test whether a name that cannot be looked up yet is a TensorClass, from what the generated class says."""
    nested: Mapping[str, str] = vars(generated.cls).get("_nested", {}) if isinstance(generated, GeneratedClass) else {}
    known = {loading.resolve_reference(reference, real_name(module)) for reference in nested.values()}
    return lambda name: loading.real_qualified(name) in known
