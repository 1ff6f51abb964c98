"""Reads a class statement outright where it is of the usual kind, so that nothing of the generator is loaded for it.

The result carries the fingerprint that the generator would compute. Where anything in the statement is unusual, or a rule has
to look at an object in it, there is no result, and the generator reads the statement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

from torch import nn

from ...common import language
from ...common.class_body import defines
from ...common.field_kinds import FieldKind
from ...common.fingerprint_rows import VALUE, Row, fingerprint_of, recorded_call, row
from ...common.naming import PRIVATE_NAMES, storage
from ...common.python_text import annotation_text, literal_of
from ...common.records import as_dict
from . import freshness
from .annotated_kinds import Decided, Kinds, Names, NotCertain, evaluated, is_class_variable
from .declared_class import DeclaredClass, FieldSummary, LaterDeclaration, Summary
from .fields import Const
from .freshness import ClassFacts, GeneratedClass
from .module_rows import child_row, expression, is_harmless, literal, parameter_row
from .statement import Body, is_nestable, mixins_of, parents_of, values_of, with_inherited

if TYPE_CHECKING:
    from .generator import Declaration


class Outright(NamedTuple):
    """The declaration in a statement of the usual kind."""

    summary: Summary
    fingerprint: str
    meanings: Mapping[str, object]
    """The meanings of the names in the annotations."""


def read(body: Body, *, nests: bool) -> Outright | None:
    """The declaration in a statement; None if it needs the generator's reader. `nests` is true for a TensorClass."""
    try:
        _refuse_unusual(body)
        return _tensorclass(body) if nests else _module(body)
    except Exception:  # whatever the user's objects raise, the generator's reader reports better
        return None


def _refuse_unusual(body: Body) -> None:
    """Refuse a statement with more in it than fields, functions and plain values.

    Raises:
        NotCertain: there is.
    """
    # A rule asks whether a base takes the others. A function's variables are gone when the declaration is read later.
    if body.passed or not body.scope.is_of_module:
        raise NotCertain
    for name, value in body.namespace.items():
        if name in body.annotations or name.startswith("__") or isinstance(value, _BESIDE_FIELDS):
            continue
        call = recorded_call(value)
        if call is not None and call.name == language.VIRTUAL:
            continue
        if call is not None or not isinstance(value, type) or value.__module__ in ("builtins", "torch"):
            raise NotCertain
    for base in body.bases:
        for ancestor in base.__mro__:
            # Whether its constructor is kept depends on what else is declared (`model.build_field`).
            if issubclass(ancestor, nn.Module) and ancestor is not nn.Module and not _is_ours(ancestor):
                raise NotCertain


_BESIDE_FIELDS: tuple[type, ...] = (FunctionType, property, classmethod, staticmethod, str, int, float)


def _is_ours(cls: type) -> bool:
    return isinstance(cls, DeclaredClass) or "_fingerprint" in vars(cls) or cls.__module__.startswith("qten_gen.")


def _inherited(parents: tuple[tuple[str, Summary], ...]) -> dict[str, FieldSummary]:
    """The fields of the parents, each as the nearest one that declares it says."""
    return {f.name: f for owner, parent in reversed(parents) for f in parent.fields if f.owner == owner}


def _tensorclass(body: Body) -> Outright:
    """The declaration of a TensorClass, in the order of the attributes of `TensorClassDecl`."""
    parents = parents_of(body.bases)
    flags = body.flags.union(*(parent.flags for _, parent in parents))
    names = Names(body.scope, body.name, body.namespace)
    kinds = Kinds(names, flags, is_nestable)
    fields = _inherited(parents)
    inherited = frozenset(fields)
    for name, annotation in body.annotations.items():
        meant = evaluated(annotation, names)
        if not is_class_variable(meant):
            fields[name] = _tensorclass_field(name, annotation, kinds.decide(name, meant), body)
        elif recorded_call(body.namespace.get(name)) is not None or not _is_plain(body.namespace.get(name)):
            raise NotCertain
    checks = body.options.get("checks", next((parent.checks for _, parent in parents), "on"))
    # `check(...)` is for Modules, which a rule says.
    if body.checks:
        raise NotCertain
    _refuse_collisions(fields, body)
    own = tuple(name for name in fields if name not in inherited)
    custom_init = "__init__" in body.namespace
    summary = Summary(tuple(fields.values()), own, custom_init, flags, str(checks))
    declared = row(
        "TensorClassDecl",
        name=body.name,
        fields=tuple(f.row for f in summary.fields),
        own=own,
        flags=tuple(sorted(flags)),
        checks=checks,
        post_init=defines(body.namespace, body.bases, "__post_init__"),
        custom_init=custom_init,
    )
    return Outright(summary, fingerprint_of(declared), names)


