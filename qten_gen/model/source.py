"""The source layer: records for the content of one file, before imported names are resolved.

`read` creates these records from text, one `SourceFile` for each file. `link` resolves their names across files and turns them
into declarations. Some rules use them for details that a declaration does not contain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..common.records import field, record
from .class_body import FieldSource, MethodSource, Signature, SpecifierCall
from .field_parts import NO_PATH, NodePath, TypeExpr, Value
from .registered import Registered


@record(frozen=True, slots=True)
class ConditionalSource:
    """Names that a class body binds inside `if`, `try`, `with`, `match` and loops. They are not part of the declaration."""

    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()
    checks: tuple[SpecifierCall, ...] = ()


@record(frozen=True, slots=True)
class ClassSource:
    """A class statement at the top level or inside another class. Its bases decide later whether it is a declaration."""

    name: str
    bases: tuple[TypeExpr, ...]
    """The bases without keywords; flags in brackets stay strings: `TensorClass["frozen"]`."""
    keywords: tuple[tuple[str, Value], ...] = ()
    """The class keywords: `frozen=True`, `checks="off"`, `metaclass=Meta`."""
    fields: tuple[FieldSource, ...] = ()
    """Annotated names and names that a specifier is assigned to, ClassVars left out."""
    methods: tuple[MethodSource, ...] = ()
    """All functions of the body, properties and virtual tensors among them."""
    attributes: tuple[str, ...] = ()
    """Other names that the body binds: assignments without annotation, nested classes, ClassVars."""
    values: tuple[tuple[str, Value], ...] = field(default=(), compare=False, repr=False)
    """The attributes whose value makes an object or is a type, with the value: `head = nn.Linear(2, 2)`."""
    type_parameters: str = ""
    """PEP 695 parameters as written, brackets included: `[T: Tensor]`."""
    doc: str = ""
    place: NodePath = NO_PATH
    conditional: ConditionalSource = ConditionalSource()
    """Names that are bound inside blocks at run time."""
    for_checkers: ConditionalSource = ConditionalSource()
    """Names that are bound under `if TYPE_CHECKING:`."""
    unpacked: tuple[NodePath, ...] = ()
    """Unpacked bases and keywords, `*bases` and `**flags`. Their content is not known from the text."""
    decorators: tuple[tuple[str, NodePath], ...] = ()
    """Qualified names of the class decorators: `dataclasses.dataclass`."""
    registers: tuple[Registered, ...] = ()
    """The objects that its `__init__` registers: parameters, buffers and children."""
    checks: tuple[SpecifierCall, ...] = ()
    """The statements `check(...)` of its body."""
    sets_any: bool = field(default=False, compare=False, repr=False)
    """Whether its text sets attributes whose names it does not show, by `setattr` or `__dict__`."""
    outer: str = ""
    """The class around it, `Outer` or `Outer.Middle`; empty at the top level."""

    @property
    def qualname(self) -> str:
        """Its name with the classes around it."""
        return f"{self.outer}.{self.name}" if self.outer else self.name


@record(frozen=True, slots=True)
class RegistrationSource:
    """A handler at the top level of a file: `@Attention.register(Batch)` above `def _(attention, batch): ...`."""

    owner: TypeExpr
    """The module that dispatches: `Attention`."""
    type: TypeExpr
    """The type that the handler is for: `Batch`."""
    handler: str
    """Name of the function."""
    signature: Signature
    """All parameters: the module itself is the first."""
    replaces: bool = False
    """Whether it is given `replace=True`."""
    place: NodePath = NO_PATH


@record(frozen=True, slots=True)
class ImportedName:
    """The import that binds a top-level name.

    `import torch as t` binds `t` to `("torch", None)`, and `from .base import B` binds `B` to `(".base", "B")`.
    """

    module: str
    """As written, leading dots included."""
    name: str | None
    """The name inside the module; None if the module itself is bound."""
    type_checking: bool = False
    """Whether the import is under `if TYPE_CHECKING:`."""


class Reexports(Protocol):
    """The names that other files reexport from outside the run."""

    def get(self, name: str, /) -> str | None:
        """The origin of a reexported name, `torch.Tensor` for `shop.common.Tensor`; None for any other name."""
        ...


class Asked:
    """Stands for the reexports of a first reading: it knows none, and remembers the names that were asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def get(self, name: str) -> str | None:
        self.names.add(name)
        return None


@record(frozen=True, slots=True)
class ImportContext:
    """The facts about other files that a reader needs to resolve the names of this one."""

    reexports: Reexports | None = None
    """The names that other files reexport. Without them, names mean what this file alone says."""
    star_names: Mapping[str, ImportedName] = field(default_factory=dict)
    """The names that its star imports bind."""
    complete: bool = False
    """Whether `star_names` contains all names that they bind."""


@record(frozen=True, slots=True)
class TypeVariable:
    """A type variable that the file defines: `T = TypeVar("T", bound=Tensor)`, or `[T: Tensor]` of a class."""

    bound: TypeExpr | None
    """Its bound, or the union of its constraints; None without either."""


@record(frozen=True, slots=True)
class SourceFile:
    """The content of one file."""

    path: str
    """The path of the file for diagnostics: `src/shop/model.py`."""
    module: str
    """Its dotted name: `shop.model`."""
    classes: tuple[ClassSource, ...] = ()
    """Top-level classes, those inside `if` and `try` included. Of several with the same name, the last."""
    inner: tuple[ClassSource, ...] = ()
    """The classes inside classes. Nothing is generated for them in a file, but they are checked."""
    imports: dict[str, ImportedName] = field(default_factory=dict)
    """The imported names and their imports."""
    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    """Names bound to a type expression: `Tokens = Int[Tensor, "b s"]`; those of a class as `Class.Tokens`."""
    alternatives: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """Names of the top level that are bound in several ways, or to what the text does not show, as types."""
    constants: dict[str, str] = field(default_factory=dict)
    """Names that are bound once, to an expression that may be a constant, as written; those of a class as `Class.SIZE`."""
    nested: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """The bases of the classes inside classes, by names such as `Class.Inner`."""
    makers: frozenset[str] = frozenset()
    """Functions that call a specifier, whose results may be specifiers therefore."""
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    """Type variables by name; those of a class as `Class.T`."""
    registrations: tuple[RegistrationSource, ...] = ()
    functions: tuple[MethodSource, ...] = ()
    """The functions at the top level, for the stub."""
    variables: tuple[tuple[str, TypeExpr], ...] = ()
    """The annotated names at the top level with their types, for the stub."""
    names: frozenset[str] = frozenset()
    """Every name bound at the top level."""
    suppressed: tuple[str, ...] = ()
    """The texts of the top-level statements with a comment `# qten-gen: ignore[...]`, which decide what it suppresses."""
    is_package: bool = False
    """Whether it is an `__init__.py`, in which relative imports start from the package itself."""
    star_imports: tuple[str, ...] = ()
    """The modules, as written, of `from module import *`."""
    repeated: tuple[ClassSource, ...] = ()
    """Class statements that repeat the name of an earlier one."""
    has_star_import: bool = False
    """Whether a star import or `globals()[name] = ...` may bind names that are not known. An unknown base is no mistake then."""
    exported: tuple[str, ...] | None = None
    """The names in `__all__`; None if the file has none, or one that is computed."""
    is_program: bool = False
    """Whether it contains `"__main__"`, as files that are run as programs do."""
