"""The comparison of a generated class with its declaration.

Fresh means that the declaration, as the statement says it now, has the fingerprint that the generated class carries, and that
the values which the generated text spells out are the values in the statement. Of a class that is not fresh, `in_memory`
builds another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ...common.naming import generated_class
from ...common.python_text import literal_of, written_as
from . import loading
from .loading import BrokenModule, real_name
from .statement import Values

if TYPE_CHECKING:
    from .declared_class import LaterDeclaration, Summary


class GeneratedClass(NamedTuple):
    """The generated class of a declaration, and the modules in which the finished class is to be a global."""

    cls: type
    modules: tuple[ModuleType, ...]


class NoGeneratedClass(NamedTuple):
    """There is no generated class to use. `reason` says why where a file was generated, whose module is in `modules`.

    `never` says why the command generates nothing for such a class, and `remedy` what to write instead.
    """

    reason: str = ""
    modules: tuple[ModuleType, ...] = ()
    never: str = ""
    remedy: str = ""


class ClassFacts(NamedTuple):
    """The generated class of a statement, and what the finished class keeps of its declaration."""

    generated: GeneratedClass
    summary: Summary
    declaration: LaterDeclaration
    own_values: Values
    values: Values
    """The same with inherited fields."""


NESTED = NoGeneratedClass(never="stands in a class or a function", remedy="Move it to the top level")
MADE_BY_CALL = NoGeneratedClass(never="is made by a call", remedy="Write a class statement at the top level")


def find_generated(name: str, qualname: str, module: str, file: str | None) -> GeneratedClass | NoGeneratedClass:
    """The class generated for a class statement in `file`, not compared yet. Only top-level classes are generated for."""
    if name != qualname:
        return NESTED
    try:
        official = loading.find(real_name(module))
        joined = official
        if official is None or not loading.is_free(official, name, module):
            joined = _other_module(official, name, module, file)
    except BrokenModule as broken:
        cause = broken.__cause__
        return NoGeneratedClass(f"{broken.args[0]} cannot be imported ({type(cause).__name__}: {cause})")
    if joined is None:
        return NoGeneratedClass()
    found = vars(joined).get(generated_class(name))
    if isinstance(found, type):
        if not loading.is_as_written(joined):
            edited = f"{loading.plain_name(joined.__name__)} was edited by hand, or merged, after it was generated"
            return NoGeneratedClass(edited, (joined,))
        return GeneratedClass(found, (joined,))
    return NoGeneratedClass(f"{name} was declared after {loading.plain_name(joined.__name__)} was generated", (joined,))


def _other_module(official: ModuleType | None, name: str, module: str, file: str | None) -> ModuleType | None:
    """The generated module of a statement that cannot join the official one: a copy of that, or the one beside its file."""
    from . import dynamic_classes

    if official is not None:
        return dynamic_classes.copy_for(official, name, module)
    return None if file is None else dynamic_classes.find_beside(module, file, name)


def is_fresh(generated: GeneratedClass, fingerprint: str, summary: Summary, values: Values) -> bool:
    """Return whether a class was generated for a declaration with this fingerprint and for these values."""
    inlined: dict[str, str] = vars(generated.cls).get("_inlined_values", {})
    known = vars(generated.modules[0])
    # A text is a literal ("8"), a torch name ("torch.nn.Linear"), a partial of one, or a class that is a global of the generated
    # module ("Attention").
    return (
        vars(generated.cls).get("_fingerprint") == fingerprint
        and _has_defaults(generated, summary, values)
        and all(
            known.get(text, loading.Undeclared) is values.get(key) or written_as(values.get(key), text)
            for key, text in inlined.items()
        )
    )


def _has_defaults(generated: GeneratedClass, summary: Summary, values: Values) -> bool:
    """Return whether the generated constructor has the defaults of the declaration, where it does not look them up there."""
    constructor: FunctionType | None = vars(generated.cls).get("__init__")
    if constructor is None:
        return True
    code, positional = constructor.__code__, constructor.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(positional) : code.co_argcount]
    written = {**dict(zip(names, positional, strict=True)), **(constructor.__kwdefaults__ or {})}
    looked_up = vars(generated.modules[0])["_rt"].DEFAULT
    pairs = ((written.get(f.argument or "", looked_up), values.get(f.name)) for f in summary.fields)
    return all(given is looked_up or given is value or _is_same_literal(given, value) for given, value in pairs)


def _is_same_literal(one: object, other: object) -> bool:
    literal = literal_of(one)
    return literal is not None and literal == literal_of(other)


def is_declared_later(generated: GeneratedClass | NoGeneratedClass, module: str, name: str) -> Callable[[str], bool]:
    """Tells whether a qualified name that means nothing yet is a TensorClass, as the generated class of `name` says."""
    nested: Mapping[str, str] = vars(generated.cls).get("_nested", {}) if isinstance(generated, GeneratedClass) else {}
    known = {loading.resolve_reference(reference, real_name(module)) for reference in nested.values()}
    return lambda qualified: qualified == f"{module}.{name}" or loading.real_qualified(qualified) in known
