"""How a declaration and its generated class become one class.

When `class Batch(TensorClass)` runs, the metaclass reads what the statement says, gets the generated class `_Batch` for it
(`freshness` finds it, `jit` makes it where it is missing), and puts it between the declaration and its bases: `Batch, _Batch,
TensorClass`. The class is complete when its statement ends, user methods win by the ordinary method resolution order, and
`super()` in them reaches the generated ones.
"""

from __future__ import annotations

import dataclasses
import types
from abc import ABCMeta
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from . import freshness, in_memory, loading
from .class_scope import Scope, annotations_of, statement_frame
from .fields import Buffer, Default, Field, Parameter, Submodule, Virtual
from .freshness import GeneratedClass, NoGeneratedClass, Values

if TYPE_CHECKING:
    from ...model import Declaration
    from ...reflection import ClassStatement


class DeclarationMeta(ABCMeta):
    """Metaclass of every declaration. Joins a class statement with the class generated for it.

    It derives from ABCMeta so that `class Base(Module, ABC)` works; instance checks are those of `type`.
    """

    _declaration: Declaration
    """What the class declares, inherited fields in place. The roots have none."""
    _defaults: dict[str, Default]
    """Defaults of constructor arguments, inherited ones included."""
    _specifiers: dict[str, object]
    """Records of the field specifiers, inherited ones included."""
    _nests = False
    """Whether its classes can be the type of a field that holds tensors."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **flags: object
    ) -> DeclarationMeta:
        # A class made by a call has no qualified name yet: parametrizations and FSDP derive so, and declare nothing.
        if "__qualname__" not in namespace or not any(isinstance(base, DeclarationMeta) for base in bases):
            return super().__new__(mcls, name, bases, namespace)
        scope = Scope(statement_frame(namespace["__module__"]), namespace)
        part = freshness.find_part(name, str(namespace["__qualname__"]), str(namespace["__module__"]))
        statement = _statement(name, bases, namespace, flags, scope, part)
        declaration = mcls._read(statement)
        values = _values(statement, declaration)
        everything = _with_inherited(values, bases)
        if isinstance(part, GeneratedClass):
            part = freshness.compare(part, declaration, everything)
        if isinstance(part, NoGeneratedClass):
            statement = dataclasses.replace(statement, is_declared_elsewhere=in_memory.nested_in_source)
            declaration = mcls._read(statement)
            part = in_memory.build(declaration, statement.parents, part, scope)
        for name_of_field in (*values.defaults, *values.specifiers, *values.bare):
            del namespace[name_of_field]
        mcls._prepare(namespace, declaration)
        cls = super().__new__(
            mcls, name, _bases_with((part.cls, *mcls._further_bases(declaration, bases)), bases), namespace
        )
        cls._declaration = declaration
        if "__init__" in vars(part.cls):
            # A TypeError for a wrong argument shows it: `Batch.__init__() missing ...`.
            vars(part.cls)["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        cls._defaults, cls._specifiers = everything.defaults, everything.specifiers
        mcls._complete(cls)  # a field called `complete` hides the method from the class
        _publish(cls, part, statement)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **flags: object) -> None:
        super().__init__(name, bases, namespace)

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls, subclass)

    @staticmethod
    def _read(statement: ClassStatement) -> Declaration:
        raise NotImplementedError

    @staticmethod
    def _prepare(namespace: dict[str, object], declaration: Declaration) -> None:
        """Add what the class needs in its namespace before it is made."""

    @staticmethod
    def _further_bases(declaration: Declaration, bases: tuple[type, ...]) -> tuple[type, ...]:
        """What goes behind the generated class, before the first declared base."""
        return ()

    def _complete(cls) -> None:
        """Do what can be done only once the class is made."""


def _statement(
    name: str,
    bases: tuple[type, ...],
    namespace: dict[str, object],
    flags: Mapping[str, object],
    scope: Scope,
    part: GeneratedClass | NoGeneratedClass,
) -> ClassStatement:
    module, reflection = str(namespace["__module__"]), import_module("qten_gen.reflection")
    model = import_module("qten_gen.model")
    words = {*model.STRING_OPTIONS, model.INIT}
    statement: ClassStatement = reflection.ClassStatement(
        name=name,
        module=module,
        qualname=str(namespace["__qualname__"]),
        namespace=namespace,
        annotations=annotations_of(namespace),
        bases=bases,
        parents=_parents(bases),
        flags=_flags(namespace, {name: on for name, on in flags.items() if name not in words}, model.FLAGS),
        words={name: flags[name] for name in words if name in flags},
        resolve=scope.resolve,
        is_declaration=lambda value: (
            isinstance(value, DeclarationMeta) and type(value)._nests and hasattr(value, "_declaration")
        ),
        classes={},
        import_of=scope.import_of,
        defines=scope.defines,
        is_declared_elsewhere=freshness.known_nested(part, module),
    )
    return statement


def _flags(namespace: Mapping[str, object], keywords: Mapping[str, object], known: tuple[str, ...]) -> frozenset[str]:
    """The class flags that are on, from `TensorClass["frozen"]` and `frozen=True`; unknown ones are kept for the rules.

    Raises:
        TypeError: a flag is neither True nor False.
    """
    for name, on in keywords.items():
        if not isinstance(on, bool):
            raise TypeError(f"the flag {name!r} is neither True nor False, but {on!r}")
    given = dict(keywords)
    for base in cast("tuple[object, ...]", namespace.get("__orig_bases__", ())):
        given.update(dict.fromkeys(getattr(base, "flags", ()), True))
    return frozenset(flag for flag, on in given.items() if on or flag not in known)


def _parents(bases: tuple[type, ...]) -> tuple[tuple[str, Declaration], ...]:
    """The declared ancestors of a class that is not made yet, in the order of its MRO."""
    declared = [base for base in bases if isinstance(base, DeclarationMeta)]
    ancestors = declared[0].__mro__ if len(declared) == 1 else _order(bases)
    return tuple(
        (f"{ancestor.__module__}.{ancestor.__qualname__}", cast("Declaration", vars(ancestor)["_declaration"]))
        for ancestor in ancestors
        if "_declaration" in vars(ancestor)
    )


def _order(bases: tuple[type, ...]) -> tuple[type, ...]:
    """The MRO that a class with these bases will have, itself left out."""
    try:
        # Made by a call, the class declares nothing.
        return types.new_class("order", bases).__mro__[1:]
    except TypeError:
        # The bases cannot be combined, which a rule says in better words.
        return tuple(dict.fromkeys(ancestor for base in bases for ancestor in base.__mro__))


def _values(statement: ClassStatement, declaration: Declaration) -> Values:
    """The defaults and specifier records of the fields that the statement itself declares."""
    defaults: dict[str, Default] = {}
    records: dict[str, object] = {}
    bare: list[str] = []
    for name in (f.name for f in declaration.fields if f.owner == statement.qualified):
        match statement.namespace.get(name, dataclasses.MISSING):
            case value if value is dataclasses.MISSING:
                pass
            case Parameter() | Buffer() | Submodule() | Virtual() as record:
                records[name] = record
            case Field(default_factory=None, default=value) if value is dataclasses.MISSING:
                bare.append(name)
            case Field(default_factory=None, default=value):
                defaults[name] = Default(value)
            case Field(default_factory=factory):
                defaults[name] = Default(factory, is_factory=True)
            case value:
                defaults[name] = Default(value)
    return Values(defaults, records, tuple(bare))


def _bases_with(parts: tuple[type, ...], bases: tuple[type, ...]) -> tuple[type, ...]:
    """The bases with the generated class, and what goes with it, before the first declared one."""
    first = next(index for index, base in enumerate(bases) if isinstance(base, DeclarationMeta))
    return (*bases[:first], *parts, *bases[first:])


def _with_inherited(values: Values, bases: tuple[type, ...]) -> Values:
    """The values of a statement over those of its declared bases."""
    defaults: dict[str, Default] = {}
    specifiers: dict[str, object] = {}
    for base in reversed([base for base in bases if isinstance(base, DeclarationMeta)]):
        defaults |= getattr(base, "_defaults", {})
        specifiers |= getattr(base, "_specifiers", {})
    return Values(defaults | values.defaults, specifiers | values.specifiers)


def _publish(cls: DeclarationMeta, part: GeneratedClass, statement: ClassStatement) -> None:
    """Make the class a global of its generated modules, and give it the classes that its nested fields hold."""
    again = loading.publish(cls, *part.modules)
    references: Mapping[str, str] = getattr(part.cls, "_nested", {})
    for reference in references.values():
        qualified = loading.resolve_reference(reference, loading.real_name(statement.module))
        met = next((found for found in statement.classes.values() if _is_named(found, qualified)), None)
        same_file = ":" not in reference
        loading.bind(vars(part.modules[0]), loading.bound_name(reference), met, qualified, again=again and same_file)


def _is_named(cls: type, qualified: str) -> bool:
    """Whether a class goes by the name; the folder that the command was given may lie above or below that of the imports."""
    own = f".{loading.real_name(cls.__module__)}.{cls.__qualname__}"
    return own.endswith(f".{qualified}") or f".{qualified}".endswith(own)