def _refuse_collisions(fields: Collection[str], body: Body) -> None:
    """Refuse a base without a declaration that may use a name which the fields need.

    Raises:
        NotCertain: there is one.
    """
    used = PRIVATE_NAMES.union(fields, map(storage, fields), ("__dataclass_fields__", "__attrs_attrs__"))
    if any(not used.isdisjoint(vars(cls)) for cls, _ in mixins_of(body.bases)):
        raise NotCertain


def _is_plain(value: object) -> bool:
    return isinstance(value, _BESIDE_FIELDS) or literal_of(value) is not None


def _tensorclass_field(name: str, annotation: object, decided: Decided, body: Body) -> FieldSummary:
    """A field of a TensorClass, whose row is the one of its `FieldDecl`."""
    value, is_factory, kw_only, alias = _default(body.namespace.get(name, MISSING))
    # An alias is for Modules, which a rule says.
    if alias is not None:
        raise NotCertain
    if value is not MISSING:
        _check_default(value, is_factory, decided)
    default = _default_row(value, is_factory)
    text = getattr(annotation, "__forward_arg__", None) or annotation_text(annotation)
    made = row("FieldDecl", **as_dict(decided.field), default=default, kw_only=kw_only)
    return FieldSummary.of(body.qualified, made, text, nested_class=decided.nested_class)


def _default(given: object) -> tuple[object, bool, bool, str | None]:
    """The default of a field or MISSING, whether it is a factory, whether the field is keyword only, and its alias."""
    call = recorded_call(given)
    if call is None:
        return given, False, False, None
    if isinstance(given, Const):
        return given.value, False, False, None
    # The other keywords of `dataclasses.field` are for a rule.
    if call.name != language.FIELD or not call.kwargs.keys() <= set(language.SPECIFIER_KEYWORDS[language.FIELD]):
        raise NotCertain
    kw_only, alias = call.kwargs["kw_only"], call.kwargs.get(language.ALIAS)
    if not isinstance(kw_only, bool) or not isinstance(alias, str | None):
        raise NotCertain
    if "default_factory" in call.kwargs:
        return call.kwargs["default_factory"], True, kw_only, alias
    value = call.kwargs.get("default", MISSING)
    if recorded_call(value) is not None and not isinstance(value, Const):
        raise NotCertain
    return value.value if isinstance(value, Const) else value, False, kw_only, alias


def _default_row(value: object, is_factory: bool) -> Row | None:
    return None if value is MISSING else row("Default", value=VALUE, factory=is_factory)


_NUMBERS: Mapping[str | None, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (bool, int),
    "float": (bool, int, float),
    "complex": (bool, int, float, complex),
}


def _check_default(value: object, is_factory: bool, decided: Decided) -> None:
    """Refuse a default that the field may not hold, or that objects cannot share.

    Raises:
        NotCertain: a rule has to look at it.
    """
    declared = decided.field
    if is_factory:
        fits = isinstance(value, type | FunctionType)
    # A rule refuses a function where `default_factory` is meant.
    elif literal_of(value) is None:
        fits = type(value).__hash__ is not None and not isinstance(value, FunctionType)
    elif value is None:
        fits = decided.takes_none or declared.optional
    elif declared.kind is FieldKind.NUMBER:
        fits = isinstance(value, _NUMBERS.get(declared.cast, ()))
    else:
        fits = declared.kind.is_static
    if not fits:
        raise NotCertain


