"""Building a class in memory, with the templates of the command, where nothing fresh was generated for its declaration."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from itertools import count
from linecache import cache as line_cache
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary, finalize

from ...common.naming import generated_class
from . import generator, loading
from .class_scope import Scope
from .declared_class import nests
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
    compiled = _compiled(f"{declaration.module}.{declaration.name}", text)
    module = loading.new_module(f"qten_gen.in_memory.{declaration.module}.{declaration.name}")
    module.__file__ = compiled.code.co_filename
    vars(module)["_compiled"] = compiled
    exec(compiled.code, vars(module))
    built = vars(module)[generated_class(declaration.name)]
    assert isinstance(built, type)
    loading.show(module)
    finalize(built, sys.modules.pop, module.__name__, None).atexit = False
    return GeneratedClass(built, (module, *missing.modules))


class _Compiled:
    """The code of classes with the same text, as the same statement in a function gives again and again."""

    __slots__ = ("__weakref__", "code")

    def __init__(self, code: CodeType) -> None:
        self.code: Final = code


_numbers = count(1)
_known: WeakValueDictionary[tuple[str, str], _Compiled] = WeakValueDictionary()


def _compiled(name: str, text: str) -> _Compiled:
    """Compile the text of a class. While the code is there, tracebacks, debuggers and `inspect.getsource` show its lines."""
    found = _known.get((name, text))
    if found is None:
        filename = f"<qten-gen {name} {next(_numbers)}>"
        found = _known[name, text] = _Compiled(compile(text, filename, "exec", dont_inherit=True))
        line_cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        finalize(found, line_cache.pop, filename, None).atexit = False
    return found


def nested_in_source(module: str, scope: Scope) -> Callable[[str], bool]:
    """A test whether a name that cannot be looked up yet is a TensorClass: the source that declares it is read as text.

    That of the statement's own module is the text around it: a script, a notebook's cell or a plugin cannot be found by name.
    """
    real = loading.real_name(module)

    def is_nested(name: str) -> bool:
        qualified = loading.real_qualified(name)
        home, _, cls = qualified.rpartition(".")
        if home == real and scope.derives(cls, nests):
            return True
        return generator.is_tensorclass(qualified, real, scope.filename, scope.text)

    return is_nested


def _allow(declaration: Declaration, missing: NoGeneratedClass, scope: Scope) -> None:
    """Refuse to build in memory with `QTEN_GEN_JIT=off`; warn once a file where what was generated is stale."""
    command = f"qten-gen {_shown(scope.filename)}"
    policy = os.environ.get(JIT_VARIABLE, "on")
    if policy == "off":
        what = missing.reason or f"nothing was generated for {declaration.name}"
        remedy = f"Run: {command}"
        if missing.never:
            what = f"nothing is generated for {declaration.qualname}, which {missing.never}"
            remedy = missing.remedy
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
