"""The input of a rule: a declaration, its class statement if there is one, and the declarations of the run. And what it finds."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping

from ..common.records import field, record
from ..model import (
    NO_PATH,
    ClassSource,
    Declaration,
    FieldDecl,
    FieldSource,
    FileDecl,
    Mixin,
    ModuleDecl,
    ModuleField,
    NodePath,
    SourceFile,
    SpecifierCall,
    TensorClassDecl,
    declares,
)
from ..model.diagnostics import Fix
from ..model.foreign_classes import PROTOCOLS


@record(frozen=True, slots=True)
class Problem:
    """A mistake that a rule found: what is wrong, where, and how to mend it, as in `Diagnostic`."""

    message: str
    place: NodePath = NO_PATH
    help: str = ""
    notes: tuple[str, ...] = ()
    within: tuple[int, int] | None = None
    fix: Fix | None = None


@record(frozen=True, slots=True)
class Facts:
    """The facts for a rule beside the declaration that it checks."""

    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    """The declarations of the run by qualified name. For a class statement, of its ancestors and its children."""
    unimported: Collection[str] = ()
    """The paths of the files that no other file imports."""
    nested: Container[str] = ()
    """The qualified names of TensorClasses whose declarations are not needed: those inside classes, and those in annotations of a
    class statement."""
    classes: Mapping[str, ClassSource] = field(default_factory=dict)
    """The class statements of the run by qualified name, declarations or not."""

    mixins: tuple[Mixin, ...] = ()
    """Of a class statement that runs, the bases that declare nothing, and their ancestors."""

    @classmethod
    def of(cls, file: FileDecl, unimported: Collection[str] = ()) -> Facts:
        """The facts for the rules about a file."""
        return cls(file.related, unimported, file.nested, file.classes)

    def is_tensorclass(self, name: str) -> bool:
        """True if a qualified name is a TensorClass."""
        return name in self.nested or isinstance(self.declarations.get(name), TensorClassDecl)

    def lineage(self, name: str) -> Mapping[str, ClassSource | None]:
        """A class and its ancestors, nearest first, with their statements as far as the run has them."""
        found: dict[str, ClassSource | None] = {}
        waiting = [name]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = self.classes.get(name)
                known = self.declarations.get(name) or found[name]
                waiting += [base.name for base in (known.bases if known is not None else ())]
        return found

    def parents(self, declaration: Declaration) -> Iterator[Declaration]:
        """The declared bases."""
        for base in declaration.bases:
            parent = self.declarations.get(base.name)
            if parent is not None:
                yield parent

    def ancestors(self, declaration: Declaration) -> tuple[Declaration, ...]:
        """The declared ancestors, nearest first, each once."""
        found: dict[str, Declaration] = {}
        queue = list(self.parents(declaration))
        while queue:
            parent = queue.pop(0)
            if found.setdefault(parent.qualified, parent) is parent:
                queue.extend(p for p in self.parents(parent) if p.qualified not in found)
        return tuple(found.values())


@record(frozen=True, slots=True)
class RuleContext:
    """A declaration to check, and its class statement: of a file, or one that runs, which `file` is None for."""

    declaration: Declaration
    source: ClassSource
    file: SourceFile | None = None
    facts: Facts = Facts()

    @property
    def is_running(self) -> bool:
        """True if the declaration was read from a class statement that runs, which shows values, and no text or places."""
        return self.file is None

    @property
    def mixins(self) -> tuple[Mixin, ...]:
        """The bases that declare nothing, and their ancestors."""
        return self.facts.mixins if self.is_running else tuple(_mixins_of(self.declaration, self.facts))

    @property
    def name_place(self) -> NodePath:
        """The place of the name in the class statement."""
        return self.declaration.place / "name"

    @property
    def tensorclass_fields(self) -> tuple[FieldDecl, ...]:
        """The fields that the class declares itself; empty for a Module."""
        declaration = self.declaration
        if not isinstance(declaration, TensorClassDecl):
            return ()
        return tuple(f for f in declaration.fields if declares(declaration, f))

    @property
    def module_fields(self) -> tuple[ModuleField, ...]:
        """The fields that the class declares itself; empty for a TensorClass."""
        declaration = self.declaration
        if not isinstance(declaration, ModuleDecl):
            return ()
        return tuple(f for f in declaration.fields if declares(declaration, f))

    @property
    def fields(self) -> tuple[FieldDecl | ModuleField, ...]:
        """The fields that the class declares itself."""
        return (*self.tensorclass_fields, *self.module_fields)

    @property
    def constructs_itself(self) -> bool:
        """True if the class is a Module with a hand-written `__init__`. Its annotations are not constructor arguments then."""
        return isinstance(self.declaration, ModuleDecl) and self.declaration.custom_init

    @property
    def calls(self) -> Iterator[SpecifierCall]:
        """The specifiers in the class, and those among their arguments."""
        methods = () if self.is_running else self.source.methods
        found = [*(field.specifier for field in self.source.fields), *(method.specifier for method in methods)]
        for call in (*found, *self.source.checks):
            if call is not None:
                yield call
                yield from (each.value for each in call.nested if isinstance(each.value, SpecifierCall))

    def field_source(self, name: str) -> FieldSource | None:
        """The statement that declares a field; None if it stands in another class."""
        return next((field for field in self.source.fields if field.name == name), None)

    def value_place(self, name: str) -> NodePath:
        """The place of the value on the right of a field."""
        source = self.field_source(name)
        return NO_PATH if source is None else source.place / "value"

    def argument_place(self, name: str, keyword: str) -> NodePath:
        """The place of an argument of a field's specifier, or of the whole value if the argument is not given."""
        source = self.field_source(name)
        argument = source.specifier.get(keyword) if source and source.specifier else None
        return self.value_place(name) if argument is None else argument.place


def name_of(field: FieldSource) -> NodePath:
    """The place of the name in a field's statement, `name: type = value` or `name = value`."""
    is_annotated = field.annotation is not None or field.is_class_variable
    return field.place / "target" if is_annotated else field.place / "targets" / 0


def at(place: NodePath, found: tuple[str, str] | None) -> Iterator[Problem]:
    """The problem at a place, if there is one: its message and its help."""
    if found is not None:
        yield Problem(found[0], place, found[1])


def _mixins_of(declaration: Declaration, facts: Facts) -> Iterator[Mixin]:
    """The mixins among the bases of a declaration, and their own bases, as far as the run contains them."""
    is_first = True
    for base in declaration.bases:
        is_first = is_first and not base.declared and not base.name.startswith("qten_gen.")
        for source in facts.lineage(base.name).values() if not base.declared else ():
            if source is not None:
                methods = {method.name for method in source.methods}
                bound = methods.union(source.attributes, (f.name for f in source.fields if f.value or f.specifier))
                abstract = {
                    method.name
                    for method in source.methods
                    if any(d.startswith("abc.abstract") for d in method.decorators)
                }
                is_protocol = any(base.name in PROTOCOLS for base in source.bases)
                yield Mixin(source.name, frozenset(bound), frozenset(bound if is_protocol else abstract), is_first)
