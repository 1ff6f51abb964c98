"""The source layer: what one file says on its own, before anybody knows what an imported name means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .dimensions import Dim, DimError
from .expressions import NO_PATH, NodePath, TypeExpr, Value


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a field specifier: positional where `keyword` is None. A dimension string is parsed, the rest is a value."""

    keyword: str | None
    value: Dim | DimError | Value
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)
    """The content of the string that a dimension was written as."""


@dataclass(frozen=True, slots=True)
class Specifier:
    """A call on the right of a field: `param("3*dim", "dim", initializer=...)`.

    `name` is the qualified name of what is called (`qten_gen.param`).
    """

    name: str
    arguments: tuple[Argument, ...]
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    def get(self, keyword: str) -> Argument | None:
        """The argument of that keyword, if it is given."""
        return next((argument for argument in self.arguments if argument.keyword == keyword), None)

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The arguments without a keyword."""
        return tuple(argument for argument in self.arguments if argument.keyword is None)


@dataclass(frozen=True, slots=True)
class FieldSource:
    """`name: annotation = value` in a class body. `annotation` is None for `name = param(...)`, which a rule reports."""

    name: str
    annotation: TypeExpr | None
    value: Value | None = None
    specifier: Specifier | None = None
    doc: str = ""
    place: NodePath = NO_PATH


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's parameters and result as written, for the stub: `"x: Tensor, *, scale: float = ..."`, without `self`."""

    parameters: str
    result: str
    names: tuple[str, ...] = ()
    """The dotted and plain names that the text mentions, which the stub has to import."""
    is_async: bool = False
    place: NodePath = NO_PATH


@dataclass(frozen=True, slots=True)
class DataWrite:
    """A write through `.data` to an attribute of the object that a method belongs to."""

    name: str
    place: NodePath


@dataclass(frozen=True, slots=True)
class MethodSource:
    """A function in a class body. `decorators` are qualified names (`builtins.property`, `qten_gen.virtual`)."""

    name: str
    signature: Signature
    decorators: tuple[str, ...] = ()
    specifier: Specifier | None = None
    """The decorator's call where it is `@virtual(...)`."""
    doc: str = ""
    place: NodePath = NO_PATH
    data_writes: tuple[DataWrite, ...] = ()
    """Looked for in classes with cached virtual tensors only."""


@dataclass(frozen=True, slots=True)
class ConditionalSource:
    """What a class body binds in `if`, `try`, `with`, `match` and loops; it is no part of a declaration."""

    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassSource:
    """A top-level class statement, before anybody knows whether it declares."""

    name: str
    bases: tuple[TypeExpr, ...]
    keywords: tuple[tuple[str, Value], ...] = ()
    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()
    attributes: tuple[str, ...] = ()
    """Other names that the body binds: assignments without annotation, nested classes, ClassVars."""
    type_parameters: str = ""
    """PEP 695 parameters as written, brackets included."""
    doc: str = ""
    place: NodePath = NO_PATH
    conditional: ConditionalSource = ConditionalSource()
    for_checkers: ConditionalSource = ConditionalSource()
    """What stands under `if TYPE_CHECKING:`."""
    unpacked: tuple[NodePath, ...] = ()
    """Bases and keywords that are unpacked, `*bases` and `**flags`, of which the text does not tell what they are."""
    decorators: tuple[tuple[str, NodePath], ...] = ()
    """Qualified names of what decorates the class."""


@dataclass(frozen=True, slots=True)
class RegistrationSource:
    """`@Owner.register(Type) def handler(...)` at the top level of a file. The signature keeps all parameters."""

    owner: TypeExpr
    type: TypeExpr
    handler: str
    signature: Signature
    place: NodePath = NO_PATH


@dataclass(frozen=True, slots=True)
class ImportedName:
    """What a top-level name was imported as.

    `import torch as t` binds `t` to `("torch", None)`, and `from .base import B` binds `B` to `(".base", "B")`.
    """

    module: str
    name: str | None
    type_checking: bool = False


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What a file has to be told of other files before its names can be read."""

    reexports: Mapping[str, str] = field(default_factory=dict)
    """Names of other files that stand for something outside the run: `shop.common.Tensor` for `torch.Tensor`."""
    star_names: Mapping[str, ImportedName] = field(default_factory=dict)
    """The names that its star imports bring."""
    complete: bool = False
    """Whether they bring no others."""


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A type variable defined in the file: its bound, or the union of its constraints."""

    bound: TypeExpr | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What one file says. `module` is its dotted name, `path` how it was given to the run."""

    path: str
    module: str
    classes: tuple[ClassSource, ...] = ()
    imports: dict[str, ImportedName] = field(default_factory=dict)
    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    """Module-level names bound to a type expression: `Tokens = Int[Tensor, "b s"]`."""
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    registrations: tuple[RegistrationSource, ...] = ()
    names: frozenset[str] = frozenset()
    """Every name bound at the top level."""
    future_annotations: bool = False
    is_package: bool = False
    star_imports: tuple[str, ...] = ()
    """The modules, as written, of `from module import *`."""
    repeated: tuple[ClassSource, ...] = ()
    """Class statements whose name an earlier one has; of several, `classes` holds the last."""
    has_star_import: bool = False
    """Whether a star import may bring names that are not known here, so that an unknown name is no mistake."""
    exported: tuple[str, ...] | None = None
    """What `__all__` lists; None where there is none, or none that can be read."""
    is_program: bool = False
    """Whether it asks for `"__main__"`, as files do that are run rather than imported."""
