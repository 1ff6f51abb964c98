"""The class of a statement that is unusual, or whose generated class is stale or missing.

The generator's reader says what it declares. If nothing fresh was generated for that, the class is built with the templates of
the command.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from linecache import cache as line_cache
from pathlib import Path
from shlex import quote
from types import CodeType
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary, finalize

from ...common.fingerprint_rows import Row, recorded_call
from ...common.naming import generated_class
from . import dynamic_classes, freshness, generator, loading
from .class_scope import Scope
from .declared_class import DeclaredClass, FieldSummary, Summary, known_declaration
from .freshness import ClassFacts, GeneratedClass, NoGeneratedClass
from .statement import Body, ancestors_of, is_nestable, mixins_of, qualified, values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration, FieldDecl, Meaning, ModuleField


JIT_VARIABLE = "QTEN_GEN_JIT"
"""Environment variable: `on` (the default) builds missing and stale classes in memory, `off` makes them an error."""


class StaleWarning(UserWarning):
    """A declaration was edited after its class was generated; the class is built in memory until `qten-gen` runs."""


class NotGeneratedError(ImportError):
    """A class has no fresh generated code, and `QTEN_GEN_JIT=off` forbids building it in memory."""


def build(declaration: Declaration, missing: NoGeneratedClass, scope: Scope) -> GeneratedClass:
    """Render the class of a declaration, compile it and execute it in a module of its own.

    Raises:
        NotGeneratedError: building in memory is switched off.
    """
    _allow(declaration, missing, scope)
    text = generator.render(declaration)
    compiled = _compiled(f"{declaration.module}.{declaration.name}", text)
    module = dynamic_classes.new_module(f"qten_gen.in_memory.{declaration.module}.{declaration.name}")
    module.__file__ = compiled.code.co_filename
    # Held by the module: without the record, `linecache` loses the lines.
    vars(module)["_compiled"] = compiled
    exec(compiled.code, vars(module))
    built = vars(module)[generated_class(declaration.name)]
    assert isinstance(built, type)
    dynamic_classes.show(module)
    # A function that declares a class at each call would fill `sys.modules`.
    finalize(built, sys.modules.pop, module.__name__, None).atexit = False
    return GeneratedClass(built, (module, *missing.modules))


class _Compiled:
    """The code of classes with the same text, as the same statement in a function gives again and again."""

    __slots__ = ("__weakref__", "code")

    def __init__(self, code: CodeType) -> None:
        self.code: Final = code


_numbers = count(1)
_unused_files: deque[str] = deque()
"""Names in `linecache` whose code is gone. The next class removes them: garbage may be collected while `linecache` is read."""

_known: WeakValueDictionary[tuple[str, str], _Compiled] = WeakValueDictionary()


def _compiled(name: str, text: str) -> _Compiled:
    """Compile the text of a class. While the code is there, tracebacks, debuggers and `inspect.getsource` show its lines."""
    found = _known.get((name, text))
    if found is None:
        while _unused_files:
            line_cache.pop(_unused_files.popleft(), None)
        filename = f"<qten-gen {name} {next(_numbers)}>"
        # `dont_inherit`, so that the `__future__` imports of this file do not apply to the text.
        found = _known[name, text] = _Compiled(compile(text, filename, "exec", dont_inherit=True))
        line_cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        finalize(found, _unused_files.append, filename).atexit = False
    return found


def _allow(declaration: Declaration, missing: NoGeneratedClass, scope: Scope) -> None:
    """Refuse to build in memory with `QTEN_GEN_JIT=off`; warn once a file where what was generated is stale."""
    file = _shown(scope.filename)
    policy = os.environ.get(JIT_VARIABLE, "on")
    if policy not in ("on", "off"):
        raise ValueError(f"{JIT_VARIABLE}={policy!r} is not known; it can be 'on' or 'off'")
    if policy == "on" and not missing.reason:
        return
    if missing.never:
        never = f"nothing is generated for {declaration.qualname}, which {missing.never}"
        raise NotGeneratedError(f"{file}:{scope.line}: {never}, and {JIT_VARIABLE}=off. {missing.remedy}")
    remedy = _remedy(scope.filename)
    if policy == "off":
        what = missing.reason or f"nothing was generated for {declaration.name}"
        raise NotGeneratedError(f"{file}:{scope.line}: {what}, and {JIT_VARIABLE}=off. {remedy}")
    if any(vars(module).get("_warned") for module in missing.modules):
        return
    for module in missing.modules:
        vars(module)["_warned"] = True
    warnings.warn_explicit(
        f"{missing.reason}; it is built in memory from {file}. {remedy}", StaleWarning, scope.filename, scope.line
    )


def _remedy(filename: str) -> str:
    """The remedy for a class without fresh code: the command, where there is a file that it can read."""
    path = Path(filename)
    # The command leaves out what looks like its own output.
    if path.suffix != ".py" or path.stem.endswith("_qten") or not path.is_file():
        return "Declare it in a module, a file of its own with the suffix .py, and run qten-gen for that file"
    shown = _shown(filename)
    return f"Run: qten-gen {quote(f'./{shown}' if shown.startswith('-') else shown)}"


def _shown(filename: str) -> str:
    """A file name as one would type it: relative to the working directory where it lies below."""
    path, here = Path(filename), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else filename


def facts_of(body: Body, found: GeneratedClass | NoGeneratedClass, *, nests: bool) -> ClassFacts:
    """The generated class where it has the fingerprint of the declaration, or one that is built in memory.

    Raises:
        NotGeneratedError: there is none that is fresh, and building in memory is switched off.
        DeclarationError: the declaration breaks a rule.
    """
    statement = describe(body, meaning_of_later(body))
    declaration = generator.read(statement, nests=nests)
    summary = of_declaration(declaration, statement.classes)
    own_values = values_of(body, summary)
    values = with_inherited(own_values, summary, body.bases)
    # Of a generated class, the command checked what the text says, and not the objects that the names in it mean here.
    generator.refuse(declaration, statement, loading.real_name(body.module), body.scope)
    fingerprint = generator.fingerprint(declaration)
    if isinstance(found, GeneratedClass) and not freshness.is_fresh(found, fingerprint, summary, values):
        reason = f"{declaration.name} changed after {loading.plain_name(found.modules[0].__name__)} was generated"
        found = NoGeneratedClass(reason, found.modules)
    if not isinstance(found, GeneratedClass):
        found = build(declaration, found, body.scope)
    return ClassFacts(found, summary, known_declaration(declaration), own_values, values)


def meaning_of_later(body: Body) -> Callable[[str], Meaning | None]:
    """The meaning of a name that cannot be looked up yet: from the text that defines it or, without one, the generated class."""
    real, in_generated = loading.real_name(body.module), known_nested(body)

    def meaning(name: str) -> Meaning | None:
        qualified = loading.real_qualified(name)
        found = generator.meaning_in_text(qualified, real, body.scope) or in_generated(name)
        # The class itself, which in `__main__` has two names.
        return found if found is None or qualified not in found.declared else generator.known_tensorclass(name)

    return meaning


def describe(body: Body, elsewhere: Callable[[str], Meaning | None]) -> ClassStatement:
    """The record of a class statement that the generator's reader takes."""
    scope = body.scope
    return generator.ClassStatement(
        name=body.name,
        module=body.module,
        qualname=body.qualname,
        namespace=body.namespace,
        checks=body.checks,
        annotations=body.annotations,
        bases=body.bases,
        parents=tuple((qualified(parent), parent._declaration) for parent in ancestors_of(body.bases)),
        mixins=mixins_of(body.bases),
        flags=body.flags,
        options=body.options,
        passed=body.passed,
        resolve=scope.resolve,
        is_tensorclass=is_nestable,
        classes={},
        declared=set(),
        import_of=scope.import_of,
        defines=scope.defines,
        elsewhere=elsewhere,
        children=lambda: declared_children(body.namespace),
    )