def _module(body: Body) -> Outright:
    """The declaration of a Module, in the order of the attributes of `ModuleDecl`."""
    # With `init=False` other names are fields (`model.build_field`). Flags are for TensorClasses: a rule says it.
    if body.options or body.flags:
        raise NotCertain
    parents = parents_of(body.bases)
    names = Names(body.scope, body.name, body.namespace)
    written = "__init__" in body.namespace or any(parent.custom_init for _, parent in parents)
    fields = _inherited(parents)
    inherited = frozenset(fields)
    for name, annotation in body.annotations.items():
        given = body.namespace.get(name, MISSING)
        call = recorded_call(given)
        has_specifier = call is not None and call.name != language.CONST
        meant = evaluated(annotation, names)
        if is_class_variable(meant):
            if given is not MISSING and not _is_plain(given):
                raise NotCertain
        # As `model.build_field` decides where a constructor is written by hand.
        elif not written or has_specifier or (given is MISSING and not name.startswith("_")):
            fields[name] = FieldSummary.of(body.qualified, _module_row(name, given, meant, body))
        elif given is not MISSING and not _is_plain(given):
            raise NotCertain
    for name, value in body.namespace.items():
        call = recorded_call(value)
        if call is not None and call.name == language.VIRTUAL:
            fields[name] = FieldSummary.of(
                body.qualified,
                row("VirtualDecl", name=name, **{key: literal(given) for key, given in call.kwargs.items()}),
            )
    own = tuple(name for name in fields if name not in inherited)
    conditions = (
        *(check for owner, parent in reversed(parents) for check in parent.conditions if check[0] == owner),
        *((body.qualified, row("CheckDecl", condition=expression(call.args[0]))) for call in body.checks),
    )
    summary = Summary(tuple(fields.values()), own, written, conditions=conditions)
    declared = row(
        "ModuleDecl",
        name=body.name,
        fields=tuple(f.row for f in summary.fields),
        own=own,
        custom_init=written,
        post_init=defines(body.namespace, body.bases, "__post_init__"),
        custom_reset=defines(body.namespace, body.bases, "reset_parameters"),
        inherited_reset=defines({}, body.bases, "reset_parameters"),
        checks=tuple(condition for _, condition in conditions),
    )
    return Outright(summary, fingerprint_of(declared), names)


def _module_row(name: str, given: object, annotation: object, body: Body) -> Row:
    """The row of a field of a Module: by its specifier, or of a constructor argument."""
    call = recorded_call(given)
    if call is None or call.name not in language.SPECIFIERS - {language.FIELD}:
        return _config_row(name, given, annotation)
    if call.name == language.DERIVED:
        return row("DerivedDecl", name=name, value=expression(call.args[0]))
    if call.name not in (language.SUBMODULE, language.SEQUENTIAL):
        return parameter_row(name, call, body.namespace)
    return child_row(name, call)


def _config_row(name: str, given: object, annotation: object) -> Row:
    value, is_factory, kw_only, alias = _default(given)
    if value is None and isinstance(annotation, type):
        raise NotCertain  # a rule refuses it for most classes
    fits = isinstance(value, type | FunctionType) if is_factory else value is MISSING or is_harmless(value)
    if not fits:
        raise NotCertain  # a rule has to look at it
    return row("ConfigDecl", name=name, default=_default_row(value, is_factory), kw_only=kw_only, alias=alias)


def facts_outright(body: Body, found: GeneratedClass, *, nests: bool) -> ClassFacts | None:
    """The generated class where it is certainly fresh; None where its declaration has to be read."""
    said = read(body, nests=nests)
    if said is None:
        return None
    own_values = values_of(body, said.summary)
    values = with_inherited(own_values, said.summary, body.bases)
    if not freshness.is_fresh(found, said.fingerprint, said.summary, values):
        return None
    later = body._replace(scope=body.scope.kept(said.meanings))

    def declaration() -> Declaration:
        from . import generator
        from .in_memory import describe, known_nested

        return generator.read(describe(later, known_nested(later)), nests=nests)

    return ClassFacts(found, said.summary, LaterDeclaration(declaration), own_values, values)
