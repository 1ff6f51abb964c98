"""How a declaration and its generated class become one class.

When `class Batch(TensorClass)` runs, the metaclass gets the generated class `_Batch_` for it: `freshness` finds it, `outright`
decides whether it is what the statement says, and `in_memory` builds it where it is missing or stale. The metaclass puts it
between the declaration and its bases: `Batch, _Batch_, TensorClass`. The class is complete when its statement ends, user
methods win by the ordinary method resolution order, and `super()` in them reaches the generated ones.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torch import nn

from ...common import language
from . import freshness, loading
from .class_scope import Scope, statement_frame
from .declared_class import DeclaredClass, declared_bases, without_annotations
from .freshness import GeneratedClass, NoGeneratedClass
from .outright import facts_outright
from .statement import Body

if TYPE_CHECKING:
    from .declared_class import Summary


def annotate(constructor: Callable[..., None], cls: type, body: Body, summary: Summary) -> None:
    """Replace the annotations of the generated `__init__` of `cls`, which are text, by the types that the declaration gives.

    A name that is not bound yet stays a forward reference to the module of the class.
    """
    is_visible = body.qualname == body.name or body.qualname.endswith(f"<locals>.{body.name}")
    names: dict[str, object] = {}
    if not all(isinstance(annotation, type) for annotation in body.annotations.values()):
        names = body.scope.names() | ({cls.__name__: cls} if is_visible else {})
    known: dict[str, object] = {}
    for base in reversed(body.bases):
        for ancestor in reversed(base.__mro__):
            if "_fingerprint" in vars(ancestor) and "__init__" in vars(ancestor):
                known |= vars(ancestor)["__init__"].__annotations__
    for field in summary.fields:
        argument = field.argument
        if argument is None or argument not in constructor.__annotations__:
            continue
        if field.owner == body.qualified:
            constructor.__annotations__[argument] = _resolved(body.annotations[field.name], names, cls)
        # As its own statement resolved it: here the names may mean something else.
        elif argument in known:
            constructor.__annotations__[argument] = known[argument]


def _resolved(annotation: object, names: dict[str, object], cls: type) -> object:
    """An annotation with the names in its strings replaced by what they mean where the statement stands."""
    if isinstance(annotation, type):
        return annotation
    # A space at its beginning would be an indentation.
    given = annotation.strip() if isinstance(annotation, str) else annotation
    holder = types.SimpleNamespace(__annotations__={"field": given})
    try:
        return typing.get_type_hints(holder, {}, names, include_extras=True)["field"]
    except SyntaxError:
        return annotation
    except Exception:  # whatever an expression of the user's may raise; for a class that is what the readers say
        return typing.ForwardRef(given, module=cls.__module__) if isinstance(given, str) else annotation


@without_annotations
class DeclarationMeta(DeclaredClass):
    """Metaclass of every declaration. Joins a class statement with the class generated for it.

    The metaclasses of TensorClass and Module fill in the hooks, in the order in which `__new__` calls them:
    `_prepare_namespace`, `_mixins`, `_separated`, `_complete_class` and, in that, `_register`.
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
        # A class made by a call has a qualified name only if its caller gives it.
        is_statement = "__qualname__" in namespace
        if not is_statement:
            from . import dynamic_classes

            if not dynamic_classes.is_declaring(namespace, given):
                return _undeclared(mcls, name, bases, namespace)
            namespace = dynamic_classes.named(mcls, name, namespace)
        module = str(namespace["__module__"])
        scope = Scope(statement_frame(mcls, module), namespace)

        qualname = str(namespace["__qualname__"])
        found: GeneratedClass | NoGeneratedClass = freshness.MADE_BY_CALL
        if is_statement:
            found = freshness.find_generated(name, qualname, module, scope.file)
        is_later = freshness.is_declared_later(found, module, qualname)
        body = Body.of(name, bases, namespace, given, (mcls._known_flags, mcls._known_options), scope, is_later)
        # A class that is stale or missing is built in memory.
        facts = facts_outright(body, found, nests=mcls._nests) if isinstance(found, GeneratedClass) else None
        if facts is None:
            from . import in_memory

            try:
                facts = in_memory.facts_of(body, found, nests=mcls._nests)
            except TypeError as error:
                if hasattr(error, "findings"):  # a DeclarationError: its traceback ends at the class statement
                    error.__traceback__ = None
                raise
        generated = facts.generated

        # Join the two. Fields leave the namespace: the generated class has properties for them.
        for field in (*facts.own_values.defaults, *facts.own_values.specifiers, *facts.own_values.bare):
            del namespace[field]
        namespace.pop(language.CHECKS, None)  # the record that `check(...)` statements leave in the body
        mcls._prepare_namespace(namespace, facts.summary)
        joined = _with_generated((generated.cls, *mcls._mixins(facts.summary, bases)), mcls._separated(bases))
        cls = super().__new__(mcls, name, joined, namespace, **body.passed)
        _look_past_protocols(cls)
        cls._declared_as = facts.summary
        # A descriptor, which the annotation of the attribute hides.
        type.__setattr__(cls, "_declaration", facts.declaration)
        cls._defaults, cls._specifiers = facts.values.defaults, facts.values.specifiers
        if "__init__" in vars(generated.cls):
            constructor = vars(generated.cls)["__init__"]
            # A TypeError for a wrong argument shows it: `Batch.__init__() missing ...`.
            constructor.__qualname__, constructor.__module__ = f"{cls.__qualname__}.__init__", module
            annotate(constructor, cls, body, facts.summary)
        mcls._complete_class(cls)  # called on the metaclass: a field may hide the method from the class
        if not loading.is_importable(cls):
            from . import dynamic_classes

            dynamic_classes.keep_bases(cls, bases, generated.cls)
        _publish(cls, generated, body)
        return cls

    @staticmethod
    def _prepare_namespace(namespace: dict[str, object], summary: Summary) -> None:
        """Add what the class needs in its namespace before it is made."""

    @staticmethod
    def _mixins(summary: Summary, bases: tuple[type, ...]) -> tuple[type, ...]:
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
    from . import dynamic_classes

    generated, is_copy = dynamic_classes.generated_base(namespace), "_declared_as" in namespace
    if generated is None and not is_copy:
        cls = DeclaredClass.__new__(mcls, name, bases, dynamic_classes.named(mcls, name, namespace))
        mcls._register(cls)
        return cls
    cls = DeclaredClass.__new__(mcls, name, bases, dynamic_classes.rebuilt(namespace))
    if generated is None or is_copy:
        mcls._complete_class(cls)
    else:
        mcls._register(cls, is_filled=False)
        dynamic_classes.show_rebuilt(generated.cls)
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


