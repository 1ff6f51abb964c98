"""Which generated class a class statement gets: the one on disk where it is fresh, else one rendered in memory.

Fresh means that the declaration, as the statement says it now, has the fingerprint that the generated class carries, and that
the values which the generated text spells out are the values in the statement. Stale code never runs.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from linecache import cache as line_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import loading
from .class_scope import Scope
from .fields import Const, Default
from .loading import BrokenModule, real_name

if TYPE_CHECKING:
    from ..model import Declaration

JIT_VARIABLE = "QTEN_GEN_JIT"
"""Environment variable: `on` (the default) builds missing and stale classes in memory, `off` makes them an error."""


class StaleWarning(UserWarning):
    """A declaration was edited after its class was generated; the class is built in memory until `qten-gen` runs."""


class NotGeneratedError(ImportError):
    """A class has no fresh generated code, and `QTEN_GEN_JIT=off` forbids building it in memory."""


@dataclass(frozen=True, slots=True)
class GeneratedPart:
    """The generated class of a declaration, and the modules in which the finished class is to be a global."""

    cls: type
    modules: tuple[ModuleType, ...]


@dataclass(frozen=True, slots=True)
class Values:
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
            found = found[int(step)] if isinstance(found, tuple) else _item(found, step)
        return found.value if isinstance(found, Const) else found


def _item(holder: object, name: str) -> object:
    found: object = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
    return found


def find_part(name: str, qualname: str, module: str) -> tuple[GeneratedPart | None, str]:
    """The generated class of a top-level class statement, not yet compared; without one, why (empty: nothing was generated)."""
    if name != qualname:
        return None, ""
    home = real_name(module)
    try:
        official = loading.find(home)
    except BrokenModule as broken:
        return None, f"{broken.args[0]} cannot be imported ({type(broken.__cause__).__name__}: {broken.__cause__})"
    if official is None:
        return None, ""
    joined = loading.module_for(official, name, module)
    found = vars(joined).get(f"_{name}")
    if not isinstance(found, type):
        return GeneratedPart(object, (joined,)), f"{name} was declared after {official.__name__} was generated"
    return GeneratedPart(found, (joined,)), ""


def build(
    declaration: Declaration,
    parents: tuple[tuple[str, Declaration], ...],
    scope: Scope,
    part: GeneratedPart | None,
    reason: str,
) -> GeneratedPart:
    """Render the class in memory, because nothing fresh was generated.

    Raises:
        NotGeneratedError: building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    official = () if part is None else part.modules
    if official and not reason:
        reason = f"{declaration.name} changed after {official[0].__name__} was generated"
    _allow(declaration.name, scope, reason, official)
    text: str = import_module("qten_gen.in_memory").render(declaration, dict(parents))
    module = loading.new_module(f"qten_gen.in_memory.{declaration.module}.{declaration.name}")
    filename = f"<qten-gen {declaration.module}.{declaration.name} {module.__name__.rpartition('#')[2]}>"
    module.__file__ = filename
    line_cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec", dont_inherit=True), vars(module))
    built = vars(module)[f"_{declaration.name}"]
    assert isinstance(built, type)
    return GeneratedPart(built, (module, *official))


def is_fresh(part: GeneratedPart, declaration: Declaration, values: Values) -> bool:
    """Whether the generated class is the one that the declaration gives."""
    model, reflection = import_module("qten_gen.model"), import_module("qten_gen.reflection")
    if vars(part.cls).get("_fingerprint") != model.fingerprint(declaration):
        return False
    assumed: dict[str, str] = vars(part.cls)["_assumed"]
    return all(reflection.written_as(values.get(key), text) for key, text in assumed.items())


def known_nested(part: GeneratedPart | None, module: str) -> Callable[[str], bool]:
    """A test whether a name that cannot be looked up yet is a TensorClass, from what the generated class says."""
    nested: Mapping[str, str] = {} if part is None else vars(part.cls).get("_nested", {})
    known = {loading.resolve_reference(reference, real_name(module)) for reference in nested.values()}
    return known.__contains__


def nested_in_source(name: str) -> bool:
    """The same test where nothing fresh was generated: the source that declares the name is read as text."""
    return bool(import_module("qten_gen.in_memory").is_tensorclass(name))


def _allow(name: str, scope: Scope, reason: str, official: tuple[ModuleType, ...]) -> None:
    """Refuse to build in memory with `QTEN_GEN_JIT=off`; warn once a file where what was generated is stale."""
    command = f"qten-gen {_shown(scope.filename)}"
    policy = os.environ.get(JIT_VARIABLE, "on")
    if policy == "off":
        what = reason or f"nothing was generated for {name}"
        raise NotGeneratedError(
            f"{_shown(scope.filename)}:{scope.line}: {what}, and {JIT_VARIABLE}=off. Run: {command}"
        )
    if policy != "on":
        raise ValueError(f"{JIT_VARIABLE}={policy!r} is not known; it can be 'on' or 'off'")
    if reason and not any(vars(module).get("_warned") for module in official):
        for module in official:
            vars(module)["_warned"] = True
        message = f"{reason}; it is built in memory from {_shown(scope.filename)}. Run: {command}"
        warnings.warn_explicit(message, StaleWarning, scope.filename, scope.line)


def _shown(filename: str) -> str:
    """A file name as one would type it: relative to the working directory where it lies below."""
    path, here = Path(filename), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else filename
