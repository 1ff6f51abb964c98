"""How a declaration and its generated class become one class.

When `class Batch(TensorClass)` runs, the metaclass reads what the statement says and gets the generated class `_Batch_` for it:
`freshness` finds it, `in_memory` builds it where it is missing. The metaclass puts it between the declaration and its bases:
`Batch, _Batch_, TensorClass`. The class is complete when its statement ends, user methods win by the ordinary method resolution
order, and `super()` in them reaches the generated ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import nn

from ...common import language
from . import again, autoreload, constructor_types, freshness, generator, in_memory, loading, made_by_call
from .class_scope import Scope, statement_frame
from .declared_class import DeclaredClass, declared_bases, without_annotations
from .freshness import GeneratedClass
from .statement import ClassKeywords, describe
from .values import values_of, with_inherited

if TYPE_CHECKING:
    from .generator import ClassStatement, Declaration


@without_annotations
class DeclarationMeta(DeclaredClass):
    """Metaclass of every declaration. Joins a class statement with the class generated for it.

    The metaclasses of TensorClass and Module fill in five hooks, in the order in which `__new__` calls them: `_read_declaration`,
    `_prepare_namespace`, `_mixins`, `_separated` and `_complete_class`.
    """

    _known_flags: tuple[str, ...] = ()
    """Class keywords that are on or off."""
    _known_options: tuple[str, ...] = ()
    """Class keywords that take another value."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], /, **given: object
    ) -> DeclarationMeta:
        if not declared_bases(bases):
            return super().__new__(mcls, name, bases, namespace)
        # A class made by a call has no qualified name yet.
        is_statement = "__qualname__" in namespace
        if not is_statement:
            if not made_by_call.is_declaring(namespace, given):
                return _undeclared(mcls, name, bases, namespace)
            namespace = made_by_call.named(mcls, name, namespace)
        module = str(namespace["__module__"])
        scope = Scope(statement_frame(mcls, module), namespace)

        # What does the statement declare? The found class already helps here: it knows names that are not bound yet.
        qualname = str(namespace["__qualname__"])
        missing = freshness.MADE_BY_CALL
        found = freshness.find_generated(name, qualname, module, scope.file) if is_statement else missing
        keywords = ClassKeywords.of(given, mcls._known_flags, mcls._known_options)
        statement = describe(name, bases, namespace, keywords, scope, freshness.known_nested(found, module))
        declaration = mcls._read_declaration(statement)
        own_values = values_of(statement, declaration)
        values = with_inherited(own_values, declaration, bases)

        def informed() -> tuple[Declaration, ClassStatement]:
            """The declaration and its statement with names that do not exist yet, looked up in the text."""
            explained = dataclasses.replace(statement, elsewhere=in_memory.meaning_in_source(module, scope))
            return mcls._read_declaration(explained), explained

        # Which generated class belongs to it? A stale or missing one is built in memory.
        if isinstance(found, GeneratedClass):
            if mcls._is_doubtful(statement, declaration):
                generator.refuse_informed(declaration, statement, informed, loading.real_name(module), scope)
            compared = freshness.compare(found, declaration, values)
        else:
            compared = found
        if not isinstance(compared, GeneratedClass):
            # The text may be what the command saw, too.
            declaration, statement = informed()
            compared = freshness.compare(found, declaration, values) if isinstance(found, GeneratedClass) else found
        if not isinstance(compared, GeneratedClass):
            compared = in_memory.build(declaration, statement, compared, scope)
        found = freshness.unchanged(compared, loading.previous(module, qualname))

        # Join the two. Fields leave the namespace: the generated class has properties for them.
        for field in (*own_values.defaults, *own_values.specifiers, *own_values.bare):
            del namespace[field]
        namespace.pop(language.CHECKS, None)
        mcls._prepare_namespace(namespace, declaration)
        joined = _with_generated((found.cls, *mcls._mixins(declaration, bases)), mcls._separated(bases))
        cls = super().__new__(mcls, name, joined, namespace, **keywords.passed)
        _look_past_protocols(cls)
        cls._declaration = declaration
        cls._defaults, cls._specifiers = values.defaults, values.specifiers
        if "__init__" in vars(found.cls):
            constructor = vars(found.cls)["__init__"]
            # A TypeError for a wrong argument shows it: `Batch.__init__() missing ...`.
            constructor.__qualname__, constructor.__module__ = f"{cls.__qualname__}.__init__", module
            constructor_types.annotate(constructor, cls, statement, declaration, scope)
        mcls._complete_class(cls)  # called on the metaclass: a field may hide the method from the class
        if not loading.is_importable(cls):
            made_by_call.keep_bases(cls, bases, found.cls)
        before = loading.before(cls)
        _publish(cls, found, statement)
        again.declare(before, cls, scope.filename)
        autoreload.install()
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], /, **given: object) -> None:
        super().__init__(name, bases, namespace)

    @staticmethod
    def _read_declaration(statement: ClassStatement) -> Declaration:
        """What the statement declares."""
        raise NotImplementedError

    @staticmethod
    def _is_doubtful(statement: ClassStatement, declaration: Declaration) -> bool:
        """Whether a class with fresh generated code has to be checked again, for what the command may not have seen."""
        return generator.is_doubtful(declaration, statement)

    @staticmethod
    def _prepare_namespace(namespace: dict[str, object], declaration: Declaration) -> None:
        """Add what the class needs in its namespace before it is made."""

    @staticmethod
    def _mixins(declaration: Declaration, bases: tuple[type, ...]) -> tuple[type, ...]:
        """Further bases, behind the generated class and before the first declared base."""
        return ()

    @staticmethod
    def _separated(bases: tuple[type, ...]) -> tuple[type, ...]:
        """The bases, and what has to stand between them."""
        return bases

    def _complete_class(cls) -> None:
        """Do what can be done only once the class is made."""

    def _register(cls, *, is_filled: bool = True) -> None:
        """Make the class known to libraries. Unless `is_filled`, its tables are still to come."""