def _publish(cls: DeclarationMeta, generated: GeneratedClass, body: Body) -> None:
    """Make the class a global of its generated modules, and give it the classes that its nested fields hold."""
    again = loading.publish(cls, *generated.modules)
    references: Mapping[str, str] = getattr(generated.cls, "_nested", {})
    for field, reference in references.items():
        qualified = loading.resolve_reference(reference, loading.real_name(body.module))
        nested = _nested_class(cls, field, reference, body)
        # A class of another file is not executed again with this one.
        same_file = ":" not in reference and nested is not cls
        # In the module whose functions check the fields; the others only offer the finished class.
        loading.bind(generated.modules[0], loading.bound_name(reference), nested, qualified, again=again and same_file)


def _nested_class(cls: DeclarationMeta, field: str, reference: str, body: Body) -> type | None:
    """The class that a nested field holds, where the statement or a parent knows it; None where it is to come."""
    declared = next(found for found in cls._declared_as.fields if found.name == field)
    if declared.owner != body.qualified:
        return _nested_class_of_parent(cls, field)
    return cls if declared.nested_class is None and reference == body.name else declared.nested_class


def _nested_class_of_parent(cls: DeclarationMeta, field: str) -> type | None:
    """The class that an inherited field holds: the one that the parent's generated code checks."""
    for parent in cls.__mro__:
        generated = vars(parent)
        # Its own generated class is among its bases, and gets its names from this very look-up.
        if "_fingerprint" in generated and parent not in cls.__bases__ and field in generated.get("_nested", {}):
            found = generated["__init__"].__globals__.get(loading.bound_name(generated["_nested"][field]))
            return None if found is loading.Undeclared else found
    return None