def known_nested(body: Body) -> Callable[[str], Meaning | None]:
    """The meaning of a name that cannot be looked up yet: a TensorClass, if the generated class says so."""
    return lambda name: generator.known_tensorclass(name) if body.is_declared_later(name) else None


def declared_children(namespace: Mapping[str, object]) -> dict[str, Declaration]:
    """The declarations of the classes among the arguments of specifiers, and of their children's, by qualified name.

    The command knows them from the text. So a rule finds the same in a program.
    """
    found: dict[str, Declaration] = {}
    waiting = [*_classes(namespace.values())]
    while waiting:
        cls = waiting.pop()
        name = f"{cls.__module__}.{cls.__qualname__}"
        # Of the class itself: one that a parametrization or FSDP derives declares nothing, and inherits it.
        if name not in found and "_declared_as" in vars(cls):
            found[name] = cls._declaration
            waiting += _classes(cls._specifiers.values())
    return found


def _classes(values: Iterable[object]) -> Iterator[DeclaredClass]:
    """The declared classes among the arguments of those values that are records of specifiers."""
    for value in values:
        call = recorded_call(value)
        if call is not None:
            yield from _mentioned((*call.args, *call.kwargs.values()))


def _mentioned(arguments: Iterable[object]) -> Iterator[DeclaredClass]:
    """The declared classes among arguments, inside of containers, partials and records too."""
    for argument in arguments:
        if isinstance(argument, DeclaredClass):
            yield argument
        elif isinstance(argument, partial):
            yield from _mentioned((argument.func, *argument.args, *argument.keywords.values()))
        elif isinstance(argument, Mapping):
            yield from _mentioned(argument.values())
        elif isinstance(argument, tuple | list):
            yield from _mentioned(argument)
        else:
            yield from _classes((argument,))


def of_declaration(declaration: Declaration, classes: Mapping[str, type]) -> Summary:
    """The summary of a declaration. `classes` has the TensorClasses in the annotations of the statement by qualified name."""
    structure = generator.structure
    checks = getattr(declaration, "checks", ())
    return Summary(
        tuple(_of_field(field, structure(field), classes) for field in declaration.fields),
        declaration.own,
        declaration.custom_init,
        getattr(declaration, "flags", frozenset()),
        checks if isinstance(checks, str) else "on",
        () if isinstance(checks, str) else tuple((check.owner, structure(check)) for check in checks),
    )


def _of_field(field: FieldDecl | ModuleField, row: Row, classes: Mapping[str, type]) -> FieldSummary:
    nested = getattr(field, "nested", None)
    # `nested` is the last part of the name, as generated code writes it.
    named = next((name for name in field.type.mentioned if name.rpartition(".")[2] == nested), "")
    return FieldSummary.of(field.owner, row, field.type.text, classes.get(named))
