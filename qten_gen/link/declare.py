"""Builds declarations from class statements and their ancestors."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from ..common.field_kinds import members_of
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
    TensorClassDecl,
    language,
)
from ..model.build_field import (
    build_check,
    build_module_field,
    build_tensorclass_field,
    build_virtual_field,
    is_attribute_only,
    keeps_foreign_init,
)
from .bases import ROOTS, Ancestry, Root
from .lookups import Lookups, remembered
from .name_resolution import Names

_CLASS_VARIABLE = "typing.ClassVar"


class _Member(NamedTuple):
    """A class of the run that a declaration consists of: itself, or an ancestor."""

    name: str
    source: ClassSource
    flags: frozenset[str]


Lineage = tuple[_Member, ...]

_F = TypeVar("_F", FieldDecl, ModuleField)


class Declarations:
    """The declarations of a run, each computed when it is asked for."""

    def __init__(self, names: Names, ancestry: Ancestry, lookups: Lookups) -> None:
        self._names = names
        self._ancestry = ancestry
        self.lookups = lookups

    @remembered
    def get(self, qualified: str) -> Declaration | None:
        """The declaration of a class by its resolved name; None for any other class."""
        found = self._names.class_of(qualified)
        root = self._ancestry.root(qualified) if found is not None else None
        if found is None or root is None:
            return None
        return self._tensorclass(*found) if root is Root.TENSORCLASS else self._module(*found)

    def _tensorclass(self, file: SourceFile, cls: ClassSource) -> TensorClassDecl:
        """The declaration of a TensorClass."""
        qualified = f"{file.module}.{cls.qualname}"
        lineage = self._lineage(qualified)
        fields, own = _with_inherited(lineage, self._tensorclass_fields)
        return TensorClassDecl(
            name=cls.name,
            qualname=cls.qualname if cls.outer else "",
            fields=fields,
            own=own,
            flags=_flags(lineage),
            checks=self._string_option("checks", qualified),
            post_init=self._defines(qualified, "__post_init__"),
            custom_init=_has(cls, "__init__"),
            module=file.module,
            bases=self._bases(cls),
            type_parameters=cls.type_parameters,
            doc=cls.doc,
            methods=cls.methods,
            place=cls.place,
        )

    def _module(self, file: SourceFile, cls: ClassSource) -> ModuleDecl:
        """The declaration of a Module."""
        qualified = f"{file.module}.{cls.qualname}"
        lineage = self._lineage(qualified)
        fields, own = _with_inherited(lineage, self._module_fields)
        written = any(_has(source, "__init__") for _, source, _ in lineage)
        kept = [(self._bases(source), _keeps_init(source)) for _, source, _ in lineage]
        return ModuleDecl(
            name=cls.name,
            qualname=cls.qualname if cls.outer else "",
            fields=fields,
            own=own,
            custom_init=written or keeps_foreign_init(fields, kept),
            post_init=self._defines(qualified, "__post_init__"),
            custom_reset=self._defines(qualified, "reset_parameters"),
            keeps_init=_keeps_init(cls),
            inherited_reset=self._defines(qualified, "reset_parameters", inherited=True),
            checks=tuple(build_check(call, owner) for owner, source, _ in reversed(lineage) for call in source.checks),
            module=file.module,
            bases=self._bases(cls),
            type_parameters=cls.type_parameters,
            doc=cls.doc,
            methods=tuple(method for method in cls.methods if not is_virtual(method)),
            bound=bound_by(cls),
            place=cls.place,
        )

    @remembered
    def _lineage(self, qualified: str) -> Lineage:
        """The class and its declared ancestors, in method resolution order."""
        found = map(self._member, self._ancestry.mro(qualified))
        return tuple(member for member in found if member is not None)

    @remembered
    def _member(self, name: str) -> _Member | None:
        """A class of the run, if it is a declaration, with its flags: keywords, or in brackets. Unknown flags are left out."""
        found = self._names.class_of(name)
        if found is None or self._ancestry.root(name) is None:
            return None
        flags = {keyword for keyword, value in found[1].keywords if value.literal == "True"}
        for base in found[1].bases:
            resolved = self._ancestry.base(base)
            if resolved == language.SIZED:
                flags.add("sized")
            elif resolved == language.TENSORCLASS:
                flags.update(argument for argument in base.args if isinstance(argument, str))
        return _Member(name, found[1], frozenset(flags.intersection(FLAGS)))

    def _string_option(self, keyword: str, qualified: str) -> str:
        """The value of a class keyword that takes a string, from the class or else from its first parent."""
        seen: set[str] = set()
        lineage = self._lineage(qualified)
        # As long as a class of the lineage has the keyword and the first does not, there is a parent to go on with.
        while lineage[0].name not in seen and any(keyword in dict(member.source.keywords) for member in lineage):
            seen.add(lineage[0].name)
            value = next((value for name, value in lineage[0].source.keywords if name == keyword), None)
            if value is not None:
                return str(literal_eval(value.literal or "None"))
            lineage = self._lineage(lineage[1].name)
        return STRING_OPTIONS[keyword][0]

    @remembered
    def _tensorclass_fields(self, owner: str) -> tuple[FieldDecl, ...]:
        """The fields that a TensorClass declares itself."""
        lineage = self._lineage(owner)
        flags = _flags(lineage)

        def is_tensorclass(name: str) -> bool:
            return self._ancestry.root(name) is Root.TENSORCLASS

        written = [(field, field.annotation) for field in lineage[0].source.fields if field.annotation is not None]
        typed = [(field, self._names.expand(annotation)) for field, annotation in written]
        return tuple(
            build_tensorclass_field(field, type, flags, owner, is_tensorclass)
            for field, type in typed
            if type.name != _CLASS_VARIABLE  # by an alias
        )

    @remembered
    def _module_fields(self, owner: str) -> tuple[ModuleField, ...]:
        """The fields that a Module declares itself, virtual tensors last."""
        lineage = self._lineage(owner)
        cls = lineage[0].source
        written = any(_has(source, "__init__") or _keeps_init(source) for _, source, _ in lineage)
        fields = [
            build_module_field(source, self._names.expand(source.annotation), owner)
            for source in cls.fields
            if source.annotation is not None and not (written and is_attribute_only(source))
        ]
        return (*fields, *(build_virtual_field(method, owner) for method in cls.methods if is_virtual(method)))

    def _bases(self, cls: ClassSource) -> tuple[BaseDecl, ...]:
        resolved = [(self._ancestry.base(base), base) for base in cls.bases]
        return tuple(
            BaseDecl(name, base.text, declared=name not in ROOTS and self._ancestry.root(name) is not None)
            for name, base in resolved
        )

    def _defines(self, qualified: str, method: str, inherited: bool = False) -> bool:
        """True if the class or any ancestor in the run, mixins included, defines the method; or only whether an ancestor does."""
        found = (self._names.class_of(name) for name in self._ancestry.mro(qualified)[int(inherited) :])
        return any(item is not None and _has(item[1], method) for item in found)

    def registrations(self, file: SourceFile) -> Iterator[RegistrationDecl]:
        """The handlers that a file registers for Modules; one for each member of a union."""
        for source in file.registrations:
            owner = self._names.resolve(source.owner.name)
            if isinstance(self.get(owner), ModuleDecl):
                for member in members_of(self._names.expand(source.type)):
                    yield RegistrationDecl(
                        owner, member, source.handler, source.signature, file.module, source.place, source.replaces
                    )


def _with_inherited(
    lineage: Lineage, fields_of: Callable[[str], tuple[_F, ...]]
) -> tuple[tuple[_F, ...], tuple[str, ...]]:
    """The fields of a class, inherited ones first, and the names that no ancestor declares."""
    # From the farthest ancestor on: a redeclared field keeps its position, and has the type of the last declaration.
    inherited = {field.name: field for owner, *_ in reversed(lineage[1:]) for field in fields_of(owner)}
    fields = {**inherited, **{field.name: field for field in fields_of(lineage[0].name)}}
    return tuple(fields.values()), tuple(name for name in fields if name not in inherited)


def _flags(lineage: Lineage) -> frozenset[str]:
    return frozenset[str]().union(*(member.flags for member in lineage))


def _keeps_init(cls: ClassSource) -> bool:
    return any(name == INIT and value.literal == "False" for name, value in cls.keywords)


def bound_by(cls: ClassSource) -> frozenset[str]:
    """The names that the body of a class binds, blocks included."""
    parts = (cls, cls.conditional, cls.for_checkers)
    fields = (field.name for part in parts for field in part.fields)
    methods = (method.name for part in parts for method in part.methods)
    return frozenset((*fields, *methods, *cls.attributes))


def is_virtual(method: MethodSource) -> bool:
    """True if the function is a virtual tensor."""
    return language.VIRTUAL in method.decorators


def _has(cls: ClassSource, method: str) -> bool:
    return any(found.name == method for found in cls.methods) or method in cls.attributes