def _undeclared(
    mcls: type[DeclarationMeta], name: str, bases: tuple[type, ...], namespace: dict[str, object]
) -> DeclarationMeta:
    """A class made by a call that declares nothing: derived from its bases, copied, or rebuilt by cloudpickle."""
    if made_by_call.is_complete(namespace):
        cls = DeclaredClass.__new__(mcls, name, bases, made_by_call.rebuilt(namespace))
        mcls._complete_class(cls)
        return cls
    generated = made_by_call.generated_base(namespace)
    if generated is not None:
        cls = DeclaredClass.__new__(mcls, name, bases, made_by_call.rebuilt(namespace))
        mcls._register(cls, is_filled=False)
        loading.show_rebuilt(generated.cls)
        return cls
    cls = DeclaredClass.__new__(mcls, name, bases, made_by_call.named(mcls, name, namespace))
    mcls._register(cls)
    return cls


def _with_generated(generated: tuple[type, ...], bases: tuple[type, ...]) -> tuple[type, ...]:
    """The bases with the generated class, and its mixins, before the first declared one.

    An nn.Module of another library, such as LightningModule, stands behind it too: the generated constructor calls its.
    """
    first = next(i for i, base in enumerate(bases) if isinstance(base, DeclaredClass) or issubclass(base, nn.Module))
    return (*bases[:first], *generated, *bases[first:])


def _look_past_protocols(cls: type) -> None:
    """Give a class whose first bases are protocols the constructor behind them; `typing` would at the first call of theirs."""
    found = [vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base)]
    constructor = next(init for init in found if getattr(init, "__name__", "") != "_no_init_or_replace_init")
    if constructor is not found[0]:
        type.__setattr__(cls, "__init__", constructor)


def _publish(cls: DeclarationMeta, generated: GeneratedClass, statement: ClassStatement) -> None:
    """Make the class a global of its generated modules, and give it the classes that its nested fields hold."""
    again = loading.publish(cls, *generated.modules)
    references: Mapping[str, str] = getattr(generated.cls, "_nested", {})
    for field, reference in references.items():
        qualified = loading.resolve_reference(reference, loading.real_name(statement.module))
        met = _met(cls, field, statement)
        same_file = ":" not in reference and met is not cls
        loading.bind(generated.modules[0], loading.bound_name(reference), met, qualified, again=again and same_file)


def _met(cls: DeclarationMeta, field: str, statement: ClassStatement) -> type | None:
    """The class that a nested field holds, where the statement or a parent knows it; None where it is to come."""
    declared = next(found for found in cls._declaration.fields if found.name == field)
    if declared.owner != statement.qualified:
        return _met_by_parent(cls, field)
    nested = getattr(declared, "nested", None)
    named = next(name for name in declared.type.mentioned if name.rpartition(".")[2] == nested)
    own = cls if named == f"{statement.module}.{statement.name}" else None
    return statement.classes.get(named, own)


def _met_by_parent(cls: DeclarationMeta, field: str) -> type | None:
    """The class that an inherited field holds: the one that the parent's generated code checks."""
    for parent in cls.__mro__:
        generated = vars(parent)
        if "_fingerprint" in generated and parent not in cls.__bases__ and field in generated.get("_nested", {}):
            found = generated["_fill"].__globals__.get(loading.bound_name(generated["_nested"][field]))
            return None if found is loading.Undeclared else found
    return None
