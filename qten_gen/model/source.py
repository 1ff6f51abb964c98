"""The source layer: what one file says on its own, before it is known what an imported name means.

`read` makes these records from text, one `SourceFile` a file. `link` follows their names across files and turns them into
declarations; some rules look at them again, for what a declaration no longer says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .class_body import FieldSource, MethodSource, Signature
from .expressions import NO_PATH, NodePath, TypeExpr, Value


@dataclass(frozen=True, slots=True)
class ConditionalSource:
    """What a class body binds inside `if`, `try`, `with`, `match` and loops. None of it belongs to the declaration."""

    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassSource:
    """A top-level class statement. Whether it declares is not known yet: that depends on its bases."""

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
    type_parameters: str = ""
    """PEP 695 parameters as written, brackets included: `[T: Tensor]`."""
    doc: str = ""
    place: NodePath = NO_PATH
    conditional: ConditionalSource = ConditionalSource()
    """What is bound inside blocks at run time."""
    for_checkers: ConditionalSource = ConditionalSource()
    """What is bound under `if TYPE_CHECKING:`."""
    unpacked: tuple[NodePath, ...] = ()
    """Bases and keywords that are unpacked, `*bases` and `**flags`. The text does not say what they contain."""
    decorators: tuple[tuple[str, NodePath], ...] = ()
    """Qualified names of the class decorators: `dataclasses.dataclass`."""


@dataclass(frozen=True, slots=True)
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
    place: NodePath = NO_PATH


@dataclass(frozen=True, slots=True)
class ImportedName:
    """What a top-level name was imported as.

    `import torch as t` binds `t` to `("torch", None)`, and `from .base import B` binds `B` to `(".base", "B")`.
    """

    module: str
    """As written, leading dots included."""
    name: str | None
    """The name inside the module; None where the module itself is bound."""
    type_checking: bool = False
    """Whether the import stands under `if TYPE_CHECKING:`."""


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What a reader has to know of other files to resolve the names of this one."""

    reexports: Mapping[str, str] = field(default_factory=dict)
    """Names of other files that stand for something outside the run: `shop.common.Tensor` for `torch.Tensor`."""
    star_names: Mapping[str, ImportedName] = field(default_factory=dict)
    """The names that its star imports bring."""
    complete: bool = False
    """Whether `star_names` holds all that they bring."""


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A type variable that the file defines: `T = TypeVar("T", bound=Tensor)`, or `[T: Tensor]` of a class."""

    bound: TypeExpr | None
    """Its bound, or the union of its constraints; None where it has neither."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What one file says."""

    path: str
    """How the file was given to the run, for diagnostics: `src/shop/model.py`."""
    module: str
    """Its dotted name: `shop.model`."""
    classes: tuple[ClassSource, ...] = ()
    """Top-level classes, those inside `if` and `try` included. Of several with one name, the last."""
    imports: dict[str, ImportedName] = field(default_factory=dict)
    """The imported names and what they stand for."""
    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    """Module-level names bound to a type expression: `Tokens = Int[Tensor, "b s"]`."""
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    """Type variables by name; those of a class as `Class.T`."""
    registrations: tuple[RegistrationSource, ...] = ()
    names: frozenset[str] = frozenset()
    """Every name bound at the top level."""
    future_annotations: bool = False
    """Whether it says `from __future__ import annotations`."""
    is_package: bool = False
    """Whether it is an `__init__.py`, which relative imports count differently from."""
    star_imports: tuple[str, ...] = ()
    """The modules, as written, of `from module import *`."""
    repeated: tuple[ClassSource, ...] = ()
    """Class statements that repeat the name of an earlier one."""
    has_star_import: bool = False
    """Whether a star import may bring names that are not known here. An unknown name is not a mistake then."""
    exported: tuple[str, ...] | None = None
    """What `__all__` lists; None where the file has none, or one that has to be computed."""
    is_program: bool = False
    """Whether it mentions `"__main__"`, as files do that are run rather than imported."""
