"""The declaration layer: records for class statements, with inherited fields included and the kinds of fields decided.

`link` creates these records from source files, and `reflection` creates equal ones from a class statement that runs. Rules check
them, emitters turn them into generated classes, and their fingerprint shows whether a generated class still matches its
declaration. Attributes that are not compared (`compare=False`) are used for the stub, for documentation or for diagnostics only.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import Enum

from ..common.fingerprint_rows import Row, fingerprint_of, row
from ..common.python_text import expression_text
from ..common.records import field, fields, record
from .dimensions import Dim
from .field_parts import NO_PATH, NodePath, TypeExpr
from .fields import CheckDecl, FieldDecl, ModuleField
from .source import ClassSource, MethodSource, Signature, SourceFile


@record(frozen=True, slots=True)
class BaseDecl:
    """A base of a declaration: `Base` of `class Batch(Base)`."""

    name: str
    """Its qualified name: `shop.base.Base`."""
    text: str
    """How the source spells it, for the stub: `base.Base`, `Generic[T]`."""
    declared: bool
    """True if the class is itself a declaration; False for `TensorClass`, `Module` and mixins."""


@record(frozen=True, slots=True)
class _ClassDecl:
    """What the declarations of a TensorClass and a Module have alike. They are compared by what decides the generated class."""

    name: str
    post_init: bool = field(default=False, kw_only=True)
    """True if the class or a parent defines `__post_init__`."""
    module: str = field(default="", compare=False, kw_only=True)
    """The dotted name of its module: `shop.model`."""
    qualname: str = field(default="", compare=False, kw_only=True)
    """Its name with the classes and functions around it; `link` leaves it empty for top-level classes."""
    bases: tuple[BaseDecl, ...] = field(default=(), compare=False, kw_only=True)
    type_parameters: str = field(default="", compare=False, kw_only=True)
    """PEP 695 parameters as written, brackets included: `[T: Tensor]`."""
    doc: str = field(default="", compare=False, kw_only=True)
    methods: tuple[MethodSource, ...] = field(default=(), compare=False, kw_only=True)
    """The functions of its body, for the stub and for rules about names. Of a Module, virtual tensors are left out."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False, kw_only=True)

    @property
    def qualified(self) -> str:
        """Module and name, which no two declarations of a run share."""
        return f"{self.module}.{self.qualname or self.name}"


@record(frozen=True, slots=True)
class TensorClassDecl(_ClassDecl):
    """A TensorClass: `class Batch(TensorClass, frozen=True): ...`."""

    fields: tuple[FieldDecl, ...]
    """All fields in the order of the constructor's arguments, inherited ones included."""
    own: tuple[str, ...]
    """The names of the fields that no parent stores. A redeclared field is stored by the parent."""
    flags: frozenset[str] = frozenset()
    """The class flags, inherited ones included: `frozen` of `frozen=True` or of `TensorClass["frozen"]`."""
    checks: str = "on"
    """The class keyword `checks`, or the first parent's: `"off"` of `checks="off"`."""
    custom_init: bool = False
    """True if the class defines `__init__` itself."""

    @property
    def frozen(self) -> bool:
        """True if instances are immutable."""
        return "frozen" in self.flags


@record(frozen=True, slots=True)
class RegistrationDecl:
    """A handler that a Module dispatches to: `@Attention.register(Batch)` above a function. The stub has an overload for each."""

    owner: str
    """Qualified name of the module that it is registered for: `shop.model.Attention`."""
    type: TypeExpr
    """The type that it handles: `Batch`."""
    handler: str
    """Name of the function."""
    signature: Signature
    """All parameters, the module first."""
    module: str
    """The dotted name of the module that defines the function."""
    place: NodePath = NO_PATH
    replaces: bool = False
    """True if the handler may take the place of another handler for the type: `replace=True`."""


@record(frozen=True, slots=True)
class ModuleDecl(_ClassDecl):
    """A Module: `class Attention(Module): ...`."""

    fields: tuple[ModuleField, ...]
    """All fields in order, inherited ones included."""
    own: tuple[str, ...]
    """The names of those fields that no parent declares."""
    custom_init: bool = False
    """True if the class or a declared parent has a hand-written `__init__`: then no constructor is generated."""
    custom_reset: bool = False
    """True if the class or a parent defines `reset_parameters`."""
    inherited_reset: bool = False
    """True if a parent defines `reset_parameters`, which the generated one calls."""
    checks: tuple[CheckDecl, ...] = ()
    """The conditions on its constructor arguments, inherited checks first."""
    keeps_init: bool = field(default=False, compare=False)
    """True if the class statement has `init=False`, so that type checkers use the `__init__` of the parent."""
    bound: frozenset[str] = field(default=frozenset(), compare=False)
    """The names that its body binds in a way that a checker sees: annotations, methods and attributes."""

    @property
    def writes_init(self) -> bool:
        """True if the class itself has a hand-written `__init__`."""
        return any(method.name == "__init__" for method in self.methods)


Declaration = TensorClassDecl | ModuleDecl


def declares(declaration: Declaration, field: FieldDecl | ModuleField | CheckDecl) -> bool:
    """True if a class declares a field or a check itself, rather than inheriting it."""
    return field.owner == declaration.qualified


def home(field: FieldDecl | ModuleField) -> str:
    """The module of the class that declares a field, for a class at the top level of its file."""
    return field.owner.rpartition(".")[0]


@record(frozen=True, slots=True)
class FileDecl:
    """The declarations of one source file, with what rules and emitters need of other files. `link` creates it."""

    source: SourceFile
    declarations: tuple[Declaration, ...]
    """The declarations of the file itself, in the order of its classes."""
    registrations: tuple[RegistrationDecl, ...] = ()
    """The handlers that the file registers for Modules, of any file."""
    related: Mapping[str, Declaration] = field(default_factory=dict)
    """All declarations of the run by qualified name. Iteration gives those in the file, and of the Modules that it registers
    handlers for."""
    packages: Mapping[str, bool] = field(default_factory=dict, compare=False)
    """True for a module of the run that is a package. The modules cannot be listed."""
    type_variables: frozenset[str] = frozenset()
    """The type variables of the files that the declarations mention directly."""
    classes: Mapping[str, ClassSource] = field(default_factory=dict)
    """The class statements of the run by qualified name, declarations or not. They cannot be listed."""
    meanings: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The meanings of names in the files of the run: `shop.base.Batch` for `shop.model:Batch`. They cannot be listed."""
    nested: Container[str] = field(default=(), compare=False)
    """The qualified names of the TensorClasses of the run that are inside classes, and so have no declaration."""

    def is_package(self, module: str) -> bool:
        """True if a module of the run is a package."""
        return self.packages.get(module, False)


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that change if another run-time class would be generated.

    The fingerprint covers the compared attributes (see `qten_gen.model`). The runtime checks the values in the generated code
    one by one when the class statement runs.
    """
    return fingerprint_of(structure(declaration))


def structure(node: object) -> Row:
    """The compared attributes of a record of the model."""
    compared = [f.name for f in fields(node) if f.compare]  # type: ignore[arg-type] # any of the records
    return row(type(node).__name__, **{name: _covered(getattr(node, name)) for name in compared})


def _covered(value: object) -> object:
    """What the row has for an attribute."""
    match value:
        case tuple():
            return tuple(map(_covered, value))
        case frozenset():
            # The order of a set is another one in each process.
            return tuple(sorted(map(str, value)))
        case str() | int() | Enum() | None:
            return value
        case Dim():
            return expression_text(value.text)
    return structure(value)
