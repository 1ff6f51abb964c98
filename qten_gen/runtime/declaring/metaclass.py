"""How a declaration and its generated class become one class.

When `class Batch(TensorClass)` runs, the metaclass reads what the statement says and gets the generated class `_Batch` for it:
`freshness` finds it, `in_memory` builds it where it is missing. The metaclass puts it between the declaration and its bases:
`Batch, _Batch, TensorClass`. The class is complete when its statement ends, user methods win by the ordinary method resolution
order, and `super()` in them reaches the generated ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import freshness, generator, in_memory, loading
from .class_scope import Scope, statement_frame
from .declared_class import DeclaredClass, declared_bases
from .freshness import GeneratedClass
from .statement import describe
from .values import values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration


class DeclarationMeta(DeclaredClass):
    """Metaclass of every declaration. Joins a class statement with the class generated for it.

    The metaclasses of TensorClass and Module fill in four hooks, in the order in which `__new__` calls them: `_read_declaration`,
    `_prepare_namespace`, `_mixins` and `_complete_class`.
    """

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **flags: object
    ) -> DeclarationMeta:
        # A class made by a call has no qualified name yet: parametrizations and FSDP derive so, and declare nothing.
        if "__qualname__" not in namespace or not declared_bases(bases):
            return super().__new__(mcls, name, bases, namespace)
        module = str(namespace["__module__"])
        scope = Scope(statement_frame(module), namespace)

        # What does the statement declare? The found class already helps here: it knows names that are not bound yet.
        found = freshness.find_generated(name, str(namespace["__qualname__"]), module)
        statement = describe(name, bases, namespace, flags, scope, freshness.known_nested(found, module))
        declaration = mcls._read_declaration(statement)
        own_values = values_of(statement, declaration)
        values = with_inherited(own_values, bases)

        # Which generated class belongs to it? A stale or missing one is built in memory.
        if isinstance(found, GeneratedClass):
            found = freshness.compare(found, declaration, values)
        if not isinstance(found, GeneratedClass):
            statement = dataclasses.replace(statement, is_declared_elsewhere=in_memory.nested_in_source(module, scope))
            declaration = mcls._read_declaration(statement)
            found = in_memory.build(declaration, statement, found, scope)

        elif mcls._is_suspicious(statement, declaration):
            generator.refuse(declaration, statement)

        # Join the two. Fields leave the namespace: the generated class has properties for them.
        for field in (*own_values.defaults, *own_values.specifiers, *own_values.bare):
            del namespace[field]
        mcls._prepare_namespace(namespace, declaration)
        joined = _with_generated((found.cls, *mcls._mixins(declaration, bases)), bases)
        cls = super().__new__(mcls, name, joined, namespace)
        cls._declaration = declaration
        cls._defaults, cls._specifiers = values.defaults, values.specifiers
        if "__init__" in vars(found.cls):
            # A TypeError for a wrong argument shows it: `Batch.__init__() missing ...`.
            vars(found.cls)["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        mcls._complete_class(cls)  # called on the metaclass: a field may hide the method from the class
        _publish(cls, found, statement)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **flags: object) -> None:
        super().__init__(name, bases, namespace)

    @staticmethod
    def _read_declaration(statement: ClassStatement) -> Declaration:
        """What the statement declares."""
        raise NotImplementedError

    @staticmethod
    def _is_suspicious(statement: ClassStatement, declaration: Declaration) -> bool:
        """Whether a class with fresh generated code has to be checked again, for bases that the command may not have seen."""
        return False

    @staticmethod
    def _prepare_namespace(namespace: dict[str, object], declaration: Declaration) -> None:
        """Add what the class needs in its namespace before it is made."""

    @staticmethod
    def _mixins(declaration: Declaration, bases: tuple[type, ...]) -> tuple[type, ...]:
        """Further bases, behind the generated class and before the first declared base."""
        return ()

    def _complete_class(cls) -> None:
        """Do what can be done only once the class is made."""


def _with_generated(generated: tuple[type, ...], bases: tuple[type, ...]) -> tuple[type, ...]:
    """The bases with the generated class, and its mixins, before the first declared one."""
    first = bases.index(declared_bases(bases)[0])
    return (*bases[:first], *generated, *bases[first:])


def _publish(cls: DeclarationMeta, generated: GeneratedClass, statement: ClassStatement) -> None:
    """Make the class a global of its generated modules, and give it the classes that its nested fields hold."""
    again = loading.publish(cls, *generated.modules)
    references: Mapping[str, str] = getattr(generated.cls, "_nested", {})
    for reference in references.values():
        qualified = loading.resolve_reference(reference, loading.real_name(statement.module))
        met = next((found for found in statement.classes.values() if _is_named(found, qualified)), None)
        namespace, name = vars(generated.modules[0]), loading.bound_name(reference)
        same_file = ":" not in reference
        loading.bind(namespace, name, met, qualified, again=again and same_file)


def _is_named(cls: type, qualified: str) -> bool:
    """Whether a class goes by the name; the folder that the command was given may lie above or below that of the imports."""
    own = f".{loading.real_name(cls.__module__)}.{cls.__qualname__}"
    return own.endswith(f".{qualified}") or f".{qualified}".endswith(own)
