"""Building a class in memory, with the templates of the command, where nothing fresh was generated for its declaration."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from linecache import cache as line_cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import generator, loading
from .class_scope import Scope
from .freshness import GeneratedClass, NoGeneratedClass

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration

JIT_VARIABLE = "QTEN_GEN_JIT"
"""Environment variable: `on` (the default) builds missing and stale classes in memory, `off` makes them an error."""


class StaleWarning(UserWarning):
    """A declaration was edited after its class was generated; the class is built in memory until `qten-gen` runs."""


class NotGeneratedError(ImportError):
    """A class has no fresh generated code, and `QTEN_GEN_JIT=off` forbids building it in memory."""


def build(
    declaration: Declaration, statement: ClassStatement, missing: NoGeneratedClass, scope: Scope
) -> GeneratedClass:
    """Render the class that a statement declares, compile it and execute it in a module of its own.

    Raises:
        NotGeneratedError: building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    _allow(declaration, missing, scope)
    text = generator.render(declaration, statement)
    module = loading.new_module(f"qten_gen.in_memory.{declaration.module}.{declaration.name}")
    filename = f"<qten-gen {declaration.module}.{declaration.name} {module.__name__.rpartition('#')[2]}>"
    module.__file__ = filename
    line_cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec", dont_inherit=True), vars(module))
    built = vars(module)[f"_{declaration.name}"]
    assert isinstance(built, type)
    return GeneratedClass(built, (module, *missing.modules))


def nested_in_source(module: str, scope: Scope) -> Callable[[str], bool]:
    """A test whether a name that cannot be looked up yet is a TensorClass: the source that declares it is read as text.

    Args:
        module: The `__module__` of the class whose annotations have the names.
        scope: Where its statement runs.
    """
    real = loading.real_name(module)

    def test(name: str) -> bool:
        home, _, cls = name.rpartition(".")
        return generator.is_tensorclass(f"{real if home == module else home}.{cls}", real, scope.filename, scope.text)

    return test


def _allow(declaration: Declaration, missing: NoGeneratedClass, scope: Scope) -> None:
    """Refuse to build in memory with `QTEN_GEN_JIT=off`; warn once a file where what was generated is stale."""
    command = f"qten-gen {_shown(scope.filename)}"
    policy = os.environ.get(JIT_VARIABLE, "on")
    if policy == "off":
        what = missing.reason or f"nothing was generated for {declaration.name}"
        remedy = f"Run: {command}"
        if declaration.qualname not in ("", declaration.name):
            what = f"nothing is generated for {declaration.qualname}, which stands in a class or a function"
            remedy = "Move it to the top level"
        raise NotGeneratedError(f"{_shown(scope.filename)}:{scope.line}: {what}, and {JIT_VARIABLE}=off. {remedy}")
    if policy != "on":
        raise ValueError(f"{JIT_VARIABLE}={policy!r} is not known; it can be 'on' or 'off'")
    if missing.reason and not any(vars(module).get("_warned") for module in missing.modules):
        for module in missing.modules:
            vars(module)["_warned"] = True
        message = f"{missing.reason}; it is built in memory from {_shown(scope.filename)}. Run: {command}"
        warnings.warn_explicit(message, StaleWarning, scope.filename, scope.line)


def _shown(filename: str) -> str:
    """A file name as one would type it: relative to the working directory where it lies below."""
    path, here = Path(filename), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else filename
