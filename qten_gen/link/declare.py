"""Builds declarations from class statements and their ancestors."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..model import (
    FLAGS,
    INIT,
    STRING_OPTIONS,
    BaseDecl,
    ClassSource,
    Declaration,
    FieldDecl,
    MethodSource,
    ModuleDecl,
    ModuleField,
    RegistrationDecl,
    SourceFile,
    SubmoduleDecl,
    TensorClassDecl,
    language,
)
from ..model.build_field import build_module_field, build_tensorclass_field, build_virtual_field
from ..model.field_kinds import child_class, members_of
from ..model.written_init import is_attribute_only, keeps_foreign_init
from .bases import ROOTS, Ancestry, Root
from .names import Names

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
"""A plain or dotted name."""

Registrations = Mapping[str, tuple[RegistrationDecl, ...]]
"""Handlers by the qualified name of the Module that they are registered for."""


def declare_all(names: Names, ancestry: Ancestry) -> dict[str, Declaration]:
    """The declarations of a run, by qualified name."""
    registrations = _registrations(names)
    declarations: dict[str, Declaration] = {}
    for file in names.files:
        for cls in file.classes:
            qualified = f"{file.module}.{cls.name}"
            root = ancestry.root(qualified)
            if root is Root.TENSORCLASS:
                declarations[qualified] = _tensorclass(file, cls, names, ancestry)
            elif root is Root.MODULE:
                declarations[qualified] = _module(file, cls, names, ancestry, registrations)
    return declarations


def related(own: tuple[Declaration, ...], declarations: Mapping[str, Declaration]) -> dict[str, Declaration]:
    """The declarations of a file, and all that they mention directly or indirectly."""
    found: dict[str, Declaration] = {declaration.qualified: declaration for declaration in own}
    waiting = list(own)
    while waiting:
        for name in _mentioned(waiting.pop()):
            if name in declarations and name not in found:
                found[name] = declarations[name]
                waiting.append(declarations[name])
    return found


def _mentioned(declaration: Declaration) -> Iterator[str]:
    yield from (base.name for base in declaration.bases)
    for field in declaration.fields:
        yield from (member.name for member in members_of(field.type))
        if isinstance(field, SubmoduleDecl):
            yield child_class(field.type).name
    if isinstance(declaration, ModuleDecl):
        yield from (handler.type.name for handler in declaration.handlers)
        yield from (found.type.name for found in declaration.registers if found.type is not None)


def flags_of(cls: ClassSource, names: Names) -> frozenset[str]:
    """The flags of a class statement, as keywords or in brackets. Unknown flags are left out."""
    given = {name for name, value in cls.keywords if value.literal == "True"}
    for base in cls.bases:
        if names.resolve(base.name) == Root.TENSORCLASS.value:
            given.update(argument for argument in base.args if isinstance(argument, str))
    return frozenset(given.intersection(FLAGS))


def _tensorclass(file: SourceFile, cls: ClassSource, names: Names, ancestry: Ancestry) -> TensorClassDecl:
    """The declaration of a TensorClass. A field that the class redeclares keeps its inherited position."""
    qualified = f"{file.module}.{cls.name}"
    lineage = _lineage(qualified, names, ancestry)
    inherited: dict[str, FieldDecl] = {}
    for owner, source in reversed(lineage[1:]):
        inherited.update({f.name: f for f in _tensorclass_fields(owner, source, names, ancestry)})
    fields = dict(inherited)
    fields.update({f.name: f for f in _tensorclass_fields(qualified, cls, names, ancestry)})
    return TensorClassDecl(
        name=cls.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        flags=_all_flags(qualified, names, ancestry),
        checks=_string_option("checks", qualified, names, ancestry),
        post_init=_defines(qualified, "__post_init__", names, ancestry),
        custom_init=_has(cls, "__init__"),
        frozen_by_keyword=any(name == "frozen" and value.literal == "True" for name, value in cls.keywords),
        module=file.module,
        bases=_bases(cls, names, ancestry),
        type_parameters=cls.type_parameters,
        doc=cls.doc,
        methods=cls.methods,
        place=cls.place,
    )


def _module(
    file: SourceFile, cls: ClassSource, names: Names, ancestry: Ancestry, registrations: Registrations
) -> ModuleDecl:
    """The declaration of a Module. A field that the class redeclares keeps its inherited position."""
    qualified = f"{file.module}.{cls.name}"
    lineage = _lineage(qualified, names, ancestry)
    inherited: dict[str, ModuleField] = {}
    for owner, source in reversed(lineage[1:]):
        inherited.update({f.name: f for f in _module_fields(owner, source, names, ancestry)})
    fields = dict(inherited)
    fields.update({f.name: f for f in _module_fields(qualified, cls, names, ancestry)})
    written = any(_has(source, "__init__") for _, source in lineage)
    kept = [(_bases(source, names, ancestry), _keeps_init(source)) for _, source in lineage]
    forward = next((method.signature for method in cls.methods if method.name == "forward"), None)
    return ModuleDecl(
        name=cls.name,
        fields=tuple(fields.values()),
        own=tuple(name for name in fields if name not in inherited),
        custom_init=written or keeps_foreign_init(fields.values(), kept),
        post_init=_defines(qualified, "__post_init__", names, ancestry),
        custom_reset=_defines(qualified, "reset_parameters", names, ancestry),
        keeps_init=_keeps_init(cls),
        inherited_reset=any(
            _defines(base, "reset_parameters", names, ancestry) for base in ancestry.mro(qualified)[1:]
        ),
        module=file.module,
        bases=_bases(cls, names, ancestry),
        type_parameters=cls.type_parameters,
        forward=forward,
        registrations=registrations.get(qualified, ()),
        handlers=_handlers(qualified, registrations, ancestry),
        doc=cls.doc,
        methods=tuple(method for method in cls.methods if not is_virtual(method)),
        registers=tuple(
            found if found.type is None else replace(found, type=names.expand(found.type)) for found in cls.registers
        ),
        bound=_bound(cls),
        place=cls.place,
    )


def is_virtual(method: MethodSource) -> bool:
    """Whether the function is a virtual tensor."""
    return language.VIRTUAL in method.decorators


def _lineage(qualified: str, names: Names, ancestry: Ancestry) -> list[tuple[str, ClassSource]]:
    """The class and those of its ancestors that are declarations, in method resolution order."""
    found = ((name, names.class_of(name)) for name in ancestry.mro(qualified))
    return [(name, item[1]) for name, item in found if item and (name == qualified or ancestry.root(name))]


def _all_flags(qualified: str, names: Names, ancestry: Ancestry) -> frozenset[str]:
    flags: frozenset[str] = frozenset()
    return flags.union(*(flags_of(source, names) for _, source in _lineage(qualified, names, ancestry)))


def _string_option(keyword: str, qualified: str, names: Names, ancestry: Ancestry) -> str:
    """The value of a class keyword that takes a string: that of the class, or else of its first parent."""
    seen: set[str] = set()
    lineage = _lineage(qualified, names, ancestry)
    while lineage and lineage[0][0] not in seen:
        owner, cls = lineage[0]
        value = next((value for name, value in cls.keywords if name == keyword), None)
        if value is not None:
            return str(literal_eval(value.literal or "None"))
        seen.add(owner)
        lineage = _lineage(lineage[1][0], names, ancestry) if len(lineage) > 1 else []
    return STRING_OPTIONS[keyword][0]


def _tensorclass_fields(owner: str, cls: ClassSource, names: Names, ancestry: Ancestry) -> Iterator[FieldDecl]:
    """The fields that a class statement declares itself."""
    flags = _all_flags(owner, names, ancestry)

    def is_tensorclass(name: str) -> bool:
        return ancestry.root(name) is Root.TENSORCLASS

    for source in cls.fields:
        if source.annotation is not None:
            type = names.expand(source.annotation)
            yield build_tensorclass_field(source, type, flags, owner, is_tensorclass)


def _bound(cls: ClassSource) -> frozenset[str]:
    """The names that the body of a class binds, blocks included."""
    parts = (cls, cls.conditional, cls.for_checkers)
    fields = (field.name for part in parts for field in part.fields)
    methods = (method.name for part in parts for method in part.methods)
    return frozenset((*fields, *methods, *cls.attributes))


def _keeps_init(cls: ClassSource) -> bool:
    return any(name == INIT and value.literal == "False" for name, value in cls.keywords)


def _module_fields(owner: str, cls: ClassSource, names: Names, ancestry: Ancestry) -> Iterator[ModuleField]:
    """The fields that a class statement declares itself, virtual tensors last."""
    lineage = _lineage(owner, names, ancestry)
    written = any(_has(source, "__init__") or _keeps_init(source) for _, source in lineage)
    for source in cls.fields:
        if source.annotation is not None and not (written and is_attribute_only(source)):
            yield build_module_field(source, names.expand(source.annotation), owner)
    for method in cls.methods:
        if is_virtual(method):
            yield build_virtual_field(method, owner)


def _bases(cls: ClassSource, names: Names, ancestry: Ancestry) -> tuple[BaseDecl, ...]:
    resolved = [(names.resolve(base.name), base) for base in cls.bases]
    return tuple(
        BaseDecl(name, base.text, declared=name not in ROOTS and ancestry.root(name) is not None)
        for name, base in resolved
    )


def _has(cls: ClassSource, method: str) -> bool:
    return any(found.name == method for found in cls.methods) or method in cls.attributes


def _defines(qualified: str, method: str, names: Names, ancestry: Ancestry) -> bool:
    """Whether the class or any ancestor in the run, mixins included, defines the method."""
    found = (names.class_of(name) for name in ancestry.mro(qualified))
    return any(item is not None and _has(item[1], method) for item in found)


def _handlers(qualified: str, registrations: Registrations, ancestry: Ancestry) -> tuple[RegistrationDecl, ...]:
    """The handlers of a Module, including inherited ones: one for each type, the most specific type first."""
    found: dict[str, RegistrationDecl] = {}
    for owner in ancestry.mro(qualified):
        own: dict[str, RegistrationDecl] = {}
        for registration in registrations.get(owner, ()):
            if registration.replaces or registration.type.name not in own:
                own[registration.type.name] = registration
        for name, registration in own.items():
            found.setdefault(name, registration)
    return tuple(sorted(found.values(), key=lambda registration: -len(ancestry.mro(registration.type.name))))


def _registrations(names: Names) -> Registrations:
    """The handlers registered for each Module, sorted by file and line; one for each member of a union."""
    found: dict[str, tuple[RegistrationDecl, ...]] = {}
    for file in sorted(names.files, key=lambda file: file.module):
        for source in file.registrations:
            owner = names.resolve(source.owner.name)
            result = source.signature.result
            decls = (
                RegistrationDecl(
                    owner,
                    member,
                    source.handler,
                    source.signature,
                    file.module,
                    source.place,
                    source.replaces,
                    names.meaning(result, file) if _NAME.fullmatch(result) else "",
                )
                for member in members_of(names.expand(source.type))
            )
            found[owner] = (*found.get(owner, ()), *decls)
    return found
